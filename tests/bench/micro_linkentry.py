"""Link entries outside the filter: kernel beside the reference.

Workloads: the fingerprint of a URL of 57 bytes; with_forced of 30 entries with such URLs.

Command: python -m tests.bench.micro_linkentry
"""

from __future__ import annotations

from larbinpy._native import linkentry as native
from tests.bench.measure import compare
from tests.reference import linkentry as plain
from tests.reference.linkbuffers import Link

LINKS = 30
KEY = bytes(16)
DOMAIN = b"example.org"
URL = b"http://www.host0001.example.org/dir001/sub/page00001.html"


def main() -> None:
    """Print all comparisons."""
    compare(
        "fingerprint_of",
        {
            "kernel": lambda: native.fingerprint_of(KEY, DOMAIN, URL),
            "reference": lambda: plain.fingerprint_of(KEY, DOMAIN, URL),
        },
        items=1,
    )
    entries = Link(URL).pack() * LINKS
    mask = bytes(LINKS)
    compare(
        "with_forced, 30 entries",
        {
            "kernel": lambda: native.with_forced(entries, mask),
            "reference": lambda: plain.with_forced(entries, mask),
        },
        items=1,
    )


if __name__ == "__main__":
    main()
