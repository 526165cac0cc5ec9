"""The segments of a log that are on disk: open descriptors, live counts, seen files, deletion."""

from __future__ import annotations

import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from larbinpy._native.livetable import LiveTable
from larbinpy._native.logcodec import SCAN_SEALED, Codec
from larbinpy._native.logdone import digests
from larbinpy._native.placemap import PlaceMap
from larbinpy.errors import FormatError, StorageError
from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import storage_errors
from larbinpy.frontier.recovered import WINDOW_BYTES
from larbinpy.frontier.segment import HEADER_BYTES

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator
    from concurrent.futures import Future

    from larbinpy._native.logcodec import ScanResult
    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.frontier.segment import SegmentState
    from larbinpy.frontier.settings import Settings

OPEN_SEGMENTS: Final = 16


class Shelf:
    """Segments by number; the newest is being written, all others are sealed.

    Seen files are made in a helper thread from the sealed segment itself, the way recovery does.
    """

    __slots__ = ("_descriptors", "_directory", "_disk", "_is_synced", "_jobs", "_keeps_pages",
                 "_pool", "_uuid", "places", "segments")  # fmt: skip

    def __init__(self, disk: Disk, found: Recovered, settings: Settings) -> None:
        self.segments: dict[int, SegmentState] = {state.number: state for state in found.segments}
        self.places = PlaceMap()
        self.places.load(memoryview(found.waiting).cast("Q"))
        self._directory = found.directory
        self._uuid = found.uuid
        self._disk = disk
        self._is_synced = settings.is_synced
        self._keeps_pages = settings.keeps_pages
        self._descriptors: OrderedDict[int, int] = OrderedDict()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seen-file")
        self._jobs: dict[int, Future[None]] = {}

    def descriptor(self, number: int) -> int:
        """A descriptor to read a segment with; at most ``OPEN_SEGMENTS`` are kept.

        Raises:
            StorageError: there is no such segment, or it cannot be opened.
        """
        fd = self._descriptors.get(number)
        if fd is None:
            fd = self._open(number)
            self._descriptors[number] = fd
            if len(self._descriptors) > OPEN_SEGMENTS:
                os.close(self._descriptors.popitem(last=False)[1])
        self._descriptors.move_to_end(number)
        return fd

    def _open(self, number: int) -> int:
        state = self.segments.get(number)
        if state is None:
            raise StorageError(f"{self._directory}: segment {number} is not there")
        with storage_errors(state.path):
            return os.open(state.path, os.O_RDONLY | os.O_CLOEXEC)

    def check(self, places: array[int]) -> None:
        """Raise ``StorageError`` when there is no unfinished URL at one of these positions."""
        bad = self.places.check(places)
        if bad:
            raise StorageError(f"{self._directory}: no URL at position {bad}")

    def next_number(self, number: int) -> int | None:
        """The segment behind ``number``, which may be gone; None behind the newest."""
        return min((other for other in self.segments if other > number), default=None)

    # --- the end of a segment ---------------------------------------------------------------

    def sealed(self, number: int) -> None:
        """Have the seen file of a segment made that was sealed just now."""
        state = self.segments[number]
        state.is_sealed = True
        with storage_errors(state.path):
            state.size = state.path.stat().st_size
        self._jobs[number] = self._pool.submit(self._make_seen, self.segments[number])

    def _make_seen(self, state: SegmentState) -> None:
        prints: list[bytes] = []
        pages: list[bytes] = []
        for window, run in self._runs(state):
            found = LiveTable().add(state.number, window, run.types, run.offsets, run.first_lsn, 0)
            prints.append(found[0])
            if self._keeps_pages:
                pages.append(digests(window, run.types, run.offsets, len(window)))
        self._write(state.number, b"".join(prints), seenfile.URLS)
        if self._keeps_pages:
            self._write(state.number, b"".join(pages), seenfile.PAGES)

    def _runs(self, state: SegmentState) -> Iterator[tuple[bytes, ScanResult]]:
        """The records of a sealed segment, by windows: memory does not grow with its size.

        Raises:
            StorageError: it cannot be read.
            FormatError: a record is damaged.
        """
        codec = Codec(self._uuid, state.number)
        at, lsn = HEADER_BYTES, 0
        with storage_errors(state.path), state.path.open("rb") as file:
            while True:
                window = os.pread(file.fileno(), WINDOW_BYTES, at)
                run = codec.scan(window, 0, lsn)
                if not len(run):
                    raise FormatError(f"{state.path}: bad record at offset {at + run.stop}")
                yield window, run
                if run.reason == SCAN_SEALED:
                    return
                at, lsn = at + run.stop, run.next_lsn

    def _write(self, number: int, entries: bytes, kind: seenfile.Kind) -> None:
        seenfile.write(
            self._disk, self._directory, self._uuid, number, entries,
            is_synced=self._is_synced, kind=kind,
        )  # fmt: skip

    def settle(self, *, wait: bool) -> None:
        """See to the seen files that were being made; a failed one is begun again.

        Raises:
            StorageError, FormatError: one could not be made.
        """
        for number, job in list(self._jobs.items()):
            if not wait and not job.done():
                continue
            del self._jobs[number]
            fault = job.exception()
            if fault is not None:
                self.sealed(number)
                raise fault
            self.segments[number].has_seen = True

    @property
    def oldest(self) -> SegmentState | None:
        """The oldest segment if it is complete, with its seen file."""
        oldest = self.segments[min(self.segments)]
        return oldest if oldest.is_sealed and oldest.has_seen else None

    def dead(self) -> list[SegmentState]:
        """The oldest segments, as far as they are complete and none of their URLs is live."""
        dead = []
        for number in sorted(self.segments):
            state = self.segments[number]
            if not (state.is_sealed and state.has_seen) or self.places.live(number):
                break
            dead.append(state)
        return dead

    @property
    def size(self) -> int:
        """Bytes of all complete segments."""
        return sum(state.size for state in self.segments.values())

    def delete(self, state: SegmentState) -> None:
        """Remove the file of the oldest segment."""
        with storage_errors(state.path):
            state.path.unlink(missing_ok=True)
        del self.segments[state.number]
        self.places.drop(state.number)
        fd = self._descriptors.pop(state.number, None)
        if fd is not None:
            os.close(fd)

    def close(self) -> None:
        """Wait for the helper thread and close all descriptors."""
        self._pool.shutdown(wait=True)
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])
