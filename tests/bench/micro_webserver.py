"""Requests a second of the synthetic web's server, measured with wrk.

Run: ``python -m tests.bench.micro_webserver``; needs ``wrk`` and two cores.
Workloads: one page of 7.6 kB with 30 links, keep-alive, server on core 0, wrk on core 1; 50 and
1,000 connections. The server's own CPU time stands beside, for machines that do other work too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from larbinpy.testing.web import WebProcess, WebSpec

WRK = ["taskset", "-c", "1", "wrk", "-t1", "-d3"]


def cpu_s(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a line for each workload."""
    if not shutil.which("wrk"):
        print("needs wrk")
        return
    spec = WebSpec.plain(named=0.0, page_spread=0)
    with (
        tempfile.TemporaryDirectory() as name,
        WebProcess(spec, Path(name), cpu=0) as web,
    ):
        for connections in (50, 1000):
            before_s = cpu_s(web.pid)
            words = [*WRK, f"-c{connections}", f"http://127.0.0.1:{web.port}/"]
            text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            found = re.search(r"Requests/sec:\s+([0-9.]+)", text)
            rate = float(found.group(1)) if found else 0.0
            count = re.search(r"(\d+) requests in", text)
            used_us = (cpu_s(web.pid) - before_s) * 1e6 / int(count.group(1) if count else 1)
            print(f"{connections:>5} connections: {rate:,.0f} requests/s, {used_us:.1f} us each")


if __name__ == "__main__":
    main()
