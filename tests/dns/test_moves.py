"""Which address a host has, when it moves, and who may use it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.hosts import BUSY, FAILED, SCHEDULED, HostTable
from larbinpy.dns.addresses import Addresses
from larbinpy.dns.base import Answer
from larbinpy.dns.named import NamedHosts
from larbinpy.dns.names import stand_in
from larbinpy.dns.rights import Rights
from larbinpy.politeness.outage import Line
from tests.native.hostrecords import batch

if TYPE_CHECKING:
    from pathlib import Path

SECOND_NS = 10**9
TTL_NS = 100 * SECOND_NS
ONE, TWO, THREE = (bytes((9, 9, 9, n)) for n in (1, 2, 3))
SIX = bytes.fromhex("2600") + bytes(14)
PRIVATE, NOBODYS = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))


class TableResolver:
    """Answers from a table, at once."""

    def __init__(self) -> None:
        self.table: dict[bytes, tuple[bytes, ...]] = {}
        self.further: dict[bytes, tuple[bytes, ...]] = {}
        self.asked: list[bytes] = []
        self.now_ns = 0
        self._answers: list[Answer] = []

    def submit(self, host: bytes) -> None:
        self.asked.append(host)
        self._answer(host, self.table.get(host, ()))

    def submit_further(self, host: bytes) -> None:
        self._answer(host, self.table[host] + self.further.get(host, ()))

    def _answer(self, host: bytes, ips: tuple[bytes, ...]) -> None:
        self._answers.append(Answer(host, ips, self.now_ns + TTL_NS))

    def answers(self) -> list[Answer]:
        found, self._answers = self._answers, []
        return found

    def wait_s(self) -> float:
        return -1

    def close(self) -> None:
        pass


class World:
    """One shard's hosts with what they are told."""

    def __init__(self, path: Path) -> None:
        self.hosts = HostTable(wait_ns=0, wait_ip_ns=0)
        self.resolver = TableResolver()
        self.path = path
        self.addresses = self.restarted()

    def restarted(self) -> Addresses:
        return Addresses(
            self.hosts,
            self.resolver,
            Rights(
                is_askable=lambda ip: ip != NOBODYS,
                is_allowed=lambda ip: ip[0] != PRIVATE[0],
                named=NamedHosts(self.path),
            ),
            line=Line(Random(1)),
        )

    def add(self, host: bytes, *ips: bytes) -> int:
        """A host with a URL, looked up."""
        self.resolver.table[host] = ips
        self.hosts.put(*batch([(host, 0, 1)]))
        self.turn()
        return self.hosts.find(host)

    def renew(self, host_id: int, host: bytes, now_ns: int) -> None:
        self.resolver.now_ns = now_ns
        self.addresses.renew(host_id, host, now_ns)

    def turn(self, now_ns: int = 0) -> None:
        self.resolver.now_ns = now_ns
        self.addresses.turn(now_ns)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "named")


def test_a_host_gets_its_first_address(world: World) -> None:
    """IPv4 or IPv6; without one it fails."""
    ids = [world.add(b"a", ONE, TWO), world.add(b"b", SIX), world.add(b"c"), world.add(b"d", ONE)]
    assert [world.addresses.ip(host) for host in (ids[0], ids[1], ids[3])] == [ONE, SIX, ONE]
    states = [world.hosts.state_of(host) for host in ids]
    assert states == [SCHEDULED, SCHEDULED, FAILED, SCHEDULED]
    assert world.addresses.answered == 3


def test_the_next_address_is_tried_when_one_does_not_answer(world: World) -> None:
    """Each once; then the request has failed."""
    host = world.add(b"a", ONE, TWO, THREE)
    seen = [world.addresses.ip(host)]
    while world.addresses.fails_over(host, 0):
        seen.append(world.addresses.ip(host))
    assert seen == [ONE, TWO, THREE]


def test_the_other_family_is_asked_for_when_none_answers(world: World) -> None:
    """The next failure goes on to it."""
    host = world.add(b"a", ONE)
    world.resolver.further[b"a"] = (SIX,)
    assert not world.addresses.fails_over(host, 0)
    world.addresses.look_further(host, b"a")
    world.turn()
    assert world.addresses.ip(host) == ONE
    assert world.addresses.fails_over(host, 0)
    assert world.addresses.ip(host) == SIX


def test_an_answer_is_asked_for_again_when_it_does_not_hold(world: World) -> None:
    """Not before; once at a time; the old address is used until then."""
    host = world.add(b"a", ONE)
    later_ns = TTL_NS + 2 * SECOND_NS
    world.renew(host, b"a", TTL_NS - SECOND_NS)
    assert world.resolver.asked == [b"a"]
    world.resolver.table[b"a"] = (TWO,)
    for _ in range(3):
        world.renew(host, b"a", later_ns)
    assert (world.resolver.asked, world.addresses.ip(host)) == ([b"a"] * 2, ONE)
    world.turn(later_ns)
    assert world.addresses.ip(host) == TWO
    world.renew(host, b"a", later_ns + TTL_NS - SECOND_NS)
    assert len(world.resolver.asked) == 2


def test_a_host_that_is_being_asked_moves_too(world: World) -> None:
    """Its request goes on under the old address, and the table knows where it lives next."""
    host = world.add(b"a", ONE)
    ((taken, _, _),) = world.hosts.acquire(0, 1)
    assert (taken, world.hosts.state_of(host)) == (host, BUSY)
    world.resolver.table[b"a"] = (TWO, THREE)
    world.renew(host, b"a", 2 * TTL_NS)
    world.turn(2 * TTL_NS)
    world.hosts.release(host, 2 * TTL_NS, 2 * TTL_NS)
    assert (world.addresses.ip(host), world.hosts.ips) == (TWO, 2)


def test_the_address_in_use_is_kept_while_it_is_an_answer(world: World) -> None:
    """Name servers turn their answers round; the others wait behind it."""
    host = world.add(b"a", ONE, TWO)
    world.resolver.table[b"a"] = (TWO, ONE)
    world.renew(host, b"a", 2 * TTL_NS)
    world.turn(2 * TTL_NS)
    assert world.addresses.ip(host) == ONE
    assert world.addresses.fails_over(host, 0)
    assert world.addresses.ip(host) == TWO


def test_an_old_address_is_better_than_none(world: World) -> None:
    """A name server that is out of order stops nobody; it is asked again after a while."""
    host = world.add(b"a", ONE)
    world.resolver.table[b"a"] = ()
    world.renew(host, b"a", 2 * TTL_NS)
    world.turn(2 * TTL_NS)
    assert (world.addresses.ip(host), world.hosts.state_of(host)) == (ONE, SCHEDULED)
    world.renew(host, b"a", 2 * TTL_NS + SECOND_NS)
    assert len(world.resolver.asked) == 2


def test_private_addresses_are_left_out(world: World) -> None:
    """Where a name has public ones too."""
    host = world.add(b"a", PRIVATE, ONE)
    assert world.addresses.ip(host) == ONE
    assert world.addresses.rights.permits(host, b"a", is_seed=False)
    assert not world.addresses.fails_over(host, 0)


def test_private_hosts_are_for_urls_of_the_operator(world: World) -> None:
    """And, from the first of those on, for all URLs of that host; in later runs too."""
    first, second = world.add(b"a", PRIVATE), world.add(b"b", PRIVATE)
    asked = [(first, False), (first, True), (first, False), (second, False)]
    hosts = {first: b"a", second: b"b"}
    rights = world.addresses.rights
    permits = [rights.permits(host, hosts[host], is_seed=seed) for host, seed in asked]
    assert permits == [False, True, True, False]
    named = [rights.is_named(host, hosts[host]) for host in (first, second)]
    assert named == [True, False]
    rights.commit()
    assert world.path.read_bytes() == b"a\n"


def test_hosts_may_be_named_before_they_are_looked_up(world: World) -> None:
    """Or after; those that are not known here are passed over."""
    world.resolver.table = {b"a": (PRIVATE,), b"b": (PRIVATE,)}
    first = world.add(b"a", PRIVATE)
    world.addresses.name_all([b"a", b"b", b"elsewhere"])
    assert world.addresses.rights.permits(first, b"a", is_seed=False)
    world.addresses.rights.commit()
    world.hosts = HostTable(wait_ns=0, wait_ip_ns=0)
    world.addresses = world.restarted()
    again, other = world.add(b"a", PRIVATE), world.add(b"b", PRIVATE)
    assert world.addresses.rights.permits(again, b"a", is_seed=False)
    assert not world.addresses.rights.permits(other, b"b", is_seed=False)
    world.addresses.name_all([b"b"])
    assert world.addresses.rights.permits(other, b"b", is_seed=False)


def test_what_may_not_be_asked_at_all_is_for_nobody(world: World) -> None:
    """Whoever names the host."""
    world.hosts.put(*batch([(b"a", 0, 1)]))
    world.addresses.name_all([b"a"])
    host = world.add(b"a", NOBODYS)
    assert world.hosts.state_of(host) == FAILED
    other = world.add(b"b", NOBODYS, PRIVATE)
    assert world.addresses.rights.permits(other, b"b", is_seed=True)
    assert world.addresses.ip(other) == PRIVATE


def test_a_public_name_that_becomes_private_is_closed(world: World) -> None:
    """DNS rebinding: the new address is judged before it is used."""
    host = world.add(b"a", ONE)
    world.resolver.table[b"a"] = (PRIVATE,)
    world.renew(host, b"a", 2 * TTL_NS)
    world.turn(2 * TTL_NS)
    assert not world.addresses.rights.permits(host, b"a", is_seed=False)


def test_what_only_a_proxy_knows_is_no_address(world: World) -> None:
    """Hosts behind it have addresses of their own for the table, and none for the fetcher."""
    ids = [world.add(name, stand_in(name)) for name in (b"a", b"b")]
    assert [world.addresses.ip(host) for host in ids] == [b"", b""]
    assert world.hosts.ips == 2
