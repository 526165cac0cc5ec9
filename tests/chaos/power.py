"""Let the power fail at any moment of a crawl, and start it again: ``python -m tests.chaos.power``.

A crawl (2 shards of 64 KiB segments, 2 parsers) runs to its end with ``record.c`` preloaded into
all its processes.  Moments are drawn from what it did to its files; for each, the disk is made
again as a failure of the power at that moment would leave it (``journal.py``: all that was not
synced is lost, or any part of it), under another boot id, and the crawl is continued there and
held to its web as in ``kills``.

With ``durability power`` nothing may be lost: no URL, no stored page of a URL that is done, no line
of crawl.log; at most K pages and those of the last ``syncTime`` may be fetched again, and what was
stored of these may be there twice or without its bytes.  With ``process`` what was accepted since
the last sync may be lost, and is counted.

    --moments N   of each durability (20)
    --seed S  --durability power,process  --dir D
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from larbinpy.errors import LarbinError
from larbinpy.state import StateDirectory
from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.chaos.journal import MODES, Medium, read_journal
from tests.chaos.judge import AGAIN, judge
from tests.chaos.life import MOST_REFETCHED, Victim
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from tests.chaos.journal import Call

SOURCE: Final = Path(__file__).with_name("record.c")
SYNC_S: Final = 1.0
"""``syncTime``."""
DAMAGE: Final = (" damaged in ", "were lost")
"""What a crawl may say of records that the power failure tore."""


def spec_of(seed: int, hosts: int) -> WebSpec:
    """A web of some thousand pages that is crawled for several ``syncTime``."""
    return WebSpec(
        seed=seed, hosts=hosts, pages=30, page_bytes=2000, page_spread=1500, links=15,
        large=0.01, large_bytes=40_000, latency_ms=20, latency_spread_ms=60,
    )  # fmt: skip


@dataclass(slots=True)
class Score:
    """What the moments did."""

    moments: int = 0
    lost: int = 0
    refetched: list[int] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    """Pages fetched again beyond those of the last ``syncTime``."""
    stored_again: int = 0
    faults: list[str] = field(default_factory=list)


class Recording:
    """A whole crawl and all that it did to its files."""

    def __init__(self, web: WebProcess, directory: Path, durability: str) -> None:
        self._web = web
        self._directory = directory
        self._durability = durability
        self._keys = {"durability": durability, "syncTime": f"{SYNC_S}s"}
        self._answer = expected(web.spec, Scope())
        library = directory / "record.so"
        build(library)
        self._first = Victim(web, directory / "recorded", self._keys)
        before = len(web.requests())
        environment = {
            "LD_PRELOAD": str(library),
            "RECORD_LOG": str(directory / "journal"),
            "RECORD_DIRS": str(self._first.directory),
        }
        life = self._first.start(environment)
        if life.wait(PATIENCE_S) != 0:
            life.kill_group()
            raise RuntimeError(f"the crawl that is recorded ended with {life.code}")
        self._requests = web.requests()[before:]
        self.calls: list[Call] = read_journal(directory / "journal")

    def fail_at(self, medium: Medium, number: int, mode: str, rng: random.Random) -> Victim:
        """A crawl whose disk is what is left of this one's, the power having failed after a call.

        ``medium`` has taken in all calls up to that one.
        """
        victim = Victim(self._web, self._directory / f"{self._durability}-{number}", self._keys)
        for path, content in medium.image(rng, mode).items():
            place = victim.directory / Path(path).relative_to(self._first.directory)
            if place == victim.messages:
                continue
            if content is None:
                place.mkdir()
            else:
                place.write_bytes(content)
        _boot(victim.state)
        return victim

    def go_on(self, victim: Victim, cut_ns: int, name: str, score: Score) -> list[str]:
        """Continue such a crawl and judge it; returns the faults."""
        before = len(self._web.requests())
        code = victim.start().wait(PATIENCE_S)
        if code != 0:
            said = victim.messages.read_text(errors="replace")[-300:]
            return [f"ended with {code}: {said}"]
        first = [request for request in self._requests if request.start_ns <= cut_ns]
        requests = [*first, *self._web.requests()[before:]]
        verdict = judge(victim, [], [], requests=requests, answer=self._answer)
        recent = sum(r.start_ns > cut_ns - SYNC_S * 1e9 for r in first)
        score.lost += verdict.lost
        score.stored_again += verdict.stored_again
        score.refetched.append(verdict.without_kill)
        score.over.append(verdict.without_kill - recent)
        print(
            f"{name}: {verdict.lost} lost, {verdict.without_kill} of {len(first)} fetched again,"
            f" {recent} were asked for in the last {SYNC_S:.0f} s",
            flush=True,
        )
        faults = [fault for fault in verdict.faults if not self._is_excused(fault, name)]
        if verdict.without_kill > MOST_REFETCHED + recent and self._durability == "power":
            faults.append(f"{verdict.without_kill} pages fetched again")
        return faults

    def _is_excused(self, fault: str, name: str) -> bool:
        """What the contract does not promise; of the last ``syncTime`` files may be there without
        their bytes, and pages twice, for their DONEs are not."""
        if fault.startswith((AGAIN, "state --verify: ")) or "stored more than once" in fault:
            return True
        if fault.startswith("said: ") and any(word in fault for word in DAMAGE):
            return True
        if self._durability == "power":
            is_torn = ": not the page " in fault or ": torn l" in fault
            return is_torn and not name.endswith("kept")
        return fault.startswith(("lost: ", "report.json: ", "crawl.log: ", "output: ", "d0"))


def _boot(state: Path) -> None:
    """The machine has started again: the state knows another boot id."""
    if (state / "MANIFEST").exists():
        directory = StateDirectory(state)
        manifest = directory.load()
        assert manifest is not None
        directory.save(replace(manifest, boot_id="before the power failed"))
        directory.close()


def build(library: Path) -> None:
    """Compile ``record.c``.

    Raises:
        OSError, subprocess.CalledProcessError: there is no C compiler, or it complains.
    """
    library.parent.mkdir(parents=True, exist_ok=True)
    words = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(words, check=True)


def fail(moments: int, seed: int, durability: str, directory: Path, *, hosts: int = 100) -> Score:
    """Let the power fail at so many moments of one crawl."""
    rng = random.Random(f"{seed} {durability}")
    score = Score()
    with WebProcess(spec_of(rng.randrange(1 << 30), hosts), directory / "web") as web:
        recording = Recording(web, directory, durability)
        print(f"durability {durability}: {len(recording.calls)} calls that change files")
        drawn = sorted(rng.sample(range(1, len(recording.calls)), moments))
        medium = Medium()
        done = 0
        for turn, number in enumerate(drawn):
            for call in recording.calls[done:number]:
                medium.happen(call)
            done = number
            mode = MODES[turn % len(MODES)]
            name = f"{durability}, call {number}, {mode}"
            score.moments += 1
            faults = _try(recording, medium, number, mode, name, rng, score)
            score.faults += [f"{name}: {fault}" for fault in faults]
    return score


def _try(
    recording: Recording, medium: Medium, number: int, mode: str, name: str,
    rng: random.Random, score: Score,
) -> list[str]:  # fmt: skip
    try:
        victim = recording.fail_at(medium, number, mode, rng)
    except LarbinError as error:
        return [f"the state cannot be read: {error}"]
    cut_ns = recording.calls[number - 1].time_ns
    faults = recording.go_on(victim, cut_ns, name, score)
    if not faults:
        shutil.rmtree(victim.directory)
    return faults


def show(score: Score, durability: str) -> None:
    """Print the figures."""
    print(
        f"durability {durability}: the power failed {score.moments} times; {score.lost} pages lost,"
        f" at most {max(score.refetched, default=0)} fetched again, and at most"
        f" {max(score.over, default=0)} besides those of the last {SYNC_S:.0f} s"
        f" (K = {MOST_REFETCHED}); {score.stored_again} stored more than once"
    )
    for fault in score.faults:
        print(f"FAULT {fault}")


def main(argv: list[str]) -> int:
    """Fail, print, judge; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.power", description=__doc__)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--durability", default="power,process")
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--dir", type=Path)
    given = parser.parse_args(argv)
    directory = given.dir or Path(tempfile.mkdtemp(prefix="larbinpy-power-"))
    print(f"seed {given.seed}, files in {directory}", flush=True)
    is_good = True
    for durability in given.durability.split(","):
        place = directory.absolute() / durability
        score = fail(given.moments, given.seed, durability, place, hosts=given.hosts)
        show(score, durability)
        is_good = is_good and not score.faults
    if not is_good:
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
