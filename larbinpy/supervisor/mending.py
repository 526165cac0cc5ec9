"""What follows when a child dies: what it held is given back, who is to blame, its successor.

A kill from outside is nobody's fault.  A page in the hands of a parser is blamed for its death.
When a shard crashes, what it had in flight is suspected and asked for again, each URL alone; one
that was alone in flight at the next crash is poison.  A crash loop is not repeated for ever.
"""

from __future__ import annotations

import signal
from collections import deque
from typing import TYPE_CHECKING, Final

from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ
from larbinpy.shared import ShardWord, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.children import Child
    from larbinpy.clock import Clock
    from larbinpy.shared import CrawlMemory
    from larbinpy.supervisor.crew import Crew

DEATHS: Final = 3
DEATHS_WITHIN_S: Final = 60.0
CRASHES: Final = frozenset({-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS})
"""Exit codes of a process that did it itself."""


class Mender:
    """Replaces children that died.

    Args of ``__init__``:
        ip_wait_s: between two requests to one address.
        names: what users call the URLs with these ids.
        say: tells the operator.
    """

    __slots__ = (
        "_bad", "_clock", "_crew", "_deaths", "_ip_wait_ns", "_memory", "_names", "_poison", "_say",
        "_suspects",
    )  # fmt: skip

    def __init__(
        self,
        crew: Crew,
        memory: CrawlMemory,
        clock: Clock,
        *,
        ip_wait_s: float,
        names: Callable[[list[int]], str],
        say: Callable[[str], None],
    ) -> None:
        self._crew = crew
        self._memory = memory
        self._clock = clock
        self.set_ip_wait(ip_wait_s)
        self._names = names
        self._say = say
        self._bad: set[int] = set()
        """Processes that we have ended ourselves."""
        self._deaths: deque[int] = deque(maxlen=DEATHS)
        self._suspects: list[set[int]] = [set() for _ in range(crew.shards)]
        """By shard: URLs that were in flight when it crashed, and were not asked for since."""
        self._poison: list[set[int]] = [set() for _ in range(crew.shards)]

    def set_ip_wait(self, ip_wait_s: float) -> None:
        """Another time between two requests to one address."""
        self._ip_wait_ns = round(ip_wait_s * 1e9)

    def mend(self, child: Child, code: int) -> str | None:
        """Start a successor of a child that ended with ``code``.

        Returns:
            Why the crawl must end instead; None when there is a successor.
        """
        code = 1 if child.pid in self._bad else code
        self._say(f"{child.name} ended with {code}; starting it again")
        in_flight: list[int] = []
        if child.role == "shard":
            in_flight = self._suspect(child.index, code)
            self._give_back(child.index)
            self._deaths.append(self._clock.now_ns())
        elif child.role == "seeder" or (not self._blame(child) and code > 0):
            # No page did it and nobody killed it: what is wrong with it is wrong again.
            self._deaths.append(self._clock.now_ns())
        if self._is_loop():
            text = f"{child.name} died for the {DEATHS}rd time within a minute"
            return f"{text}; in flight: {self._names(in_flight)}" if in_flight else text
        self._crew.replace(child, **self._blamed(child))
        return None

    def discard(self, child: Child) -> None:
        """End a child that is at fault; it is to be mended as one that died of itself."""
        self._bad.add(child.pid)
        child.kill()

    def cut_short(self, deadline_s: float) -> None:
        """End parsers that take too long for a page; each is to be mended, its page charged."""
        for parser in self._crew.of("parser"):
            memory = self._memory.parser[parser.index]
            page_id = memory.overdue(self._clock.now_ns(), round(deadline_s * 1e9))
            if page_id is None or parser.exit_code() is not None:
                continue
            parser.kill()
            blamed = memory.blamed()
            if blamed and blamed[0] == page_id:
                self._say(f"{parser.name} took longer than parserDeadline for a page")
            else:
                memory.end()  # it was through in the last moment: no page is to blame

    def clear(self, page_id: int) -> None:
        """A suspect was asked for, and its shard lives."""
        self._suspects[page_id >> ID_SHARD_SHIFT].discard(page_id)

    def _blamed(self, child: Child) -> dict[str, list[int]]:
        """What a successor must know of the crashes of its predecessors."""
        if child.role != "shard":
            return {}
        suspects, poison = self._suspects[child.index], self._poison[child.index]
        return {"suspects": sorted(suspects), "poison": sorted(poison)}

    def _suspect(self, shard: int, code: int) -> list[int]:
        """Draw conclusions from what was in flight; returns it."""
        memory = self._memory.shard[shard]
        in_flight = memory.transfers()
        is_alone = memory.words.load(ShardWord.IN_FLIGHT) == 1
        memory.forget_transfers()
        if code not in CRASHES:
            return in_flight
        suspects = self._suspects[shard]
        if is_alone and suspects.issuperset(in_flight):
            suspects.difference_update(in_flight)
            self._poison[shard].update(in_flight)
        else:
            suspects.update(i for i in in_flight if not i & ID_WITHOUT_ENQ)
        return in_flight

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


def names_of(state: Path, uuid: bytes, ids: list[int]) -> str:
    """URLs by their ids, for humans; what they look like stands in the logs alone."""
    from larbinpy.frontier import inspect  # noqa: PLC0415  (it costs a start, and is rarely needed)

    return inspect.names_of(state, uuid, ids)
