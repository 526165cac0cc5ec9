"""The numbers of a crawl, as ``docs/report.md`` lists them and as lines for people."""

from __future__ import annotations

import json

from larbinpy import report, stats
from larbinpy.records import Filtered, Outcome
from larbinpy.report import Run, Totals

FIELDS = [
    "started", "ended", "seconds", "exit", "paused", "counters", "run", "outcomes", "filtered",
    "left", "rates", "identity", "processes",
]  # fmt: skip


def totals(**counters: int) -> Totals:
    """Totals with these counters, and zeros."""
    identity = {name: counters.pop(name, 0) for name in stats.IDENTITY[2:]}
    values = {**dict.fromkeys(stats.COUNTERS, 0), **counters}
    return Totals(values, {"accepted": values["accepted"], "done": values["done"], **identity})


def test_totals_are_sums_over_the_shards() -> None:
    """Counters first, then identity, as they are published."""
    width = len(stats.COUNTERS) + len(stats.IDENTITY)
    made = Totals.of([list(range(width)), [1] * width])
    assert list(made.counters) == list(stats.COUNTERS)
    assert list(made.identity) == list(stats.IDENTITY)
    assert [*made.counters.values(), *made.identity.values()] == list(range(1, width + 1))


def test_no_shards_have_zeros() -> None:
    """A report can be written before anything has happened."""
    assert Totals.of([]) == totals()


def test_outcomes_and_reasons_by_name() -> None:
    """Without zeros."""
    made = totals(outcome_0=5, outcome_8=2, filtered_9=7)
    assert made.outcomes() == {Outcome.SUCCESS.label: 5, Outcome.ERR_40X.label: 2}
    assert made.filtered() == {Filtered.LINKS_PER_PAGE.label: 7}


def test_time_stamps() -> None:
    """RFC 3339, UTC, microseconds always."""
    assert report.timestamp(0) == "1970-01-01T00:00:00.000000Z"
    assert report.timestamp(1_700_000_000_000_001) == "2023-11-14T22:13:20.000001Z"


def test_a_running_crawl() -> None:
    """All fields of the document and no others; it has neither end nor exit."""
    built = report.build(Run(started_us=0, seconds=1.23456), totals(done=3, pages=2))
    assert list(built) == FIELDS
    assert (built["ended"], built["exit"], built["seconds"]) == (None, None, 1.235)
    assert list(built["counters"]) == list(report.REPORTED)
    assert (built["counters"]["urls"], built["counters"]["pages"]) == (3, 2)
    json.dumps(built)


def test_a_run_is_what_came_after_its_beginning() -> None:
    """The counters go on over all runs."""
    run = Run(started_us=0, ended_us=1_000_000, exit="finished", base=totals(done=10, success=4))
    built = report.build(run, totals(done=15, success=6))
    assert (built["counters"]["urls"], built["run"]["urls"]) == (15, 5)
    assert (built["counters"]["success"], built["run"]["success"]) == (6, 2)
    assert (built["ended"], built["exit"]) == ("1970-01-01T00:00:01.000000Z", "finished")


def test_a_fault_is_told() -> None:
    """By its text."""
    assert report.build(Run(started_us=0, error="shard 0: disk"), totals())["error"] == (
        "shard 0: disk"
    )


def test_progress_line() -> None:
    """Time, pages and their rate, what waits, what is in work."""
    run = Run(started_us=0, seconds=12.34, rates={"pages": 1234.5})
    made = totals(pages=5000, success=4000, hosts=7, waiting=9000, in_flight=3, parsing=4)
    assert report.progress_line(run, made) == (
        "   12.3 s  5,000 pages (1,234/s)  4,000 good  9,000 waiting  7 in work  7 hosts"
    )


def test_summary() -> None:
    """Of this run; outcomes by number; how to go on when URLs wait."""
    run = Run(started_us=0, seconds=2.0, exit="page limit", base=totals(pages=100))
    made = totals(pages=300, done=310, success=290, outcome_8=20, outcome_0=290, waiting=5)
    assert report.summary_lines(run, made) == [
        "page limit: 200 pages in 2.0 s (100/s), 290 good of 310 URLs in all",
        "outcomes: success 290, err40X 20",
        "waiting: 5 URLs; start again to go on",
    ]


def test_summary_of_nothing() -> None:
    """No line without content, no division by zero."""
    assert report.summary_lines(Run(started_us=0, exit="interrupted"), totals()) == [
        "interrupted: 0 pages in 0.0 s (0/s), 0 good of 0 URLs in all"
    ]


def test_why_nothing_was_fetched() -> None:
    """The most frequent reason, else that nothing was asked for."""
    assert report.why_nothing(totals(outcome_1=5, outcome_13=2)).endswith(
        "5 of 7 URLs ended as noDNS"
    )
    assert "all start URLs were refused (outSite)" in report.why_nothing(totals(filtered_4=1))
    assert "no new start URL" in report.why_nothing(totals())
    before, after = (totals(done=5, outcome_0=5) for _ in range(2))
    assert "had finished, and no start URL is new" in report.why_nothing(after, before)
