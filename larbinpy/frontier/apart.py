"""URLs that wait outside the chains, for whoever wants to ask for each of them by its id."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from larbinpy.records import ID_LSN_MASK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from larbinpy.records import FetchJob


class Apart:
    """The URLs of a shard that are set apart.

    Invariant: each waits here, or was taken and is either put back here, done, or let go.
    """

    __slots__ = ("_waiting", "ids")

    def __init__(self) -> None:
        self._waiting: dict[int, FetchJob] = {}
        self.ids: set[int] = set()
        """Of those that wait, and of those that were taken."""

    @property
    def waiting(self) -> list[FetchJob]:
        """Those that may be taken."""
        return list(self._waiting.values())

    def __len__(self) -> int:
        """How many may be taken."""
        return len(self._waiting)

    def add(self, job: FetchJob) -> None:
        """Set a URL apart, or put one back that was taken."""
        self.ids.add(job.id)
        self._waiting[job.id] = job

    def take(self, page_id: int) -> FetchJob:
        """A URL that waits here is handed out."""
        return self._waiting.pop(page_id)

    def let_go(self, page_id: int) -> None:
        """A URL is no longer set apart."""
        self.ids.discard(page_id)
        self._waiting.pop(page_id, None)


def places_of(ids: Iterable[int], places: Sequence[int], lsn_at: Callable[[int], int]) -> list[int]:
    """Where some of the URLs that wait lie in the log; ids that do not wait are passed over.

    Args:
        places: of all URLs that wait, by rising id.
        lsn_at: the id in the log of the URL at a place.

    Cost: O(log URLs) calls of ``lsn_at`` an id.
    """
    found = []
    for lsn in sorted(page_id & ID_LSN_MASK for page_id in ids):
        at = bisect_left(places, lsn, key=lsn_at)
        if at < len(places) and lsn_at(places[at]) == lsn:
            found.append(places[at])
    return found
