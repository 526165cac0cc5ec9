"""Coverage-guided fuzzing of page reading: ``python -m tests.fuzz``; ``make fuzz`` builds for it.

A worker process mutates inputs and keeps those that take an edge of the kernels for the first time;
edges are noted by ``edges.c``, which kernels that were built for it call. Before each input is
tried, it is written to a shared file: so the one that killed the worker is known. An input that
raises, kills, or takes more CPU than the deadline is saved, and the run fails.
"""

from __future__ import annotations

import argparse
import ctypes
import mmap
import os
import random
import re
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

DEADLINE_S: Final = 2.0
"""CPU of one input of at most 64 KiB; a hundred times what any takes here."""
FAULTS: Final = Path("faults")
SLOT_BYTES: Final = 1 << 17
GRAMMAR_SHARE: Final = 0.2
PROGRESS: Final = 100_000
KEPT_BYTES: Final = 4 << 10
"""Longer inputs are tried and not changed again, lest all grow."""
FRESH_SHARE: Final = 0.5
"""How often an input that took a new edge is changed again, rather than a seed."""


class Edges:
    """The edges that were taken so far; none when the kernels were not built to tell."""

    def __init__(self, library: str | None) -> None:
        self._library = ctypes.CDLL(library, ctypes.RTLD_GLOBAL) if library else None
        if self._library:
            self._library.edges_blocks.restype = ctypes.POINTER(ctypes.c_size_t)

    def count(self) -> int:
        """Edges so far."""
        return int(self._library.edges_count()) if self._library else 0

    def blocks(self) -> Counter[str]:
        """Blocks that were reached, by the file of their kernel."""
        found: Counter[str] = Counter()
        if not self._library:
            return found
        blocks = set(self._library.edges_blocks()[: self.count()])
        for line in Path("/proc/self/maps").read_text().splitlines():
            where, mode, *_, name = line.split(None, 5)
            if "x" in mode and "_native" in name:
                start, end = (int(part, 16) for part in where.split("-"))
                found[name] += sum(start <= block < end for block in blocks)
        return found


class Worker:
    """Makes and tries inputs; runs in a process of its own."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._edges = Edges(given.edges)
        # The kernels may be loaded only now: they call what has just been loaded.
        from tests.fuzz import mutate, seeds, targets  # noqa: PLC0415

        self._mutated, self._grammar, self._words = mutate.mutated, seeds.grammar, seeds.WORDS
        self._targets = {name: targets.TARGETS[name] for name in given.targets or targets.TARGETS}
        self._rng = random.Random(given.seed)
        self._seeds = {name: seeds.seeds(name) for name in self._targets}
        self._fresh: dict[str, list[bytes]] = {name: [] for name in self._targets}
        self._taken: Counter[str] = Counter()
        self._given = given
        with Path(given.slot).open("r+b") as file:
            self._slot = mmap.mmap(file.fileno(), SLOT_BYTES)

    def run(self) -> int:
        """Try inputs until there were enough, or the time is over; the exit status."""
        end_s = time.monotonic() + self._given.seconds if self._given.seconds else float("inf")
        tried: Counter[str] = Counter()
        for name, inputs in self._seeds.items():
            for data in inputs:
                self._try(name, data)
                tried[name] += 1
        names = list(self._targets)
        for number in range(max(self._given.inputs - tried.total(), 0)):
            if not number & 255 and time.monotonic() > end_s:
                break
            name = names[number % len(names)]
            before = self._edges.count()
            data = self._made(name)
            self._try(name, data)
            tried[name] += 1
            fresh = self._edges.count() - before
            if fresh:
                self._taken[name] += fresh
                if len(data) <= KEPT_BYTES:
                    self._fresh[name].append(data)
            if tried.total() % PROGRESS == 0:
                print(f"{tried.total()} inputs, {self._edges.count()} edges", flush=True)
        self._report(tried)
        return 0

    def _made(self, name: str) -> bytes:
        rng, words = self._rng, self._words[name]
        if rng.random() < GRAMMAR_SHARE:
            return self._grammar(name, rng)
        fresh, pool = self._fresh[name], self._seeds[name]
        data = rng.choice(fresh if fresh and rng.random() < FRESH_SHARE else pool)
        return self._mutated(data, fresh or pool, words, rng)

    def _try(self, name: str, data: bytes) -> None:
        head = b"%b %d\n" % (name.encode(), len(data))
        self._slot[: len(head) + len(data)] = head + data
        start_s = time.process_time()
        self._targets[name](data)
        took_s = time.process_time() - start_s
        if took_s > DEADLINE_S:
            raise TimeoutError(f"{took_s:.1f} s of CPU for {len(data)} bytes")

    def _report(self, tried: Counter[str]) -> None:
        for name in self._targets:
            print(
                f"{name}: {tried[name]} inputs, {len(self._seeds[name])} of them seeds; "
                f"{self._taken[name]} edges were new"
            )
        for path, blocks in sorted(self._edges.blocks().items()):
            print(f"{Path(path).name.partition('.')[0]}: {blocks} of {_all_blocks(path)} blocks")
        print(f"{tried.total()} inputs, {self._edges.count()} edges, no fault")


def _all_blocks(path: str) -> int:
    """Blocks that a kernel has: calls of the function that notes them."""
    code = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", path],
        env={**os.environ, "LD_PRELOAD": ""},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return len(re.findall(r"\bcall\b.*__sanitizer_cov_trace_pc", code))


def _watch(arguments: Sequence[str], given: argparse.Namespace) -> int:
    """Run a worker; save the input that it failed at."""
    slot = Path("fuzz.slot")
    slot.write_bytes(bytes(SLOT_BYTES))
    command = [sys.executable, "-m", "tests.fuzz", *arguments, "--slot", str(slot)]
    print(f"seed {given.seed}: --seed {given.seed} repeats this run", flush=True)
    code = subprocess.run([*command, "--seed", str(given.seed)]).returncode
    content = slot.read_bytes()
    slot.unlink()
    if code:
        head, _, rest = content.partition(b"\n")
        name, size = head.split() if rest.strip(b"\0") else (b"start", b"0")
        FAULTS.mkdir(exist_ok=True)
        path = FAULTS / f"{name.decode()}-{given.seed}"
        path.write_bytes(rest[: int(size)])
        print(f"FAULT (exit status {code}): the input is in {path.absolute()}", file=sys.stderr)
    return 1 if code else 0


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, and be the watcher or the worker."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="over all targets")
    parser.add_argument("--seconds", type=float, default=0, help="end after so long; 0 = never")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--targets", nargs="*", default=[], help="default: all")
    parser.add_argument("--edges", help="library of edges.c, for kernels that were built for it")
    parser.add_argument("--slot", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if not given.slot:
        return _watch(arguments, given)
    try:
        return Worker(given).run()
    except Exception:  # noqa: BLE001 - whatever it is, it is what we are looking for
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
