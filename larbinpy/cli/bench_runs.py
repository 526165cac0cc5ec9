"""Run a command beside a web and measure one process of it: CPU time for each page.

The process is watched from outside (``/proc``), and pages are counted by the web's access log,
whose times are of the same clock: so bare pycurl and a shard are measured by the same yardstick,
and what a start or an end costs is left out.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SAMPLE_S: Final = 0.05
STOP_S: Final = 60.0
LIMIT_REACHED: Final = 3
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class RunFailed(RuntimeError):
    """A measured command ended badly; its own words are on stderr."""


@dataclass(slots=True)
class Sample:
    """CPU time of a process at a moment."""

    at_ns: int
    """CLOCK_MONOTONIC."""
    cpu_s: float


@dataclass(slots=True)
class Cost:
    """What the pages of a run took."""

    pages: int
    cpu_us: float
    """For each page."""
    pages_per_s: float


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, ended threads included.

    Raises:
        OSError: there is no such process.
    """
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def child_with(pid: int, word: str) -> int:
    """A child of a process whose command line holds a word; 0 when there is none (yet)."""
    with suppress(OSError):  # ended meanwhile
        for child in _children(pid):
            if word.encode() in Path(f"/proc/{child}/cmdline").read_bytes():
                return child
    return 0


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def watched(words: Sequence[str], find: Callable[[int], int]) -> list[Sample]:
    """Run a command to its end and return the CPU time of one of its processes over time.

    Args:
        find: the process to watch, of the command's process; 0 = it is not there yet.

    Raises:
        RunFailed: the command ended badly.
    """
    samples: list[Sample] = []
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said) as command,
    ):
        pid = 0
        while command.poll() is None:
            pid = pid or find(command.pid)
            if pid:
                with suppress(OSError):  # it ends before the command does
                    samples.append(Sample(time.monotonic_ns(), cpu_seconds(pid)))
            time.sleep(SAMPLE_S)
        if command.returncode not in (0, LIMIT_REACHED):
            said.seek(0)
            complaint = said.read().decode(errors="replace").strip()
            raise RunFailed(f"a run ended with {command.returncode}: {complaint}")
    return samples


def cost(samples: Sequence[Sample], ends_ns: Sequence[int], *, warm_up: int) -> Cost:
    """CPU time by pages, from the end of the warm-up to the last page.

    Args:
        ends_ns: when each page's last byte was given to its socket.
        warm_up: so many pages are left out: their hosts are connected to for the first time.

    Raises:
        RunFailed: too little was fetched to say anything.
    """
    ends = sorted(ends_ns)
    if len(ends) <= warm_up:
        raise RunFailed(f"{len(ends)} pages are too few, {warm_up} are the warm-up")
    within = [sample for sample in samples if ends[warm_up] <= sample.at_ns <= ends[-1]]
    if len(within) < 2:
        raise RunFailed("the run was too short to be measured")
    first, last = within[0], within[-1]
    pages = bisect_left(ends, last.at_ns) - bisect_left(ends, first.at_ns)
    if not pages:
        raise RunFailed("nothing was fetched while it was measured")
    seconds = (last.at_ns - first.at_ns) / 1e9
    return Cost(pages, (last.cpu_s - first.cpu_s) * 1e6 / pages, pages / seconds)


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    return [pid, *(found for child in _children(pid) for found in tree(child))]


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
