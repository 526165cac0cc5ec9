"""Kill crawls at random, by SIGKILL, and count what is lost: ``python -m tests.chaos.kills``.

Crawls of a synthetic web (2 shards, 2 parsers, 20 connections, segments of 64 KiB, outputMode 1)
are killed and started again by the same command until the number of kills is reached; each crawl
goes on to its end and is then judged by the web's access log and page list.
In turn the whole group, the supervisor, one shard and one parser die; the moment is drawn, half of
the time near something that is hard to survive: start, recovery, rotation, deletion, drain.

    --kills N     how many (1000 takes about 20 minutes on two cores)
    --seed S      of webs, moments and victims; a random one is printed when none is given
    --seconds T   kill no more after so long
    --durability D  of the crawls (process)
    --dir D       for all files; kept when something was wrong

Ends with 1 when anything was lost, invented, torn, fetched again too often, or done by hand.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from larbinpy.testing.web import WebProcess, WebSpec
from tests.chaos.judge import Kill, Verdict, check_identity, judge
from tests.chaos.life import MOST_REFETCHED, PARSERS, SHARDS, Life, Victim, are_gone
from tests.chaos.samples import Samples
from tests.chaos.watch import PHASES, Watch
from tests.patience import PATIENCE_S

TARGETS: Final = ("group", "supervisor", "shard", "parser")
AIMS: Final = {
    "start": 12,
    "recovery": 16,
    "crawl": 32,
    "rotation": 16,
    "deletion": 14,
    "drain": 10,
}
"""Where kills are aimed, by weight."""
UP_S: Final = 60.0
"""All shards of a crawl are up within this, or it is killed as it is."""
MOST_FAULTS: Final = 20


def spec_of(seed: int, hosts: int = 300) -> WebSpec:
    """A web whose crawl lasts for some fifty kills with 300 hosts."""
    return WebSpec(
        seed=seed, hosts=hosts, pages=60, page_bytes=2000, page_spread=1500, links=15,
        large=0.01, large_bytes=60_000, latency_ms=8, latency_spread_ms=40,
    )  # fmt: skip


@dataclass(slots=True)
class Score:
    """Sums over all crawls."""

    kills: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    verdicts: list[Verdict] = field(default_factory=list)
    samples: int = 0
    """States of the counters of a shard that were read."""
    faults: list[str] = field(default_factory=list)


class Hunt:
    """One crawl, killed until it is through or no kill is left."""

    def __init__(self, victim: Victim, rng: random.Random, score: Score) -> None:
        self._victim = victim
        self._random = rng
        self._score = score
        self._watch = Watch(victim.state, SHARDS)
        self._samples = Samples(SHARDS, PARSERS)
        self._kills: list[Kill] = []
        self._spawned_ns: list[int] = []
        self._orphans: list[int] = []
        self._is_draining = False
        self._is_new = True
        self._life = self._begin()

    def run(self, until: int, deadline_s: float) -> Verdict:
        """Kill until the score has so many kills, then let the crawl end; judge it."""
        with self._samples:
            while self._score.kills.total() < until and time.monotonic() < deadline_s:
                if not self._goes_on():
                    break
                self._strike()
            self._finish()
        self._watch.close()
        self._score.samples += self._samples.count
        for fault in self._samples.faults:
            self._fault(fault)
        lines = [f"{kill}\n" for kill in self._kills]
        (self._victim.directory / "kills").write_text("".join(lines))
        return judge(self._victim, self._kills, self._spawned_ns)

    # --- lives ------------------------------------------------------------------------------

    def _begin(self) -> Life:
        life = self._victim.start()
        self._spawned_ns.append(life.spawned_ns)
        self._samples.follow(life.process.pid)
        self._watch.began()
        self._is_draining = False
        self._is_new = True
        if self._orphans and not are_gone(self._orphans):
            self._fault(f"children outlived their supervisor: {self._orphans}")
        self._orphans = []
        return life

    def _goes_on(self) -> bool:
        """Whether the crawl is not through; starts it again when it has ended otherwise."""
        code = self._life.code
        if code is None:
            return True
        if code == 0:
            return False
        is_stopped = code == 130 and self._is_draining
        if not is_stopped and not (code == 1 and self._has_lost_shard()):
            self._fault(f"ended with {code}")
        self._life = self._begin()
        return True

    def _has_lost_shard(self) -> bool:
        """A shard that is killed while the crawl stops, also at its end, makes it end with 1."""
        return any(
            kill.target == "shard" and kill.at_ns > self._life.spawned_ns for kill in self._kills
        )

    def _finish(self) -> None:
        """Let the crawl end; started again it has nothing to do."""
        while self._life.wait(PATIENCE_S) != 0:
            if self._life.code is None or not self._goes_on():
                self._fault(f"did not end within {PATIENCE_S:.0f} s")
                self._life.kill_group()
                return
        before = len(self._victim.web.requests())
        again = self._victim.start()
        code = again.wait(PATIENCE_S)
        if code != 0 or len(self._victim.web.requests()) != before:
            self._fault(f"a finished crawl that was started again ended with {code}")

    def _fault(self, text: str) -> None:
        self._score.faults.append(
            f"{self._victim.directory.name}: {text}; after {self._kills[-2:]}"
        )

    # --- kills ------------------------------------------------------------------------------

    def _strike(self) -> None:
        """Wait for a moment and kill; does nothing when the crawl has ended before."""
        target = TARGETS[self._score.kills.total() % len(TARGETS)]
        weights = dict(AIMS)
        if not self._is_new:  # only a crawl that begins can be met at its start
            del weights["start"], weights["recovery"]
        aim = self._random.choices(list(weights), list(weights.values()))[0]
        self._is_new = False
        self._await(aim)
        if self._life.code is not None:
            return
        phase = "drain" if self._is_draining else self._watch.phase()
        shard = self._kill(target)
        if shard == -1:
            return
        self._kills.append(Kill(time.monotonic_ns(), target, phase, shard))
        self._score.kills[target] += 1
        self._score.phases[phase] += 1
        fault = check_identity(self._victim.state)
        if fault:
            self._fault(fault)
        if target in ("group", "supervisor"):
            self._life = self._begin()

    def _await(self, aim: str) -> None:
        """Let the drawn moment come."""
        watch, draw = self._watch, self._random.uniform
        if aim == "start":
            self._pause(draw(0, 0.3))
        elif aim == "recovery":
            watch.wait(lambda: watch.phase() == "recovery" or self._has_ended(), 2)
            self._pause(draw(0, 0.004))
        elif aim in ("rotation", "deletion"):
            before = self._count(aim)
            watch.wait(lambda: self._count(aim) > before or self._has_ended(), 2.5)
            self._pause(draw(0, 0.002))
        else:
            watch.wait(lambda: watch.are_up or self._has_ended(), UP_S)
            self._pause(draw(0.02, 0.8))
        if aim == "drain" and watch.are_up:  # before, a signal would just end it
            self._is_draining = True
            self._life.stop()
            self._pause(draw(0, 0.15))

    def _count(self, aim: str) -> int:
        return sum(
            view.rotations if aim == "rotation" else view.deletions for view in self._watch.shards
        )

    def _has_ended(self) -> bool:
        return self._life.code is not None

    def _pause(self, seconds: float) -> None:
        self._watch.wait(self._has_ended, seconds)

    def _kill(self, target: str) -> int | None:
        """Kill the target; the shard that it was (None: unknown), -1 when there was none."""
        if target == "group":
            self._life.kill_group()
        elif target == "supervisor":
            self._orphans = self._life.children()
            self._life.kill_supervisor()
        else:
            return self._kill_child(target)
        return None

    def _kill_child(self, role: str) -> int | None:
        end = time.monotonic() + 1
        while not (pids := self._life.children(role)):
            if self._has_ended() or time.monotonic() > end:
                return -1
        pid = self._random.choice(pids)
        shard = self._life.shard_of(pid, self._victim.state) if role == "shard" else None
        if not self._life.kill_child(pid):
            return -1
        if shard is not None:
            self._watch.died(shard)
        return shard


def hunt(
    kills: int, seed: int, seconds: float, directory: Path, *, hosts: int = 300,
    durability: str = "process",
) -> Score:  # fmt: skip
    """Kill crawls until there were so many kills or the time is over."""
    rng = random.Random(seed)
    score = Score()
    deadline_s = time.monotonic() + seconds
    while score.kills.total() < kills and time.monotonic() < deadline_s:
        place = directory / f"crawl-{len(score.verdicts):02d}"
        with WebProcess(spec_of(rng.randrange(1 << 30), hosts), place / "web") as web:
            victim = Victim(web, place, {"durability": durability})
            verdict = Hunt(victim, rng, score).run(kills, deadline_s)
        score.verdicts.append(verdict)
        score.faults += [f"{place.name}: {fault}" for fault in verdict.faults]
        worst = max(verdict.refetched, default=0)
        if worst > MOST_REFETCHED:
            score.faults.append(f"{place.name}: {worst} pages fetched again for one kill")
        print(
            f"{place.name}: {score.kills.total()} kills so far, {verdict.requests} requests,"
            f" {verdict.lost} lost, {sum(verdict.refetched)} again, {len(verdict.faults)} faults",
            flush=True,
        )
        if len(score.faults) > MOST_FAULTS:
            break
        if not score.faults:
            shutil.rmtree(place)
    return score


def show(score: Score) -> None:
    """Print the figures."""
    verdicts = score.verdicts
    kills = score.kills.total()
    refetched = [count for verdict in verdicts for count in verdict.refetched]
    restarts = sorted(time_s for verdict in verdicts for time_s in verdict.restarts_s)
    print(f"kills: {kills} ({_pairs(score.kills, TARGETS)}) of {len(verdicts)} crawls")
    print(f"fell into: {_pairs(score.phases, PHASES)}")
    print(f"requests for pages: {sum(verdict.requests for verdict in verdicts)}")
    print(f"lost: {sum(verdict.lost for verdict in verdicts)} (95 %: under {3 / max(kills, 1):.1%}"
          " per kill)")  # fmt: skip
    print(
        f"fetched again: {sum(refetched)}, at most {max(refetched, default=0)} for one kill"
        f" (K = {MOST_REFETCHED}), median {median(refetched or [0]):.0f}"
    )
    print(f"torn records, lines and pages: {sum(verdict.torn for verdict in verdicts)}")
    print("manual steps: 0")
    print(f"samples in which the identity held: {score.samples}")
    print(
        f"pages stored: {sum(verdict.stored for verdict in verdicts)},"
        f" more than once: {sum(verdict.stored_again for verdict in verdicts)},"
        f" files without an index line: {sum(verdict.without_index for verdict in verdicts)}"
    )
    if restarts:
        print(
            f"restart (command to first request): median {median(restarts):.2f} s,"
            f" worst {restarts[-1]:.2f} s, {len(restarts)} of them"
        )
    for fault in score.faults:
        print(f"FAULT {fault}")


def _pairs(counts: Counter[str], names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {counts[name]}" for name in names)


def missed(score: Score) -> list[str]:
    """Phases that no kill fell into."""
    return [phase for phase in PHASES if not score.phases[phase]]


def main(argv: list[str]) -> int:
    """Kill, print, judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--seconds", type=float, default=7200.0)
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--durability", default="process")
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args(argv)
    directory = given.dir or Path(tempfile.mkdtemp(prefix="larbinpy-kills-"))
    print(f"seed {given.seed}, files in {directory}", flush=True)
    began = time.monotonic()
    score = hunt(
        given.kills, given.seed, given.seconds, directory,
        hosts=given.hosts, durability=given.durability,
    )  # fmt: skip
    show(score)
    print(f"seconds: {time.monotonic() - began:.0f}")
    for phase in missed(score):
        score.faults.append(f"no kill fell into {phase}")
        print(f"FAULT no kill fell into {phase}")
    if score.faults:
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
