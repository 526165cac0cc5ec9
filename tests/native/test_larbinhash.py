"""The kernel of larbin's hash codes against its reference and against larbin's own numbers."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import larbinhash as native
from tests.reference import larbinhash as plain
from tests.reference.linkbuffers import Link

BITS = 128
codes_below_bits = st.lists(st.integers(0, BITS - 1), max_size=200).map(
    lambda codes: struct.pack(f"<{len(codes)}I", *codes)
)


@st.composite
def links(draw: st.DrawFn) -> Link:
    """A link entry with any bytes as host and file."""
    host = draw(st.binary(min_size=1, max_size=40).filter(lambda host: b":" not in host))
    port = draw(st.sampled_from([b"", b":", b":8080"]))
    file = draw(st.binary(max_size=60).map(lambda rest: b"/" + rest))
    url = b"http://" + host + port + file
    return Link(url, port=draw(st.integers(0, 65_535)), host_start=7, host_len=len(host))


def test_golden_codes() -> None:
    """larbin's own numbers: they decide what a ``hashtable.bin`` means, so they never change."""
    assert native.url_code(b"www.example.org", b"/", 80) == 41501462
    assert native.url_code(b"127.0.0.1", b"/p/1.html", 9000) == 61193025
    assert native.url_code(b"www.example.org", b"/q?x=1&y=2", 80) == 776176
    assert native.host_code(b"www.example.org") == 15069
    assert native.page_code(b"the quick brown fox jumps over the lazy dog") == 44296749
    assert native.page_code(b"<html><body>Hello, World! 2001</body></html>") == 33212602
    assert native.page_code(b"AzB") == 66


def test_ip_bytes_are_signed() -> None:
    """A byte from 128 up counts as negative: ((-64 * 31 - 88) * 31 + 0) * 31 + 1, wrapped."""
    assert native.ip_code(bytes([192, 168, 0, 1])) == (2**32 - 1991191) % 10_000


def test_page_code_stops_at_nul() -> None:
    """larbin reads a page as a C string."""
    assert native.page_code(b"hello\0world") == native.page_code(b"hello")


def test_page_code_of_long_page() -> None:
    """Reducing lazily changes nothing."""
    page = bytes(range(1, 256)) * 40 + b"y" * 5000
    assert plain.page_code(page) == native.page_code(page)


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(0, 65_535))
@settings(max_examples=100)
def test_codes_equal_reference(a: bytes, b: bytes, port: int) -> None:
    """All codes are those of the reference."""
    assert plain.url_code(a, b, port) == native.url_code(a, b, port)
    assert plain.host_code(a) == native.host_code(a)
    assert plain.page_code(a) == native.page_code(a)


@given(st.binary(min_size=4, max_size=4))
@settings(max_examples=100)
def test_ip_codes_equal_reference(ip4: bytes) -> None:
    """IP codes are those of the reference."""
    assert plain.ip_code(ip4) == native.ip_code(ip4)


@given(st.lists(links(), max_size=10))
@settings(max_examples=100)
def test_link_codes_equal_reference(entries: list[Link]) -> None:
    """Batches of link entries give the codes of their parts."""
    buffer = b"".join(link.pack() for link in entries)
    assert plain.url_codes(buffer) == native.url_codes(buffer)


@pytest.mark.parametrize("cut", [1, 31, 33, 50])
def test_torn_link_entries_are_refused(cut: int) -> None:
    """A buffer that ends within a record raises."""
    link = Link(b"http://www.example.org/", host_start=7, host_len=15).pack()
    with pytest.raises(ValueError, match="do not fill"):
        native.url_codes(link + link[:cut])


def test_host_outside_its_url_is_refused() -> None:
    """A record whose host leaves the URL raises."""
    with pytest.raises(ValueError, match="do not fill"):
        native.url_codes(Link(b"http://a/", host_start=7, host_len=3).pack())


def test_ip_code_wants_four_bytes() -> None:
    """Anything else is no IPv4 address."""
    with pytest.raises(ValueError, match="4 bytes"):
        native.ip_code(b"abc")


@given(st.lists(codes_below_bits, max_size=5))
@settings(max_examples=100)
def test_table_equals_reference(batches: list[bytes]) -> None:
    """Masks, counts and the raw table are those of the reference."""
    expected, actual = plain.BitTable(BITS), native.BitTable(BITS)
    for batch in batches:
        assert expected.contains_many(batch) == actual.contains_many(batch)
        assert expected.add_many(batch) == actual.add_many(batch)
        assert expected.to_bytes() == actual.to_bytes()
        assert len(expected) == len(actual)


def test_second_of_two_equal_codes_is_not_new() -> None:
    """A batch is worked off in order."""
    table = native.BitTable(64)
    assert table.add_many(struct.pack("<3I", 5, 5, 6)) == bytes([1, 0, 1])
    assert table.add(6) is False
    assert table.add(7) is True
    assert len(table) == 3


def test_bit_lies_where_larbin_puts_it() -> None:
    """Bit ``code`` is in byte ``code >> 3``, mask ``1 << (code & 7)``."""
    table = native.BitTable(32)
    table.add(11)
    assert table.to_bytes() == bytes([0, 1 << 3, 0, 0])


def test_saved_table_loads() -> None:
    """A loaded table answers and counts as the saved one, also where words do not fill it."""
    table, copy = native.BitTable(104), native.BitTable(104)
    table.add_many(struct.pack("<4I", 0, 63, 64, 103))
    copy.load(table.to_bytes())
    assert len(copy) == 4
    assert copy.add_many(struct.pack("<5I", 0, 63, 64, 103, 9)) == bytes([0, 0, 0, 0, 1])


def test_default_table_is_larbins() -> None:
    """``hashtable.bin`` has 8,000,000 bytes."""
    table = native.BitTable()
    assert table.size == 64_000_000
    assert len(table.to_bytes()) == 8_000_000


@pytest.mark.parametrize("bits", [0, 7, 2**32 + 8])
def test_odd_sizes_are_refused(bits: int) -> None:
    """A size is a multiple of 8 that a code can reach."""
    with pytest.raises(ValueError, match="multiple of 8"):
        native.BitTable(bits)


def test_bad_batches_change_nothing() -> None:
    """A code beyond the table, torn codes and a table of another length raise."""
    table = native.BitTable(64)
    with pytest.raises(ValueError, match="beyond"):
        table.add_many(struct.pack("<2I", 1, 64))
    with pytest.raises(ValueError, match="beyond"):
        table.add(64)
    with pytest.raises(ValueError, match="4 bytes"):
        table.contains_many(b"abc")
    with pytest.raises(ValueError, match="8 bytes"):
        table.load(b"abc")
    assert len(table) == 0
