"""URLs that failed and wait for their next try, by time.

What was tried how often stands in RETRY records; here are the few that are between two tries: about
150 bytes each.  When there are too many, the nearest one goes back to its host at once, which is
delayed anyhow.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

from larbinpy.records import ID_LSN_MASK

if TYPE_CHECKING:
    from larbinpy.frontier.payloads import Retry
    from larbinpy.records import FetchJob

MAX_WAITING: Final = 100_000


class Parked(NamedTuple):
    """A URL between two tries; ordered by time, then by position."""

    due_ns: int
    position: int
    host_id: int
    level: int


class Retries:
    """The tries of one shard's URLs.

    Invariant: a URL is in the heap, or in a chain of its host, never in both.
    """

    __slots__ = ("_heap", "_tries")

    def __init__(self) -> None:
        self._heap: list[Parked] = []
        self._tries: dict[int, int] = {}

    def __len__(self) -> int:
        """URLs between two tries."""
        return len(self._heap)

    def restore(self, retries: dict[int, Retry]) -> None:
        """Take over the tries that a log tells of; their URLs wait in the chains."""
        self._tries = {id_lsn: retry.attempt for id_lsn, retry in retries.items()}

    @property
    def are_known(self) -> bool:
        """Whether any URL was tried in vain."""
        return bool(self._tries)

    @property
    def known(self) -> dict[int, int]:
        """Tries in vain by a URL's id in the log; not to be changed."""
        return self._tries

    def tries(self, page_id: int) -> int:
        """How often a URL was tried in vain."""
        return self._tries.get(page_id & ID_LSN_MASK, 0) if self._tries else 0

    def count(self, page_id: int, tries: int) -> None:
        """Note how often a URL was tried in vain."""
        if tries:
            self._tries[page_id & ID_LSN_MASK] = tries
        else:
            self.forget(page_id)

    def forget(self, page_id: int) -> None:
        """The URL is done."""
        self._tries.pop(page_id & ID_LSN_MASK, None)

    def park(self, job: FetchJob, due_ns: int) -> None:
        """Let a URL wait until ``due_ns``."""
        heapq.heappush(self._heap, Parked(due_ns, job.position, job.host_id, job.level))

    def next_ns(self) -> int:
        """When the next URL is due; -1 = there is none."""
        return self._heap[0].due_ns if self._heap else -1

    def due(self, now_ns: int) -> list[Parked]:
        """Take the URLs that are due, and those that are too many."""
        found = []
        while self._heap and (self._heap[0].due_ns <= now_ns or len(self._heap) > MAX_WAITING):
            found.append(heapq.heappop(self._heap))
        return found
