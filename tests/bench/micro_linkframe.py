"""What a shard asks of a LINKS payload: kernel beside the reference.

Workloads: fingerprints, with_forced and bare_links of 20 groups with 30 links to URLs of 57 bytes,
about what a full frame holds.

Command: python -m tests.bench.micro_linkframe
"""

from __future__ import annotations

from larbinpy._native import linkframe as native
from tests.bench.measure import compare
from tests.reference import linkframe as plain
from tests.reference.linkbuffers import Link, group_of

GROUPS = 20
LINKS = 30
URL = b"http://www.host0001.example.org/dir001/sub/page00001.html"


def main() -> None:
    """Print all comparisons."""
    payload = group_of(*[Link(URL)] * LINKS, via=URL) * GROUPS
    mask = bytes(GROUPS * LINKS)
    compare(
        "fingerprints",
        {
            "kernel": lambda: native.fingerprints(payload),
            "reference": lambda: plain.fingerprints(payload),
        },
        items=len(mask),
    )
    compare(
        "with_forced",
        {
            "kernel": lambda: native.with_forced(payload, mask),
            "reference": lambda: plain.with_forced(payload, mask),
        },
        items=len(mask),
    )
    compare(
        "bare_links",
        {
            "kernel": lambda: native.bare_links(payload),
            "reference": lambda: plain.bare_links(payload),
        },
        items=len(mask),
    )


if __name__ == "__main__":
    main()
