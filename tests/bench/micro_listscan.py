"""Measure the scanner of sitemaps and feeds: ``python -m tests.bench.micro_listscan``.

Workloads: a sitemap of 1,000 and of 50,000 URLs, and an RSS feed of 50 items with texts. The kernel
lists their links, the oracle likewise; lxml parses and lists the text of each loc or link.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from larbinpy._native import listscan
from tests.bench.measure import compare
from tests.reference import listscan as reference

if TYPE_CHECKING:
    from collections.abc import Callable


def sitemap(urls: int) -> bytes:
    """A sitemap in the usual form."""
    entry = (
        b"<url>\n  <loc>https://www.a.test/section/%d/page?x=1&amp;y=2</loc>\n"
        b"  <lastmod>2026-11-30</lastmod><priority>0.5</priority>\n</url>\n"
    )
    head = b'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return head + b"".join(entry % n for n in range(urls)) + b"</urlset>"


def feed() -> bytes:
    """50 items of 2 kB."""
    item = (
        b"<item><title>No. %d</title><link>https://a.test/%d</link><guid>https://a.test/?p=%d</guid>"
        b"<description><![CDATA[" + b"<p>some words of text</p>" * 80 + b"]]></description></item>"
    )
    return b"<rss><channel>" + b"".join(item % (n, n, n) for n in range(50)) + b"</channel></rss>"


def lxml_links(text: bytes) -> object:
    """What lxml users write."""
    from lxml import etree  # noqa: PLC0415 - optional

    return [e.text for e in etree.fromstring(text).iter("{*}loc", "{*}link", "{*}guid")]


def main() -> None:
    """Print a table."""
    for label, text in (
        ("sitemap", sitemap(1000)), ("large sitemap", sitemap(50_000)), ("feed", feed()),
    ):  # fmt: skip
        ways: dict[str, Callable[[bytes], object]] = {
            "kernel": listscan.scan_xml, "oracle": reference.scan_xml, "lxml": lxml_links,
        }  # fmt: skip
        compare(
            f"{label}: {len(text)} bytes, {listscan.scan_xml(text).count} links",
            {name: partial(call, text) for name, call in ways.items()},
            items=1,
        )


if __name__ == "__main__":
    main()
