"""The simhash of pages: kernel beside the reference.

Workloads: a page of the synthetic web, 7.6 kB with 30 links; a page of 100 kB that is all text.

Command: python -m tests.bench.micro_simhash
"""

from __future__ import annotations

from larbinpy._native.simhash import simhash
from larbinpy.testing.web import SyntheticWeb, WebSpec
from tests.bench.measure import compare
from tests.reference import simhash as plain


def main() -> None:
    """Print both comparisons."""
    page = SyntheticWeb(WebSpec.plain(page_spread=0)).page(0, 1).body
    text = b"<p>" + b" ".join(b"word%d" % number for number in range(12_000))[:100_000]
    for title, html in (("page with 30 links", page), ("all text", text)):
        compare(
            f"{title}, {len(html):,} bytes, {len(plain.words_of(html)):,} words",
            {
                "kernel": lambda h=html: simhash(h),  # type: ignore[misc]
                "reference": lambda h=html: plain.simhash(h),  # type: ignore[misc]
            },
            items=1,
        )


if __name__ == "__main__":
    main()
