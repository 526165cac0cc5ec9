"""Names are asked for once at a time, and again when nobody answers."""

from __future__ import annotations

from random import Random

import pytest

from larbinpy.dns.base import Answer
from larbinpy.dns.lookups import ASKED_MAX, MAX_LOOKUPS, Lookups
from larbinpy.politeness.outage import Line
from tests.dns.resolvers import ToldResolver

SECOND = 10**9
HOST = b"a.org"
IP = bytes((9, 9, 9, 1))


class Run:
    """Lookups with what is asked and answered."""

    def __init__(self) -> None:
        self.resolver = ToldResolver(wait_s=5.0)
        self.lookups = Lookups(self.resolver, Line(Random(1)))

    def answer(self, now_ns: int, *ips: bytes) -> list[tuple[int, bool]]:
        """The host is answered, or nobody answers; returns hosts that are to know."""
        self.resolver.found.append(Answer(HOST, ips, now_ns + SECOND, is_transient=not ips))
        return [found[:2] for found in self.lookups.found(now_ns)]


@pytest.fixture
def run() -> Run:
    return Run()


def test_a_name_is_asked_for_once(run: Run) -> None:
    """Whoever wants it meanwhile; then it may be asked for again."""
    for _ in range(3):
        run.lookups.ask(7, HOST)
    run.lookups.ask_further(7, HOST)
    assert (run.resolver.asked, run.resolver.further) == ([HOST], [])
    assert run.lookups.room == ASKED_MAX - 1
    assert run.answer(0, IP) == [(7, False)]
    run.lookups.ask_further(7, HOST)
    assert run.resolver.further == [HOST]


def test_a_host_that_has_lost_its_address_is_new(run: Run) -> None:
    """The lookup that was to renew it answers that, too."""
    run.lookups.ask(7, HOST, is_known=True)
    run.lookups.ask(7, HOST)
    assert run.answer(0, IP) == [(7, False)]


def test_an_answer_that_nobody_waits_for_is_dropped(run: Run) -> None:
    """A resolver may know aliases of names."""
    assert run.answer(0, IP) == []


def test_silence_is_met_by_another_lookup(run: Run) -> None:
    """When the resolver has forgotten it; at last the host is told."""
    run.lookups.ask(7, HOST, is_known=True)
    for lookups in range(1, MAX_LOOKUPS):
        now_ns = 10 * lookups * SECOND
        assert run.answer(now_ns) == []
        assert run.lookups.wait_s(now_ns) == 1.0
        assert run.lookups.found(now_ns + SECOND) == []
        assert run.resolver.asked == [HOST] * (lookups + 1)
    assert run.answer(99 * SECOND) == [(7, True)]
    assert run.lookups.wait_s(99 * SECOND) == 5.0


def test_an_answer_ends_the_count_of_silences(run: Run) -> None:
    """The next silence is the first one."""
    for _ in range(MAX_LOOKUPS):
        run.lookups.ask(7, HOST)
        assert run.answer(0) == []
        run.lookups.found(SECOND)
        assert run.answer(SECOND, IP) == [(7, False)]
