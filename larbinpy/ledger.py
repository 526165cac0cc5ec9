"""What a shard counts, and how the other processes see it.

The two monotone words of the end proof are stored at once: ``accepted`` before the links are answered,
``done`` after the pages' records.  Everything else is published a few times a second, as one block
under a sequence lock, so that each reading adds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy import stats

if TYPE_CHECKING:
    from larbinpy.frontier.frontier import Put
    from larbinpy.shared import CrawlMemory
    from larbinpy.stats import Counters

IDENTITY: Final = ("accepted", "done", "waiting", "ready", "in_flight", "parsing")
"""accepted = the sum of the others, in every reading."""

READY: Final = 0
"""Every URL that a turn takes is in flight, refused or put back when the turn ends."""


class Ledger:
    """Counters of one shard; ``counters`` is the object that its log writes into COUNTS records."""

    __slots__ = ("_memory", "_shard", "counters")

    def __init__(self, counters: Counters, memory: CrawlMemory, shard: int) -> None:
        self.counters = counters
        self._memory = memory
        self._shard = shard
        self.tell()

    def tell(self) -> None:
        """Store the words of the end proof: ``done`` never runs ahead of its children."""
        self._memory.set_accepted(self._shard, self.counters[stats.ACCEPTED])
        self._memory.set_done(self._shard, self.counters[stats.DONE])

    def put(self, put: Put) -> None:
        """Links were taken; ``accepted`` is counted by the log itself."""
        self.counters.add(stats.URL_SEEN, put.seen)
        self.counters.add(stats.HOSTS, put.hosts)
        self.tell()

    def traffic(self, read: int, written: int) -> None:
        """Bytes of one request."""
        self.counters.add(stats.BYTES_READ, read)
        self.counters.add(stats.BYTES_WRITTEN, written)

    def measured(self, *, robots_seen: int, robots_good: int, with_dns: int) -> None:
        """Add what the stages have counted since the last call."""
        self.counters.add(stats.ROBOTS_SEEN, robots_seen)
        self.counters.add(stats.ROBOTS_GOOD, robots_good)
        self.counters.add(stats.HOSTS_WITH_DNS, with_dns)

    def publish(self, *, waiting: int, in_flight: int, parsing: int) -> None:
        """Publish counters and identity as one block."""
        accepted, done = self.counters[stats.ACCEPTED], self.counters[stats.DONE]
        values = [*self.counters.values(), accepted, done, waiting, READY, in_flight, parsing]
        self._memory.publish(self._shard, values)
