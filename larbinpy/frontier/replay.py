"""What the records of a log come to, run by run in their order. Pure: bytes go in.

A URL waits from its ENQ to its DONE; of the notes on a URL or a host the newest one counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy._native.livetable import LiveTable
from larbinpy.frontier.payloads import RecordType, unpack_host, unpack_mark, unpack_retry
from larbinpy.frontier.quarantine import Damage
from larbinpy.frontier.tally import Tally
from larbinpy.stats import Counters

if TYPE_CHECKING:
    from larbinpy._native.logcodec import Codec, ScanResult
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.frontier.segment import SegmentState


class Replay:
    """The state that the records seen so far describe."""

    __slots__ = ("_found", "_table", "_tally")

    def __init__(self, found: Recovered) -> None:
        """``found`` is told what the records say; all of it after ``finish``."""
        self._found = found
        self._table = LiveTable()
        self._tally = Tally()

    def take(
        self, segment: SegmentState, data: bytes, codec: Codec, run: ScanResult, *,
        dones_before: int,
    ) -> bytes:  # fmt: skip
        """Apply a run of good records; returns the fingerprints of its URLs, u64 each.

        Args:
            segment: where they stand; its notes are counted.
            dones_before: DONEs from this offset on are in doubt and do not count.
        """
        if run.types[0] == RecordType.COUNTS:
            _, _, payload = codec.record(data, memoryview(run.offsets).cast("I")[0])
            self._tally.head(Counters.from_bytes(payload))
        prints, counted, ignored, others = self._table.add(
            segment.number, data, run.types, run.offsets, run.first_lsn, dones_before
        )
        self._tally.add(len(prints) // 8, counted, ignored)
        for offset in memoryview(others).cast("I"):
            kind, _, payload = codec.record(data, offset)
            self._note(segment, kind, payload)
        return prints

    def _note(self, segment: SegmentState, kind: int, payload: bytes) -> None:
        """Take a record of a kind that is not for the table."""
        found = self._found
        if kind == RecordType.COUNTS:
            self._tally.measured = Counters.from_bytes(payload)
        elif kind == RecordType.RETRY:
            segment.retries += 1
            retry = unpack_retry(payload)
            found.retries[retry.id_lsn] = retry
        elif kind == RecordType.HOST:
            segment.hosts += 1
            host = unpack_host(payload)
            found.hosts[host.host] = host
        elif kind == RecordType.SYNCMARK:
            lsn, began_us = unpack_mark(payload)
            if lsn >= found.synced_lsn:
                found.synced_lsn, found.synced_us = lsn, began_us

    def finish(self) -> None:
        """Tell counters, what waits, and the retries of that."""
        found = self._found
        found.waiting = self._table.live()
        found.ignored_dones = self._tally.ignored_dones
        found.counters, excess = self._tally.sum_up(len(found.waiting) // 8)
        found.lost = max(excess, 0)
        if excess:
            found.damage.append(Damage("", 0, found.lost, "URLs missing"))
        found.retries = {
            id_lsn: retry
            for id_lsn, retry in found.retries.items()
            if self._table.is_waiting(id_lsn)
        }
