"""Fingerprints outside the filter: kernel beside the reference.

Workload: the fingerprint of a URL of 57 bytes.

Command: python -m tests.bench.micro_linkentry
"""

from __future__ import annotations

from larbinpy._native import linkentry as native
from tests.bench.measure import compare
from tests.reference import linkentry as plain

KEY = bytes(16)
DOMAIN = b"example.org"
URL = b"http://www.host0001.example.org/dir001/sub/page00001.html"


def main() -> None:
    """Print the comparison."""
    compare(
        "fingerprint_of",
        {
            "kernel": lambda: native.fingerprint_of(KEY, DOMAIN, URL),
            "reference": lambda: plain.fingerprint_of(KEY, DOMAIN, URL),
        },
        items=1,
    )


if __name__ == "__main__":
    main()
