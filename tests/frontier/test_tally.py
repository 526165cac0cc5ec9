"""Counters follow from what is left of a log."""

from __future__ import annotations

from larbinpy._native.logdone import done_totals
from larbinpy.frontier.payloads import done_entry
from larbinpy.frontier.tally import Tally
from larbinpy.records import Outcome, ParsedPage
from larbinpy.stats import ACCEPTED, BYTES_READ, DONE, PAGES, SUCCESS, Counters

NONE = done_totals(b"")


def totals(count: int) -> bytes:
    """The totals of so many good pages."""
    page = ParsedPage(1, 1, Outcome.SUCCESS, 200, 10, 3, 1)
    return done_totals(done_entry(page) * count)


def counters(**values: int) -> Counters:
    """Counters with some values."""
    made = Counters()
    places = {"accepted": ACCEPTED, "done": DONE, "bytes_read": BYTES_READ}
    for name, value in values.items():
        made[places[name]] = value
    return made


def test_records_are_counted() -> None:
    """URLs, and pages that are done with what became of them."""
    tally = Tally()
    tally.add(5, totals(2), NONE)
    tally.add(1, totals(1), NONE)
    found, excess = tally.sum_up(3)
    assert [found[index] for index in (ACCEPTED, DONE, PAGES, SUCCESS)] == [6, 3, 3, 3]
    assert excess == 0


def test_what_was_counted_before_the_oldest_segment_still_counts() -> None:
    """By the first COUNTS, not by later ones: those hold what has been counted since."""
    tally = Tally()
    tally.head(counters(accepted=100, done=90))
    tally.add(5, totals(2), NONE)
    tally.head(counters(accepted=105, done=92))
    found, excess = tally.sum_up(13)
    assert (found[ACCEPTED], found[DONE], excess) == (105, 92, 0)


def test_records_before_the_first_counts_are_not_counted_twice() -> None:
    """Nor are DONEs that were counted then, and do not count now."""
    tally = Tally()
    tally.add(5, totals(2), totals(1))
    tally.head(counters(accepted=105, done=93))
    found, excess = tally.sum_up(13)
    assert (found[ACCEPTED], found[DONE], excess) == (105, 92, 0)
    assert tally.ignored_dones == 1


def test_measured_counters_are_those_of_the_newest_record() -> None:
    """They do not follow from records."""
    tally = Tally()
    tally.measured = counters(accepted=77, bytes_read=1000)
    tally.add(1, NONE, NONE)
    found, _ = tally.sum_up(1)
    assert (found[ACCEPTED], found[BYTES_READ]) == (1, 1000)


def test_accepted_is_made_to_fit_what_waits() -> None:
    """URLs that went with a lost segment are said."""
    tally = Tally()
    tally.head(counters(accepted=100))
    found, excess = tally.sum_up(60)
    assert (found[ACCEPTED], excess) == (60, 40)
