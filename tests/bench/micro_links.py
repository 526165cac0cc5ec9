"""All that a parser does with the links of a page, beside what users of libraries write.

Ours: encoding, scan of the page (every listed element), base, resolving and normalising, filters,
fingerprints, repeats, link entries for the shards; the record of the page, too.
Theirs: parse the page, list the href of each ``a``, resolve each, drop other schemes, fingerprint
with xxh3, drop repeats: less than ours does.

Workloads: the page of 7.6 kB with 30 links, and real pages of 20 to 300 kB: every 35th of those in
the documentation of Python (Debian package python3-doc), at most 12. CPU time of one core, six
rounds in which all ways take turns; ratios are medians of the rounds.

Command: python -m tests.bench.micro_links
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import ada_url
import xxhash

from larbinpy._native.linkfilter import LinkFilter
from larbinpy._native.plainpage import PlainPages
from larbinpy.parse import directives
from larbinpy.parse.page import PageReader
from larbinpy.parse.pagetypes import HTML_TYPES, plain_type
from larbinpy.url import Domains
from tests.bench.micro_linkscan import small_page
from tests.records import page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DOCUMENTATION = Path("/usr/share/doc/python3.11/html")
PAGES = 12
ROUNDS = 6
AT_LEAST_S = 0.05
URL = b"http://www.example.org/library/page.html"
TYPE = b"text/html; charset=utf-8"

Way = tuple[str, "Callable[[bytes], object]"]


def real_pages() -> list[bytes]:
    """A bounded sample of real pages."""
    found = sorted(DOCUMENTATION.rglob("*.html"))
    sized = [path for path in found if 20_000 <= path.stat().st_size <= 300_000]
    return [path.read_bytes() for path in sized[::35]][:PAGES]


def make_ours() -> tuple[Callable[[bytes], object], Callable[[bytes], object]]:
    """How a parser reads a page, which is the plain way where it can be; and the long way."""
    links = LinkFilter(key=bytes(16), shards=2, domain_of=Domains().of)
    plain = PlainPages(
        links, type_of=partial(plain_type, accept=HTML_TYPES), digest=no_digest,
        directives_of=directives.of_meta, is_new=None, max_bytes=1 << 20, equal=0,
        agent=b"larbin", nofollow=True,
    )  # fmt: skip
    reader = PageReader(links, accept=HTML_TYPES, max_redirects=10, digest=no_digest)
    headers = b"content-type: %b\r\n\r\n" % TYPE

    def parser(body: bytes) -> object:
        got = page(URL, body, headers=headers)
        return plain.read(got) or reader.read(got)

    def long_way(body: bytes) -> object:
        return reader.read(page(URL, body, headers=headers))

    return parser, long_way


def no_digest(_: bytes | memoryview) -> bytes:
    """Theirs makes none of the page either."""
    return bytes(16)


def follow(hrefs: Iterable[str | None], join: Callable[[str, str], str]) -> object:
    """What users do with hrefs."""
    base = URL.decode()
    seen = set()
    for href in hrefs:
        if href is None:
            continue
        try:
            url = join(base, href)
        except ValueError:
            continue
        if url.startswith("http"):
            seen.add(xxhash.xxh3_64_intdigest(url.partition("#")[0].encode()))
    return seen


def lexbor_ada(body: bytes) -> object:
    """Selectolax's lexbor and ada."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - optional

    nodes = LexborHTMLParser(body).css("a[href]")
    return follow((node.attributes["href"] for node in nodes), ada_url.join_url)


def lxml_urljoin(body: bytes) -> object:
    """lxml and the standard library."""
    from lxml import html  # noqa: PLC0415 - optional

    return follow((a.get("href") for a in html.fromstring(body).iter("a")), urljoin)


def resiliparse_ada(body: bytes) -> object:
    """resiliparse, which is lexbor too, and ada."""
    from resiliparse.parse.html import HTMLTree  # noqa: PLC0415 - optional

    tree = HTMLTree.parse_from_bytes(body, "utf-8")
    nodes = tree.document.get_elements_by_tag_name("a") if tree.document else ()
    return follow((node.getattr("href") for node in nodes), ada_url.join_url)


def cpu_s(way: Callable[[bytes], object], pages: list[bytes]) -> float:
    """CPU seconds of one pass over all pages."""
    passes = 0
    began = time.process_time()
    while True:
        for body in pages:
            way(body)
        passes += 1
        used = time.process_time() - began
        if used >= AT_LEAST_S:
            return used / passes


def compare(label: str, pages: list[bytes]) -> None:
    """Print a table."""
    parser, long_way = make_ours()
    ways: list[Way] = [
        ("larbinpy", parser),
        ("its long way", long_way),
        ("lexbor + ada", lexbor_ada),
        ("lxml + urljoin", lxml_urljoin),
        ("resiliparse + ada", resiliparse_ada),
    ]
    rounds = [[cpu_s(way, pages) for _, way in ways] for _ in range(ROUNDS)]
    size = sum(map(len, pages))
    print(f"{label}: {len(pages)} pages of {size / len(pages) / 1000:.1f} kB")
    for number, (name, _) in enumerate(ways):
        seconds = statistics.median(one[number] for one in rounds)
        ratio = statistics.median(one[number] / one[0] for one in rounds)
        print(
            f"  {name:18} {seconds / len(pages) * 1e6:9.1f} us a page"
            f" {size / seconds / 1e6:8.0f} MB/s  {ratio:6.1f} x larbinpy"
        )


def main() -> None:
    """Print both tables."""
    compare("synthetic", [small_page()])
    pages = real_pages()
    if pages:
        compare("python3-doc", pages)
    else:
        print(f"no pages in {DOCUMENTATION}")


if __name__ == "__main__":
    main()
