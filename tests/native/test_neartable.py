"""The shared table of different pages by host: against its reference, and what it promises."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.neartable import NearTable
from tests.reference import neartable as plain

KEY = bytes(range(16))
HOST = b"a.test"
BUCKET = 1024
PAGES = 63

hashes = st.sampled_from([1, 3, 7, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)


@given(
    st.lists(st.tuples(st.sampled_from([b"a", b"b", b"c"]), hashes, st.integers(1, 99)),
             max_size=100),
    st.integers(0, 64),
    st.integers(1, 3),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_equals_reference(pages: list[tuple[bytes, int, int]], bits: int, buckets: int) -> None:
    """Answers and table are those of the reference."""
    expected_bytes, actual_bytes = bytearray(BUCKET * buckets), bytearray(BUCKET * buckets)
    expected = plain.NearTable(expected_bytes, KEY, bits)
    actual = NearTable(actual_bytes, KEY, bits)
    for page in pages:
        assert actual.near(*page) == expected.near(*page)
    assert actual_bytes == expected_bytes


def table(bits: int = 3) -> NearTable:
    """One bucket: all hosts share it."""
    return NearTable(bytearray(BUCKET), KEY, bits)


def test_few_bits_are_near() -> None:
    """Up to the limit; the nearest page is named."""
    known = table(bits=3)
    assert known.near(HOST, 0b0000000, 1) == 0
    assert known.near(HOST, 0b0001111, 2) == 0
    assert known.near(HOST, 0b0000111, 3) == 2
    assert known.near(HOST, 0b0000001, 4) == 1
    assert known.near(HOST, 2**64 - 1, 5) == 0


def test_near_duplicates_are_not_remembered() -> None:
    """A chain of small changes does not wander away from its first page."""
    known = table(bits=3)
    assert [known.near(HOST, 2**number - 1, number + 1) for number in range(6)] == [
        0, 1, 1, 1, 0, 5,
    ]  # fmt: skip


def test_other_hosts_are_others() -> None:
    """In the same bucket, with the same page."""
    known = table()
    assert known.near(HOST, 5, 1) == 0
    assert known.near(b"b.test", 5, 2) == 0
    assert known.near(b"b.test", 5, 3) == 2


def test_a_page_that_comes_again_is_what_it_was() -> None:
    """It was remembered, so its copies are left and not itself, as often as it comes."""
    known = table()
    assert known.near(HOST, 5, 1) == 0
    assert known.near(HOST, 5, 2) == 1
    assert known.near(HOST, 5, 1) == 0
    assert known.near(HOST, 5, 2) == 1


def test_the_latest_pages_are_remembered() -> None:
    """63 of a host that is alone in its bucket."""
    rng = random.Random(1)
    pages = [rng.getrandbits(64) for _ in range(PAGES + 1)]
    known = table()
    assert not any(known.near(HOST, page, 1 + at) for at, page in enumerate(pages))
    found = [known.near(HOST, page, 1000 + at) for at, page in enumerate(pages[1:])]
    assert found == list(range(2, PAGES + 2))
    assert known.near(HOST, pages[0], 2000) == 0


def test_a_page_with_copies_stays() -> None:
    """However many pages of other hosts come to its bucket in between; one without is forgotten."""
    rng = random.Random(1)
    known = table()
    assert known.near(HOST, 5, 1) == known.near(HOST, 2**64 - 1, 2) == 0
    for turn in range(20):
        for number in range(25):
            assert (
                known.near(b"b%d.test" % turn, rng.getrandbits(64), 1000 + 25 * turn + number) == 0
            )
        assert known.near(HOST, 5, 3 + turn) == 1
    assert known.near(HOST, 2**64 - 1, 99) == 0


def test_two_tables_share_their_memory() -> None:
    """As two parsers do."""
    memory = bytearray(4 * BUCKET)
    assert NearTable(memory, KEY, 3).near(HOST, 5, 1) == 0
    assert NearTable(memory, KEY, 3).near(HOST, 5, 2) == 1
    assert NearTable(memory, bytes(16), 3).near(HOST, 5, 3) == 0


@pytest.mark.parametrize(
    "changes",
    [{"buffer": bytearray(0)}, {"buffer": bytearray(1000)}, {"key": b"short"}, {"bits": 65},
     {"bits": -1}],
    ids=str,
)  # fmt: skip
def test_bad_settings_are_refused(changes: dict[str, Any]) -> None:
    """Settings out of range raise, and so does the id 0, which means none."""
    arguments = {"buffer": bytearray(BUCKET), "key": KEY, "bits": 3, **changes}
    with pytest.raises(ValueError, match=r"near table|key|simhash"):
        NearTable(**arguments)
    with pytest.raises(ValueError, match="id 0"):
        table().near(HOST, 5, 0)
