"""What is chosen from the links that no rule refuses."""

from __future__ import annotations

import sys

import pytest

from larbinpy.links.choice import (
    ACCEPTED,
    REPORTED_ERRORS,
    Acceptance,
    Link,
    by_patterns,
)
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


# --- the operator's function --------------------------------------------------------------------

DETAILS = [
    (b"a", b"x nofollow", b" two\n words ", None),
    (b"a", None, None, b"de"),
    (b"img", None, b"\xff", None),
]


def test_the_function_is_given_all_of_a_link() -> None:
    """As text; what is not said is empty."""
    given: list[Link] = []

    def accept(link: Link) -> object:
        given.append(link)
        return "yes" if link.text else None

    choose = Acceptance(accept, print).on_page(b"http://p.test/", 3, DETAILS)
    verdicts = choose([URLS[2], URLS[0], URLS[1]], [2, 0, 1])
    assert given == [
        Link("http://a.test/x", "http://p.test/", "\ufffd", "", 3),
        Link("http://a.test/docs/1", "http://p.test/", "two words", "x nofollow", 3),
        Link("http://a.test/docs/calendar/", "http://p.test/", "", "", 3),
    ]
    assert list(verdicts) == [YES, YES, Filtered.NOT_ACCEPTED]


def test_a_link_without_details() -> None:
    """A redirection, or a link of a feed, has no text."""
    given: list[Link] = []
    Acceptance(given.append, print).on_page(b"http://p.test/", 0)([URLS[0]], [0])
    assert given == [Link("http://a.test/docs/1", "http://p.test/", "", "", 0)]


def test_a_function_cannot_end_the_parser() -> None:
    """Leaving the program is an error like others."""
    choose = Acceptance(lambda _: sys.exit(3), print).on_page(b"http://p.test/", 1)
    assert list(choose(URLS[:1], [0])) == [Filtered.ACCEPT_ERROR]


def test_an_exception_refuses_the_link_alone() -> None:
    """Each is counted, the first ones are told."""
    told: list[str] = []
    acceptance = Acceptance(lambda link: 1 // (len(link.url) % 5), told.append)
    choose = acceptance.on_page(b"http://p.test/", 1)
    urls = [b"http://a.test/" + b"x" * n for n in range(1, 3)]
    for _ in range(REPORTED_ERRORS + 2):
        assert list(choose(urls, [0, 1])) == [Filtered.ACCEPT_ERROR, YES]
    assert len(told) == REPORTED_ERRORS
    assert told[0].startswith("accept: ZeroDivisionError(")
    assert told[0].endswith(" for http://a.test/x; the link is refused")
