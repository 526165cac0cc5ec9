"""Measure the link scanner: ``python -m tests.bench.micro_linkscan``.

Workloads: a synthetic page of 7.6 kB with 30 links, and one of 100 kB with 700 links, scripts,
comments and attributes. The kernel scans them for everything it reports, the oracle likewise; lxml
and selectolax (lexbor) parse and list the href of each ``a``.
"""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

from larbinpy._native import linkscan
from larbinpy.parse.html import read
from tests.bench.measure import compare
from tests.reference import linkscan as reference

if TYPE_CHECKING:
    from collections.abc import Callable

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
        ways: dict[str, Callable[[bytes], object]] = {
            "kernel": linkscan.scan,
            "oracle": reference.scan,
            "parse.html.read": lambda page: read(page, b"text/html; charset=utf-8"),
            "lxml": lxml_links,
            "selectolax (lexbor)": lexbor_links,
        }
        compare(
            f"{label}: {len(page)} bytes, {linkscan.scan(page).count} links",
            {name: partial(call, page) for name, call in ways.items()},
            items=1,
        )


if __name__ == "__main__":
    main()
