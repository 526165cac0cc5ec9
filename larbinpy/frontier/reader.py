"""The log from end to end: first what waited at the start, then what was put since."""

from __future__ import annotations

from collections import deque
from itertools import compress
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import SCAN_SEALED, Codec, positions
from larbinpy.frontier.payloads import RecordType
from larbinpy.frontier.recovered import WINDOW_BYTES
from larbinpy.frontier.segment import HEADER_BYTES, SEGMENT_SHIFT

if TYPE_CHECKING:
    from larbinpy.frontier.log import PersistentFifo
    from larbinpy.frontier.payloads import LoggedUrl

CHUNK: Final = 1000
"""URLs that ``try_get`` reads at a time."""


class Reader:
    """Hands every waiting URL out once, in the order in which they were put.

    Getting a URL does not finish it: what is not done waits again after the next start.
    URLs that the log moves (``PersistentFifo.move``) must have been handed out before.
    """

    __slots__ = ("_fifo", "_number", "_offset", "_places", "_ready", "_taken", "_uuid")

    def __init__(self, fifo: PersistentFifo, uuid: bytes, waiting: bytes, number: int) -> None:
        """Begin with the positions ``waiting``, then with segment ``number``."""
        self._fifo = fifo
        self._uuid = uuid
        self._places = memoryview(waiting).cast("Q")
        self._taken = 0
        self._number = number
        self._offset = HEADER_BYTES
        self._ready: deque[LoggedUrl] = deque()

    def get(self, limit: int) -> list[LoggedUrl]:
        """The next URLs, at most ``limit``; fewer only when there are no more.

        Raises:
            StorageError, FormatError: the log cannot be read; nothing was taken.
        """
        while len(self._ready) < limit and (places := self._next(limit - len(self._ready))):
            self._ready.extend(self._fifo.read(places))
            self._taken += len(places)
        return [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]

    def try_get(self) -> LoggedUrl | None:
        """The next URL, None when there is none now."""
        if not self._ready:
            self._ready.extend(self.get(CHUNK))
        return self._ready.popleft() if self._ready else None

    def _next(self, limit: int) -> memoryview:
        """Positions of the next URLs, from the log when those at hand are used up."""
        while self._taken == len(self._places) and self._scan():
            pass
        return self._places[self._taken : self._taken + limit]

    def _scan(self) -> bool:
        """Find more ENQ records; false at the end of the log."""
        data = self._fifo.raw(self._number, self._offset, WINDOW_BYTES)
        run = Codec(self._uuid, self._number).scan(data, 0, 0)
        base = self._number << SEGMENT_SHIFT | self._offset
        places = memoryview(positions(run.offsets, base)).cast("Q")
        kinds = map(int(RecordType.ENQ).__eq__, run.types)
        if run.types.count(RecordType.ENQ) < len(run):
            chosen = b"".join(p.to_bytes(8, "little") for p in compress(places, kinds))
            places = memoryview(chosen).cast("Q")
        self._places, self._taken = places, 0
        self._offset += run.stop
        if run.reason != SCAN_SEALED and len(run):
            return True
        return self._step(is_over=run.reason == SCAN_SEALED or not data)

    def _step(self, *, is_over: bool) -> bool:
        """Go to the next segment when this one is used up."""
        number = self._fifo.next_segment(self._number) if is_over else None
        if number is not None:
            self._number, self._offset = number, HEADER_BYTES
        return number is not None
