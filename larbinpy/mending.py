"""What follows when a child dies: what it held is given back, who is to blame, its successor.

A kill from outside is nobody's fault, a page in the hands of a parser is blamed for its death, and
a crash loop is not repeated for ever.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from larbinpy.records import ID_SHARD_SHIFT
from larbinpy.shared import ShardWord, owner_of

if TYPE_CHECKING:
    from larbinpy.children import Child
    from larbinpy.clock import Clock
    from larbinpy.crew import Crew
    from larbinpy.shared import CrawlMemory

DEATHS: Final = 3
DEATHS_WITHIN_S: Final = 60.0


class Mender:
    """Replaces shards and parsers that died.

    Args of ``__init__``:
        ip_wait_s: between two requests to one address.
    """

    __slots__ = ("_clock", "_crew", "_deaths", "_ip_wait_ns", "_memory")

    def __init__(self, crew: Crew, memory: CrawlMemory, clock: Clock, *, ip_wait_s: float) -> None:
        self._crew = crew
        self._memory = memory
        self._clock = clock
        self._ip_wait_ns = round(ip_wait_s * 1e9)
        self._deaths: deque[int] = deque(maxlen=DEATHS)

    def mend(self, child: Child, code: int) -> str | None:
        """Start a successor of a child that ended with ``code``.

        Returns:
            Why the crawl must end instead; None when there is a successor.
        """
        if child.role == "shard":
            self._give_back(child.index)
            self._deaths.append(self._clock.now_ns())
        elif not self._blame(child) and code > 0:
            # No page did it and nobody killed it: what is wrong with it is wrong again.
            self._deaths.append(self._clock.now_ns())
        if self._is_loop():
            return f"{child.name} died for the {DEATHS}rd time within a minute"
        self._crew.replace(child)
        return None

    def _is_loop(self) -> bool:
        deaths = self._deaths
        return len(deaths) == DEATHS and deaths[-1] - deaths[0] < DEATHS_WITHIN_S * 1e9

    def _give_back(self, shard: int) -> None:
        """A dead shard holds no tickets and asks nobody; it may have asked everybody just now."""
        held = self._memory.shard[shard].words.load(ShardWord.TICKETS_HELD)
        self._memory.return_tickets(shard, held)
        now = self._clock.now_ns()
        self._memory.ips.forget(owner_of(shard), now, now + self._ip_wait_ns)

    def _blame(self, parser: Child) -> bool:
        """Tell a page's shard that a parser died with this page in hand; false: it had none."""
        blamed = self._memory.parser[parser.index].blamed()
        if blamed is None:
            return False
        page_id, _ = blamed
        for shard in self._crew.of("shard"):
            if shard.index == page_id >> ID_SHARD_SHIFT:
                shard.tell("blame", id=page_id)
        self._memory.parser[parser.index].end()
        return True
