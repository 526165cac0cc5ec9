"""A fetched page to what it means: body, outcome, links; no effects but the caches of its parts.

The steps stand in the order in which a page can fail: what the shard found, redirection, content
encoding, size, type, duplicate, and last the links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import xxhash

from larbinpy import url as urls
from larbinpy.links.found import with_refreshes_to
from larbinpy.parse import canonical, decode, directives, headers, html, refresh
from larbinpy.parse.pagelinks import PageLinks
from larbinpy.parse.pagetypes import HTML_TYPES
from larbinpy.parse.redirects import Redirects
from larbinpy.parse.robotspage import robots_reading
from larbinpy.records import (
    ALL_DIRECTIVES,
    PAGE_TRUNCATED,
    Directive,
    Kind,
    Outcome,
    ParsedPage,
    Reading,
)
from larbinpy.url import Base, LarbinBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.links.choice import Acceptance
    from larbinpy.parse.lists import ListReader
    from larbinpy.records import Page

MAX_DECODED_BYTES: Final = 20 << 20
_OUTCOMES: Final = tuple(Outcome)
_BY_LINK: Final = (b"Link", b"canonical", None, None)
_BY_REFRESH: Final = (b"Refresh", None, None, None)
"""What the operator's function is told of links in the header."""


class PageReader:
    """Reads pages; one per parser process.

    Args of ``__init__``:
        links: the filter of found links.
        accept: prefixes of the content types that are pages; () = every type.
        max_redirects: redirections in a row that are followed.
        max_bytes: the largest body once its content encoding is removed.
        make_base: what links are resolved against, by the URL mode.
        digest: of a decoded body, 16 bytes.
        is_new: asked with a page's digest and id; false = another page with the same digest was
            seen before.
        near: asked with a page, its answer, which it fills in, and its decoded body; true = the
            page is so near to an earlier one that its links are not wanted.
        has_cookies: see ``Redirects``.
        lists: reads sitemaps, feeds, and what else is no HTML; None = nobody does.
        agent: our name in robots.txt, which pages may address.
        obeyed: what is done as pages ask.
        acceptance: the operator's function, asked about each new link; None = nobody is.
    """

    __slots__ = (
        "_accept", "_agent", "_digest", "_has_details", "_is_new", "_links", "_lists", "_make_base",
        "_max_bytes", "_max_links", "_near", "_redirects",
    )  # fmt: skip

    def __init__(
        self,
        links: LinkFilter,
        *,
        accept: tuple[bytes, ...],
        max_redirects: int,
        max_bytes: int = MAX_DECODED_BYTES,
        make_base: Callable[[bytes], Base | LarbinBase] = Base,
        digest: Callable[[bytes], bytes] = xxhash.xxh3_128_digest,
        is_new: Callable[[bytes, int], bool] | None = None,
        near: Callable[[Page, ParsedPage, bytes], bool] | None = None,
        has_cookies: bool = False,
        lists: ListReader | None = None,
        agent: bytes = b"robots",
        obeyed: Directive = ALL_DIRECTIVES,
        acceptance: Acceptance | None = None,
    ) -> None:
        self._links = PageLinks(links, acceptance, obeyed)
        self._redirects = Redirects(
            self._links, most=max_redirects, make_base=make_base, has_cookies=has_cookies
        )
        self._accept = accept
        self._max_bytes = max_bytes
        self._max_links = links.links_per_page
        self._make_base = make_base
        self._digest = digest
        self._is_new = is_new
        self._near = near
        self._lists = lists
        self._agent = agent.lower()
        self._has_details = acceptance is not None

    def read(self, page: Page) -> Reading:
        """Read one page; whatever is in it, this returns."""
        parsed = ParsedPage(page.id, page.epoch, _OUTCOMES[page.outcome], page.status)
        reading = Reading(page, parsed)
        if parsed.outcome == Outcome.ERR_30X:
            self._redirects.follow(page, reading)
        elif parsed.outcome in (Outcome.SUCCESS, Outcome.TRUNCATED):
            if page.kind == Kind.SITEMAP and self._lists:
                self._lists.read_sitemap(page, reading)
            else:
                self._read_body(page, reading)
        return reading

    def read_robots(self, page: Page) -> Reading:
        """Read an answer to a request for robots.txt, with the sitemaps that it names."""
        reading = robots_reading(page)
        if self._lists:
            self._lists.read_robots(page, reading)
        return reading

    def _read_body(self, page: Page, reading: Reading) -> None:
        parsed = reading.parsed
        content_type = headers.field(page.headers, b"content-type")
        encodings = headers.field(page.headers, b"content-encoding")
        decoded = decode.decode(page.body, encodings, self._max_bytes)
        reading.mime = headers.mime(content_type)
        reading.body = decoded.body
        parsed.body_bytes = len(decoded.body)
        parsed.reason = decoded.fault(encodings)
        parsed.outcome = self._outcome(page, reading, decoded)
        if parsed.outcome in (Outcome.SUCCESS, Outcome.TRUNCATED):
            self._read_good(page, reading, content_type)
        elif (
            parsed.outcome == Outcome.BAD_TYPE
            and not decoded.is_opaque
            and self._read_list(page, reading, content_type, is_cut=_is_cut(page, decoded))
        ):
            parsed.outcome = Outcome.LINK_LIST

    def _outcome(self, page: Page, reading: Reading, decoded: decode.Decoded) -> Outcome:
        if decoded.is_too_big:
            return Outcome.TOO_BIG
        if decoded.is_opaque:
            return Outcome.BAD_TYPE
        if self._accept and reading.mime and not reading.mime.startswith(self._accept):
            return Outcome.BAD_TYPE
        if _is_cut(page, decoded):
            return Outcome.TRUNCATED
        return Outcome.SUCCESS

    def _read_good(self, page: Page, reading: Reading, content_type: bytes) -> None:
        """Read what has come as it should and is of a type that is wanted."""
        parsed = reading.parsed
        parsed.directives = directives.of_headers(page.headers, self._agent)
        parsed.digest = self._digest(reading.body)
        if self._is_duplicate(page, parsed.digest):
            parsed.outcome = Outcome.DUPLICATE
        elif reading.mime in HTML_TYPES or not reading.mime:
            is_left = bool(self._near and self._near(page, parsed, reading.body))
            self._find_links(page, reading, content_type, is_left=is_left)
        elif not self._read_list(
            page, reading, content_type, is_cut=parsed.outcome == Outcome.TRUNCATED
        ):
            self._take_header_links(page, reading)

    def _is_duplicate(self, page: Page, digest: bytes) -> bool:
        """Whether another page has this digest; one that was sent before may be its own copy."""
        return bool(self._is_new and not self._is_new(digest, page.id) and not page.attempt)

    def _read_list(
        self, page: Page, reading: Reading, content_type: bytes, *, is_cut: bool
    ) -> bool:
        return self._lists is not None and self._lists.read_linked(
            page, reading, content_type, is_cut=is_cut
        )

    def _take_header_links(self, page: Page, reading: Reading) -> None:
        """All that is known of a document that is no page is what its header says."""
        base = self._make_base(page.url)
        own = canonical.of_headers(page, base)
        canonical.note(reading, own)
        if links := own + refresh.of_headers(page, base):
            self._links.take(page, reading, links)

    def _find_links(
        self, page: Page, reading: Reading, content_type: bytes, *, is_left: bool
    ) -> None:
        document = html.read(
            reading.body,
            content_type,
            self._max_links,
            agent=self._agent,
            details=self._has_details,
        )
        if document.robots:
            reading.parsed.directives |= directives.of_meta(document.robots)
        base, links = self._make_base(page.url), document.links
        own, next_url = canonical.of_headers(page, base), refresh.of_headers(page, base)
        if document.base is not None:
            target = urls.parse(document.base, page.url)
            base = self._make_base(target.url) if target else base
            links = with_refreshes_to(page.url, links)
        is_named = bool(own[urls.ITEM_BYTES :])
        canonical.note(reading, own if is_named else canonical.of_document(document, base))
        if is_left:
            return
        resolved = own + next_url + urls.resolve(base, links, document.encoding)
        details = document.details
        if self._has_details:
            details = [_BY_LINK] * bool(own) + [_BY_REFRESH] * bool(next_url) + details
        self._links.take(page, reading, resolved, dropped=document.dropped, details=details)


def _is_cut(page: Page, decoded: decode.Decoded) -> bool:
    """Whether the end of a page is missing."""
    return decoded.is_truncated or bool(page.flags & PAGE_TRUNCATED)


def unread(page: Page) -> Reading:
    """What is said of a page that is only logged."""
    return Reading(page, ParsedPage(page.id, page.epoch, Outcome(page.outcome), page.status))
