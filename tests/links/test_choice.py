"""What is chosen from the links that no rule refuses."""

from __future__ import annotations

import pytest

from larbinpy.links.choice import ACCEPTED, by_patterns
from larbinpy.patterns import Patterns
from larbinpy.records import Filtered

URLS = [b"http://a.test/docs/1", b"http://a.test/docs/calendar/", b"http://a.test/x"]
YES, NOT_INCLUDED, EXCLUDED = ACCEPTED, Filtered.NOT_INCLUDED, Filtered.EXCLUDED


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ([b"/docs/"], [], [YES, YES, NOT_INCLUDED]),
        ([], [b"calendar"], [YES, EXCLUDED, YES]),
        ([b"/docs/", b"x$"], [b"calendar", b"1"], [EXCLUDED, EXCLUDED, YES]),
        ([b"nothing"], [b"x$"], [NOT_INCLUDED, NOT_INCLUDED, EXCLUDED]),
    ],
)
def test_patterns(include: list[bytes], exclude: list[bytes], expected: list[int]) -> None:
    """One that includes must match, none that excludes may."""
    choose = by_patterns(
        Patterns(include) if include else None, Patterns(exclude) if exclude else None
    )
    assert choose is not None
    assert list(choose(URLS, [0, 1, 2])) == expected


def test_without_patterns_nobody_chooses() -> None:
    """And nothing is spent on it."""
    assert by_patterns(None, None) is None
