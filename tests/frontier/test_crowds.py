"""Domains with very many hosts are found; the public suffix list is asked about few hosts."""

from __future__ import annotations

from larbinpy.frontier.crowds import CROWD, Crowds

MANY = 20_000


def test_domains_with_very_many_hosts_are_found() -> None:
    """From the host on that is one too many; a shared end is no domain."""
    crowds = Crowds(lambda host: b".".join(host.split(b".")[-3:]))
    found = [crowds.joined(b"h%d.a.co.uk" % number) for number in range(2 * CROWD + 10)]
    # So many until the end "co.uk" is met often, and from then on as many of the domain.
    assert found == [b""] * (2 * CROWD) + [b"a.co.uk"] * 10
    assert crowds.joined(b"h1.b.co.uk") == b""


def test_few_hosts_are_asked_about() -> None:
    """Twenty thousand domains of their own are none of them a crowd."""
    asked: list[bytes] = []

    def domain_of(host: bytes) -> bytes:
        asked.append(host)
        return host

    crowds = Crowds(domain_of)
    assert {crowds.joined(b"www.d%d.org" % number) for number in range(MANY)} == {b""}
    assert asked == []


def test_counts_end_somewhere() -> None:
    """A crowd stays one, however many join it."""
    crowds = Crowds(lambda _: b"a.org")
    assert {crowds.joined(b"h%d.a.org" % number) for number in range(70_000)} == {b"", b"a.org"}
    assert crowds.joined(b"x.a.org") == b"a.org"
