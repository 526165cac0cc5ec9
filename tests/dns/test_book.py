"""What is known of addresses, by the numbers of hosts."""

from __future__ import annotations

import pytest

from larbinpy.dns.book import NEVER_S, AddressBook

FOUR, NEXT = bytes((9, 9, 9, 1)), bytes((9, 9, 9, 2))
SIX = bytes.fromhex("2600") + bytes(14)
ANY = bytes(4)
SECOND_NS = 10**9


@pytest.mark.parametrize("ip", [FOUR, SIX, ANY])
def test_an_address_is_what_it_was(ip: bytes) -> None:
    """Of either family, and ``0.0.0.0``, which the array of IPv4 addresses cannot hold."""
    book = AddressBook()
    book.expire(5000, 0)
    book.set(5000, (ip,))
    assert (book.ip(5000), book.ip(4999), book.ip(9999)) == (ip, b"", b"")


def test_a_host_may_change_its_family() -> None:
    """The newest address counts."""
    book = AddressBook()
    book.expire(0, 0)
    for ip in (FOUR, SIX, FOUR):
        book.set(0, (ip,))
        assert book.ip(0) == ip


def test_other_addresses_are_taken_once() -> None:
    """A new answer replaces them."""
    book = AddressBook()
    book.expire(0, 0)
    book.set(0, (FOUR, NEXT, SIX))
    assert book.take_others(0) == (NEXT, SIX)
    assert book.take_others(0) == ()
    book.set(0, (FOUR, NEXT))
    book.set(0, (FOUR,))
    assert book.take_others(0) == ()


def test_an_answer_that_holds_for_ever_has_an_end() -> None:
    """It is not taken for one that is being asked for again."""
    book = AddressBook()
    book.expire(0, 7 * SECOND_NS)
    book.expire(1, 1 << 63)
    assert list(book.expires_s[:2]) == [7, NEVER_S - 1]
