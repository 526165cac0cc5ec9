"""Frames of pages, read: the kernel beside the specification in Python.

Workload: a PAGE frame of 8 entries with bodies of 7.6 kB.

Command: python -m tests.bench.micro_pages
"""

from __future__ import annotations

from larbinpy._native import pages
from larbinpy._native.heldpages import encode
from tests.bench.measure import compare
from tests.bench.micro_linkscan import small_page
from tests.records import result
from tests.reference import pages as reference

PAGES = 8


def main() -> None:
    """Print a table."""
    payload = encode(result(body=small_page()), 1) * PAGES
    compare(
        f"{PAGES} pages in a frame of {len(payload)} bytes",
        {
            "kernel": lambda: pages.decode_pages(payload, PAGES),
            "specification": lambda: reference.decode_pages(payload, PAGES),
        },
        items=PAGES,
    )


if __name__ == "__main__":
    main()
