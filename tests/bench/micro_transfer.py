"""The transfer's callbacks, compiled and in plain Python.

Run: ``python -m tests.bench.micro_transfer``

Workload: 20,000 responses of ten header lines and a body of 7.6 kB in one piece.
Six pairs A B A B; printed are the medians in microseconds per response and the median ratio.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from larbinpy._native import transfer as native
from tests.reference import transfer as reference

RESPONSES = 20_000
LINES = [
    b"HTTP/1.1 200 OK\r\n",
    b"Server: nginx\r\n",
    b"Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n",
    b"Content-Type: text/html; charset=utf-8\r\n",
    b"Content-Length: 7600\r\n",
    b"Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n",
    b"Connection: keep-alive\r\n",
    b'ETag: "65920080-1db0"\r\n',
    b"Accept-Ranges: bytes\r\n",
    b"\r\n",
]
BODY = bytes(7600)


def seconds(module: Any) -> float:
    """Time for all responses with one implementation."""
    transfer = module.Transfer(print, (b"text/html",))
    begin = time.perf_counter()
    for _ in range(RESPONSES):
        transfer.reset(bytes([127, 0, 0, 1]), 80, 8 << 20, True, True)
        for line in LINES:
            transfer.header(line)
        transfer.write(BODY)
        if transfer.status != 200 or len(transfer.headers) + len(transfer.body) < len(BODY):
            raise SystemExit("wrong response")
    return time.perf_counter() - begin


def main() -> None:
    """Measure and print."""
    pairs = [(seconds(reference), seconds(native)) for _ in range(6)]
    slow, fast = (statistics.median(side) / RESPONSES * 1e6 for side in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"reference {slow:.2f} us, compiled {fast:.2f} us a response, ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
