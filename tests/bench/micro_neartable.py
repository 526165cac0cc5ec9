"""The shared table of different pages by host: kernel beside the reference.

Workload: 5,000 pages of 2,000 hosts in a table of 64 MiB, one call each; a tenth are near to
others.

Command: python -m tests.bench.micro_neartable
"""

from __future__ import annotations

import random

from larbinpy._native import neartable as native
from tests.bench.measure import compare
from tests.reference import neartable as plain

COUNT = 5_000
BITS = 10


def ask_all(table: native.NearTable | plain.NearTable, pages: list[tuple[bytes, int, int]]) -> None:
    """Ask for all pages."""
    for page in pages:
        table.near(*page)


def main() -> None:
    """Print the comparison."""
    rng = random.Random(1)
    pages = [
        (b"www.host%d.example.org" % rng.randrange(2000),
         rng.getrandbits(10) if rng.random() < 0.1 else rng.getrandbits(64), number)
        for number in range(1, COUNT + 1)
    ]  # fmt: skip
    kernel = native.NearTable(bytearray(64 << 20), bytes(16), BITS)
    reference = plain.NearTable(bytearray(64 << 20), bytes(16), BITS)
    compare(
        f"near, {COUNT:,} pages",
        {
            "kernel": lambda: ask_all(kernel, pages),
            "reference": lambda: ask_all(reference, pages),
        },
        items=COUNT,
    )


if __name__ == "__main__":
    main()
