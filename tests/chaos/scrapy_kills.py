"""The same kills for Scrapy with JOBDIR, for comparison: ``python -m tests.chaos.scrapy_kills``.

A synthetic web as that of ``kills`` is crawled by Scrapy undisturbed, then by the same command in a
new JOBDIR with SIGKILLs at random moments after the first request of each start, until it ends by
itself; the same is done with larbinpy.  Lost is what the undisturbed crawl asked the web for and
the killed ones, all starts together, did not; again is what they asked for more often.

    --crawls N    that are killed (5)
    --kills K     of each, if it goes on for so long (4)
    --seed S  --hosts H  --dir D

Scrapy is no dependency: ``pip install scrapy``.  Ends with 2 when it is not there.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy.testing.web import WebProcess
from tests.chaos.kills import spec_of
from tests.chaos.life import Victim

if TYPE_CHECKING:
    from collections.abc import Callable

SPIDER: Final = Path(__file__).with_name("scrapy_spider.py")
END_S: Final = 300.0
LONGEST_S: Final = 4.0
"""A kill comes this long after the first request of a start, at most."""
POLL_S: Final = 0.05

Asked = Counter[tuple[int, bytes]]


@dataclass(slots=True)
class Score:
    """Of one crawler, over all crawls that were killed."""

    pages: int = 0
    """That the undisturbed crawls asked for."""
    kills: int = 0
    lost: int = 0
    again: int = 0
    ends: list[int | None] = field(default_factory=list)
    """Exit codes of the last starts."""


def asked_since(web: WebProcess, before: int) -> Asked:
    """How often each page was asked for since so many requests."""
    return Counter((r.host, r.path) for r in web.requests()[before:] if not r.is_robots)


def killed_crawl(
    web: WebProcess, start: Callable[[], subprocess.Popen[bytes]], kills: int, rng: random.Random,
    score: Score,
) -> Asked:  # fmt: skip
    """Start, kill and start again, then let it end."""
    before = len(web.requests())
    for _ in range(kills):
        process = start()
        if not _live(web, process, rng.uniform(0, LONGEST_S)):
            break
        _kill(process)
        score.kills += 1
    else:
        process = start()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_S)
    score.ends.append(process.poll())
    _kill(process)
    return asked_since(web, before)


def _live(web: WebProcess, process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the first request, then so long; false when the crawl has ended before."""
    before = len(web.requests())
    while process.poll() is None and len(web.requests()) == before:
        time.sleep(POLL_S)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is None


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def scrapy_start(web: WebProcess, directory: Path) -> Callable[[], subprocess.Popen[bytes]]:
    """Begins or goes on with a Scrapy crawl."""
    directory.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, str(SPIDER), str(web.seeds_file), str(web.hosts_file)]

    def start() -> subprocess.Popen[bytes]:
        with (directory / "messages").open("ab") as said:
            return subprocess.Popen(
                [*words, str(directory / "job")], stdin=subprocess.DEVNULL, stdout=said,
                stderr=said, start_new_session=True,
            )  # fmt: skip

    return start


def larbinpy_start(web: WebProcess, directory: Path) -> Callable[[], subprocess.Popen[bytes]]:
    """Begins or goes on with a larbinpy crawl."""
    victim = Victim(web, directory, {"depthInSite": "1000"})
    return lambda: victim.start().process


CRAWLERS: Final = {"scrapy": scrapy_start, "larbinpy": larbinpy_start}


def compare(crawls: int, kills: int, seed: int, hosts: int, directory: Path) -> dict[str, Score]:
    """Kill both crawlers on the same webs."""
    rng = random.Random(seed)
    scores = {name: Score() for name in CRAWLERS}
    for number in range(crawls):
        spec, draw = spec_of(rng.randrange(1 << 30), hosts), rng.randrange(1 << 30)
        for name, start in CRAWLERS.items():
            place = directory / f"{number}-{name}"
            with WebProcess(spec, place / "web") as web:
                score = scores[name]
                whole = killed_crawl(web, start(web, place / "whole"), 0, rng, Score())
                found = killed_crawl(
                    web, start(web, place / "killed"), kills, random.Random(draw), score
                )
            lost = len(whole.keys() - found.keys())
            again = found.total() - len(found)
            print(f"{place.name}: {len(whole)} pages, {lost} lost, {again} again", flush=True)
            score.pages += len(whole)
            score.lost += lost
            score.again += again
    return scores


def main(argv: list[str]) -> int:
    """Compare and print; 2 without Scrapy."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.scrapy_kills", description=__doc__)
    parser.add_argument("--crawls", type=int, default=5)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--hosts", type=int, default=60)
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args(argv)
    if importlib.util.find_spec("scrapy") is None:
        print("Scrapy is not installed: pip install scrapy")
        return 2
    directory = given.dir or Path(tempfile.mkdtemp(prefix="larbinpy-scrapy-"))
    print(f"seed {given.seed}, files in {directory}", flush=True)
    scores = compare(given.crawls, given.kills, given.seed, given.hosts, directory.absolute())
    for name, score in scores.items():
        print(
            f"{name}: {score.kills} kills of {given.crawls} crawls; of {score.pages} pages"
            f" {score.lost} lost ({score.lost / max(score.pages, 1):.0%}),"
            f" {score.again} fetched again; ended with {score.ends}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
