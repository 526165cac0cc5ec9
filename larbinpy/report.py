"""What a crawl did, as ``report.json`` and as the lines of the terminal; pure, plain data.

Counters come from the shards, which keep them by the log; rates and processor time are the
supervisor's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from larbinpy.records import Filtered, Outcome
from larbinpy.stats import COUNTERS, IDENTITY

REPORTED: Final = {
    "urls": ("done",),
    "pages": ("pages",),
    "success": ("success",),
    "hosts": ("hosts",),
    "hosts_with_dns": ("hosts_with_dns",),
    "robots_seen": ("robots_seen",),
    "robots_good": ("robots_good",),
    "links_found": ("links_found",),
    "url_dup": ("url_dup", "url_seen"),
    "bytes_read": ("bytes_read",),
    "bytes_written": ("bytes_written",),
    "retries": ("retries",),
    "outages": ("outages",),
    "near_duplicates": ("near",),
}
"""Name in the report -> counters of ``stats`` that it sums.

Duplicates are dropped by parsers, and what they do not know any more by the seen set.
"""

MOST_LEFT: Final = 1000
"""Hosts and domains that a run names."""


@dataclass(slots=True)
class Totals:
    """Sums over all shards at one moment."""

    counters: dict[str, int]
    identity: dict[str, int]

    @classmethod
    def of(cls, blocks: list[list[int]]) -> Totals:
        """Add up what the shards published: counters, then identity."""
        sums = [sum(column) for column in zip(*blocks, strict=True)]
        size = len(COUNTERS)
        return cls(
            dict(zip(COUNTERS, sums[:size], strict=False)) if sums else dict.fromkeys(COUNTERS, 0),
            dict(zip(IDENTITY, sums[size:], strict=False)) if sums else dict.fromkeys(IDENTITY, 0),
        )

    def reported(self) -> dict[str, int]:
        """The counters of the report."""
        return {
            name: sum(self.counters[counter] for counter in counters)
            for name, counters in REPORTED.items()
        }

    def outcomes(self) -> dict[str, int]:
        """Outcome name -> URLs, without zeros."""
        named = {outcome.label: self.counters[f"outcome_{outcome:d}"] for outcome in Outcome}
        return {name: count for name, count in named.items() if count}

    def filtered(self) -> dict[str, int]:
        """Reason -> links that were refused before queueing, without zeros."""
        named = {reason.label: self.counters[f"filtered_{reason:d}"] for reason in Filtered}
        return {name: count for name, count in named.items() if count}


@dataclass(slots=True)
class Run:
    """What the supervisor knows of the present run."""

    started_us: int
    seconds: float = 0.0
    ended_us: int = 0
    exit: str | None = None
    error: str | None = None
    paused: str | None = None
    """Why the crawl waits."""
    left: list[str] = field(default_factory=list)
    """Which hosts and domains are left because they say nothing new; the first ``MOST_LEFT``."""
    base: Totals | None = None
    """Totals when the run began."""
    rates: dict[str, float] = field(default_factory=dict)
    processes: list[dict[str, Any]] = field(default_factory=list)


def timestamp(wall_us: int) -> str:
    """RFC 3339, UTC, microseconds."""
    moment = datetime.fromtimestamp(wall_us / 1e6, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def build(run: Run, totals: Totals) -> dict[str, Any]:
    """The content of ``report.json``; its fields are listed in ``docs/report.md``."""
    counters = totals.reported()
    base = run.base.reported() if run.base else dict.fromkeys(REPORTED, 0)
    report = {
        "started": timestamp(run.started_us),
        "ended": timestamp(run.ended_us) if run.ended_us else None,
        "seconds": round(run.seconds, 3),
        "exit": run.exit,
        "paused": run.paused,
        "counters": counters,
        "run": {name: counters[name] - base[name] for name in REPORTED},
        "outcomes": totals.outcomes(),
        "filtered": totals.filtered(),
        "left": run.left,
        "rates": run.rates,
        "identity": totals.identity,
        "processes": run.processes,
    }
    if run.error:
        report["error"] = run.error
    return report


def progress_line(run: Run, totals: Totals) -> str:
    """One line for the terminal."""
    identity = totals.identity
    busy = identity["in_flight"] + identity["parsing"]
    return (
        f"{run.seconds:7.1f} s  {totals.counters['pages']:,} pages"
        f" ({run.rates.get('pages', 0.0):,.0f}/s)  {totals.counters['success']:,} good"
        f"  {identity['waiting']:,} waiting  {busy:,} in work  {totals.counters['hosts']:,} hosts"
        f"{'  paused' if run.paused else ''}"
    )


def summary_lines(run: Run, totals: Totals) -> list[str]:
    """What a user wants to know at the end."""
    pages = totals.counters["pages"] - (run.base.counters["pages"] if run.base else 0)
    rate = pages / run.seconds if run.seconds else 0.0
    lines = [
        f"{run.exit}: {pages:,} pages in {run.seconds:.1f} s ({rate:,.0f}/s),"
        f" {totals.counters['success']:,} good of {totals.counters['done']:,} URLs in all",
    ]
    outcomes = totals.outcomes()
    if outcomes:
        parts = sorted(outcomes.items(), key=lambda item: -item[1])
        lines.append("outcomes: " + ", ".join(f"{name} {count:,}" for name, count in parts))
    if totals.identity["waiting"]:
        lines.append(f"waiting: {totals.identity['waiting']:,} URLs; start again to go on")
    return lines


def why_nothing(totals: Totals, base: Totals | None = None, *, bad_seeds: int = 0) -> str:
    """Why a run fetched nothing, in one line.

    Args:
        base: totals when the run began.
        bad_seeds: start URLs that could not be used; why is told when they are read.
    """
    if base and base.counters["done"] and base.counters["done"] == totals.counters["done"]:
        return "nothing was fetched: the crawl had finished, and no start URL is new"
    outcomes = totals.outcomes()
    if outcomes:
        worst = max(outcomes, key=lambda name: outcomes[name])
        total = sum(outcomes.values())
        return f"nothing was fetched: {outcomes[worst]} of {total} URLs ended as {worst}"
    filtered = totals.filtered()
    if filtered:
        worst = max(filtered, key=lambda name: filtered[name])
        return f"nothing was fetched: all start URLs were refused ({worst})"
    if bad_seeds:
        return f"nothing was fetched: {bad_seeds:,} start URLs could not be used, see above"
    return "nothing was fetched: there is no new start URL (startUrl, seedFile, command line)"
