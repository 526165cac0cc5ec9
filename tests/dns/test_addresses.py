"""Hosts with URLs get an address, or fail, and what they fail with is told as larbin does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy._native.hosts import FAILED, HostTable
from larbinpy.dns.addresses import DEAD_AFTER, DEAD_NS, Addresses
from larbinpy.records import Outcome
from larbinpy.testing.resolver import TableResolver
from tests.native.hostrecords import batch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

A, B = b"a.test", b"b.test"
IP4, OTHER4 = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
IP6 = bytes(15) + b"\1"


class Hosts:
    """A host table, a table of names, and the addresses between them."""

    def __init__(
        self,
        table: Mapping[bytes, tuple[bytes, ...]],
        *,
        is_allowed: Callable[[bytes], bool] = lambda ip: True,
        expires_ns: int = 10**12,
    ) -> None:
        self.table = HostTable(wait_ns=0, wait_ip_ns=0)
        self.resolver = TableResolver(table, expires_ns=expires_ns)
        self.addresses = Addresses(self.table, self.resolver, is_allowed=is_allowed)
        self._position = 0

    def put(self, host: bytes, count: int = 1) -> int:
        """Queue URLs of a host; its number."""
        self.table.put(*batch((host, 0, self._position + n * 2) for n in range(count)))
        self._position += 2 * count
        return self.table.find(host)

    def taken(self, now_ns: int = 1) -> list[tuple[int, int]]:
        """Host and code of what may be fetched or must be refused."""
        found = []
        while picked := self.table.acquire(now_ns, 100):
            for host_id, _, code in picked:
                found.append((host_id, code))
                if not code:
                    self.table.skip(host_id)
        return found


def test_a_host_is_asked_for_once_and_gets_its_address() -> None:
    """However many URLs it has."""
    hosts = Hosts({A: (IP4, OTHER4)})
    a = hosts.put(A, 3)
    hosts.addresses.turn(1)
    hosts.put(A)
    hosts.addresses.turn(1)
    assert hosts.resolver.asked == [A]
    assert hosts.addresses.ip(a) == IP4
    assert hosts.addresses.answered == 1
    assert hosts.taken() == [(a, 0)] * 4


def test_ipv6_only() -> None:
    """Also for a host whose number is beyond all that have IPv4."""
    hosts = Hosts({A: (IP6,), B: (IP4,)})
    a, b = hosts.put(A), hosts.put(B)
    hosts.addresses.turn(1)
    assert (hosts.addresses.ip(a), hosts.addresses.ip(b)) == (IP6, IP4)
    assert hosts.addresses.ip(5000) == b""


def test_many_hosts_keep_their_own_addresses() -> None:
    """Numbers grow, and so does what is kept."""
    table = {b"h%d.test" % n: (n.to_bytes(4, "big"),) for n in range(1, 3000)}
    hosts = Hosts(table)
    ids = {host: hosts.put(host) for host in table}
    hosts.addresses.turn(1)
    hosts.addresses.turn(1)
    assert all((hosts.addresses.ip(ids[host]),) == ips for host, ips in table.items())


def test_a_host_may_move_to_the_other_family() -> None:
    """The newest address counts, not the one that has the shorter form."""
    hosts = Hosts({A: (IP4,)})
    a = hosts.put(A)
    hosts.addresses.turn(1)
    hosts.table.failed(a, Outcome.NO_CONNECTION, 5)
    hosts.taken()
    hosts.resolver.table[A] = (IP6,)
    hosts.put(A)
    hosts.table.acquire(10, 1)
    hosts.addresses.turn(10)
    assert hosts.resolver.asked == [A, A]
    assert hosts.addresses.ip(a) == IP6
    hosts.table.failed(a, Outcome.NO_CONNECTION, 15)
    hosts.taken(11)
    hosts.resolver.table[A] = (OTHER4,)
    hosts.put(A)
    hosts.table.acquire(20, 1)
    hosts.addresses.turn(20)
    assert hosts.addresses.ip(a) == OTHER4


def test_questions_wait_for_answers() -> None:
    """And are not asked twice meanwhile."""
    hosts = Hosts({A: (IP4,)})
    hosts.resolver.is_silent = True
    hosts.put(A)
    for _ in range(3):
        hosts.addresses.turn(1)
    assert hosts.resolver.asked == [A]
    assert hosts.addresses.wait_s() < 0
    hosts.resolver.is_silent = False
    assert hosts.addresses.wait_s() == 0
    hosts.addresses.turn(1)
    assert len(hosts.taken()) == 1


@pytest.mark.parametrize(
    ("table", "outcomes"),
    [
        ({}, [Outcome.NO_DNS, Outcome.FAST_NO_DNS, Outcome.FAST_NO_DNS]),
        ({A: (IP4,)}, [Outcome.FORBIDDEN_ADDRESS] * 3),
    ],
)
def test_the_urls_of_a_host_without_address(
    table: dict[bytes, tuple[bytes, ...]], outcomes: list[Outcome]
) -> None:
    """The first one ends as what happened, the others as larbin's fast one where there is one."""
    hosts = Hosts(table, is_allowed=lambda ip: False)
    a = hosts.put(A, 3)
    hosts.addresses.turn(1)
    codes = [code for _, code in hosts.taken()]
    assert [hosts.addresses.outcome(a, code) for code in codes] == outcomes
    assert hosts.addresses.answered == 0


def test_the_first_allowed_address_counts() -> None:
    """A name that also points inside does not take us there."""
    hosts = Hosts({A: (IP4, OTHER4)}, is_allowed=lambda ip: ip != IP4)
    a = hosts.put(A)
    hosts.addresses.turn(1)
    assert hosts.addresses.ip(a) == OTHER4


def test_a_failure_expires() -> None:
    """The host is asked for again, and its URLs are fetched; a new failure is told in full."""
    hosts = Hosts({}, expires_ns=100)
    a = hosts.put(A)
    hosts.addresses.turn(1)
    assert [hosts.addresses.outcome(a, code) for _, code in hosts.taken()] == [Outcome.NO_DNS]
    hosts.put(A)
    assert [hosts.addresses.outcome(a, c) for _, c in hosts.taken(50)] == [Outcome.FAST_NO_DNS]
    hosts.put(A)
    hosts.taken(200)
    hosts.addresses.turn(200)
    assert hosts.resolver.asked == [A, A]


# --- hosts that cannot be reached ----------------------------------------------------------------


def reachable() -> tuple[Hosts, int]:
    hosts = Hosts({A: (IP4,)})
    a = hosts.put(A, 10)
    hosts.addresses.turn(1)
    return hosts, a


def test_a_host_is_dead_after_three_failures_in_a_row() -> None:
    """Its other URLs end as ``fastNoConn``, for a day."""
    hosts, a = reachable()
    for _ in range(DEAD_AFTER):
        assert hosts.table.state_of(a) != FAILED
        hosts.table.acquire(1, 1)
        hosts.addresses.noted(a, is_unreachable=True, now_ns=1)
        hosts.table.release(a, 1, 1)
    assert hosts.table.state_of(a) == FAILED
    taken = hosts.taken(2)
    assert len(taken) == 10 - DEAD_AFTER
    assert {hosts.addresses.outcome(a, code) for _, code in taken} == {Outcome.FAST_NO_CONN}
    hosts.put(A)
    hosts.taken(DEAD_NS + 10)
    hosts.addresses.turn(DEAD_NS + 10)
    assert hosts.resolver.asked == [A, A]


def test_an_answer_clears_the_count() -> None:
    """Only failures in a row count."""
    hosts, a = reachable()
    for is_unreachable in [True, True, False] * 3:
        hosts.table.acquire(1, 1)
        hosts.addresses.noted(a, is_unreachable, 1)
        hosts.table.release(a, 1, 1)
    assert hosts.table.state_of(a) != FAILED
