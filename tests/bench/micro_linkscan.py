"""Measure the link scanner: ``python -m tests.bench.micro_linkscan``.

Workloads: a synthetic page of 7.6 kB with 30 links, and one of 100 kB with 700 links, scripts,
comments and attributes. The kernel scans them for everything it reports; the oracle likewise (once
a round, it is slow); lxml and selectolax (lexbor) parse and list the href of each ``a``.
Rounds alternate A B A B, six pairs; printed are medians and the median ratio of each pair.
"""

from __future__ import annotations

import random
import time
from statistics import median
from typing import TYPE_CHECKING

from larbinpy._native import linkscan
from larbinpy.parse.html import read
from tests.reference import linkscan as reference

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = 6
WORDS = b"crawler queue polite host page link robots delay fetch parse store seen shard log".split()


def small_page() -> bytes:
    """7.6 kB, 30 links in paragraphs of text."""
    rng = random.Random(1)
    parts = [b"<!DOCTYPE html><html lang=en><head><title>A page</title></head><body>\n"]
    for n in range(30):
        text = b" ".join(rng.choices(WORDS, k=34))
        link = b'<a href="/site/%d/page%d.html">%b</a>' % (n, rng.getrandbits(20), WORDS[n % 14])
        parts.append(b"<p>%b %b.</p>\n" % (text, link))
    return b"".join(parts) + b"</body></html>"


def large_page() -> bytes:
    """100 kB with 700 links, in the style of a portal."""
    rng = random.Random(2)
    parts = [b"<!DOCTYPE html><html><head><meta charset=utf-8><title>Portal</title></head><body>"]
    for n in range(700):
        parts.append(b'<div class="item item-%d" id=i%d data-x=\'{"a": "<b>"}\'>' % (n % 7, n))
        parts.append(b'<a class="link" rel="nofollow" href="/a?x=%d&amp;y=%d">' % (n, n * n))
        parts.append(b" ".join(rng.choices(WORDS, k=4)) + b"</a></div>\n")
        if n % 20 == 0:
            parts.append(b"<script>if (a < b) { x('<a href=no>'); }</script><!-- c -->")
    return b"".join(parts)


def seconds(call: Callable[[], object], repeat: int) -> float:
    """Seconds of one call, over ``repeat`` of them."""
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def compare(
    name: str, kernel: Callable[[], object], other: Callable[[], object], repeat: int
) -> None:
    """Print how many times slower ``other`` is."""
    pairs = [(seconds(kernel, repeat * 20), seconds(other, repeat)) for _ in range(PAIRS)]
    ours, theirs = (median(column) for column in zip(*pairs, strict=True))
    ratio = median(b / a for a, b in pairs)
    print(f"  {name:22} {ours * 1e6:9.2f} us  {theirs * 1e6:10.2f} us  {ratio:8.1f} x")


def lxml_links(page: bytes) -> object:
    """What lxml users write."""
    from lxml import html  # noqa: PLC0415 - optional

    return [a.get("href") for a in html.fromstring(page).iter("a")]


def lexbor_links(page: bytes) -> object:
    """What selectolax users write."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - optional

    return [a.attributes["href"] for a in LexborHTMLParser(page).css("a[href]")]


def main() -> None:
    """Print a table."""
    for label, page in (("small", small_page()), ("large", large_page())):
        found = linkscan.scan(page)
        print(f"{label}: {len(page)} bytes, {found.count} links")

        def kernel(page: bytes = page) -> object:
            return linkscan.scan(page)

        others: dict[str, tuple[Callable[[bytes], object], int]] = {
            "oracle": (reference.scan, 1),
            "parse.html.read": (lambda page: read(page, b"text/html; charset=utf-8"), 50),
            "lxml": (lxml_links, 10),
            "selectolax (lexbor)": (lexbor_links, 10),
        }
        for name, (call, repeat) in others.items():
            compare(name, kernel, lambda call=call, page=page: call(page), repeat)  # type: ignore[misc]


if __name__ == "__main__":
    main()
