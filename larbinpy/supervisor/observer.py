"""What the supervisor sees of a crawl and tells of it: totals, rates, report, terminal.

Reads the counters that the shards publish in shared memory; changes nothing of the crawl.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from larbinpy import report, stats
from larbinpy.report import MOST_LEFT, Run, Totals
from larbinpy.shared import ParserWord
from larbinpy.stats import COUNTERS, IDENTITY
from larbinpy.supervisor import ending
from larbinpy.supervisor.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.children import Child
    from larbinpy.clock import Clock
    from larbinpy.config import Config
    from larbinpy.shared import CrawlMemory
    from larbinpy.supervisor.crew import Crew

REPORT_S: Final = 2.0
RATE_WINDOW_S: Final = 8.0
_SAMPLE_S: Final = 0.5


class Observer:
    """The crawl as numbers."""

    def __init__(self, config: Config, path: Path, memory: CrawlMemory, clock: Clock) -> None:
        self._path = path
        self._memory = memory
        self._clock = clock
        self._began_ns = clock.now_ns()
        self._run = Run(started_us=clock.wall_us())
        self._progress = Progress(stats=config.print_stats)
        self._blocks: dict[int, list[int]] = {}
        self._samples: deque[tuple[float, Totals]] = deque()
        self._bad_seeds = 0
        self._next_sample_s = 0.0
        self._next_report_s = REPORT_S
        self._cpu: dict[str, dict[str, Any]] = {}
        self._pages_before: dict[int, int] = {}
        """Process id -> pages of its predecessors and of earlier runs."""
        self._is_report_refused = False
        self._output = config.output_dir if config.output_mode in (1, 2) else None

    # --- events ----------------------------------------------------------------------------

    def ready(self, child: Child, message: dict[str, Any]) -> None:
        """A child has begun; a shard has opened its log."""
        for text in message.get("notices", ()):
            self.say(text)
        if child.role == "shard":
            self._blocks.setdefault(child.index, [0] * (len(COUNTERS) + len(IDENTITY)))
        self._pages_before[child.pid] = self._pages_counted(child)

    def left(self, text: str) -> None:
        """Somebody is left; a crawl that meets very many traps names the first ones."""
        if len(self._run.left) < MOST_LEFT:
            self._run.left.append(text)
            self.say(text)

    def begin(self) -> Totals:
        """All shards are up: what they have recovered is where this run begins."""
        self._run.base = totals = self.totals()
        if totals.counters["accepted"]:
            waiting = totals.counters["accepted"] - totals.counters["done"]
            self.say(f"going on: {totals.counters['done']:,} URLs done, {waiting:,} waiting")
        return totals

    def seeds(self, message: dict[str, Any]) -> None:
        """The seeds are read."""
        self._bad_seeds = message["bad"]
        if message["bad"]:
            self.say(f"{message['bad']:,} of {message['lines']:,} start URLs could not be used")
        if message["users"] > 1:  # of the first one was told when it came
            self.say(f"{message['users']:,} start URLs have a user and password; none was sent")

    def fault(self, text: str) -> None:
        """Something of ours failed; it goes into the report.

        What follows from the first fault is not told: one cause, one line.
        """
        if self._run.error is None:
            self._run.error = text
            self.say(f"larbinpy: {text}")

    def pause(self, reason: str | None) -> None:
        """The crawl waits, or (without a reason) goes on."""
        self._run.paused = reason
        self._run.seconds = self.seconds()
        self._write_report(self.totals())
        self.say(f"paused: {reason}" if reason else "going on")

    def say(self, text: str) -> None:
        """A line for the user."""
        self._progress.say(text)

    # --- numbers ---------------------------------------------------------------------------

    def seconds(self) -> float:
        """Since the start of this run."""
        return (self._clock.now_ns() - self._began_ns) / 1e9

    def totals(self) -> Totals:
        """Sums over all shards; a shard that is down counts with what it last published."""
        for index in self._blocks:
            self._read(index)
        return Totals.of(list(self._blocks.values()))

    def _read(self, index: int) -> None:
        """Take what a shard has published last."""
        block = self._memory.shard[index].counters.read()
        if block is not None:
            self._blocks[index] = block

    def show(self, crew: Crew) -> None:
        """Sample, report and show, each when it is due."""
        self._run.seconds = self.seconds()
        if self._run.seconds < self._next_sample_s:
            return
        self._next_sample_s = self._run.seconds + _SAMPLE_S
        totals = self.totals()
        self._sample(totals)
        for child in crew:
            self.remember(child)
        self._progress.show(self._run, totals)
        if self._run.seconds >= self._next_report_s:
            self._next_report_s = self._run.seconds + REPORT_S
            self._write_report(totals)

    def remember(self, child: Child) -> None:
        """Note the processor time of a child, also one that has just ended."""
        self._cpu[f"{child.name}/{child.pid}"] = {
            "name": child.name,
            "pid": child.pid,
            "cpu_seconds": round(child.cpu_s(), 2),
            "pages": self._pages(child),
        }

    def _pages(self, child: Child) -> int:
        count = self._pages_counted(child)
        return count - self._pages_before.get(child.pid, count)

    def _pages_counted(self, child: Child) -> int:
        """Pages of this process and of those that had its place before."""
        if child.role == "parser":
            return self._memory.parser[child.index].words.load(ParserWord.PAGES)
        if child.role == "shard" and child.index in self._blocks:
            self._read(child.index)
            return self._blocks[child.index][stats.PAGES]
        return 0

    def finish(self, exit_name: str) -> None:
        """The last report, and the summary."""
        totals = self.totals()
        self._run = replace(
            self._run, seconds=self.seconds(), ended_us=self._clock.wall_us(), exit=exit_name
        )
        self._write_report(totals)
        for line in report.summary_lines(self._run, totals):
            self.say(line)
        if exit_name == ending.FINISHED and not self._fetched(totals):
            self.say(report.why_nothing(totals, self._run.base, bad_seeds=self._bad_seeds))
        self.say(f"report: {self._path / 'report.json'}  log: {self._path / 'crawl.log'}")
        if self._output:
            self.say(f"pages: {self._output.absolute()}")

    def _fetched(self, totals: Totals) -> int:
        base = self._run.base
        return totals.counters["pages"] - (base.counters["pages"] if base else 0)

    def _sample(self, totals: Totals) -> None:
        now_s = self._run.seconds
        self._samples.append((now_s, totals))
        while now_s - self._samples[0][0] > RATE_WINDOW_S:
            self._samples.popleft()
        since_s, before = self._samples[0]
        span_s = now_s - since_s
        if span_s > 0:
            earlier = before.reported()
            self._run.rates = {
                name: round((count - earlier[name]) / span_s, 1)
                for name, count in totals.reported().items()
            }

    def _write_report(self, totals: Totals) -> None:
        self._run.processes = list(self._cpu.values())
        text = json.dumps(report.build(self._run, totals), indent=1)
        path = self._path / "report.json"
        temporary = path.with_name(path.name + ".tmp")
        try:
            temporary.write_text(text + "\n", encoding="ascii")
            temporary.rename(path)
        except OSError as error:
            if self._run.error is None and not self._is_report_refused:
                self.say(f"larbinpy: {path}: {error.strerror}")
            self._is_report_refused = True
        else:
            self._is_report_refused = False
