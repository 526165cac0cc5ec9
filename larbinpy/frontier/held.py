"""DONEs that wait until what they stand for is on the medium (``durability power``)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator


class Done(NamedTuple):
    """Finished URLs that are not written yet."""

    entries: bytes
    places: array[int]
    at_ns: int
    """When they were finished: their children were written before."""


class Held:
    """A queue of them, oldest first."""

    __slots__ = ("_queue", "count")

    def __init__(self) -> None:
        self._queue: deque[Done] = deque()
        self.count = 0
        """URLs in it."""

    def add(self, done: Done) -> None:
        """Take some more."""
        self._queue.append(done)
        self.count += len(done.places)

    def release(self, synced_ns: int) -> Iterator[Done]:
        """Those whose children are safe, each taken out when the next one is asked for."""
        while self._queue and self._queue[0].at_ns <= synced_ns:
            yield self._queue[0]
            self.count -= len(self._queue.popleft().places)
