"""Following the links of sitemaps and feeds, by the sitemaps protocol (sitemaps.org).

A sitemap may list URLs of its own host, and of the host whose robots.txt names it; all others are
refused as ``outSite``. The filters of any link come on top. Where a sitemap lies on its host does
not limit what it may list: the line of robots.txt speaks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy.links.found import ELEMENT_REDIRECT, LINK_REDIRECT, found_link
from larbinpy.parse import decode, headers, listing
from larbinpy.parse.listing import Lists
from larbinpy.politeness.robots import sitemaps_of
from larbinpy.records import PAGE_TRUNCATED, Filtered, Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.links.choice import Acceptance
    from larbinpy.parse.listing import Listing
    from larbinpy.records import Page, Reading
    from larbinpy.url import Base, LarbinBase

MAX_HOPS: Final = 5
"""Redirections and indexes between a robots.txt and a sitemap: endless indexes end here."""
ROBOTS_PATH: Final = b"/robots.txt"


class ListReader:
    """Reads documents that list links; one per parser process.

    Args of ``__init__``:
        links: the filter of found links.
        lists: the documents that are read.
        max_bytes: the largest body once it is unpacked; what lies within is read.
        make_base: what links are resolved against, by the URL mode.
        acceptance: the operator's function, asked about each new link; None = nobody is.
        max_sitemaps: of those that an index lists, so many count; 0 = as many as of other links.
    """

    __slots__ = (
        "_acceptance", "_links", "_lists", "_make_base", "_max_bytes", "_max_links",
        "_max_sitemaps",
    )  # fmt: skip

    def __init__(
        self,
        links: LinkFilter,
        lists: Lists,
        *,
        max_bytes: int,
        make_base: Callable[[bytes], Base | LarbinBase],
        acceptance: Acceptance | None = None,
        max_sitemaps: int = 0,
    ) -> None:
        self._links = links
        self._lists = lists
        self._max_bytes = max_bytes
        self._make_base = make_base
        self._acceptance = acceptance
        self._max_links = min(links.links_per_page, listing.MAX_LINKS)
        self._max_sitemaps = min(max_sitemaps or self._max_links, self._max_links)

    def read_robots(self, page: Page, reading: Reading) -> None:
        """Follow the Sitemap lines of a robots.txt, on whatever host the sitemaps lie."""
        is_file = 200 <= page.status < 300
        if Lists.SITEMAPS not in self._lists or not is_file or not reading.body:
            return
        lines = sitemaps_of(reading.body)
        robots = urls.parse(page.tag + ROBOTS_PATH)
        if not lines or robots is None:
            return
        first = lines[: self._max_sitemaps]
        links = b"".join(found_link(ELEMENT_REDIRECT, line) for line in first)
        reading.via = robots.url
        self._take(
            page,
            reading,
            urls.resolve(self._make_base(page.url), links),
            host=robots.host,
            kind=Kind.SITEMAP,
            dropped=len(lines) - len(first),
        )

    def read_sitemap(self, page: Page, reading: Reading) -> None:
        """Read the answer to a request for a sitemap."""
        parsed = reading.parsed
        content_type = headers.field(page.headers, b"content-type")
        reading.mime = headers.mime(content_type)
        encodings = headers.field(page.headers, b"content-encoding")
        decoded = decode.decode(page.body, encodings, self._max_bytes)
        decoded = listing.gunzip(decoded, self._max_bytes)
        parsed.body_bytes = len(decoded.body)
        parsed.reason = decoded.fault(encodings)
        is_truncated = decoded.is_truncated or bool(page.flags & PAGE_TRUNCATED)
        is_cut = is_truncated or decoded.is_too_big
        document = None
        if not decoded.is_opaque:
            document = listing.read_sitemap(
                decoded.body, content_type, self._max_links, is_cut=is_cut
            )
        if is_cut:
            parsed.outcome = Outcome.TOO_BIG if decoded.is_too_big else Outcome.TRUNCATED
        else:
            parsed.outcome = Outcome.LINK_LIST if document is not None else Outcome.BAD_TYPE
        if document is not None:
            self._follow(page, reading, document)
        elif not parsed.reason:
            parsed.reason = b"neither a sitemap nor a feed"

    def read_linked(
        self, page: Page, reading: Reading, content_type: bytes, *, is_cut: bool
    ) -> bool:
        """Follow the links of a document that a page led to; false when it lists none for us."""
        document = listing.read(
            reading.body,
            content_type,
            reading.mime,
            self._lists,
            self._max_links,
            is_cut=is_cut,
        )
        if document is not None:
            self._follow(page, reading, document)
        return document is not None

    def _follow(self, page: Page, reading: Reading, document: Listing) -> None:
        if document.is_index:
            document.cut(self._max_sitemaps)
        resolved = b"".join(
            urls.resolve(self._make_base(base), links) for base, links in document.runs(page.url)
        )
        own_host = urls.host_of(page.url)
        if not document.is_sitemap and page.kind != Kind.SITEMAP:
            self._take(page, reading, resolved, host=own_host, dropped=document.dropped)
            return
        voucher = _host_of_robots(page.via) if page.kind == Kind.SITEMAP else None
        if document.is_index:
            reading.via = page.via if voucher else b""
            if page.hops >= MAX_HOPS:
                reading.parsed.links = document.count
                reading.refuse(document.count, Filtered.REDIRECTS)
                return
        self._take(
            page,
            reading,
            resolved,
            host=voucher or own_host,
            other_host=own_host,
            kind=Kind.SITEMAP if document.is_index else Kind.PAGE,
            hops=page.hops + 1 if document.is_index else 0,
            dropped=document.dropped,
        )

    def _take(
        self,
        page: Page,
        reading: Reading,
        resolved: bytes,
        *,
        host: bytes,
        other_host: bytes | None = None,
        kind: Kind = Kind.PAGE,
        hops: int = 0,
        dropped: int = 0,
    ) -> None:
        """Sort links out; a sitemap costs no depth, as if its pages stood in what led to it."""
        acceptance = self._acceptance
        batch = self._links.run(
            resolved,
            host=host,
            depth=page.depth,
            left=page.left,
            hops=hops,
            kind=kind,
            flags=LINK_REDIRECT if kind is Kind.SITEMAP else 0,
            other_host=other_host,
            choose=acceptance.on_page(page.url, page.depth + 1) if acceptance else None,
        )
        reading.take(batch, dropped)


def _host_of_robots(via: bytes) -> bytes | None:
    """The host of a robots.txt; None for any other URL."""
    is_robots = via.endswith(ROBOTS_PATH) and via.count(b"/") == ROBOTS_PATH.count(b"/") + 2
    return urls.host_of(via) if is_robots else None
