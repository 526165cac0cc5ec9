"""What a host has shown last, beside the plain version."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from larbinpy._native.contents import Contents
from tests.reference.contents import Contents as Plain

DIGESTS = st.integers(0, 8).map(lambda number: number.to_bytes(16, "big"))


@given(st.lists(st.tuples(DIGESTS, st.booleans())))
def test_pages_in_a_row_are_counted(pages: list[tuple[bytes, bool]]) -> None:
    """Four contents are remembered, the oldest goes first; a near-duplicate is nothing new."""
    contents, plain = Contents(), Plain()
    for digest, is_near in pages:
        contents.add(digest, is_near=is_near)
        plain.add(digest, is_near=is_near)
        assert contents.in_a_row == plain.in_a_row


def test_a_short_digest_is_filled_up() -> None:
    """The log may tell less than 16 bytes."""
    contents = Contents()
    contents.add(b"ab")
    contents.add(b"ab" + bytes(14))
    assert contents.in_a_row == 1
    contents.add(b"ac")
    assert contents.in_a_row == 0
