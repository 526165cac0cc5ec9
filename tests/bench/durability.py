"""What durability costs: workload A of ``larbinpy bench web`` with off, process and power in turn.

Printed: pages/s of each run, then the median ratios to ``off`` of the runs beside it, of pages/s
and of the CPU time of all processes for each page.

Command: python -m tests.bench.durability [ROUNDS [PAGES]]  (default 6 rounds, 100 pages a host)
"""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import median

from larbinpy.cli.bench import WORKLOADS, Run, run_larbinpy

KINDS = ("off", "process", "power")


def cpu_us(run: Run) -> float:
    """CPU microseconds of all processes for a page."""
    return sum(run.cpu_us.values())


def main() -> None:
    """All rounds."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else WORKLOADS["A"].pages
    workload = replace(WORKLOADS["A"], pages=pages)
    runs: dict[str, list[Run]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        for kind in KINDS:
            runs[kind].append(run_larbinpy(workload, [f"durability={kind}"]))
        print(*(f"{kind} {runs[kind][-1].pages_per_s:,.0f}/s" for kind in KINDS), flush=True)
    for kind in KINDS[1:]:
        pairs = list(zip(runs[kind], runs["off"], strict=True))
        speed = median(run.pages_per_s / off.pages_per_s for run, off in pairs)
        cpu = median(cpu_us(run) / cpu_us(off) for run, off in pairs)
        print(f"{kind}: {speed:.3f} of the pages/s of off, {cpu:.3f} of its CPU per page")


if __name__ == "__main__":
    main()
