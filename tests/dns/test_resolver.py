from __future__ import annotations

import socket
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy.clock import SystemClock
from larbinpy.dns.resolver import AresResolver, system_servers
from larbinpy.testing.clock import FakeClock
from larbinpy.testing.dns import AAAA, CNAME, EVERY_NAME, A, DnsServer, Record
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy._native.eventloop import EventLoop
    from larbinpy.dns.base import Answer


def chain(length: int) -> list[Record]:
    """So many CNAMEs, one after the other, and an address at the end."""
    names = [f"chain{length}.test", *(f"c{n}.test" for n in range(1, length + 1))]
    links = [Record(CNAME, to, name=name) for name, to in pairwise(names)]
    return [*links, Record(A, "10.0.0.8", name=names[-1])]


TABLE = {
    "a.test": [Record(A, "10.0.0.1", 5), Record(A, "10.0.0.2", 600)],
    "v6.test": [Record(AAAA, "2001:db8::1")],
    "both.test": [Record(AAAA, "2001:db8::1"), Record(A, "10.0.0.3")],
    "alias.test": [Record(CNAME, "end.test", 900), Record(A, "10.0.0.4", 700, "end.test")],
    "stray.test": [Record(A, "10.0.0.5", 700, "other.test")],
    "loop.test": [Record(CNAME, "loop.test")],
    "null.test": [Record(A, "0.0.0.0")],
    "empty.test": [],
    "under_score.test": [Record(A, "10.0.0.6")],
    "cut.test": [Record(A, f"10.0.1.{n}") for n in range(200)],
    "spoofed.test": [Record(A, "10.0.0.7")],
    **{f"chain{n}.test": chain(n) for n in (8, 9)},
}
CUT, SPOOFED = frozenset({"cut.test"}), frozenset({"spoofed.test"})
SILENT = frozenset(f"dead{n}.test" for n in range(100))
HOSTS: dict[bytes, tuple[bytes, ...]] = {b"named.test": (b"\x09\x09\x09\x09",)}


@pytest.fixture
def server() -> Iterator[DnsServer]:
    broken = frozenset({"broken.test"})
    with DnsServer(TABLE, silent=SILENT, broken=broken, cut=CUT, spoofed=SPOOFED) as running:
        yield running


@pytest.fixture
def resolver(server: DnsServer, loop: EventLoop) -> Iterator[AresResolver]:
    resolver = AresResolver(loop, SystemClock(), hosts=HOSTS, servers=[server.address])
    yield resolver
    resolver.close()


def ask(loop: EventLoop, resolver: AresResolver, *hosts: bytes) -> list[Answer]:
    """The first answers to these hosts, in the order of arrival."""
    for host in hosts:
        resolver.submit(host)
    found: list[Answer] = []
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found += resolver.answers()
        if len(found) >= len(hosts):
            break
        loop.poll(min(max(resolver.wait_s(), 0.0), 0.05))
    return found


def ask_nothing(loop: EventLoop, resolver: AresResolver, count: int = 1) -> list[Answer]:
    """So many answers that come without a question of this call."""
    found: list[Answer] = []
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found += resolver.answers()
        if len(found) >= count:
            break
        loop.poll(0.05)
    return found


def ips(loop: EventLoop, resolver: AresResolver, host: bytes) -> tuple[bytes, ...]:
    (answer,) = ask(loop, resolver, host)
    assert answer.host == host
    assert bool(answer.ips) != bool(answer.error)
    return answer.ips


def ipv4(last: int) -> bytes:
    return bytes((10, 0, 0, last))


V6 = bytes.fromhex("20010db8000000000000000000000001")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (b"a.test", (ipv4(1), ipv4(2))),
        (b"a.test.", (ipv4(1), ipv4(2))),
        (b"v6.test", (V6,)),
        (b"both.test", (ipv4(3),)),
        (b"alias.test", (ipv4(4),)),
        (b"under_score.test", (ipv4(6),)),
        (b"stray.test", ()),
        (b"loop.test", ()),
        (b"null.test", ()),
        (b"empty.test", ()),
        (b"missing.test", ()),
        (b"broken.test", ()),
        (b"spoofed.test", (ipv4(7),)),
        (b"chain8.test", (ipv4(8),)),
        (b"chain9.test", ()),
        (b"bad..name", ()),
        (b"x" * 64 + b".test", ()),
        (b"\xff.test", ()),
        (b"named.test", HOSTS[b"named.test"]),
        (b"localhost", (b"\x7f\x00\x00\x01",)),
        (b"nobody.invalid", ()),
        (b"127.0.0.9", (b"\x7f\x00\x00\x09",)),
        (b"[::1]", (bytes(15) + b"\x01",)),
    ],
)
def test_answers(
    loop: EventLoop, resolver: AresResolver, host: bytes, expected: tuple[bytes, ...]
) -> None:
    """scrapy/scrapy#6674, internetarchive/heritrix3#665, #718: each kind of name gets its
    addresses, or a reason."""
    assert ips(loop, resolver, host) == expected


def test_an_answer_that_is_cut_is_asked_for_over_tcp(
    server: DnsServer, loop: EventLoop, resolver: AresResolver
) -> None:
    """What came over UDP does not count; of two hundred addresses four are kept."""
    assert ips(loop, resolver, b"cut.test") == tuple(bytes((10, 0, 1, n)) for n in range(4))
    assert server.asked_tcp["cut.test", A] == 1


def test_the_other_family_is_asked_for_when_it_is_needed(
    server: DnsServer, loop: EventLoop, resolver: AresResolver
) -> None:
    """Beside what is known; a name without it is answered as before."""
    for host, expected in ((b"both.test", (ipv4(3), V6)), (b"a.test", (ipv4(1), ipv4(2)))):
        ips(loop, resolver, host)
        resolver.submit_further(host)
        (answer,) = ask_nothing(loop, resolver)
        assert (answer.host, answer.ips) == (host, expected)
        assert ips(loop, resolver, host) == expected
    assert server.asked["both.test", AAAA] == 1


def test_a_hundred_dead_names_delay_a_good_one_by_less_than_50_ms(
    server: DnsServer, loop: EventLoop
) -> None:
    """curl/curl#8515, xroche/httrack#613: with the default number of places; ten times.

    No time passes for the resolver: nobody leaves a place. A busy machine may be late nine times.
    """
    waits_s = []
    for _ in range(10):
        resolver = AresResolver(loop, FakeClock(), servers=[server.address])
        for name in SILENT:
            resolver.submit(name.encode())
        begin = time.monotonic()
        (answer,) = ask(loop, resolver, b"a.test")
        waits_s.append(time.monotonic() - begin)
        resolver.close()
        assert answer.ips == (ipv4(1), ipv4(2))
    assert min(waits_s) < 0.05


def test_smallest_ttl_counts(loop: EventLoop, resolver: AresResolver) -> None:
    """The TTL is the smallest of the chain and the addresses, and a minute at least."""
    for host, kept_s in ((b"alias.test", 700), (b"a.test", 60)):
        before_ns = time.monotonic_ns()
        (answer,) = ask(loop, resolver, host)
        after_ns = time.monotonic_ns()
        assert before_ns <= answer.expires_ns - kept_s * 10**9 <= after_ns


def test_one_lookup_per_name(server: DnsServer, loop: EventLoop, resolver: AresResolver) -> None:
    """A name asked for twice is looked up once; each spelling gets its answer; then memory."""
    before = server.asked["both.test", A]
    found = ask(loop, resolver, b"both.test", b"both.test.")
    assert {answer.host for answer in found} == {b"both.test", b"both.test."}
    assert ips(loop, resolver, b"both.test") == (ipv4(3),)
    assert server.asked["both.test", A] == before + 1


def test_so_many_lookups_are_made_at_a_time(server: DnsServer, loop: EventLoop) -> None:
    """Norconex/crawler#235: the other names wait for a place."""
    resolver = AresResolver(loop, FakeClock(), parallel=3, servers=[server.address])
    names = [f"dead{n}.test" for n in range(9)]
    before = {name: server.asked[name, A] for name in names}
    for name in names:
        resolver.submit(name.encode())
    assert resolver.answers() == []
    loop.poll(0.05)
    assert resolver.answers() == []
    assert sum(server.asked[name, A] > before[name] for name in names) <= 3
    resolver.close()


def test_dead_names_do_not_hold_up_others(server: DnsServer, loop: EventLoop) -> None:
    """xroche/httrack#606: A good name behind as many dead ones as there are places waits for 250
    ms, not for 5 s."""
    clock = FakeClock()
    resolver = AresResolver(loop, clock, parallel=20, servers=[server.address])
    for n in range(20):
        resolver.submit(b"dead%d.test" % n)
    before = server.asked["a.test", A]
    resolver.submit(b"a.test")
    assert resolver.answers() == []
    clock.pass_s(0.249)
    assert resolver.answers() == []
    clock.pass_s(0.002)
    (answer,) = ask_nothing(loop, resolver)
    resolver.close()
    assert (answer.host, server.asked["a.test", A]) == (b"a.test", before + 1)


def wait_for(loop: EventLoop, resolver: AresResolver, clock: FakeClock, said: list[str]) -> None:
    """Until an outage is told; nobody has an answer before."""
    deadline = time.monotonic() + PATIENCE_S
    while not said and time.monotonic() < deadline:
        assert resolver.answers() == []
        clock.pass_s(0.1)
        loop.poll(0.01)


@pytest.mark.parametrize("is_known", [True, False])
def test_an_outage_of_the_name_servers_is_no_names_fault(
    server: DnsServer, loop: EventLoop, *, is_known: bool
) -> None:
    """xroche/httrack#1392: until they answer, whether they did before or not, lookups are held and
    made again in turn; then each is made once more, and a name that is dead is found to be."""
    clock = FakeClock()
    said: list[str] = []
    resolver = AresResolver(loop, clock, servers=[server.address], say=said.append)
    if is_known:
        ask(loop, resolver, b"a.test")
    clock.pass_s(1)
    server.broken, usual = EVERY_NAME, server.broken
    resolver.submit(b"both.test")
    resolver.submit(b"broken.test")
    before = server.asked.copy()
    wait_for(loop, resolver, clock, said)
    assert all(server.asked[name, A] - before[name, A] > 2 for name in ("both.test", "broken.test"))
    server.broken = usual
    clock.pass_s(60)
    found = ask_nothing(loop, resolver, 2)
    resolver.close()
    assert {(one.host, one.ips, one.is_transient) for one in found} == {
        (b"both.test", (ipv4(3),), False),
        (b"broken.test", (), True),
    }
    why = f"{server.address}: DNS server returned general failure"
    assert said == [f"no name server answers ({why}); names wait until one does",
                    "a name server answers again"]  # fmt: skip


def test_the_systems_servers_are_followed_while_none_answers(
    server: DnsServer, loop: EventLoop
) -> None:
    """A crawl may be started before the network is up, when the system has none that is any use."""
    clock = FakeClock()
    said: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind(("127.0.0.1", 0))
        servers = ["{}:{}".format(*nobody.getsockname())]
        resolver = AresResolver(loop, clock, system=servers.copy, say=said.append)
        resolver.submit(b"a.test")
        wait_for(loop, resolver, clock, said)
        assert servers[0] in said[0]
        servers[:] = [server.address]
        clock.pass_s(60)
        (answer,) = ask_nothing(loop, resolver)
    resolver.close()
    assert answer.ips == (ipv4(1), ipv4(2))


def test_the_system_has_servers() -> None:
    """Those of resolv.conf, if it is there."""
    with suppress(OSError):
        words = [line.split() for line in Path("/etc/resolv.conf").read_text().splitlines()]
        named = [line[1] for line in words if line[:1] == ["nameserver"]]
        assert all(any(name in server for server in system_servers()) for name in named[:3])
    assert all(":" in server for server in system_servers())


def test_who_is_not_patient_waits_for_no_server(server: DnsServer, loop: EventLoop) -> None:
    """Commands that ask once."""
    server.broken = EVERY_NAME
    resolver = AresResolver(loop, FakeClock(), servers=[server.address], is_patient=False)
    (answer,) = ask(loop, resolver, b"a.test")
    resolver.close()
    assert (answer.ips, answer.is_transient) == ((), True)


@pytest.mark.slow
def test_dead_name_ends_in_time(loop: EventLoop, resolver: AresResolver) -> None:
    """A name that nobody answers for is a failure within 5 s."""
    begin = time.monotonic()
    assert ips(loop, resolver, b"dead0.test") == ()
    assert time.monotonic() - begin < 50


def test_nothing_to_do_means_no_wake_up(loop: EventLoop, resolver: AresResolver) -> None:
    """curl/curl#21547: without a lookup the loop may sleep for ever."""
    assert resolver.wait_s() == -1
    assert resolver.answers() == []
    assert ips(loop, resolver, b"a.test")
    assert resolver.wait_s() == -1
