"""The index of crawl.log against its plain twin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy._native import logindex
from tests.reference import logindex as reference

KEY = bytes(range(16))
pieces = st.sampled_from(
    [
        b'"url":"', b'"', b"\\", b"\n", b"http://a/", b'{"ts":1,', b'"u', b',"via":"x"}',
        b"\\u0022", b'"url":"http://a/","outcome":"success"', b',"digest":"',
        b'","outcome":"success"', b"xxh3:0",
    ]
)  # fmt: skip
lines = st.lists(pieces, max_size=30).map(b"".join)
hashes = st.sampled_from([0, 1, 2, 7])
entries = st.lists(st.tuples(hashes, hashes, st.integers(-1, 3)), max_size=30)


@given(lines, st.integers(0, 2**40))
def test_entries_are_those_of_the_reference(text: bytes, start: int) -> None:
    """Whatever the lines: one entry for each that is whole."""
    expected = reference.entries(KEY, text, start)
    assert expected == logindex.entries(KEY, text, start)


@given(
    entries, st.sampled_from([1, 2, 3]), st.integers(0, 5), st.binary(max_size=15), st.booleans()
)
def test_finds_are_those_of_the_reference(
    steps: list[tuple[int, int, int]], wanted: int, start: int, torn: bytes, by_digest: bool
) -> None:
    """Lines with the hash, ranges without an index, and an index that is none."""
    end, packed = start, b""
    for url, digest, step in steps:
        end = max(end + step, 0)
        packed += reference.ENTRY.pack(url, digest, end)
    data = packed + torn
    expected = reference.find(data, wanted, start, by_digest)
    assert expected == logindex.find(data, wanted, start, by_digest)


def test_the_hash_is_what_lies_on_disk() -> None:
    """Golden values: an index that was written once must be read for ever."""
    url, digest = logindex.hash_of(KEY, b"http://example.org/"), logindex.hash_of(KEY, b"xxh3:7")
    assert (url, digest) == (0xFB100E65, 0xD8A0C4D4)
    line = b'{"ts":"x","url":"http://example.org/","outcome":"%b","digest":"xxh3:7"}\n'
    for outcome, expected in ((b"success", digest), (b"duplicate", 0)):
        packed = reference.ENTRY.pack(url, expected, 5 + len(line % outcome))
        assert packed == logindex.entries(KEY, line % outcome, 5)


def test_a_key_has_sixteen_bytes() -> None:
    """Another key is refused."""
    with pytest.raises(ValueError, match="16"):
        logindex.hash_of(b"short", b"x")
