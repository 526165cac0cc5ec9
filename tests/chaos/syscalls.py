"""Let one call that changes files go wrong, at every position: ``python -m tests.chaos.syscalls``.

A crawl of some hundred pages (1 shard of 64 KiB segments, 2 parsers) runs with ``faults.c``
preloaded into one of its processes: supervisor, shard or parser. That numbers the process's calls
that change files of the state or of the output (write, pwrite64, fsync, fdatasync, rename, unlink,
ftruncate, fallocate, mkdir, creation) and makes the N-th one go wrong:

    kill     SIGKILL in place of the call
    torn     half of a write, then SIGKILL
    short    half of a write
    enospc   the call fails: no space left on device
    eio      the call fails: input/output error

The same command is then repeated, without a fault, until the crawl is through, and the crawl is
held to its web as in ``kills``. Role ``recovery`` is the shard of a second run, whose first was
killed. Calls differ a little from run to run, so the last numbers are not always met.

    --positions N|all   how many positions of all (40), drawn by the seed
    --seed S
    --kinds K,K  --roles R,R  --dir D
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.chaos.judge import AGAIN, judge
from tests.chaos.life import MOST_REFETCHED, Victim
from tests.chaos.watch import Watch
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from larbinpy.testing.web import Expected, Request

KINDS: Final = ("kill", "torn", "short", "enospc", "eio")
ROLES: Final = ("supervisor", "shard", "parser", "recovery")
CUT: Final = ("torn", "short")
ERRORS: Final = {"enospc": "No space left on device", "eio": "Input/output error"}
SHARDS: Final = 1
KEYS: Final = {"fetchProcesses": str(SHARDS)}
SLOWLY: Final = {"waitDuration": "0.5"}
"""Segments are deleted once a second: that must come long before the end, on any machine."""
MOST_RUNS: Final = 3
WEB_POSITIONS: Final = 40
"""A web answers for so many crawls; its log is read for each."""
SOURCE: Final = Path(__file__).with_name("faults.c")

_WRAPPER: Final = """#!/bin/sh
if [ "$2" = "larbinpy.$FAULT_ROLE" ] && mkdir "$FAULT_CLAIM" 2>/dev/null; then
    export LD_PRELOAD={library}
fi
exec {python} "$@"
"""


@dataclass(frozen=True, slots=True)
class Position:
    """One call and how it goes wrong."""

    role: str
    number: int
    call: str
    """Its name when the calls were counted; another run may have another one there."""
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} at call {self.number} ({self.call}) of {self.role}"


@dataclass(slots=True)
class Score:
    """What the positions did."""

    ran: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    """Errors that the crawl survived without a word, by call."""
    lost: int = 0
    refetched: int = 0
    stored_again: int = 0
    faults: list[str] = field(default_factory=list)


class Bench:
    """A web and the preloaded library; runs one crawl for each position; ``close`` it."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._directory = directory
        self._library = directory / "faults.so"
        self._python = directory / "python"
        directory.mkdir(parents=True, exist_ok=True)
        build(self._library)
        self._python.write_text(_WRAPPER.format(library=self._library, python=sys.executable))
        self._python.chmod(0o755)
        self._web = WebProcess(spec_of(seed), directory / "web")
        self._tried = 0
        self._answer: Expected = expected(self._web.spec, Scope())
        self._prepared = directory / "prepared"
        self._prepared_requests: list[Request] = []

    def close(self) -> None:
        """Stop the web."""
        self._web.stop()

    def _renew_web(self) -> None:
        """The same web with an empty access log."""
        spec = self._web.spec
        self._web.stop()
        self._web = WebProcess(spec, self._directory / "web")

    def count(self, role: str) -> list[str]:
        """Names of the calls that a role makes in a whole crawl, in their order."""
        place = self._directory / f"count-{role}"
        victim = self._victim(place, role)
        self._run(victim, Position(role, 0, "", "count"))
        lines = (place / "calls").read_text().splitlines() if (place / "calls").exists() else []
        shutil.rmtree(place)
        return [line.split()[0] for line in lines]

    def prepare(self) -> None:
        """Kill a crawl that has rotated and deleted, for role ``recovery``.

        Raises:
            RuntimeError: it ended before that.
        """
        before = len(self._web.requests())
        victim = Victim(self._web, self._prepared, KEYS | SLOWLY)
        watch = Watch(victim.state, SHARDS)
        life = victim.start()
        deleted = watch.shards[0]
        watch.wait(lambda: deleted.deletions > 0 or life.code is not None, PATIENCE_S)
        if not deleted.deletions:
            raise RuntimeError("the crawl that was to be killed had deleted nothing")
        life.kill_group()
        watch.close()
        self._prepared_requests = self._web.requests()[before:]

    def try_position(self, position: Position, score: Score) -> None:
        """Run one crawl with its fault, let it end, judge it."""
        place = self._directory / "crawl"
        self._tried += 1
        if self._tried % WEB_POSITIONS == 0:
            self._renew_web()
        before = len(self._web.requests())
        victim = self._victim(place, position.role)
        code = self._run(victim, position)
        hit = (place / "calls").read_text().strip() if (place / "calls").exists() else ""
        said = victim.messages.read_text(errors="replace")
        problems = [] if code in (0, 1, -9) else [f"ended with {code}"]
        if hit and position.kind in ERRORS and ERRORS[position.kind] not in said:
            score.silent[hit.split()[0] + " " + Path(hit.split()[1]).name[:4]] += 1
        runs = 0
        while code != 0 and runs < MOST_RUNS:
            code = victim.start().wait(PATIENCE_S)
            runs += 1
        if code != 0:
            problems.append(f"not through after {runs} more runs: {code}")
        else:
            if "/report." in hit:  # it could not be replaced: the next run does it
                victim.start().wait(PATIENCE_S)
            problems += self._judge(victim, position, before, score)
        score.ran[position.kind] += 1
        score.hit[position.kind] += bool(hit)
        score.codes[f"{position.kind} {'went on' if not runs else 'started again'}"] += 1
        score.faults += [f"{position} [{hit}]: {problem}" for problem in problems]
        if problems:
            kept = self._directory / f"kept-{len(score.faults)}"
            shutil.rmtree(kept, ignore_errors=True)
            place.rename(kept)
        else:
            shutil.rmtree(place)

    def _victim(self, place: Path, role: str) -> Victim:
        shutil.rmtree(place, ignore_errors=True)
        if role == "recovery":
            shutil.copytree(self._prepared, place)
        return Victim(self._web, place, KEYS)

    def _run(self, victim: Victim, position: Position) -> int | None:
        """The run with the fault."""
        environment = {
            "FAULT_KIND": position.kind,
            "FAULT_AT": str(position.number),
            "FAULT_DIRS": f"{victim.state}:{victim.output}",
            "FAULT_LOG": str(victim.directory / "calls"),
            "FAULT_ROLE": "shard" if position.role == "recovery" else position.role,
            "FAULT_CLAIM": str(victim.directory / "claim"),
        }
        if position.role == "supervisor":
            life = victim.start({**environment, "LD_PRELOAD": str(self._library)})
        else:
            life = victim.start(environment, python=self._python)
        code = life.wait(PATIENCE_S)
        if code is None:
            life.kill_group()
        return code

    def _judge(self, victim: Victim, position: Position, before: int, score: Score) -> list[str]:
        requests = self._web.requests()[before:]
        if position.role == "recovery":
            requests = [*self._prepared_requests, *requests]
        verdict = judge(victim, [], [], requests=requests, answer=self._answer)
        again = sum(verdict.refetched) + verdict.without_kill
        score.lost += verdict.lost
        score.refetched += again
        score.stored_again += verdict.stored_again
        problems = [f for f in verdict.faults if not f.startswith(AGAIN)]
        if again > MOST_REFETCHED * (2 if position.role == "recovery" else 1):
            problems.append(f"{again} pages fetched again")
        return problems


def build(library: Path) -> None:
    """Compile ``faults.c``.

    Raises:
        OSError, subprocess.CalledProcessError: there is no C compiler, or it complains.
    """
    words = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(words, check=True)


def spec_of(seed: int) -> WebSpec:
    """A web of some four hundred pages, enough for a segment to go while it is crawled."""
    return WebSpec(
        seed=seed, hosts=40, pages=5, notes=1, chain=2, page_bytes=1500, page_spread=1000,
        links=25, large=0.01, large_bytes=40_000, latency_ms=8, latency_spread_ms=12,
    )  # fmt: skip


def positions_of(bench: Bench, kinds: list[str], roles: list[str]) -> list[Position]:
    """Every position: each call of each role, in each way that it can go wrong."""
    positions = []
    for role in roles:
        calls = bench.count(role)
        names = ", ".join(f"{name} {count}" for name, count in Counter(calls).most_common())
        print(f"{role}: {len(calls)} calls: {names}", flush=True)
        positions += [
            Position(role, number, call, kind)
            for kind in kinds
            for number, call in enumerate(calls, 1)
            if kind not in CUT or call in ("write", "pwrite64")
        ]
    return positions


def sweep(
    count: int | None, seed: int, seconds: float, directory: Path,
    *, kinds: list[str], roles: list[str],
) -> Score:  # fmt: skip
    """Try all positions (``count`` None) or some, evenly over roles and kinds, in any order."""
    score = Score()
    rng = random.Random(seed)
    bench = Bench(directory, seed)
    try:
        if "recovery" in roles:
            bench.prepare()
        positions = positions_of(bench, kinds, roles)
        total = len(positions)
        positions = draw(rng, positions, total if count is None else count)
        end = time.monotonic() + seconds
        for position in positions:
            if time.monotonic() > end:
                break
            bench.try_position(position, score)
    finally:
        bench.close()
    print(f"tried {score.ran.total()} of {total} positions")
    return score


def draw(rng: random.Random, positions: list[Position], count: int) -> list[Position]:
    """Some positions: roles and kinds in turn, so that each has its share."""
    piles: dict[tuple[str, str], list[Position]] = {}
    for position in positions:
        piles.setdefault((position.role, position.kind), []).append(position)
    for pile in piles.values():
        rng.shuffle(pile)
    drawn: list[Position] = []
    while len(drawn) < count and any(piles.values()):
        drawn += [pile.pop() for pile in piles.values() if pile]
    return drawn[:count]


def show(score: Score) -> None:
    """Print the figures."""
    for kind in score.ran:
        print(f"{kind}: {score.ran[kind]} positions, {score.hit[kind]} met")
    print(f"crawls: {dict(score.codes)}")
    print(f"lost: {score.lost}, fetched again: {score.refetched},"
          f" stored more than once: {score.stored_again}, manual steps: 0")  # fmt: skip
    if score.silent:
        print(f"errors without a word: {dict(score.silent)}")
    for fault in score.faults:
        print(f"FAULT {fault}")


def main(argv: list[str]) -> int:
    """Sweep, print, judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.syscalls", description=__doc__)
    parser.add_argument("--positions", default="40")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--seconds", type=float, default=36_000.0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--roles", default=",".join(ROLES))
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args(argv)
    directory = given.dir or Path(tempfile.mkdtemp(prefix="larbinpy-syscalls-"))
    print(f"seed {given.seed}, files in {directory}", flush=True)
    began = time.monotonic()
    score = sweep(
        None if given.positions == "all" else int(given.positions),
        given.seed,
        given.seconds,
        directory.absolute(),
        kinds=given.kinds.split(","),
        roles=given.roles.split(","),
    )
    show(score)
    print(f"seconds: {time.monotonic() - began:.0f}")
    if score.faults:
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
