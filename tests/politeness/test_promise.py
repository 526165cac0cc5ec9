"""Which promise two requests are judged by."""

from __future__ import annotations

import pytest

from larbinpy.politeness.promise import HANDOVER_US, Promise, Timeline

SLOW = Promise(60, 1)
FAST = Promise(1, 1)
WIDE = Promise(30, 4)
CHANGE = 100 * HANDOVER_US


def test_one_promise_holds_for_ever() -> None:
    """Also before it was made."""
    assert Timeline([(CHANGE, SLOW)]).between(0, 1) == SLOW
    assert Timeline([(CHANGE, SLOW)]).between(CHANGE + 1, CHANGE * 2) == SLOW


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (CHANGE - 9, CHANGE - 1, SLOW),
        (CHANGE - 9, CHANGE, FAST),
        (CHANGE + 1, CHANGE + 9, FAST),
    ],
)
def test_a_faster_pace_holds_from_its_change_on(first: int, last: int, expected: Promise) -> None:
    """Nobody is asked by it before."""
    assert Timeline([(0, SLOW), (CHANGE, FAST)]).between(first, last) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (CHANGE - 9, CHANGE - 1, FAST),
        (CHANGE - 9, CHANGE + 2 * HANDOVER_US, FAST),
        (CHANGE + HANDOVER_US, CHANGE + 2 * HANDOVER_US, FAST),
        (CHANGE + HANDOVER_US + 1, CHANGE + 2 * HANDOVER_US, SLOW),
    ],
)
def test_a_slower_pace_holds_from_the_next_request_on(
    first: int, last: int, expected: Promise
) -> None:
    """What was fixed before the change comes by the earlier promise, and while it is handed on."""
    assert Timeline([(0, FAST), (CHANGE, SLOW)]).between(first, last) == expected


def test_of_several_promises_each_part_is_the_most_lenient() -> None:
    """The shortest wait, and the most requests at a time."""
    line = Timeline([(0, SLOW), (CHANGE, WIDE), (2 * CHANGE, SLOW), (3 * CHANGE, FAST)])
    assert line.between(CHANGE // 2, 3 * CHANGE) == Promise(1, 4)
    assert line.between(2 * CHANGE + HANDOVER_US + 1, 3 * CHANGE - 1) == SLOW


def test_a_clock_that_was_set_back_between_two_promises() -> None:
    """They count by their times."""
    line = Timeline([(CHANGE, SLOW), (0, FAST)])
    assert line.between(CHANGE - 9, CHANGE - 1) == FAST
    assert line.between(2 * CHANGE, 2 * CHANGE + 1) == SLOW
