"""How long a host in trouble is left alone, when it is given up, and how it comes back."""

from __future__ import annotations

from random import Random

import pytest

from larbinpy.politeness.backoff import (
    BROKEN_IN_A_ROW,
    DEAD_POINTS,
    JITTER,
    MAX_DELAY_NS,
    MAX_REVIVALS,
    MIN_BASE_NS,
    SLOW_NS,
    Backoff,
    Closed,
    HostTrouble,
)
from larbinpy.politeness.trouble import Trouble

SECOND = 10**9
DAY = 86_400 * SECOND
NOW = 10**12
HOST = b"a.org"
BASE = 10 * SECOND


@pytest.fixture
def backoff() -> Backoff:
    """With a wait of a second."""
    return Backoff(Random(1), wait_ns=SECOND, dead_ns=DAY)


def is_about(span_ns: int, expected_ns: int) -> bool:
    """Whether a span is the expected one with jitter."""
    return expected_ns <= span_ns <= expected_ns * (1 + JITTER)


# --- delays ----------------------------------------------------------------------------------


def test_a_healthy_host_is_not_remembered(backoff: Backoff) -> None:
    """It costs nothing."""
    assert backoff.answered(HOST, SLOW_NS - 1, NOW) is None
    assert (len(backoff), backoff.get(HOST)) == (0, None)


def test_each_429_doubles_the_delay(backoff: Backoff) -> None:
    """scrapy/scrapy#4424: from ten waits on, with jitter, up to a limit, and until the host is
    given up."""
    delays = []
    for _ in range(DEAD_POINTS - 1):
        known = backoff.failed(HOST, Trouble.BUSY, NOW)
        delays.append(known.until_ns - NOW)
        assert not known.is_dead
        known.until_ns = 0
    expected = [min(BASE << n, MAX_DELAY_NS) for n in range(7)]
    assert [is_about(delay, wanted) for delay, wanted in zip(delays, expected, strict=True)] == [
        True
    ] * 7


def test_retry_after_is_the_least_delay(backoff: Backoff) -> None:
    """gocolly and others ignore it; it counts also where our own delay is shorter."""
    known = backoff.failed(HOST, Trouble.BUSY, NOW, asked_s=3600.0)
    assert known.until_ns == NOW + 3600 * SECOND
    known = backoff.failed(b"b.org", Trouble.BUSY, NOW, asked_s=1.0)
    assert is_about(known.until_ns - NOW, BASE)


@pytest.mark.parametrize("wait_ns", [0, SECOND])
def test_a_short_dead_host_retry_shortens_no_retry_after(wait_ns: int) -> None:
    """What a host asks for is obeyed, for ten minutes at least."""
    backoff = Backoff(Random(1), wait_ns=wait_ns, dead_ns=SECOND)
    assert backoff.failed(HOST, Trouble.BUSY, NOW, asked_s=300.0).until_ns == NOW + 300 * SECOND


def test_a_host_that_is_well_may_ask_for_a_pause(backoff: Backoff) -> None:
    """With a redirection, or a 404; that is no trouble, and over with the next good answer."""
    known = backoff.asked(HOST, 5.0, NOW)
    assert (known.until_ns, known.level, known.points) == (NOW + 5 * SECOND, 0, 0)
    assert backoff.asked(HOST, 1.0, NOW).until_ns == NOW + 5 * SECOND
    backoff.answered(HOST, 0, NOW + 6 * SECOND)
    assert backoff.get(HOST) is None


def test_retry_after_has_a_limit(backoff: Backoff) -> None:
    """A host that wants to be left alone for a year is as good as dead."""
    known = backoff.failed(HOST, Trouble.BUSY, NOW, asked_s=1e9)
    assert known.until_ns == NOW + DAY


def test_a_delay_never_gets_shorter(backoff: Backoff) -> None:
    """The answer to a request of before says nothing against a Retry-After."""
    backoff.failed(HOST, Trouble.BUSY, NOW, asked_s=3600.0)
    known = backoff.failed(HOST, Trouble.BROKEN, NOW + SECOND)
    assert known.until_ns == NOW + 3600 * SECOND


def test_a_broken_page_is_not_the_hosts_fault(backoff: Backoff) -> None:
    """From the third in a row on it is."""
    untils = [backoff.failed(HOST, Trouble.BROKEN, NOW).until_ns for _ in range(3)]
    assert untils[:2] == [NOW, NOW]
    assert is_about(untils[2] - NOW, BASE)


def test_hosts_blocked_together_do_not_return_together(backoff: Backoff) -> None:
    """apache/stormcrawler#1984."""
    untils = {backoff.failed(b"h%d" % n, Trouble.BUSY, NOW).until_ns for n in range(100)}
    assert len(untils) == 100


def test_the_same_seed_gives_the_same_delays() -> None:
    """Chance comes from outside."""
    first, second = (Backoff(Random(7), wait_ns=0, dead_ns=DAY) for _ in range(2))
    for _ in range(5):
        ours = first.failed(HOST, Trouble.BUSY, NOW)
        assert ours == second.failed(HOST, Trouble.BUSY, NOW)


def test_without_a_wait_the_delay_is_short() -> None:
    """Tests and crawls of one's own servers."""
    known = Backoff(Random(1), wait_ns=0, dead_ns=DAY).failed(HOST, Trouble.BUSY, NOW)
    assert is_about(known.until_ns - NOW, MIN_BASE_NS)


def test_a_long_wait_is_not_multiplied_beyond_the_limit() -> None:
    """Nor shortened."""
    known = Backoff(Random(1), wait_ns=3600 * SECOND, dead_ns=DAY).failed(HOST, Trouble.BUSY, NOW)
    assert is_about(known.until_ns - NOW, 3600 * SECOND)


# --- slow hosts ------------------------------------------------------------------------------


def test_a_slow_host_is_asked_half_of_the_time(backoff: Backoff) -> None:
    """apify/crawlee-python#1437: slower answers never make us faster."""
    known = backoff.answered(HOST, 3 * SECOND, NOW)
    assert known is not None
    assert known.until_ns == NOW + 3 * SECOND
    assert (known.level, known.points) == (0, 0)


def test_a_host_that_gets_slower_is_asked_less(backoff: Backoff) -> None:
    """Four times its latest response; one that stays slow gets the plain pause again."""
    backoff.answered(HOST, 3 * SECOND, NOW)
    growing = backoff.answered(HOST, 6 * SECOND, NOW)
    assert growing is not None
    assert growing.until_ns == NOW + 24 * SECOND
    steady = backoff.answered(HOST, 6 * SECOND, NOW)
    assert steady is not None
    assert steady.until_ns == NOW + 6 * SECOND
    fast = backoff.answered(HOST, SECOND, NOW)
    assert fast is not None
    assert (fast.until_ns, len(backoff)) == (0, 0)


# --- death and return ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [(Trouble.UNREACHABLE, 3), (Trouble.RULES, 3), (Trouble.BUSY, 8), (Trouble.BROKEN, 8)],
)
def test_a_host_is_given_up_after_so_many_failures(
    backoff: Backoff, trouble: Trouble, expected: int
) -> None:
    """In a row, and then for a day with jitter."""
    failures = 1
    while not (known := backoff.failed(HOST, trouble, NOW)).is_dead:
        failures += 1
    assert failures == expected
    assert is_about(known.until_ns - NOW, DAY)


def test_a_dead_host_has_one_try(backoff: Backoff) -> None:
    """A single failure gives it up again, whatever it is."""
    while not backoff.failed(HOST, Trouble.UNREACHABLE, NOW).is_dead:
        pass
    later = NOW + 2 * DAY
    known = backoff.failed(HOST, Trouble.BROKEN, later)
    assert known.is_dead
    assert is_about(known.until_ns - later, DAY)


def test_an_answer_takes_one_level_back(backoff: Backoff) -> None:
    """And all points: the host returns step by step, and is forgotten at the end."""
    for _ in range(3):
        backoff.failed(HOST, Trouble.BUSY, NOW)
    steps = []
    while backoff.get(HOST):
        known = backoff.answered(HOST, 0, NOW)
        assert known is not None
        assert known.points == 0
        steps.append((known.level, known.until_ns and is_about(known.until_ns - NOW, BASE << (
            known.level - 1))))  # fmt: skip
    assert steps == [(2, True), (1, True), (0, 0)]
    assert len(backoff) == 0


def test_what_was_our_own_fault_is_forgiven(backoff: Backoff) -> None:
    """Without a trace."""
    backoff.failed(HOST, Trouble.UNREACHABLE, NOW)
    assert backoff.forgive(HOST) == HostTrouble()
    assert backoff.forgive(HOST) is None
    assert len(backoff) == 0


# --- restarts --------------------------------------------------------------------------------


def test_troubles_survive_a_restart(backoff: Backoff) -> None:
    """As they were."""
    known = backoff.failed(HOST, Trouble.BUSY, NOW, asked_s=5.0)
    successor = Backoff(Random(2), wait_ns=SECOND, dead_ns=DAY)
    successor.restore(HOST, HostTrouble(known.until_ns, known.level, known.points), NOW)
    assert successor.get(HOST) == known


def test_what_is_over_is_not_restored(backoff: Backoff) -> None:
    """A HOST record of zeros says that all is well."""
    backoff.restore(HOST, HostTrouble(NOW - 1), NOW)
    assert len(backoff) == 0


def test_a_clock_that_jumped_delays_for_no_more_than_a_dead_host(backoff: Backoff) -> None:
    """Records have wall clock time."""
    backoff.restore(HOST, HostTrouble(NOW + 1000 * DAY, 1, 1), NOW)
    known = backoff.get(HOST)
    assert known is not None
    assert known.until_ns == NOW + DAY * 3 // 2


# --- origins -----------------------------------------------------------------------------------

HTTP, HTTPS = b"http://a.org:80", b"https://a.org:443"


def give_up(backoff: Backoff, origin: bytes, now_ns: int = NOW) -> HostTrouble:
    """Nobody answers for an origin, until its host is given up."""
    known = backoff.failed(HOST, Trouble.UNREACHABLE, now_ns, origin=origin)
    while not known.is_dead:
        known = backoff.failed(HOST, Trouble.UNREACHABLE, now_ns, origin=origin)
    return known


def test_a_host_is_given_up_for_an_origin(backoff: Backoff) -> None:
    """A URL of another one is a reason to try it; those of the first are not asked for."""
    give_up(backoff, HTTPS)
    assert backoff.revive(HOST, HTTPS, NOW) is None
    known = backoff.revive(HOST, HTTP, NOW)
    assert known is not None
    assert not known.is_dead
    assert is_about(known.until_ns - NOW, BASE)
    assert backoff.closed(HOST, HTTPS, NOW) is Trouble.UNREACHABLE
    assert backoff.closed(HOST, HTTP, NOW) is Trouble.NONE
    assert known.level == 0
    assert backoff.answered(HOST, 0, NOW) is None
    assert backoff.closed(HOST, HTTPS, NOW) is Trouble.UNREACHABLE


def test_a_host_whose_origins_all_fail_is_dead(backoff: Backoff) -> None:
    """Each is tried once, and no more than a few."""
    give_up(backoff, HTTPS)
    for port in range(MAX_REVIVALS):
        origin = b"http://a.org:%d" % port
        assert backoff.revive(HOST, origin, NOW)
        give_up(backoff, origin)
        assert backoff.revive(HOST, origin, NOW) is None
    assert backoff.revive(HOST, HTTP, NOW) is None


def test_a_closed_origin_is_tried_again(backoff: Backoff) -> None:
    """When a dead host would be; nothing is left of it then."""
    known = give_up(backoff, HTTPS)
    backoff.revive(HOST, HTTP, NOW)
    assert known.closed
    later = known.closed.until_ns
    assert is_about(later - NOW, DAY)
    assert backoff.closed(HOST, HTTPS, later - 1) is Trouble.UNREACHABLE
    assert backoff.closed(HOST, HTTPS, later) is Trouble.NONE
    while backoff.get(HOST):
        backoff.answered(HOST, 0, later)


def test_a_host_that_was_dead_before_a_restart_is_so_for_its_origins(backoff: Backoff) -> None:
    """As before; one that was dead as a whole stays so."""
    backoff.restore(HOST, HostTrouble(NOW + DAY, 3, DEAD_POINTS), NOW)
    assert backoff.revive(HOST, HTTP, NOW) is None
    for asked_ns in (0, NOW + 3600 * SECOND):
        closed = Closed({HTTPS: Trouble.UNREACHABLE}, NOW + DAY)
        trouble = HostTrouble(NOW + DAY, 3, DEAD_POINTS, closed=closed, asked_until_ns=asked_ns)
        backoff.restore(HOST, trouble, NOW)
        assert backoff.revive(HOST, HTTPS, NOW) is None
        known = backoff.revive(HOST, HTTP, NOW)
        assert known is not None
        assert is_about(known.until_ns - NOW, BASE) or known.until_ns == asked_ns


def test_revivals_go_on_after_a_restart(backoff: Backoff) -> None:
    """A restart is no reason to try all ports of a dead host."""
    origins = {b"http://a.org:%d" % port: Trouble.UNREACHABLE for port in range(MAX_REVIVALS + 1)}
    trouble = HostTrouble(NOW + DAY, 3, DEAD_POINTS, closed=Closed(origins, NOW + DAY))
    backoff.restore(HOST, trouble, NOW)
    assert backoff.revive(HOST, HTTP, NOW) is None


def test_closed_origins_are_kept_while_their_host_is_well(backoff: Backoff) -> None:
    """Not for longer than they are closed, nor for ever when a clock jumped."""
    origins = {HTTPS: Trouble.UNREACHABLE}
    backoff.restore(HOST, HostTrouble(closed=Closed(origins, NOW)), NOW)
    assert len(backoff) == 0
    backoff.restore(HOST, HostTrouble(closed=Closed(origins, NOW + 1000 * DAY)), NOW)
    assert backoff.closed(HOST, HTTPS, NOW + DAY) is Trouble.UNREACHABLE
    assert backoff.closed(HOST, HTTPS, NOW + 2 * DAY) is Trouble.NONE


def test_another_origin_is_no_way_round_a_retry_after(backoff: Backoff) -> None:
    """It is the host that wants to be left alone."""
    known = backoff.failed(HOST, Trouble.RULES, NOW, origin=HTTPS, asked_s=3600.0)
    while not known.is_dead:
        known = backoff.failed(HOST, Trouble.RULES, NOW, origin=HTTPS)
    revived = backoff.revive(HOST, HTTP, NOW)
    assert revived is not None
    assert revived.until_ns == NOW + 3600 * SECOND


@pytest.mark.parametrize("trouble", [Trouble.BROKEN, Trouble.SILENT])
def test_a_page_that_never_does_well_counts_once(backoff: Backoff, trouble: Trouble) -> None:
    """Seven of them, tried three times each, in a row; the eighth is proof enough."""
    known = HostTrouble()
    for _ in range(DEAD_POINTS - 1):
        for is_repeated in (False, True, True):
            known = backoff.failed(HOST, trouble, NOW, is_repeated=is_repeated)
    assert (known.points, known.level) == (7, 8 - BROKEN_IN_A_ROW)
    assert backoff.failed(HOST, trouble, NOW).is_dead


@pytest.mark.parametrize("trouble", [Trouble.BUSY, Trouble.BROKEN])
def test_a_machine_that_does_not_do_well_is_no_better_elsewhere(
    backoff: Backoff, trouble: Trouble
) -> None:
    """503 and 500 are not those of a port."""
    while not backoff.failed(HOST, trouble, NOW, origin=HTTPS).is_dead:
        pass
    assert backoff.revive(HOST, HTTP, NOW) is None
