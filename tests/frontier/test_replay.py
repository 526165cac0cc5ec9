"""What the records of a log come to."""

from __future__ import annotations

from pathlib import Path

from larbinpy._native.logcodec import Codec
from larbinpy.frontier.payloads import (
    HostState,
    RecordType,
    Retry,
    done_entry,
    pack_host,
    pack_mark,
    pack_retry,
)
from larbinpy.frontier.recovered import Recovered
from larbinpy.frontier.replay import Replay
from larbinpy.frontier.segment import HEADER_BYTES, SegmentState
from larbinpy.records import Outcome, ParsedPage
from larbinpy.stats import ACCEPTED, DONE
from tests.frontier.logs import UUID, links

EVERY = 1 << 32
"""An offset behind all DONEs."""


class Records:
    """Records of a segment that no file holds."""

    def __init__(self) -> None:
        self.codec = Codec(UUID, 1)
        self.data = bytes(HEADER_BYTES)
        self.lsn = 1

    def put(self, *numbers: int) -> None:
        """Add ENQs."""
        records, offsets = self.codec.encode_links(links(numbers), b"\1" * len(numbers), self.lsn)
        self.data += records
        self.lsn += len(offsets) // 4

    def add(self, kind: RecordType, payload: bytes) -> None:
        """Add another record."""
        self.data += self.codec.encode(kind, payload, self.lsn)
        self.lsn += 1

    def done(self, lsn: int) -> None:
        """Add the DONE of a URL."""
        self.add(RecordType.DONE, done_entry(ParsedPage(lsn, 1, Outcome.SUCCESS, 200, 1, 1, 0)))

    def replayed(self, *, dones_before: int = EVERY) -> tuple[Recovered, SegmentState, bytes]:
        """What they come to, and the fingerprints."""
        found = Recovered(Path(), UUID)
        segment = SegmentState(1, 1, Path())
        replay = Replay(found)
        codec = Codec(UUID, 1)
        run = codec.scan(self.data, HEADER_BYTES, 1)
        prints = replay.take(segment, self.data, codec, run, dones_before=dones_before)
        replay.finish()
        return found, segment, prints


def test_a_url_waits_from_its_enq_to_its_done() -> None:
    """Fingerprints are kept of both."""
    records = Records()
    records.put(10, 11, 12)
    records.done(2)
    found, _, prints = records.replayed()
    assert len(found.waiting) // 8 == 2
    assert list(memoryview(prints).cast("Q")) == [10, 11, 12]
    assert (found.counters[ACCEPTED], found.counters[DONE], found.damage) == (3, 1, [])


def test_a_done_in_doubt_does_not_count() -> None:
    """It is counted as ignored, and its URL waits."""
    records = Records()
    records.put(10)
    records.done(1)
    found, _, _ = records.replayed(dones_before=0)
    assert (len(found.waiting) // 8, found.ignored_dones) == (1, 1)


def test_the_newest_note_counts() -> None:
    """Of each host, and of each URL that waits; a segment knows how many notes it holds."""
    records = Records()
    records.put(10, 11)
    for attempt in (1, 2):
        records.add(RecordType.RETRY, pack_retry(Retry(1, attempt, 77)))
        records.add(RecordType.HOST, pack_host(HostState(b"h", attempt, 0, 0)))
    records.add(RecordType.RETRY, pack_retry(Retry(2, 1, 77)))
    records.done(2)
    found, segment, _ = records.replayed()
    assert found.retries == {1: Retry(1, 2, 77)}
    assert found.hosts == {b"h": HostState(b"h", 2, 0, 0)}
    assert (segment.retries, segment.hosts) == (3, 2)


def test_the_highest_mark_counts() -> None:
    """A lower one that stands behind it was late."""
    records = Records()
    records.add(RecordType.SYNCMARK, pack_mark(9, 1000))
    records.add(RecordType.SYNCMARK, pack_mark(4, 2000))
    found, _, _ = records.replayed()
    assert (found.synced_lsn, found.synced_us) == (9, 1000)
