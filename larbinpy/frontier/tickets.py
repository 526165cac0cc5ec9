"""Tickets for pages: how ``limitPage`` is kept exactly over all shards.

There are as many tickets as good pages are still wanted.  A request takes one from the shared
counter before it begins; a good page spends it, anything else gives it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.shared import Global

if TYPE_CHECKING:
    from larbinpy.shared import CrawlMemory

NO_LIMIT: Final = 1 << 30


class Tickets:
    """The tickets that one shard holds."""

    __slots__ = ("_held", "_memory", "_shard", "is_limited")

    def __init__(self, memory: CrawlMemory, shard: int, *, is_limited: bool) -> None:
        self._memory = memory
        self._shard = shard
        self.is_limited = is_limited
        """Whether there are tickets at all."""
        self._held: set[int] = set()

    def left(self) -> int:
        """How many could be taken now."""
        return self._memory.globals.load(Global.TICKETS) if self.is_limited else NO_LIMIT

    def take(self, page_id: int) -> bool:
        """Take one for a request; false when there is none."""
        if not self.is_limited:
            return True
        if not self._memory.take_tickets(self._shard, 1):
            return False
        self._held.add(page_id)
        return True

    def settle(self, page_id: int, *, is_spent: bool) -> None:
        """A page has its outcome: spend its ticket, if it has one, or give it back."""
        if page_id not in self._held:
            return
        self._held.discard(page_id)
        if is_spent:
            self._memory.use_tickets(self._shard, 1)
        else:
            self._memory.return_tickets(self._shard, 1)
