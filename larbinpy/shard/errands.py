"""Requests of a shard to hosts whose URLs are not its business: robots.txt files that were moved.

The other host may belong to any shard.  It gets a place in our host table, without URLs, and is
visited when its time and that of its address have come: addresses are kept over all shards.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from larbinpy._native.hosts import FAILED

if TYPE_CHECKING:
    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.addresses import Addresses
    from larbinpy.records import FetchJob

LOOK_NS: Final = 50_000_000
"""How often it is looked whether a host has got its address."""
PATIENCE_NS: Final = 600 * 10**9
"""A host that is not free for so long is taken for one that does not answer."""


class Errands:
    """What is to be asked of other hosts; few at a time."""

    __slots__ = ("_addresses", "_heap", "_lost", "_table", "_turn")

    def __init__(self, table: HostTable, addresses: Addresses) -> None:
        self._table = table
        self._addresses = addresses
        self._heap: list[tuple[int, int, int, FetchJob]] = []
        self._lost: list[FetchJob] = []
        self._turn = 0

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, job: FetchJob, now_ns: int) -> None:
        """Ask ``job.url`` of ``job.host``, which is another host than the job's number says."""
        job.host_id = self._addresses.want(job.host)
        self._push(now_ns, now_ns + PATIENCE_NS, job)

    def next_ns(self) -> int:
        """When to look again; -1 = never."""
        return self._heap[0][0] if self._heap else -1

    def ready(self, now_ns: int) -> list[FetchJob]:
        """Requests to make now: their hosts are ours until they are released."""
        found = []
        while self._heap and self._heap[0][0] <= now_ns:
            _, _, end_ns, job = heapq.heappop(self._heap)
            due_ns = self._table.visit(job.host_id, now_ns)
            if due_ns == 0:
                job.ip = self._addresses.ip(job.host_id)
                found.append(job)
            elif now_ns >= end_ns or self._table.state_of(job.host_id) == FAILED:
                self._lost.append(job)
            else:
                self._push(max(due_ns, now_ns + LOOK_NS), end_ns, job)
        return found

    def lost(self) -> list[FetchJob]:
        """Requests that cannot be made."""
        lost, self._lost = self._lost, []
        return lost

    def _push(self, due_ns: int, end_ns: int, job: FetchJob) -> None:
        self._turn += 1
        heapq.heappush(self._heap, (due_ns, self._turn, end_ns, job))
