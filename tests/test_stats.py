"""Counters keep their places and follow from DONE entries."""

from __future__ import annotations

import struct

from larbinpy import stats
from larbinpy._native.logdone import done_totals
from larbinpy.frontier.payloads import done_entry
from larbinpy.records import Filtered, Outcome, ParsedPage
from larbinpy.stats import COUNTERS, Counters


def test_places_never_change() -> None:
    """They stand in COUNTS records: append only."""
    assert COUNTERS[:6] == ("accepted", "done", "pages", "success", "links_found", "url_dup")
    assert COUNTERS[stats.URL_SEEN] == "url_seen"
    assert COUNTERS[stats.FIRST_OUTCOME] == "outcome_0"
    assert COUNTERS[stats.FIRST_FILTERED] == "filtered_0"
    assert COUNTERS[stats.RETRIES :] == ("retries", "outages", "near")
    assert len(COUNTERS) == len(set(COUNTERS)) == 82
    assert len(done_totals(b"")) == 8 * stats.TOTALS


def test_done_entries_are_counted() -> None:
    """By outcome and filter reason; a page is what had an HTTP status."""
    pages = [
        ParsedPage(1, 1, Outcome.SUCCESS, 200, 10, 5, 2, filtered={Filtered.CGI: 3}),
        ParsedPage(2, 1, Outcome.NO_DNS),
    ]
    counters = Counters()
    counters.add_done(done_totals(b"".join(map(done_entry, pages))))
    found = {name: value for name, value in counters.as_dict().items() if value}
    assert found == {
        "done": 2,
        "pages": 1,
        "success": 1,
        "links_found": 5,
        "url_dup": 2,
        "outcome_0": 1,
        "outcome_1": 1,
        "filtered_6": 3,
    }


def test_other_versions_are_read() -> None:
    """Fewer values: the rest is 0. More: they are left out."""
    short = Counters.from_bytes(struct.pack("<2Q", 7, 8))
    long = Counters.from_bytes(short.as_bytes() + b"new fields")
    assert (short[0], short[1], sum(short.as_dict().values())) == (7, 8, 15)
    assert long == short


def test_totals_over_shards_are_sums() -> None:
    """A copy is independent."""
    counters = Counters()
    counters.add(stats.HOSTS, 3)
    total = counters.copy()
    total.merge(counters)
    assert (counters[stats.HOSTS], total[stats.HOSTS]) == (3, 6)
