"""How long a shard takes to open its log, and what it then holds in memory.

Workload: URLS waiting URLs (default 10 million, of about 55 bytes, with a via of a page shared by
30) on HOSTS hosts (default 1 million), written by a process of its own; then, in a fresh process,
what a shard does with it: recovery, seen set (exact), chains, and the first 1,000 URLs read.

Command: python -m tests.bench.restart [URLS [HOSTS]]
"""

from __future__ import annotations

import ctypes
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from larbinpy._native.hosts import HostTable
from larbinpy.dedup.seen import ExactSeen
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.settings import Settings
from tests.reference import logcodec as reference

UUID = bytes(range(16))
SETTINGS = Settings(64 << 20)
BATCH = 900
PAGE = 30
MASK = b"\1" * BATCH


def links(start: int, hosts: int) -> bytes:
    """A LINKS payload of a batch of URLs, which are spread over the hosts."""
    payload = []
    for page in range(start, start + BATCH, PAGE):
        via = b"http://www.host%d.example/section/page%d.html" % (page % hosts, page)
        bare = []
        for n in range(page, page + PAGE):
            host = b"www.host%d.example" % (n * 7919 % hosts)
            url = b"http://%b/section/page%d.html" % (host, n)
            bare.append(
                reference.LINK.pack(
                    (n + 1) * 0x9E3779B97F4A7C15 % 2**64,
                    len(url), 2, 3, 80, 7, len(host), 0, 0, 0, 0, 0, 0.5, 0.5,
                ) + url
            )  # fmt: skip
        data = b"".join(bare)
        payload.append(reference.GROUP.pack(len(via), 0, PAGE, len(data)) + via + data)
    return b"".join(payload)


def write(directory: Path, urls: int, hosts: int) -> None:
    """Write the log, and leave it as a kill does."""
    fifo, _ = PersistentFifo.open(directory, uuid=UUID, settings=SETTINGS)
    for start in range(0, urls, BATCH):
        fifo.put(links(start, hosts), MASK)
        fifo.flush()
    fifo.collect(wait=True)
    fifo.flush()


def restart(directory: Path) -> None:
    """Open the log as a shard does; print seconds and memory."""
    before = resident("VmRSS")
    began = time.perf_counter()
    fifo, found = PersistentFifo.open(directory, uuid=UUID, settings=SETTINGS)
    opened = time.perf_counter()
    table = HostTable(wait_ns=0, wait_ip_ns=0)
    seen = ExactSeen()
    frontier = Frontier(shard=0, fifo=fifo, table=table, seen=seen)
    frontier.restore(found)
    restored = time.perf_counter()
    size = sum(path.stat().st_size for path in directory.glob("*.seg"))
    held = resident("VmRSS")
    del found
    for host_id, _ in table.unresolved(1000):
        table.resolved(host_id, host_id.to_bytes(4, "big"), 0)
    taken = len(frontier.take(1, 1000))
    print(
        f"{frontier.waiting:,} URLs on {table.hosts:,} hosts, {size / 1e9:.2f} GB: log"
        f" {opened - began:.2f} s, seen set and chains {restored - opened:.2f} s, together"
        f" {restored - began:.2f} s"
    )
    print(
        f"memory: {before:.0f} MB before, {held:.0f} MB then, at most {peak():.0f} MB;"
        f" after it {resident('VmRSS'):.0f} MB (chains {table.nbytes / 1e6:.0f},"
        f" seen set {seen.nbytes / 1e6:.0f}); first URLs: {taken}"
    )


def resident(name: str) -> float:
    """Memory of this process in MB, by the name of its line in ``/proc/self/status``."""
    ctypes.CDLL(None).malloc_trim(0)
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)
    )
    return int(line.split()[1]) / 1024


def peak() -> float:
    """The most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Write in one process, open in another."""
    urls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    hosts = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    if len(sys.argv) > 3:
        work = {"write": lambda path: write(path, urls, hosts), "restart": restart}
        work[sys.argv[3]](Path(sys.argv[4]))
        return
    with tempfile.TemporaryDirectory() as directory:
        for step in ("write", "restart"):
            words = [str(urls), str(hosts), step, directory]
            subprocess.run([sys.executable, "-m", "tests.bench.restart", *words], check=True)


if __name__ == "__main__":
    main()
