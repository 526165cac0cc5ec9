"""What a host has shown last, beside the plain version."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larbinpy._native.contents import Contents
from tests.reference.contents import Contents as Plain

DIGESTS = st.integers(0, 8).map(lambda number: number.to_bytes(16, "little"))


PAGES = st.tuples(DIGESTS, st.booleans(), st.booleans(), st.integers(0, 1))


@given(st.lists(PAGES), st.integers(0, 20), st.integers(1, 100))
def test_pages_in_a_row_are_counted(
    pages: list[tuple[bytes, bool, bool, int]], after: int, most: int
) -> None:
    """Four contents are remembered, the oldest goes first; a near-duplicate is nothing new."""
    contents, plain = Contents(), Plain()
    for digest, is_near, leads_on, watched in pages:
        contents.add(digest, is_near=is_near, leads_on=leads_on, watched=watched)
        plain.add(digest, is_near=is_near, leads_on=leads_on, watched=watched)
        assert (contents.in_a_row, contents.shown) == (plain.in_a_row, plain.shown)
        assert contents.watch(after, most) == plain.watch(after, most)


def grown(pages: int, *, same: int = 0) -> Contents:
    """After so many different pages, and then the same so often."""
    contents = Contents()
    for number in range(pages):
        contents.add(number.to_bytes(16, "little"), watched=0)
    for _ in range(same):
        contents.add((pages - 1).to_bytes(16, "little"))
    return contents


def test_few_pages_are_watched_until_they_say_nothing_new() -> None:
    """None of a small host, one of sixteen of a larger one, and all of one that may be a trap."""
    assert [grown(pages).watch(64, 1000) for pages in (0, 48, 63, 64, 65, 79, 80)] == [
        0, 0, 0, 1, 0, 0, 1,
    ]  # fmt: skip
    assert [grown(70, same=same).watch(64, 1000) for same in (1, 31, 32, 33)] == [0, 0, 1, 1]
    assert [grown(70, same=same).watch(64, 4) for same in (1, 2, 3)] == [0, 1, 1]
    assert grown(0).watch(0, 1000) == 4


def test_pages_that_are_not_watched_end_no_row() -> None:
    """Nobody knows what they said; one that is known to be new does."""
    contents = grown(1, same=5)
    contents.add(b"a" * 16, watched=0)
    assert contents.in_a_row == 5
    contents.add(b"b" * 16)
    assert contents.in_a_row == 0


def test_a_near_duplicate_that_leads_nowhere_new_counts_neither_way() -> None:
    """A catalogue that a list leads to has an end."""
    contents = grown(1, same=5)
    contents.add(b"a" * 16, is_near=True, leads_on=False)
    assert contents.in_a_row == 5
    contents.add(b"b" * 16, is_near=True)
    assert contents.in_a_row == 6


def test_a_crowd_takes_the_first_page_of_each_host() -> None:
    """And is asked about instead of the host until then."""
    crowd, plain = Contents(), Plain()
    for _ in range(3):
        contents, beside = Contents(), Plain()
        contents.crowd, beside.crowd = crowd, plain
        assert contents.watch(64, 1000) == beside.watch(64, 1000) == 2
        for _ in range(2):
            contents.add(b"a" * 16)
            beside.add(b"a" * 16)
        assert contents.watch(64, 1000) == beside.watch(64, 1000) == 0
    assert (crowd.shown, crowd.in_a_row) == (plain.shown, plain.in_a_row) == (3, 2)


def test_a_short_digest_is_filled_up() -> None:
    """The log may tell less than 16 bytes."""
    contents = Contents()
    contents.add(b"ab")
    contents.add(b"ab" + bytes(14))
    assert contents.in_a_row == 1
    contents.add(b"ac")
    assert contents.in_a_row == 0
