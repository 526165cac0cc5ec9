"""What c-ares answers, in our terms."""

from __future__ import annotations

import pycares

from larbinpy.dns.aresresults import FINAL, addresses_of, words_of

FIRST, SECOND = bytes((9, 9, 9, 1)), bytes((9, 9, 9, 2))
SIX = bytes.fromhex("20010db8") + bytes(11) + b"\1"


def a(name: str, address: str, ttl_s: int = 60) -> pycares.DNSRecord:
    """An address, of the family that it is written in."""
    is_six = ":" in address
    kind = pycares.QUERY_TYPE_AAAA if is_six else pycares.QUERY_TYPE_A
    data = pycares.AAAARecordData(address) if is_six else pycares.ARecordData(address)
    return pycares.DNSRecord(name, kind, 1, ttl_s, data)


def alias(name: str, target: str, ttl_s: int = 60) -> pycares.DNSRecord:
    """A CNAME."""
    data = pycares.CNAMERecordData(target)
    return pycares.DNSRecord(name, pycares.QUERY_TYPE_CNAME, 1, ttl_s, data)


def found(*records: pycares.DNSRecord) -> tuple[tuple[bytes, ...], int]:
    """What an answer to a question for ``a.test`` has."""
    return addresses_of(b"a.test", pycares.DNSResult(list(records), [], []))


def test_addresses_of_both_families() -> None:
    """IPv4 first, with the smallest TTL; names have any case, with a final dot or not."""
    assert found(a("A.test.", "2001:db8::1", 50), a("a.TEST", "9.9.9.1")) == ((FIRST, SIX), 50)


def test_only_the_end_of_the_chain_counts() -> None:
    """Other records beside it are somebody else's; a link's TTL counts too."""
    chain = (alias("a.test", "B.test.", 30), alias("b.test", "c.test"))
    stray = (a("a.test", "9.9.9.2"), a("x.test", "9.9.9.2", 1))
    assert found(*chain, *stray, a("c.test", "9.9.9.1")) == ((FIRST,), 30)


def test_a_loop_has_no_addresses() -> None:
    """However many stand beside it."""
    assert found(alias("a.test", "a.test"), a("a.test", "9.9.9.1")) == ((), 0)


def test_an_error_has_words() -> None:
    """Which of them are final is for the tests of the resolver."""
    assert all(words_of(error) for error in FINAL)
