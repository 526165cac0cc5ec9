"""Damage the state of a crawl that was killed, and start it again: ``python -m tests.chaos.disks``.

One crawl is killed in its middle; copies of its state are damaged, one in each way, and continued:

    twice      the same copy is continued by two crawls, one after the other
    again      killed at once when it has recovered, three times, then continued
    bit        one bit of a segment is turned
    cut        a segment is cut short
    zeros      4 KiB of a segment are zeros
    swapped    two segments have each other's name
    foreign    a segment of another crawl lies among them
    newer      a segment has the version number of a later format
    missing    a segment in the middle is gone

A crawl that goes on must come to its end by itself, must not invent or tear anything, and must say
what it found. What was lost with the damage is printed; without damage nothing may be lost.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from larbinpy.frontier.segment import Header
from larbinpy.testing.web import Scope, WebProcess, expected
from tests.chaos.judge import AGAIN, judge
from tests.chaos.kills import spec_of
from tests.chaos.life import Victim
from tests.chaos.watch import Watch
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.testing.web import Request

SHARDS: Final = 1
KEYS: Final = {"fetchProcesses": str(SHARDS)}
ROTATIONS: Final = 4
"""The crawl is killed when it has begun so many more segments."""
HOSTS: Final = 60
CRASHES: Final = 3


def _segments(state: Path) -> list[Path]:
    """The segments of the shard that has most, oldest first."""
    shards = [
        sorted(path.glob("q-*.seg"), key=lambda p: p.name[11:]) for path in state.glob("shard-*")
    ]
    return max(shards, key=len)


def _flip(rng: random.Random, state: Path) -> None:
    path = rng.choice(_segments(state))
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _cut(rng: random.Random, state: Path) -> None:
    path = rng.choice(_segments(state))
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def _zeros(rng: random.Random, state: Path) -> None:
    path = rng.choice(_segments(state))
    data = bytearray(path.read_bytes())
    at = rng.randrange(max(1, len(data) - 4096))
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    path.write_bytes(data)


def _swap(_rng: random.Random, state: Path) -> None:
    first, second, *_ = _segments(state)
    other = first.with_name("other")
    first.rename(other)
    second.rename(first)
    other.rename(second)


def _header(state: Path, **changes: Any) -> None:  # values of the fields
    """A copy of the oldest segment with another header, under the next number."""
    segments = _segments(state)
    data = segments[0].read_bytes()
    header = Header.unpack(data)
    assert header is not None
    number = int(segments[-1].name[11:27], 16) + 1
    made = replace(header, number=number, **changes)
    path = segments[0].with_name(f"q-{header.epoch:08x}-{number:016x}.seg")
    path.write_bytes(made.pack() + data[len(made.pack()) :])


def _foreign(_rng: random.Random, state: Path) -> None:
    _header(state, uuid=bytes(16))


def _newer(_rng: random.Random, state: Path) -> None:
    _header(state, version=9)


def _missing(_rng: random.Random, state: Path) -> None:
    segments = _segments(state)
    segments[len(segments) // 2].unlink()


DAMAGES: Final[dict[str, Callable[[random.Random, Path], None]]] = {
    "bit": _flip,
    "cut": _cut,
    "zeros": _zeros,
    "swapped": _swap,
    "foreign": _foreign,
    "newer": _newer,
    "missing": _missing,
}
WAYS: Final = ("twice", "again", *DAMAGES)
HARMLESS: Final = ("twice", "again", "swapped", "foreign", "newer")
"""Nothing is lost by these."""


class Copies:
    """A crawl that was killed, and the copies of it that go on."""

    def __init__(self, web: WebProcess, directory: Path) -> None:
        self._web = web
        self._directory = directory
        self._answer = expected(web.spec, Scope())
        self._first = Victim(web, directory / "killed", KEYS)
        watch = Watch(self._first.state, SHARDS)
        life = self._first.start()
        first = watch.shards[0]
        watch.wait(lambda: first.rotations >= ROTATIONS or life.code is not None, PATIENCE_S)
        if first.rotations < ROTATIONS:
            raise RuntimeError("the crawl that was to be killed ended before it had rotated")
        life.kill_group()
        watch.close()
        self._requests = web.requests()

    def _copy(self, name: str) -> Victim:
        """A copy of the killed crawl."""
        place = self._directory / name
        shutil.copytree(self._first.directory, place)
        return Victim(self._web, place, KEYS)

    def go_on(self, way: str, rng: random.Random) -> list[str]:
        """Continue a copy that was treated in this way."""
        if way == "again":
            return self._again()
        if way == "twice":
            faults = [self._continued(way, self._copy(name)) for name in ("first", "second")]
            return faults[0] + faults[1]
        victim = self._copy(way)
        DAMAGES[way](rng, victim.state)
        return self._continued(way, victim)

    def _continued(self, name: str, victim: Victim) -> list[str]:
        """Continue a crawl to its end and judge it."""
        before = len(self._web.requests())
        code = victim.start().wait(PATIENCE_S)
        if code != 0:
            said = victim.messages.read_text(errors="replace")[-300:]
            return [f"{name}: ended with {code}: {said}"]
        return self._judged(name, victim, self._web.requests()[before:])

    def _judged(self, name: str, victim: Victim, requests: list[Request]) -> list[str]:
        """The faults of a crawl that has ended; damage excuses losses and what is said of it."""
        verdict = judge(victim, [], [], requests=[*self._requests, *requests], answer=self._answer)
        print(f"{name}: {verdict.lost} lost, {verdict.without_kill} fetched again")
        faults = [fault for fault in verdict.faults if not fault.startswith(AGAIN)]
        if name not in ("twice", "again"):
            faults = [f for f in faults if not f.startswith(("said: ", "state --verify: "))]
        if name not in HARMLESS:
            excused = ("lost: ", "crawl.log: ", "report.json: ", "output: ")
            faults = [fault for fault in faults if not fault.startswith(excused)]
        return [f"{name}: {fault}" for fault in faults]

    def _again(self) -> list[str]:
        """Die when it has recovered, some times, then go on."""
        victim = self._copy("again")
        before = len(self._web.requests())
        watch = Watch(victim.state, SHARDS)
        for _ in range(CRASHES):
            life = victim.start()
            watch.began()
            watch.wait(lambda: watch.phase() != "start", PATIENCE_S)
            life.kill_group()
        watch.close()
        code = victim.start().wait(PATIENCE_S)
        if code != 0:
            return [f"again: ended with {code}"]
        return self._judged("again", victim, self._web.requests()[before:])


def damage(
    seed: int, directory: Path, *, rounds: int = 1, ways: int = len(WAYS), hosts: int = HOSTS
) -> list[str]:
    """Damage in so many ways, drawn, so many times; returns the faults."""
    rng = random.Random(seed)
    faults: list[str] = []
    for turn in range(rounds):
        place = directory / f"round-{turn}"
        with WebProcess(spec_of(rng.randrange(1 << 30), hosts), place / "web") as web:
            copies = Copies(web, place)
            for way in rng.sample(WAYS, ways):
                faults += copies.go_on(way, rng)
        if not faults:
            shutil.rmtree(place)
    return faults


def main(argv: list[str]) -> int:
    """Damage, print, judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.disks", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args(argv)
    directory = given.dir or Path(tempfile.mkdtemp(prefix="larbinpy-disks-"))
    print(f"seed {given.seed}, files in {directory}", flush=True)
    faults = damage(given.seed, directory.absolute(), rounds=given.rounds)
    for fault in faults:
        print(f"FAULT {fault}")
    if faults:
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
