"""Which pages are compared, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy._native.simhash import simhash
from larbinpy.records import PAGE_FIRST, PAGE_WATCHED, Outcome, ParsedPage
from tests.nearpages import near_pages
from tests.records import page

if TYPE_CHECKING:
    from larbinpy.dedup.near import NearPages

TEXT = b" ".join(b"word%d" % number for number in range(40))
OTHER = TEXT[::-1]


def look(
    near: NearPages, number: int, body: bytes, *, host: bytes = b"a.test", flags: int = 0
) -> tuple[bool, int]:
    """Whether the links of a page are left, and the page that it is near to."""
    parsed = ParsedPage(number, 1, Outcome.SUCCESS)
    is_left = near.is_left(page(b"http://%b/" % host, id=number, flags=flags), parsed, body)
    return is_left, parsed.near


def test_only_what_is_asked_about_is_compared() -> None:
    """Without a question there is no simhash, and nothing to compare others with."""
    near = near_pages()
    parsed = ParsedPage(1, 1, Outcome.SUCCESS)
    near.is_left(page(id=1), parsed, TEXT)
    assert (parsed.simhash, parsed.near) == (0, 0)
    assert look(near, 2, TEXT, flags=PAGE_WATCHED) == (False, 0)
    assert look(near, 3, TEXT, flags=PAGE_WATCHED) == (False, 2)
    assert look(near, 4, TEXT) == (False, 0)
    near.is_left(page(id=5, flags=PAGE_WATCHED), parsed, TEXT)
    assert parsed.simhash == simhash(TEXT)


def test_hosts_are_compared_by_their_first_pages() -> None:
    """With others of their domain; later pages with their own host alone."""
    near = near_pages()
    assert look(near, 1, TEXT, host=b"x.a.test", flags=PAGE_FIRST) == (False, 0)
    assert look(near, 2, TEXT, host=b"y.a.test", flags=PAGE_FIRST) == (False, 1)
    assert look(near, 3, TEXT, host=b"y.b.test", flags=PAGE_FIRST) == (False, 0)
    assert look(near, 4, TEXT, host=b"z.a.test", flags=PAGE_WATCHED) == (False, 0)
    assert look(near, 5, OTHER, host=b"u.a.test", flags=PAGE_FIRST) == (False, 0)


@pytest.mark.parametrize("leaves", [True, False])
def test_all_may_be_compared_and_left(leaves: bool) -> None:
    """But no host loses its links because it begins like another."""
    near = near_pages(compares_all=True, leaves=leaves)
    assert look(near, 1, TEXT, host=b"x.a.test", flags=PAGE_FIRST) == (False, 0)
    assert look(near, 2, TEXT, host=b"x.a.test") == (leaves, 1)
    assert look(near, 3, TEXT, host=b"y.a.test", flags=PAGE_FIRST) == (False, 1)
    assert look(near, 4, TEXT, host=b"y.a.test") == (leaves, 3)
    assert look(near, 5, b"few words", host=b"y.a.test") == (False, 0)
