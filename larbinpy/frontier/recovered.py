"""What a start found in a log: counters, what waits, what is damaged."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from larbinpy._native.logcodec import positions, window
from larbinpy.errors import StorageError
from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import storage_errors
from larbinpy.frontier.segment import OFFSET_MASK, SEGMENT_SHIFT
from larbinpy.stats import Counters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.frontier.payloads import HostState, Retry

WINDOW_BYTES: Final = 1 << 20
"""Read at a time when the waiting records are handed out; more than any record."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One fault that was found and passed over."""

    file: str
    offset: int
    length: int
    kind: str
    """``range``, ``tail``, ``gap``, ``header``, ``foreign``, ``version``, ``unreadable``,
    ``seen file``, ``segment missing`` or ``URLs missing``."""


@dataclass(slots=True)
class SegmentState:
    """What the log remembers of one of its segments."""

    number: int
    epoch: int
    path: Path
    size: int = 0
    """Bytes; 0 while it is being written."""
    hosts: int = 0
    """HOST records."""
    retries: int = 0
    """RETRY records."""
    is_sealed: bool = False
    has_seen: bool = False
    """Its fingerprints are in a seen file, or it has none."""
    first_lsn: int = 0
    cleared_lsn: int = 0
    """All that a start needs instead of this segment stands up to here; 0 = it is needed."""


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
    seconds: float = 0.0

    def batches(self) -> Iterator[Batch]:
        """The records of all waiting URLs in order. Use it up before segments are deleted.

        Raises:
            StorageError: a segment cannot be read.
        """
        paths = {state.number: state.path for state in self.segments}
        places = memoryview(self.waiting).cast("Q")
        start, fd, opened = 0, -1, -1
        try:
            while start < len(places):
                number = places[start] >> SEGMENT_SHIFT
                if number != opened:
                    if fd >= 0:
                        os.close(fd)
                    with storage_errors(paths[number]):
                        fd, opened = os.open(paths[number], os.O_RDONLY | os.O_CLOEXEC), number
                batch = self._batch(fd, places, start)
                start += len(batch.offsets) // 4
                yield batch
        finally:
            if fd >= 0:
                os.close(fd)

    def _batch(self, fd: int, places: memoryview, start: int) -> Batch:
        with storage_errors(self.directory):
            data = os.pread(fd, WINDOW_BYTES, places[start] & OFFSET_MASK)
        offsets = window(data, places[start], places, start)
        if not offsets:
            raise StorageError(f"{self.directory}: a segment became shorter while it was read")
        return Batch(data, offsets, positions(offsets, places[start]))

    def fingerprints(self) -> Iterator[bytes]:
        """Fingerprints (u64 each) of all URLs ever accepted, a seen file at a time."""
        for number in seenfile.numbers(self.directory):
            yield seenfile.read(self.directory, self.uuid, number).fingerprints
