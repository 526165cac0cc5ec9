"""What the supervisor tells of a crawl, from the numbers that shards publish."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.config import Config
from larbinpy.report import MOST_LEFT
from larbinpy.shared import CrawlMemory, ParserWord
from larbinpy.stats import COUNTERS, IDENTITY
from larbinpy.supervisor import ending
from larbinpy.supervisor.observer import REPORT_S, Observer
from larbinpy.supervisor.progress import Progress
from larbinpy.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A child, as far as it is observed."""

    role: str
    index: int
    pid: int = 100

    @property
    def name(self) -> str:
        return f"{self.role} {self.index}"

    def cpu_s(self) -> float:
        return 1.239


class View:
    """An observer, its clock, and the memory it looks at."""

    def __init__(self, path: Path, **keys: Any) -> None:
        self.path = path
        self.clock = FakeClock(wall_us=1_700_000_000_000_000)
        self.memory = CrawlMemory.create(2, 1)
        self.observer = Observer(Config(**keys), path, self.memory, self.clock)
        self._terminal = io.StringIO()
        self.observer._progress = Progress(stats=False, stream=self._terminal)

    def publish(self, shard: int, **counters: int) -> None:
        names = (*COUNTERS, *(f"is_{name}" for name in IDENTITY))
        assert set(counters) <= set(names)
        self.memory.shard[shard].counters.publish([counters.get(name, 0) for name in names])

    def said(self) -> str:
        """What the user has been told since the last call."""
        text = self._terminal.getvalue()
        self._terminal.seek(0)
        self._terminal.truncate()
        return text

    def ready(self) -> None:
        for index in (0, 1):
            self.shard_ready(index, {"verb": "ready"})

    def shard_ready(self, index: int, message: dict[str, Any]) -> None:
        shard: Any = Process("shard", index)  # Any: all that is asked of a child
        self.observer.ready(shard, message)

    def show(self, *processes: Process) -> None:
        crew: Any = processes  # Any: all that is asked of a crew is to go over it
        self.observer.show(crew)

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path / "report.json").read_bytes())
        return found


@pytest.fixture
def view(tmp_path: Path) -> Iterator[View]:
    made = View(tmp_path)
    yield made
    os.close(made.memory.fd)


def test_who_is_left_is_said_and_kept(tmp_path: Path) -> None:
    """As many as a report is for; a crawl of very many traps does not fill the terminal."""
    view = View(tmp_path)
    for number in range(MOST_LEFT + 5):
        view.observer.left(f"left {number}")
    assert len(view.said().splitlines()) == MOST_LEFT
    assert view.observer._run.left[:: MOST_LEFT - 1] == ["left 0", f"left {MOST_LEFT - 1}"]


def test_totals_are_those_of_the_shards_that_are_up(view: View) -> None:
    """The others have nothing to show yet."""
    view.publish(0, done=3)
    view.publish(1, done=4)
    assert view.observer.totals().counters["done"] == 0
    view.shard_ready(1, {})
    assert view.observer.totals().counters["done"] == 4
    view.shard_ready(0, {})
    assert view.observer.totals().counters["done"] == 7


def test_a_shard_that_starts_again_keeps_its_last_numbers(view: View) -> None:
    """Until it publishes new ones."""
    view.ready()
    view.publish(0, done=3)
    assert view.observer.totals().counters["done"] == 3
    view.shard_ready(0, {})
    assert view.observer.totals().counters["done"] == 3
    view.publish(0, done=5)
    assert view.observer.totals().counters["done"] == 5


def test_notices_of_a_shard_are_said(view: View) -> None:
    """What its log has to tell."""
    view.shard_ready(0, {"notices": ["shard 0: damaged", "shard 0: slow"]})
    assert view.said() == "shard 0: damaged\nshard 0: slow\n"


def test_a_crawl_that_goes_on_says_so(view: View) -> None:
    """A new one does not."""
    view.ready()
    view.observer.begin()
    assert view.said() == ""
    view.publish(0, accepted=1500, done=400)
    view.observer.begin()
    assert view.said() == "going on: 400 URLs done, 1,100 waiting\n"


def test_bad_seeds_are_said(view: View) -> None:
    """When there are any."""
    view.observer.seeds({"lines": 10, "bad": 0, "users": 0})
    view.observer.seeds({"lines": 1000, "bad": 2, "users": 0})
    assert view.said() == "2 of 1,000 start URLs could not be used\n"


def test_users_in_seeds_are_counted(view: View) -> None:
    """When there are more than the one that was told of."""
    view.observer.seeds({"lines": 1000, "bad": 0, "users": 1})
    view.observer.seeds({"lines": 10_000, "bad": 0, "users": 2000})
    assert view.said() == "2,000 start URLs have a user and password; none was sent\n"


def test_rates_are_of_the_last_eight_seconds(view: View) -> None:
    """What was before does not count any more."""
    view.ready()
    for second in range(21):
        view.publish(0, pages=second * 10 if second <= 10 else 100 + (second - 10) * 20)
        view.show()
        view.clock.pass_s(1.0)
    assert view.observer._run.rates["pages"] == 20.0


def test_the_report_is_replaced_every_two_seconds(view: View) -> None:
    """Not more often, however often it is looked at."""
    view.ready()
    view.publish(0, done=1)
    view.show()
    assert not (view.path / "report.json").exists()
    view.clock.pass_s(REPORT_S)
    view.show()
    assert view.report()["counters"]["urls"] == 1
    view.publish(0, done=2)
    view.clock.pass_s(REPORT_S / 2)
    view.show()
    assert view.report()["counters"]["urls"] == 1
    view.clock.pass_s(REPORT_S / 2)
    view.show()
    assert view.report()["counters"]["urls"] == 2
    assert not list(view.path.glob("*.tmp"))


def test_processes_are_listed_also_after_their_end(view: View) -> None:
    """With what each did itself, not its predecessor."""
    crew: list[Any] = [  # Any: all that is asked of a child
        Process("shard", 1, 10), Process("parser", 0, 11), Process("seeder", 0, 12),
        Process("parser", 0, 13),
    ]  # fmt: skip
    view.publish(1, pages=3)
    for child in crew[:3]:
        view.observer.ready(child, {})
    view.publish(1, pages=10)
    view.memory.parser[0].words.store(ParserWord.PAGES, 6)
    view.clock.pass_s(REPORT_S)
    view.show(*crew[:3])
    view.observer.ready(crew[3], {})
    view.memory.parser[0].words.store(ParserWord.PAGES, 10)
    view.observer.remember(crew[3])
    view.observer.finish(ending.FINISHED)
    assert view.report()["processes"] == [
        {"name": "shard 1", "pid": 10, "cpu_seconds": 1.24, "pages": 7},
        {"name": "parser 0", "pid": 11, "cpu_seconds": 1.24, "pages": 6},
        {"name": "seeder 0", "pid": 12, "cpu_seconds": 1.24, "pages": 0},
        {"name": "parser 0", "pid": 13, "cpu_seconds": 1.24, "pages": 4},
    ]


def test_the_last_report(view: View) -> None:
    """It has an end, a name for it, and this run's numbers; the user sees where things are."""
    view.ready()
    view.publish(0, pages=100, done=100)
    view.observer.begin()
    view.clock.pass_s(4.0)
    view.publish(0, pages=140, done=150, success=140)
    view.observer.finish(ending.FINISHED)
    report = view.report()
    assert (report["exit"], report["seconds"]) == ("finished", 4.0)
    assert report["started"] == "2023-11-14T22:13:20.000000Z"
    assert report["ended"] == "2023-11-14T22:13:24.000000Z"
    assert (report["run"]["urls"], report["counters"]["urls"]) == (50, 150)
    said = view.said()
    assert "finished: 40 pages in 4.0 s" in said
    assert f"report: {view.path / 'report.json'}  log: {view.path / 'crawl.log'}" in said


def test_a_crawl_that_fetched_nothing_says_why(view: View) -> None:
    """When it has finished; one that was stopped needs no reason."""
    view.ready()
    view.observer.finish(ending.INTERRUPTED)
    assert "nothing was fetched" not in view.said()
    view.observer.finish(ending.FINISHED)
    assert "nothing was fetched" in view.said()


def test_a_fault_is_said_and_reported(view: View) -> None:
    """By its own text."""
    view.observer.fault("shard 0: disk full")
    view.observer.finish(ending.FAULT)
    assert view.report()["error"] == "shard 0: disk full"
    assert view.said().startswith("larbinpy: shard 0: disk full\n")


def test_a_report_that_cannot_be_written_ends_nothing(view: View) -> None:
    """The crawl is worth more; the user is told."""
    (view.path / "report.json.tmp").mkdir()
    view.observer.finish(ending.FINISHED)
    assert "report.json: Is a directory" in view.said()
