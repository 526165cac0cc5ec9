"""What a start found in a log: counters, what waits, what is damaged."""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from larbinpy._native.logcodec import Codec, positions, window
from larbinpy.errors import StorageError
from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import storage_errors
from larbinpy.frontier.payloads import RecordType, link_entry
from larbinpy.frontier.segment import OFFSET_MASK, SEGMENT_SHIFT
from larbinpy.frontier.walk import walk
from larbinpy.stats import Counters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

    from larbinpy._native.logcodec import ScanResult
    from larbinpy.frontier.payloads import HostState, Retry
    from larbinpy.frontier.quarantine import Damage
    from larbinpy.frontier.segment import SegmentState

WINDOW_BYTES: Final = 1 << 20
"""Read at a time when the waiting records are handed out; more than any record."""
BATCH_URLS: Final = 4096
"""Decoded at a time."""


class Batch(NamedTuple):
    """Waiting records, as they lie on disk."""

    records: bytes
    offsets: bytes
    """u32 each, in ``records``; what lies between them is not for the reader."""
    positions: bytes
    """u64 each."""


@dataclass(slots=True)
class Recovered:
    """The state of a log after any exit. Holds 8 bytes for each waiting URL."""

    directory: Path
    uuid: bytes
    epoch: int = 1
    """Of this start."""
    next_lsn: int = 1
    """Of the first record that this start writes."""
    next_number: int = 1
    """Of the first segment that this start begins."""
    counters: Counters = field(default_factory=Counters)
    waiting: bytes = b""
    """Positions (u64 each) in the order in which the URLs were accepted."""
    retries: dict[int, Retry] = field(default_factory=dict)
    """The newest RETRY of each waiting URL that has one, by id."""
    hosts: dict[bytes, HostState] = field(default_factory=dict)
    """The newest HOST of each host that has one."""
    segments: list[SegmentState] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    torn_bytes: int = 0
    """Cut from the end of the log: what the last process was writing when it died."""
    lost_records: int = 0
    """Records of any type that are missing between those that are there."""
    lost: int = 0
    """URLs that were accepted by the counters but neither wait nor are done: the oldest segment
    is gone. 0 unless there is damage."""
    ignored_dones: int = 0
    synced_lsn: int = 0
    """The highest SYNCMARK."""
    synced_us: int = 0
    """When its sync began, by the wall clock of that time; 0: nobody knows."""
    seconds: float = 0.0

    def leave_out(self, places: set[int]) -> None:
        """Let some of the waiting URLs out of ``batches``."""
        kept = (place for place in memoryview(self.waiting).cast("Q") if place not in places)
        self.waiting = array("Q", kept).tobytes()

    def batches(self) -> Iterator[Batch]:
        """The records of all waiting URLs in order. Use it up before segments are deleted.

        Raises:
            StorageError: a segment cannot be read.
        """
        paths = {state.number: state.path for state in self.segments}
        places = memoryview(self.waiting).cast("Q")
        start = 0
        while start < len(places):
            number = places[start] >> SEGMENT_SHIFT
            with _opened(paths[number]) as file:
                while start < len(places) and places[start] >> SEGMENT_SHIFT == number:
                    batch = self._batch(file.fileno(), places, start)
                    start += len(batch.offsets) // 4
                    yield batch

    def _batch(self, fd: int, places: memoryview, start: int) -> Batch:
        with storage_errors(self.directory):
            data = os.pread(fd, WINDOW_BYTES, places[start] & OFFSET_MASK)
        offsets = window(data, places[start], places, start)
        if not offsets:
            raise StorageError(f"{self.directory}: a segment became shorter while it was read")
        return Batch(data, offsets, positions(offsets, places[start]))

    @property
    def oldest_segment(self) -> int:
        """Number of the first segment that is still there; 0 for a new log."""
        return self.segments[0].number if self.segments else 0

    @property
    def is_damaged(self) -> bool:
        """Whether URLs may be missing that were accepted once."""
        return bool(self.damage)

    def fingerprints(self, since: int = 0) -> Iterator[bytes]:
        """Fingerprints (u64 each) of all URLs ever accepted, a seen file at a time.

        Args:
            since: the first segment that is asked for.
        """
        for number in seenfile.numbers(self.directory):
            if number >= since:
                yield seenfile.read(self.directory, self.uuid, number).entries

    def digests(self) -> Iterator[bytes]:
        """Digests (16 bytes each) of all pages that are done, a seen file at a time.

        Only of a log that was opened to keep them.
        """
        for number in seenfile.numbers(self.directory, seenfile.PAGES):
            yield seenfile.read(self.directory, self.uuid, number, seenfile.PAGES).entries

    def links(self, since: int = 0) -> Iterator[bytes]:
        """``link_entry`` records of all URLs, done ones too, in the segments that are left.

        Raises:
            StorageError: a segment cannot be read.

        Cost: about 4 us a URL.
        """
        for state in self.segments:
            if state.number < since:
                continue
            with storage_errors(state.path):
                data = state.path.read_bytes()
            codec = Codec(self.uuid, state.number)
            for run, _ in walk(codec, data, 0):
                enqueued = _enqueued(run)
                for start in range(0, len(enqueued), BATCH_URLS):
                    offsets = enqueued[start : start + BATCH_URLS].tobytes()
                    yield b"".join(map(link_entry, codec.decode_urls(data, offsets)))


def _opened(path: Path) -> FileIO:
    with storage_errors(path):
        return path.open("rb", buffering=0)


def _enqueued(run: ScanResult) -> array[int]:
    """Offsets of the ENQ records among those of a scan."""
    places = memoryview(run.offsets).cast("I")
    return array("I", (p for k, p in zip(run.types, places, strict=True) if k == RecordType.ENQ))
