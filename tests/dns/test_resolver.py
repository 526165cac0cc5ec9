from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from larbinpy.clock import SystemClock
from larbinpy.dns.resolver import AresResolver
from larbinpy.testing.dns import AAAA, CNAME, A, DnsServer, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy._native.eventloop import EventLoop
    from larbinpy.dns.base import Answer

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
}
SILENT = frozenset(f"dead{n}.test" for n in range(100))
HOSTS: dict[bytes, tuple[bytes, ...]] = {b"named.test": (b"\x09\x09\x09\x09",)}


@pytest.fixture(scope="module")
def server() -> Iterator[DnsServer]:
    with DnsServer(TABLE, silent=SILENT, broken=frozenset({"broken.test"})) as running:
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
    deadline = time.monotonic() + 8
    while len(found) < len(hosts) and time.monotonic() < deadline:
        found += resolver.answers()
        loop.poll(min(max(resolver.wait_s(), 0.0), 0.05))
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
        (b"bad..name", ()),
        (b"x" * 64 + b".test", ()),
        (b"\xff.test", ()),
        (b"named.test", HOSTS[b"named.test"]),
        (b"localhost", (b"\x7f\x00\x00\x01",)),
        (b"127.0.0.9", (b"\x7f\x00\x00\x09",)),
        (b"[::1]", (bytes(15) + b"\x01",)),
    ],
)
def test_answers(
    loop: EventLoop, resolver: AresResolver, host: bytes, expected: tuple[bytes, ...]
) -> None:
    """Each kind of name gets its addresses, or a reason."""
    assert ips(loop, resolver, host) == expected


def test_smallest_ttl_counts(loop: EventLoop, resolver: AresResolver) -> None:
    """The TTL is the smallest of the chain and the addresses, and a minute at least."""
    before_ns = time.monotonic_ns()
    (alias,) = ask(loop, resolver, b"alias.test")
    (short,) = ask(loop, resolver, b"a.test")
    kept_s = [round((answer.expires_ns - before_ns) / 1e9) for answer in (alias, short)]
    assert kept_s == [700, 60]


def test_one_lookup_per_name(server: DnsServer, loop: EventLoop, resolver: AresResolver) -> None:
    """A name asked for twice is looked up once; each spelling gets its answer; then memory."""
    before = server.asked["both.test", A]
    found = ask(loop, resolver, b"both.test", b"both.test.")
    assert {answer.host for answer in found} == {b"both.test", b"both.test."}
    assert ips(loop, resolver, b"both.test") == (ipv4(3),)
    assert server.asked["both.test", A] == before + 1


def test_dead_names_do_not_hold_up_others(server: DnsServer, loop: EventLoop) -> None:
    """A good name behind as many dead ones as there are places waits for 250 ms, not for 5 s."""
    resolver = AresResolver(loop, SystemClock(), parallel=20, servers=[server.address])
    for n in range(20):
        resolver.submit(b"dead%d.test" % n)
    begin = time.monotonic()
    (answer,) = ask(loop, resolver, b"a.test")
    waited_s = time.monotonic() - begin
    resolver.close()
    assert answer.host == b"a.test"
    assert 0.2 < waited_s < 2


@pytest.mark.slow
def test_dead_name_ends_in_time(loop: EventLoop, resolver: AresResolver) -> None:
    """A name that nobody answers for is a failure within 5 s."""
    begin = time.monotonic()
    assert ips(loop, resolver, b"dead0.test") == ()
    assert time.monotonic() - begin < 6


def test_nothing_to_do_means_no_wake_up(loop: EventLoop, resolver: AresResolver) -> None:
    """Without a lookup the loop may sleep for ever."""
    assert resolver.wait_s() == -1
    assert resolver.answers() == []
    assert ips(loop, resolver, b"a.test")
    assert resolver.wait_s() == -1
