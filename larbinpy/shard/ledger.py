"""What a shard counts, and how the other processes see it.

The two monotone words of the end proof are stored at once: ``accepted`` before the links are
answered, ``done`` after the pages' records.  Everything else is published a few times a second,
as one block under a sequence lock, so that each reading adds up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy import stats
from larbinpy.shared import ShardWord

if TYPE_CHECKING:
    from larbinpy.dns.addresses import Addresses
    from larbinpy.frontier.frontier import Added
    from larbinpy.parse.handover import Handover
    from larbinpy.politeness.gate import Gate
    from larbinpy.shard.manners import Manners
    from larbinpy.shared import CrawlMemory
    from larbinpy.stats import Counters


READY: Final = 0
"""Every URL that a turn takes is in flight, refused or put back when the turn ends."""


class Ledger:
    """Counters of one shard; ``counters`` is the object that its log writes into COUNTS records."""

    __slots__ = ("_counted", "_shard", "counters")

    def __init__(self, counters: Counters, memory: CrawlMemory, shard: int) -> None:
        self.counters = counters
        self._shard = memory.shard[shard]
        self._counted: dict[int, int] = {}
        self.tell()

    def tell(self) -> None:
        """Store the words of the end proof: ``done`` never runs ahead of its children."""
        self._shard.words.store(ShardWord.ACCEPTED, self.counters[stats.ACCEPTED])
        self._shard.words.store(ShardWord.DONE, self.counters[stats.DONE])

    def added(self, added: Added) -> None:
        """Links were taken; ``accepted`` is counted by the log itself."""
        self.counters.add(stats.URL_SEEN, added.seen)
        self.counters.add(stats.HOSTS, added.hosts)
        self.tell()

    def traffic(self, read: int, written: int) -> None:
        """Bytes of one request."""
        self.counters.add(stats.BYTES_READ, read)
        self.counters.add(stats.BYTES_WRITTEN, written)

    def measured(
        self, gate: Gate, addresses: Addresses, manners: Manners, handover: Handover
    ) -> None:
        """Add what the stages have counted since the last call."""
        for index, count in (
            (stats.ROBOTS_SEEN, gate.seen),
            (stats.ROBOTS_GOOD, gate.good),
            (stats.HOSTS_WITH_DNS, addresses.answered),
            (stats.RETRIES, manners.retries),
            (stats.OUTAGES, manners.line.outages),
            (stats.NEAR, handover.near),
        ):
            self.counters.add(index, count - self._counted.get(index, 0))
            self._counted[index] = count

    def publish(self, *, waiting: int, in_flight: int, parsing: int) -> None:
        """Publish counters and identity as one block."""
        accepted, done = self.counters[stats.ACCEPTED], self.counters[stats.DONE]
        values = [*self.counters.values(), accepted, done, waiting, READY, in_flight, parsing]
        self._shard.counters.publish(values)
