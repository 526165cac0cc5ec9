"""The robots matcher against its reference, on patterns and paths made of few parts."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larbinpy._native import robotsmatch as native
from tests.reference import robotsmatch as plain

PARTS = [
    b"/", b"/", b"a", b"b", b"ab", b"aba", b"?", b"=", b"*", b"**", b"$", b"%", b"%2", b"%2f",
    b"%2F", b"%41", b"A", b"%7e", b"%7E", b"~", b"%2a", b"%24", b"%25", b"\xc3\xa9", b"%c3%A9",
    b"\0", b"%zz",
]  # fmt: skip
texts = st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join)
rooted = texts.map(lambda text: b"/" + text)
rules = st.lists(st.tuples(texts | rooted, st.booleans(), st.integers(1, 9)), max_size=12)
Rules = list[tuple[bytes, bool, int]]


@settings(max_examples=200)
@given(rules, st.lists(texts | rooted, min_size=1, max_size=6))
@example([(b"/a*$", False, 1), (b"/a*b*$", True, 2)], [b"/ab", b"/a", b"/"])
@example([(b"/%2A$", False, 1), (b"/$a", False, 2)], [b"/*", b"/%2a", b"/%24a", b"/x"])
@example([(b"/aba*aba$", False, 1)], [b"/aba", b"/ababa", b"/abaaba", b"/abaxaba"])
def test_it_decides_as_the_reference(group: Rules, paths: list[bytes]) -> None:
    """The same verdict by the same line, for any rules and paths, one by one or many at once."""
    kernel, reference = native.Matcher(group), plain.Matcher(group)
    expected = [reference.match(path) for path in paths]
    assert expected == [kernel.match(path) for path in paths]
    assert [allowed for allowed, _ in expected] == [kernel.allows(path) for path in paths]
    assert bytes(allowed for allowed, _ in expected) == kernel.allows_many(paths)


@settings(max_examples=60)
@given(rules, texts)
def test_the_order_of_rules_is_nothing(group: Rules, path: bytes) -> None:
    """Only their lengths, kinds and lines count."""
    expected = native.Matcher(group).match(path)
    assert expected == native.Matcher(group[::-1]).match(path)
    assert expected == native.Matcher(sorted(group)).match(path)


@settings(max_examples=60)
@given(st.binary(max_size=40), st.binary(max_size=40))
def test_any_bytes_can_be_pattern_and_path(pattern: bytes, path: bytes) -> None:
    """No byte is special but ``* $ %``."""
    group = [(pattern, False, 3), (path, True, 4)]
    assert plain.Matcher(group).match(path) == native.Matcher(group).match(path)


def test_without_rules_all_is_allowed() -> None:
    """And no line decides."""
    matcher = native.Matcher([])
    assert matcher.match(b"/a") == (True, 0)
    assert matcher.allows(b"/a")
    assert matcher.allows_many(iter([b"/a", b"/b"])) == b"\1\1"
    assert matcher.allows_many([]) == b""


def test_an_empty_pattern_is_no_rule() -> None:
    """``Disallow:`` forbids nothing."""
    assert native.Matcher([(b"", False, 1)]).match(b"/") == (True, 0)


def test_of_equal_rules_the_first_line_is_named() -> None:
    """However they are written."""
    assert native.Matcher([(b"/~", False, 7), (b"/%7e", False, 5)]).match(b"/~") == (False, 5)


@pytest.mark.parametrize("size", [2083, 2084, 100_000])
def test_a_path_may_be_long(size: int) -> None:
    """Whether it fits on the stack or not, encoded or not."""
    matcher = native.Matcher([(b"/*\xe9z", False, 1)])
    path = b"/".ljust(size - 2, b"\xe9")
    assert (matcher.match(path + b"z"), matcher.match(path)) == ((False, 1), (True, 0))
    assert matcher.allows_many([path + b"z", b"", path]) == b"\0\1\1"


def test_stars_cost_no_more_than_the_path() -> None:
    """yasserg/crawler4j#425: rows of stars, and stars between letters, answer at once."""
    hostile = [
        (b"/********************************/", False, 1),
        (b"/" + b"*a" * 200 + b"b", False, 2),
        (b"/" + b"*" * 10_000 + b"$x", False, 3),
    ]
    matcher = native.Matcher(hostile)
    path = b"/" + b"a" * 100_000
    start = time.process_time()
    assert matcher.match(path) == (True, 0)
    assert time.process_time() - start < 1


def test_many_wildcard_rules_cost_no_more_than_rules_times_path() -> None:
    """Thousands of them, all of which have to be tried."""
    group = [(b"/*q%dx" % number, False, number) for number in range(1, 20_001)]
    matcher = native.Matcher(group)
    path = b"/" + b"q19999y" * 20
    start = time.process_time()
    assert matcher.match(path) == (True, 0)
    assert matcher.match(path + b"q20000x") == (False, 20_000)
    assert time.process_time() - start < 5


def test_a_chain_of_prefixes_is_walked_to_its_strongest_rule() -> None:
    """Each prefix of the path has a rule; a longer rule with a star may lie further up."""
    group = [(b"/" + b"a" * size, size % 2 == 0, size) for size in range(1000)]
    matcher = native.Matcher([*group, (b"/a*" + b"b" * 2000, False, 5000)])
    assert matcher.match(b"/" + b"a" * 400) == (True, 400)
    assert matcher.match(b"/" + b"a" * 401 + b"c") == (False, 401)
    assert matcher.match(b"/" + b"a" * 900 + b"b" * 2000) == (False, 5000)


def test_no_rule_decides_robots_txt() -> None:
    """RFC 9309, section 2.2.2; a path that begins so is another one."""
    for matcher in (native.Matcher([(b"/", False, 1)]), plain.Matcher([(b"/", False, 1)])):
        assert matcher.match(b"/robots.txt") == (True, 0)
        assert matcher.allows_many([b"/robots.txt", b"/robots.txt?a", b"/robots.tx"]) == b"\1\0\0"


def test_rules_of_one_prefix_have_each_their_tail() -> None:
    """Tails lie in a row: what has none, or does not match, does not shift the others."""
    group = [
        (b"/a*xx*yyyy", False, 1), (b"/a*zzz", True, 2), (b"/a$", False, 3), (b"/a*q", True, 4),
        (b"/a", False, 5), (b"/a*pp$", True, 6), (b"/ab*c", False, 7),
    ]  # fmt: skip
    matcher = native.Matcher(group)
    paths = [b"/axxyyyy", b"/azzz", b"/a", b"/aq", b"/ap", b"/app", b"/abc", b"/b"]
    lines = [1, 2, 3, 4, 5, 6, 7, 0]
    assert [matcher.match(path)[1] for path in paths] == lines


MOST_RULES = [(b"/%d" % number, False, number) for number in range(1, 65_536)]


def test_the_largest_that_can_be_kept() -> None:
    """As many rules, as late a line, as long a prefix and tail as fit."""
    assert native.Matcher(MOST_RULES).match(b"/65535") == (False, 65_535)
    long = b"/" + b"a" * 65_534
    last = (1 << 29) - 1
    assert native.Matcher([(long, False, last)]).match(long + b"b") == (False, last)
    tail = b"b" * (65_535 - 10)
    matcher = native.Matcher([(b"/*" + tail, False, 1)])
    assert matcher.allows_many([b"/a" + tail, b"/a" + tail[1:]]) == b"\0\1"


@pytest.mark.parametrize(
    "group",
    [
        [*MOST_RULES, (b"/x", False, 1)],
        [(b"/", False, 1 << 29)],
        [(b"/" + b"a" * 65_535, False, 1)],
        [(b"/*" + b"a" * (65_536 - 10), False, 1)],
    ],
    ids=["rules", "line", "prefix", "tail"],
)
def test_what_is_larger_is_refused(group: Rules) -> None:
    """Rather than cut, which would decide otherwise."""
    with pytest.raises(ValueError, match=r"over|more than"):
        native.Matcher(group)


@pytest.mark.parametrize("path", [None, "/a", 1])
def test_a_path_is_bytes(path: object) -> None:
    """Anything else is refused before it is read."""
    matcher = native.Matcher([(b"/", False, 1)])
    for ask in (matcher.match, matcher.allows, lambda one: matcher.allows_many([one])):
        with pytest.raises(TypeError):
            ask(path)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [(None, True, 1), ("/", True, 1), (b"/", True, -1), (b"/", True)])
def test_a_rule_is_pattern_kind_and_line(rule: tuple[object, ...]) -> None:
    """Anything else is refused."""
    with pytest.raises((TypeError, ValueError, OverflowError)):
        native.Matcher([rule])  # type: ignore[list-item]
