"""Compares two or more ways to do the same work, fairly on a machine whose speed drifts."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAIRS = 6


def _seconds(work: Callable[[], object], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def _repeats(work: Callable[[], object], at_least_s: float = 0.02) -> int:
    return max(1, int(at_least_s / max(_seconds(work, 1), 1e-9)))


def compare(title: str, ways: Mapping[str, Callable[[], object]], *, items: int) -> None:
    """Run all ways in turn, six times; print medians, and ratios of pairs to the first way."""
    repeats = {name: _repeats(work) for name, work in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(PAIRS):
        for name, work in ways.items():
            times[name].append(_seconds(work, repeats[name]))
    first, *_ = ways
    print(title)
    for name, seconds in times.items():
        ratio = statistics.median(
            other / own for other, own in zip(seconds, times[first], strict=True)
        )
        each_ns = statistics.median(seconds) / items * 1e9
        print(f"  {name:32} {each_ns:12.1f} ns each   {ratio:8.1f} x {first}")
