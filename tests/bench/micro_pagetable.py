"""The shared table of pages seen: kernel beside the reference.

Workload: 10,000 digests added to a table of 8 MB, one call each.

Command: python -m tests.bench.micro_pagetable
"""

from __future__ import annotations

import os

from larbinpy._native import pagetable as native
from tests.bench.measure import compare
from tests.reference import pagetable as plain

COUNT = 10_000


def add_all(table: native.PageTable | plain.PageTable, digests: list[bytes]) -> None:
    """Add all digests."""
    for digest in digests:
        table.add(digest)


def main() -> None:
    """Print the comparison."""
    digests = [os.urandom(16) for _ in range(COUNT)]
    kernel, reference = (
        native.PageTable(bytearray(8_000_000)),
        plain.PageTable(bytearray(8_000_000)),
    )
    compare(
        f"add, {COUNT:,} digests",
        {
            "kernel": lambda: add_all(kernel, digests),
            "reference": lambda: add_all(reference, digests),
        },
        items=COUNT,
    )


if __name__ == "__main__":
    main()
