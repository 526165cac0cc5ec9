from __future__ import annotations

import pytest

from larbinpy.dns.names import MAX_ADDRESSES, MAX_CNAMES, best, canonical, literal, parse_hosts


@pytest.mark.parametrize(
    ("host", "ips"),
    [
        (b"127.0.0.1", (b"\x7f\x00\x00\x01",)),
        (b"[::1]", (bytes(15) + b"\x01",)),
        (b"127.1", ()),
        (b"example.com", ()),
        (b"::1", ()),
        (b"[1.2.3.4]", ()),
        (b"\xff", ()),
    ],
)
def test_literal(host: bytes, ips: tuple[bytes, ...]) -> None:
    """Only the normal spellings of a URL's host are literals."""
    assert literal(host) == ips


def test_hosts_file() -> None:
    """Addresses of a name are gathered; comments and malformed lines are passed over."""
    text = b"1.2.3.4 A.test b.test # c.test\n::1 a.test\n\nnonsense x\n# 9.9.9.9 d\n"
    assert parse_hosts(text) == {
        b"a.test": (b"\x01\x02\x03\x04", bytes(15) + b"\x01"),
        b"b.test": (b"\x01\x02\x03\x04",),
    }


def test_best_addresses() -> None:
    """Few, different, IPv4 first, and never the unspecified address."""
    v6 = bytes(15) + b"\x02"
    ips = [v6, bytes(4), bytes(16)] + [bytes((1, 1, 1, n)) for n in (1, 1, 2, 3, 4, 5)]
    assert best(ips) == tuple(bytes((1, 1, 1, n)) for n in range(1, MAX_ADDRESSES + 1))
    assert best([v6, b"\x01\x01\x01\x01"]) == (b"\x01\x01\x01\x01", v6)


def chain(links: int) -> dict[str, tuple[str, int]]:
    return {f"n{i}": (f"n{i + 1}", 100 + i) for i in range(links)}


def test_chains_of_names() -> None:
    """A chain is followed with its smallest TTL, up to its limit; a loop has no end."""
    assert canonical("n0", chain(MAX_CNAMES)) == (f"n{MAX_CNAMES}", 100)
    assert canonical("n0", chain(MAX_CNAMES + 1)) is None
    assert canonical("a", {"a": ("b", 1), "b": ("a", 1)}) is None
