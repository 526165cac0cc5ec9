"""Parsers that die all the time, and too few descriptors: ``python -m tests.chaos.limits``.

``murder``: 4 parsers, one of them is killed every 500 ms; the same crawl runs undisturbed before.
The loss is that of pages a second, between the first and the last request.
``descriptors``: 200 connections are asked for under a limit of 64 descriptors, which is refused; a
crawl that asks for none fits itself into the limit; and shards that have begun with 200 find that
they have 64: they may stop, with a clear message, but no URL may fail for it.
The crawls must end by themselves and are held to their web as in ``kills``.

    --seed S  --dir D  --tests murder,descriptors
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy.testing.web import WebProcess, WebSpec
from tests.chaos.judge import Kill, Verdict, judge
from tests.chaos.life import Life, Victim
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from larbinpy.testing.web import Request

PARSERS: Final = 4
EVERY_S: Final = 0.5
DESCRIPTORS: Final = 64
CONNECTIONS: Final = 200


def spec_of(seed: int, hosts: int) -> WebSpec:
    """A web of small pages that answers at once."""
    return WebSpec(
        seed=seed, hosts=hosts, pages=60, page_bytes=3000, page_spread=2000, links=15, large=0.01
    )


def rate_of(requests: list[Request]) -> float:
    """Pages a second."""
    seconds = (requests[-1].start_ns - requests[0].start_ns) / 1e9
    return len(requests) / seconds if seconds else 0.0


def murder(seed: int, directory: Path, *, hosts: int = 600) -> list[str]:
    """Kill a parser every half second; returns the faults."""
    rng = random.Random(seed)
    keys = {"parseProcesses": str(PARSERS), "pagesConnexions": "100"}
    kills: list[Kill] = []
    rates = []
    faults = []
    verdict = Verdict()
    for name in ("undisturbed", "murder"):
        with WebProcess(spec_of(seed, hosts), directory / name / "web") as web:
            victim = Victim(web, directory / name, keys)
            life = victim.start()
            end = time.monotonic() + PATIENCE_S
            while life.wait(EVERY_S) is None and time.monotonic() < end:
                pids = life.children("parser")
                if name == "murder" and pids and life.kill_child(rng.choice(pids)):
                    kills.append(Kill(time.monotonic_ns(), "parser", "crawl"))
            if life.code != 0:
                faults.append(f"{name}: ended with {life.code}")
                life.kill_group()
                return faults
            verdict = judge(victim, kills, [life.spawned_ns])
            rates.append(rate_of(web.requests()))
            faults += [f"{name}: {fault}" for fault in verdict.faults]
    loss = 1 - rates[1] / rates[0]
    print(
        f"murder: {len(kills)} parsers killed in {verdict.requests} pages;"
        f" {rates[0]:.0f} pages/s undisturbed, {rates[1]:.0f} with murder ({loss:.0%} lost);"
        f" {verdict.lost} pages lost, {sum(verdict.refetched)} fetched again,"
        f" {verdict.stored_again} stored more than once"
    )
    return faults


def descriptors(seed: int, directory: Path, *, hosts: int = 300) -> list[str]:
    """Crawl with few descriptors; returns the faults."""
    spec = spec_of(seed, hosts)
    with WebProcess(spec, directory / "web") as web:
        asked = {"pagesConnexions": str(CONNECTIONS)}
        refused = Victim(web, directory / "refused", asked)
        faults = _must_refuse(refused)
        for name in ("fitted", "taken away"):
            before = len(web.requests())
            victim = Victim(web, directory / name, asked if name == "taken away" else {})
            if name == "fitted":
                (victim.config).write_text(
                    victim.config.read_text().replace("pagesConnexions 20\n", "")
                )
            life = victim.start(before=_limit if name == "fitted" else None)
            if name == "taken away":
                _take_away(victim, life)
            code = life.wait(PATIENCE_S)
            stops = []
            if code == 1 and name == "taken away" and "Too many open files" in _said(victim):
                print("descriptors, taken away: stopped, and started again with enough")
                stops = [Kill(time.monotonic_ns(), "group", "drain")]
                code = victim.start().wait(PATIENCE_S)
            if code != 0:
                faults.append(f"descriptors {name}: ended with {code}: {_said(victim)[-500:]}")
                life.kill_group()
                continue
            verdict = judge(victim, stops, [], requests=web.requests()[before:])
            faults += [f"descriptors {name}: {fault}" for fault in verdict.faults]
            outcomes = json.loads((victim.state / "report.json").read_text())["outcomes"]
            print(
                f"descriptors, {name}: {verdict.requests} pages, {verdict.lost} lost;"
                f" outcomes {outcomes}"
            )
    return faults


def _said(victim: Victim) -> str:
    return victim.messages.read_text(errors="replace").strip()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def _must_refuse(victim: Victim) -> list[str]:
    """More connections than descriptors is an error that says so, before anything is begun."""
    life = victim.start(before=_limit)
    code = life.wait(PATIENCE_S)
    said = _said(victim)
    print(f"descriptors, limit {DESCRIPTORS}, {CONNECTIONS} connections asked: {code}: {said}")
    is_clear = code == 2 and "limit of open files" in said
    return [] if is_clear else [f"descriptors: ended with {code}: {said}"]


def _take_away(victim: Victim, life: Life) -> None:
    """Limit the shards once they fetch: they have made their plans for more."""
    log = victim.state / "crawl.log"
    assert wait_until(lambda: log.exists() and log.stat().st_size > 0)
    for pid in life.children("shard"):
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def main(argv: list[str]) -> int:
    """Run both; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.limits", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--tests", default="murder,descriptors")
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args(argv)
    directory = given.dir or Path(tempfile.mkdtemp(prefix="larbinpy-limits-"))
    print(f"seed {given.seed}, files in {directory}", flush=True)
    tests = {"murder": murder, "descriptors": descriptors}
    faults = [
        fault
        for name in given.tests.split(",")
        for fault in tests[name](given.seed, directory.absolute() / name)
    ]
    for fault in faults:
        print(f"FAULT {fault}")
    if faults:
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
