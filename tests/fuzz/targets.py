"""What is fuzzed: everything that reads bytes of the web for the parser, and what must hold of it.

A target takes any bytes and returns; what it raises is a fault. The first bytes of some inputs
choose options, so that these are mutated too.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_128_digest

from larbinpy import url as urls
from larbinpy._native import linkscan, listscan
from larbinpy._native.linkfilter import LinkFilter
from larbinpy._native.logline import LineMaker
from larbinpy._native.plainpage import PlainPages
from larbinpy.parse import charset, decode, directives, headers, html, listing
from larbinpy.parse.labels import CODECS, TABLES
from larbinpy.parse.linkheader import canonical_of
from larbinpy.parse.page import PageReader
from larbinpy.parse.pagetypes import HTML_TYPES, plain_type
from larbinpy.politeness.robots import Rules, sitemaps_of
from tests.records import page
from tests.reference.linkbuffers import read_found, read_resolved

if TYPE_CHECKING:
    from collections.abc import Callable

Target = "Callable[[bytes], None]"
DECODED_BYTES: Final = 1 << 18
ENCODINGS: Final = [*CODECS, *TABLES, "replacement", "unknown"]
CODINGS: Final = (b"gzip", b"deflate", b"br", b"zstd", b"deflate, gzip", b"gzip, br", b"zstd, gzip")
BASE: Final = urls.Base(b"http://a.test/x/y?z")
FILTER: Final = LinkFilter(
    key=bytes(16), shards=3, domain_of=lambda host: host, forbidden=[b".jpg"], links_per_page=1000
)
READER: Final = PageReader(FILTER, accept=HTML_TYPES, max_redirects=5, agent=b"larbinpy")
PLAIN: Final = PlainPages(
    FILTER, type_of=partial(plain_type, accept=HTML_TYPES), digest=xxh3_128_digest, is_new=None,
    directives_of=directives.of_meta, max_bytes=1 << 20, equal=0, agent=b"larbinpy", nofollow=True,
)  # fmt: skip
LINES: Final = LineMaker()


def scanner(data: bytes) -> None:
    """A page: links in valid UTF-8, that resolve and are sorted out without loss."""
    found = linkscan.scan(data, 100)
    for _, _, _, value in read_found(found.links):
        value.decode()
    found.title.decode()
    resolved = urls.resolve(BASE, found.links)
    batch = FILTER.run(resolved, host=b"a.test", depth=1, left=3)
    assert batch.found == sum(batch.counts) + batch.duplicates + sum(batch.filtered.values())
    html.read(data, b"")


def url(data: bytes) -> None:
    """A URL and the base that it is resolved against; a result is its own result."""
    text, _, base = data.partition(b"\n")
    found = urls.parse(text, base or None)
    if found is not None:
        again = urls.parse(found.url)
        assert again is not None, found.url
        assert again.url == found.url
        assert found.url.isascii()
        assert urls.host_of(found.url) == found.host
    urls.parse_larbin(text)
    links = b"\1\1\0\0" + len(text).to_bytes(4, "little") + text
    for encoding in ("utf-8", "Big5", "windows-1251"):
        (link,) = read_resolved(urls.resolve(BASE, links, encoding))
        assert link.status != urls.SLOW


def encodings(data: bytes) -> None:
    """A page with a Content-Type in its first line: an encoding that is known, and text in it."""
    content_type, _, body = data.partition(b"\n")
    headers.content_type(content_type)
    headers.field(data, b"content-type")
    encoding, _ = charset.find_encoding(content_type, body)
    for name in (encoding, ENCODINGS[len(data) % len(ENCODINGS)]):
        text = charset.to_utf8(body, name)
        if name != "UTF-8":
            text.decode()


def robots(data: bytes) -> None:
    """A robots.txt, asked for some paths that stand in it."""
    rules = Rules.parse(data, b"larbinpy")
    for line in data.split(b"\n")[:20]:
        path = b"/" + line.rpartition(b":")[2].strip()[:2000]
        assert rules.allows(path) == rules.match(path)[0]
    assert len(sitemaps_of(data)) <= data.count(b":") + data.count(b" ") + data.count(b"\t")


def sitemaps(data: bytes) -> None:
    """A sitemap, a feed, XML or a text: links in valid UTF-8."""
    listing.read_sitemap(data, b"", 100)
    for found in (
        listscan.scan_xml(data, 50),
        listscan.scan_xml(data, 50, every=True, details=True),
        listscan.scan_text(data, 50),
        listscan.scan_lines(data, 50),
    ):
        links = read_found(found.links)
        assert len(links) == found.count <= 50
        assert len(found.details) in (0, found.count)
        for _, _, _, value in links:
            value.decode()


def pages(data: bytes) -> None:
    """A page behind its fields: the plain way is the long way, and its line is one of JSON."""
    head, _, body = data.partition(b"\n\n")
    view = memoryview(body + b"> <a href=/behind>")[: len(body)]
    got = page(head[:100], view, headers=b"HTTP/1.1 200 OK\n" + head + b"\n")
    last = urls.parse(head.rpartition(b"\n")[2])
    for url in (b"http://a.test/", last.url if last else b"http://b.test/x"):
        got.url = url
        reading = READER.read(got)
        plain = PLAIN.read(got)
        assert plain is None or plain.parsed == reading.parsed
        line = LINES.lines([reading])
        assert line.isascii()
        assert json.loads(line)["bytes"] == len(reading.body)
    target = canonical_of(head, got.url)
    assert target is None or target in head


def bodies(data: bytes) -> None:
    """A body in a content encoding that its first byte chooses: never more than the limit."""
    coding = CODINGS[data[0] % len(CODINGS)] if data else b"gzip"
    found = decode.decode(data[1:], coding, DECODED_BYTES)
    assert len(found.body) <= DECODED_BYTES or found.is_opaque
    listing.gunzip(found, DECODED_BYTES)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "scanner": scanner,
    "url": url,
    "charset": encodings,
    "robots": robots,
    "sitemaps": sitemaps,
    "pages": pages,
    "decode": bodies,
}
