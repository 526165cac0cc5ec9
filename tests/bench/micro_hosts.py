"""Host table beside its model: what one URL, one turn and one host cost.

Workloads (hosts x URLs each, an address per host, order bfs):
    put        1,000 x 100 in batches of 10,000, hosts mixed
    put wide   200,000 x 5 in batches of 10,000, hosts mixed
    turns      1,000 hosts, no delay: acquire(200), release each; nanoseconds a turn
    turns wide 200,000 hosts likewise

Command: python -m tests.bench.micro_hosts
Table and model take turns, six pairs; printed are the medians and the median of the ratios.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from typing import TYPE_CHECKING

from larbinpy._native.hosts import HostTable
from tests.native.hostrecords import Batch, batch
from tests.reference.hosts import HostTable as Model

if TYPE_CHECKING:
    from collections.abc import Callable

    Table = HostTable | Model

PAIRS = 6
BATCH = 10_000
TURNS = 20_000
AT_ONCE = 200


def batches(hosts: int, urls: int) -> list[Batch]:
    """Every host ``urls`` times in random order."""
    names = [b"www.host-%d.example" % i for i in range(hosts)] * urls
    random.Random(1).shuffle(names)
    return [
        batch((name, 0, 2 * i) for i, name in enumerate(names[at : at + BATCH], start=at))
        for at in range(0, len(names), BATCH)
    ]


def filled(make: type[Table], work: list[Batch]) -> Table:
    """A table with all URLs and an address for each host."""
    table = make(wait_ns=0, wait_ip_ns=0)
    for one in work:
        table.put(*one)
    for number, _ in table.unresolved(table.hosts):
        table.resolved(number, (0x0A000000 + number).to_bytes(4, "big"), 0)
    return table


def time_put(make: type[Table], work: list[Batch]) -> float:
    """Nanoseconds a URL."""
    table = make(wait_ns=0, wait_ip_ns=0)
    began = time.perf_counter_ns()
    for one in work:
        table.put(*one)
    return (time.perf_counter_ns() - began) / table.waiting


def time_turns(make: type[Table], work: list[Batch]) -> float:
    """Nanoseconds from acquire to release."""
    table = filled(make, work)
    began = time.perf_counter_ns()
    for now in range(TURNS // AT_ONCE):
        for number, _, _ in table.acquire(now, AT_ONCE):
            table.release(number, now, now)
    return (time.perf_counter_ns() - began) / TURNS


def compare(
    name: str, measure: Callable[[type[Table], list[Batch]], float], work: list[Batch]
) -> None:
    """Print one row."""
    pairs = []
    for _ in range(PAIRS):
        gc.collect()
        pairs.append((measure(HostTable, work), measure(Model, work)))
    native, model = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{name:10} {native:8.0f} ns {model:8.0f} ns   x {ratio:.1f}")


def main() -> None:
    """Print the table."""
    print(f"{'':10} {'table':>11} {'model':>11}")
    small, wide = batches(1_000, 100), batches(200_000, 5)
    compare("put", time_put, small)
    compare("put wide", time_put, wide[:20])
    compare("turns", time_turns, small)
    compare("turns wide", time_turns, wide[:20])


if __name__ == "__main__":
    main()
