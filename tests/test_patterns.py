"""Patterns match in each URL alone, whatever stands in the others, and in linear time."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy.patterns import Patterns

URLS = [
    b"http://a.test/", b"http://a.test/x/y.html", b"https://b.test/calendar/2026?print=1",
    b"http://a.test/X", b"http://b.test/a/b/a",
]  # fmt: skip
SOME_PATTERNS = [
    b"^http://a", b"\\.html$", b"calendar|X$", b"[^a]$", b"(?i)x", b"x*", b"[^/]+/[^/]+$", b"\\W$",
    b"(?P<n>a)b|(?P<m>b)a", b"(?s)a.b", b"\\s", b"^$", b"\\x41", b"\\\\A", b"(b)(a)",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(SOME_PATTERNS), min_size=1, max_size=3),
    st.lists(
        st.sampled_from(URLS) | st.text("ab/x.", min_size=1, max_size=4).map(str.encode), max_size=8
    ),
)
@settings(max_examples=200, deadline=None)
def test_all_at_once_is_each_alone(patterns: list[bytes], urls: list[bytes]) -> None:
    """The places of those that one of the patterns matches, in their order."""
    alone = [re2.compile(pattern) for pattern in patterns]
    expected = [i for i, url in enumerate(urls) if any(one.search(url) for one in alone)]
    assert Patterns(patterns).matched(urls) == expected


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (b"a(", "missing"),
        (b"a)(?:b", "unexpected"),
        (b"*", "no argument"),
        (b"\\Qa", "missing"),
        (b"(?=a)", "invalid perl operator"),
        (b"(a)\\1", "invalid escape"),
        (b"\\Aa", "use ^ and $"),
        (b"a\\\\\\z", "use ^ and $"),
        (b"\\C", "use ^ and $"),
        (b"(?-m:^a)", "use ^ and $"),
        (b"(?i-m)^a", "use ^ and $"),
        (b"(?:a{1000}){1000}", "too large|repetition"),
    ],
)
def test_what_is_no_pattern(pattern: bytes, says: str) -> None:
    """The error names the pattern and what is wrong with it."""
    with pytest.raises(ValueError, match=says.replace("^", r"\^").replace("$", r"\$")):
        Patterns([b"good", pattern])


def test_no_url_takes_long() -> None:
    """Patterns and URLs that stop an engine that backtracks."""
    evil = Patterns([b"^(([a-z])+.)+[A-Z]([a-z])+$", b"(a*)*b$"])
    assert evil.matched([b"http://a.test/" + b"a" * 2000] * 100) == []
