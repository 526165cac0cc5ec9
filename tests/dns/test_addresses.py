"""How hosts get their addresses, and what becomes of those that get none."""

from __future__ import annotations

from random import Random

import pytest

from larbinpy._native.hosts import FAILED, IDLE, NEW, RESOLVING, SCHEDULED, HostTable
from larbinpy.dns.addresses import Addresses
from larbinpy.dns.base import Answer
from larbinpy.dns.lookups import MAX_LOOKUPS
from larbinpy.dns.named import NamedHosts
from larbinpy.dns.rights import Rights
from larbinpy.politeness.outage import Line
from larbinpy.records import Outcome
from tests.dns.resolvers import NOWHERE, ToldResolver
from tests.native.hostrecords import batch

SECOND = 10**9
NOW = 100 * SECOND
IP = bytes([192, 0, 2, 1])
OTHER = bytes([192, 0, 2, 2])
IP6 = bytes(15) + b"\x07"
HOST = b"a.org"


class Web:
    """A host table with its addresses."""

    def __init__(self, *, not_before_ns: int = 0) -> None:
        self.table = HostTable(wait_ns=SECOND, wait_ip_ns=0)
        self.resolver = ToldResolver()
        self.line = Line(Random(1))
        self.addresses = Addresses(
            self.table, self.resolver,
            Rights(
                is_askable=lambda ip: ip != OTHER, is_allowed=lambda _: True,
                named=NamedHosts(NOWHERE),
            ),
            line=self.line, not_before_ns=not_before_ns,
        )  # fmt: skip

    def put(self, host: bytes = HOST) -> int:
        """A URL of a host has come."""
        self.table.put(*batch([(host, 0, 1)]))
        self.addresses.turn(NOW)
        return self.table.find(host)

    def answer(self, *ips: bytes, now_ns: int = NOW, is_transient: bool = False) -> None:
        """The resolver answers for the host."""
        answer = Answer(HOST, ips, now_ns + SECOND, is_transient=is_transient)
        self.resolver.found.append(answer)
        self.addresses.turn(now_ns)


@pytest.fixture
def web() -> Web:
    """Without hosts."""
    return Web()


@pytest.mark.parametrize("ip", [IP, IP6])
def test_a_host_with_urls_gets_an_address(web: Web, ip: bytes) -> None:
    """Of either family, the first one that is allowed."""
    number = web.put()
    assert (web.resolver.asked, web.table.state_of(number)) == ([HOST], RESOLVING)
    web.answer(OTHER, ip, IP)
    assert (web.table.state_of(number), web.addresses.ip(number)) == (SCHEDULED, ip)
    assert web.addresses.answered == 1


def test_after_a_restart_no_host_is_asked_at_once() -> None:
    """It may have been asked just before."""
    web = Web(not_before_ns=NOW + 5 * SECOND)
    web.put()
    web.answer(IP)
    assert web.table.next_ns() == NOW + 5 * SECOND


@pytest.mark.parametrize(
    ("ips", "first", "later"),
    [
        ((), Outcome.NO_DNS, Outcome.FAST_NO_DNS),
        ((OTHER,), Outcome.FORBIDDEN_ADDRESS, Outcome.FORBIDDEN_ADDRESS),
    ],
)
def test_a_host_without_an_address_fails(
    web: Web, ips: tuple[bytes, ...], first: Outcome, later: Outcome
) -> None:
    """Its first URL has the outcome, the others larbin's fast one."""
    number = web.put()
    web.answer(*ips)
    assert web.table.state_of(number) == FAILED
    ((_, _, code),) = web.table.acquire(NOW, 5)
    assert [web.addresses.outcome(number, code) for _ in range(2)] == [first, later]


def test_a_lookup_without_an_answer_is_made_again(web: Web) -> None:
    """Each time when the resolver's memory of it has run out; then the host fails."""
    number = web.put()
    for tries in range(1, MAX_LOOKUPS):
        now = NOW + tries * 2 * SECOND
        web.answer(now_ns=now, is_transient=True)
        assert web.table.state_of(number) == RESOLVING
        assert web.addresses.wait_s(now) == 1.0
        web.addresses.turn(now + SECOND)
        assert len(web.resolver.asked) == tries + 1
    web.answer(now_ns=NOW + 20 * SECOND, is_transient=True)
    assert web.table.state_of(number) == FAILED


def test_while_our_own_line_is_down_no_host_fails(web: Web) -> None:
    """The lookups go on."""
    number = web.put()
    for n in range(1000):
        web.line.silent(b"%d" % n, NOW)
    for tries in range(10):
        now = NOW + tries * 2 * SECOND
        web.answer(now_ns=now, is_transient=True)
        web.addresses.turn(now + SECOND)
    assert web.table.state_of(number) == RESOLVING
    web.answer(IP, now_ns=NOW + 60 * SECOND)
    assert web.table.state_of(number) == SCHEDULED


def test_a_wanted_host_has_no_urls(web: Web) -> None:
    """It is asked for once."""
    number = web.addresses.want(HOST)
    assert web.addresses.want(HOST) == number
    assert (web.resolver.asked, web.table.state_of(number)) == ([HOST], NEW)
    web.answer(IP)
    assert web.table.state_of(number) == IDLE
    web.addresses.want(HOST)
    assert web.resolver.asked == [HOST]


def test_an_address_that_ran_out_is_looked_up_again(web: Web) -> None:
    """scrapy/scrapy#3867: hosts move; one that cannot be looked up now keeps its address."""
    number = web.put()
    web.answer(IP)
    web.addresses.renew(number, HOST, NOW)
    assert web.resolver.asked == [HOST]
    web.addresses.renew(number, HOST, NOW + SECOND)
    web.addresses.renew(number, HOST, NOW + SECOND)
    assert web.resolver.asked == [HOST] * 2
    for _ in range(MAX_LOOKUPS):
        web.answer(now_ns=NOW + SECOND, is_transient=True)
        web.addresses.turn(NOW + 3 * SECOND)
    assert (web.addresses.ip(number), web.table.state_of(number)) == (IP, SCHEDULED)
    web.addresses.renew(number, HOST, NOW + 99 * SECOND)
    web.answer(IP6, now_ns=NOW + 99 * SECOND)
    assert web.addresses.ip(number) == IP6


def test_a_host_that_is_given_up_ends_fast(web: Web) -> None:
    """Nobody asks it; forbidden ones are forbidden."""
    number = web.put()
    web.answer(IP)
    web.addresses.give_up(number, Outcome.NO_CONNECTION, NOW + 60 * SECOND)
    ((_, _, code),) = web.table.acquire(NOW, 5)
    assert web.addresses.outcome(number, code) is Outcome.FAST_NO_CONN


def test_a_host_given_up_meanwhile_gets_its_old_address_again(web: Web) -> None:
    """Its address is being renewed when it is to be looked up as if it were new."""
    number = web.put()
    web.answer(IP)
    web.addresses.renew(number, HOST, NOW + SECOND)
    web.addresses.give_up(number, Outcome.NO_CONNECTION, NOW + 2 * SECOND)
    web.table.acquire(NOW, 5)
    web.table.put(*batch([(HOST, 0, 1)]))
    web.table.acquire(NOW + 3 * SECOND, 5)
    web.addresses.turn(NOW + 3 * SECOND)
    assert web.table.state_of(number) == RESOLVING
    web.answer(IP, now_ns=NOW + 4 * SECOND)
    assert web.table.state_of(number) == SCHEDULED
