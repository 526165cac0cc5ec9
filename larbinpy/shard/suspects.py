"""URLs that were in flight when their shard was brought down: asked for again, each alone.

A crash says only that one of them did it.  While there are suspects nothing else is in flight, so
the next crash has one name; a URL that was asked for without a crash is cleared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy._native.hosts import FAILED

if TYPE_CHECKING:
    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.addresses import Addresses
    from larbinpy.frontier.frontier import Frontier
    from larbinpy.records import FetchJob

LOOK_NS: Final = 10_000_000
"""How often it is looked whether a suspect's host may be asked."""
PATIENCE_NS: Final = 60 * 10**9
"""When no suspect's host was free for so long, all go back to their hosts: a server that wants to
be left alone for a day must not stop a shard for so long."""


class Suspects:
    """The suspects of one shard; there are none but after a crash.

    Args of ``__init__``:
        poison: ids of URLs that are not to be asked for again.
    """

    __slots__ = ("_condemned", "_frontier", "_last_ns", "_table", "_waited_ns", "cleared")

    def __init__(
        self,
        frontier: Frontier,
        table: HostTable,
        addresses: Addresses,
        poison: frozenset[int],
    ) -> None:
        self._frontier = frontier
        self._table = table
        self._last_ns = 0
        self._waited_ns = 0
        self._condemned = [job.id for job in frontier.apart.waiting if job.id in poison]
        self.cleared: list[int] = []
        """URLs that are no suspects any more, for the supervisor to know."""
        for job in frontier.apart.waiting:
            job.host_id = addresses.want(job.host)

    def __len__(self) -> int:
        """URLs that must be asked for alone, the one in flight included."""
        return len(self._frontier.apart.ids)

    def condemned(self) -> FetchJob | None:
        """A URL that is to end as poison, as long as there is one; call this before ``next``."""
        return self._frontier.apart.take(self._condemned.pop()) if self._condemned else None

    def next(self, now_ns: int) -> FetchJob | None:
        """A suspect whose host is ours now; None when no host may be asked."""
        self._waited_ns += min(now_ns - self._last_ns, LOOK_NS)
        self._last_ns = now_ns
        for job in self._frontier.apart.waiting:
            due_ns = self._table.visit(job.host_id, now_ns)
            if due_ns == 0:
                self._waited_ns = 0
                return self._frontier.apart.take(job.id)
            if self._waited_ns > PATIENCE_NS or self._table.state_of(job.host_id) == FAILED:
                self._frontier.rejoin(job)
                self.cleared.append(job.id)
        return None

    def ended(self, page_id: int) -> None:
        """A URL was asked for, or needs no request, and the shard lives."""
        if page_id in self._frontier.apart.ids:
            self._frontier.apart.let_go(page_id)
            self.cleared.append(page_id)
