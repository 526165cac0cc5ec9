"""The simhash kernel against its reference, what it leaves out, and values that stand in logs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.simhash import simhash
from tests.reference import simhash as plain

PIECES = [
    b"<p>", b"</p>", b"<a href='x y z'>", b"<", b">", b"<!--", b"-->", b"<!doctype html>", b"<?x",
    b"<script>", b"</script>", b"<scripts>", b"</SCRIPT x>", b"<STYLE type=a>", b"</style>", b"</",
    b"word", b"Word", b"123", b" ", b"\n", b"&amp;", b"caf\xc3\xa9", "中文字".encode(), b"\xe4",
    b"\xff",     "\U0001f600".encode(), b"a", b"\0", b"<1", b"--",
]  # fmt: skip
TEXT = b" ".join(b"word%d" % number for number in range(300))


def distance(one: int, other: int) -> int:
    """Bits that differ."""
    return (one ^ other).bit_count()


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=120).map(b"".join))
@settings(max_examples=200, deadline=None)
def test_equals_reference(html: bytes) -> None:
    """Whatever bytes a page consists of."""
    assert simhash(html) == plain.simhash(html)
    assert simhash(html + TEXT) == plain.simhash(html + TEXT)


def test_many_words_equal_reference() -> None:
    """More votes than a byte holds, all of them for the same bits."""
    for text in (TEXT * 20, b"same " * 3000):
        assert simhash(text) == plain.simhash(text)


def test_golden_values() -> None:
    """They stand in crawl.log, so they never change."""
    assert f"{simhash(TEXT):016x}" == "193edc99de84bb40"
    mixed = "".join(f"{number} Wörter, 中文字. " for number in range(9)).encode()
    assert f"{simhash(mixed):016x}" == "04e019958673acc8"


@pytest.mark.parametrize(
    "html",
    [
        b"<p class='some other words'>" + TEXT + b"</p>",
        TEXT.upper(),
        TEXT.replace(b" ", b" , \n"),
        b"<!-- not <b>this --> " + TEXT,
        b"<script>var x = '<b>not this</b>';</script>" + TEXT + b"<style>p { color: red }</style>",
        TEXT + b"<SCRIPT src=x>until the end",
        TEXT + b"<a href='until the end",
        TEXT + b"<",
    ],
)
def test_what_nobody_sees_does_not_count(html: bytes) -> None:
    """Markup, comments, scripts, styles, capitals and punctuation."""
    assert simhash(html) == simhash(TEXT)


@pytest.mark.parametrize(
    "html",
    [b"", b"<p>", b"one two three", b"more " * 999, b" ".join(TEXT.split()[:17]), TEXT[:60] * 9],
)
def test_little_text_has_none(html: bytes) -> None:
    """Pages of pictures, or of links that are called the same, must not be near to all others."""
    assert simhash(html) == 0
    assert simhash(b" ".join(TEXT.split()[:18])) != 0


def test_repetitions_do_not_count() -> None:
    """A text is that text, whatever is said again and again beside it."""
    assert distance(simhash(TEXT), simhash(TEXT + b" more" * 500)) <= 5


def test_few_changes_change_few_bits() -> None:
    """One word of 300 at most a few, half of them many, another text half of the bits."""
    words = TEXT.split()
    rng = random.Random(1)
    one = [*words[:100], b"other", *words[101:]]
    half = [word if rng.random() < 0.5 else b"x%d" % rng.randrange(10**6) for word in words]
    other = [b"x%d" % rng.randrange(10**6) for _ in words]
    assert distance(simhash(TEXT), simhash(b" ".join(one))) <= 5
    assert 12 < distance(simhash(TEXT), simhash(b" ".join(half))) < 40
    assert 16 < distance(simhash(TEXT), simhash(b" ".join(other))) < 48


@pytest.mark.parametrize(
    "piece", [b"<", b"<a", b"<!--", b"<script>", b"</", b"<script></", b"\xe4"]
)
def test_hostile_pages_take_linear_time(piece: bytes) -> None:
    """Eight megabytes of what never ends; quadratic time would be hours."""
    simhash(piece * (8_000_000 // len(piece)))
