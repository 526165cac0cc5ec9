"""What a test that compares many things says."""

from __future__ import annotations

from collections import Counter

from tests.differences import MOST, differences


def test_equal_ones_have_none() -> None:
    """In any order, counted or not."""
    assert differences([1, 2, 2], Counter({2: 2, 1: 1})) == []


def test_few_are_named() -> None:
    """On both sides, and how often."""
    assert differences("aab", "bbbc") == ["missing: 'b' x 2", "missing: 'c'", "too much: 'a' x 2"]


def test_many_are_counted() -> None:
    """Behind the first ones."""
    said = differences(range(100), [])
    assert (len(said), said[-1]) == (MOST + 1, f"too much: {100 - MOST} others")
