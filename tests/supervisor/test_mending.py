"""Who is to blame for the death of a shard; the crew is played."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, cast

import pytest

from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ
from larbinpy.shared import CrawlMemory
from larbinpy.supervisor.mending import CRASHES, DEATHS, Mender
from larbinpy.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.children import Child
    from larbinpy.supervisor.crew import Crew

SHARD = 1
A, B, C = (SHARD << ID_SHARD_SHIFT | number for number in (5, 6, 7))
ROBOTS = SHARD << ID_SHARD_SHIFT | ID_WITHOUT_ENQ | 1
SEGV = -int(signal.SIGSEGV)


class Dead:
    """A shard that has died."""

    role, index, name, pid = "shard", SHARD, f"shard {SHARD}", 1


class Played:
    """A crew that only remembers what successors are told."""

    shards = 2

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}

    def replace(self, _dead: object, **more: Any) -> None:
        self.told = more


class Watch:
    """A mender and what it sees."""

    def __init__(self, memory: CrawlMemory) -> None:
        self.crew = Played()
        self.clock = FakeClock()
        self.said: list[str] = []
        self.mender = Mender(
            cast("Crew", self.crew),
            memory,
            self.clock,
            ip_wait_s=1.0,
            names=lambda ids: f"{len(ids)} URLs",
            say=self.said.append,
        )
        self._memory = memory

    def dies(self, code: int, *in_flight: int, after_s: float = 100.0) -> str | None:
        """A shard dies with these URLs in flight."""
        self.clock.pass_s(after_s)
        slots = self._memory.shard[SHARD].forget_transfers()
        for page_id in in_flight:
            slots.begin(page_id, page_id)
        return self.mender.mend(cast("Child", Dead()), code)

    @property
    def suspects(self) -> list[int]:
        found: list[int] = self.crew.told["suspects"]
        return found

    @property
    def poison(self) -> list[int]:
        found: list[int] = self.crew.told["poison"]
        return found


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Nobody has died."""
    memory = CrawlMemory.create(2, 1)
    yield Watch(memory)
    os.close(memory.fd)


@pytest.mark.parametrize("code", sorted(CRASHES))
def test_what_was_in_flight_at_a_crash_is_suspected(watch: Watch, code: int) -> None:
    """After SEGV, ABRT and BUS; requests that stand in no log cannot be."""
    watch.dies(code, A, B, ROBOTS)
    assert (watch.suspects, watch.poison) == ([A, B], [])


@pytest.mark.parametrize("code", [-signal.SIGKILL, -signal.SIGTERM, 1])
def test_other_deaths_charge_nobody(watch: Watch, code: int) -> None:
    """A kill from outside is not the fault of what was in flight, even of one that was alone."""
    watch.dies(code, A)
    watch.dies(code, A)
    assert (watch.suspects, watch.poison) == ([], [])


def test_a_suspect_that_was_alone_is_poison(watch: Watch) -> None:
    """The others stay suspects."""
    watch.dies(SEGV, A, B, C)
    watch.dies(SEGV, B)
    assert (watch.suspects, watch.poison) == ([A, C], [B])


def test_one_crash_alone_is_no_proof(watch: Watch) -> None:
    """It takes two: what is alone in flight may be a bystander of a fault of ours."""
    watch.dies(SEGV, A)
    assert (watch.suspects, watch.poison) == ([A], [])
    watch.dies(SEGV, A)
    assert (watch.suspects, watch.poison) == ([], [A])


def test_who_was_cleared_is_no_suspect(watch: Watch) -> None:
    """A crash later is a first crash again."""
    watch.dies(SEGV, A, B)
    watch.mender.clear(A)
    watch.dies(SEGV, A)
    assert (watch.suspects, watch.poison) == ([A, B], [])


def test_a_kill_does_not_clear_suspects(watch: Watch) -> None:
    """The next successor asks for those alone that its predecessor has not come to."""
    watch.dies(SEGV, A, B)
    watch.dies(-signal.SIGKILL, A)
    assert watch.suspects == [A, B]


def test_the_third_death_within_a_minute_names_what_was_in_flight(watch: Watch) -> None:
    """And there is no successor."""
    for _ in range(DEATHS - 1):
        assert watch.dies(-signal.SIGKILL, A, B, after_s=1.0) is None
    watch.crew.told = {}
    fault = watch.dies(-signal.SIGKILL, A, B, after_s=1.0)
    assert fault == "shard 1 died for the 3rd time within a minute; in flight: 2 URLs"
    assert watch.crew.told == {}


def test_nothing_in_flight_is_not_named(watch: Watch) -> None:
    """The message ends before."""
    faults = [watch.dies(1, after_s=1.0) for _ in range(DEATHS)]
    assert faults[-1] == "shard 1 died for the 3rd time within a minute"
