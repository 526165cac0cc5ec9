"""A fetched page to what it means: body, outcome, links; no effects but the caches of its parts.

The steps stand in the order in which a page can fail: what the shard found, redirection, content
encoding, size, type, duplicate, and last the links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import xxhash

from larbinpy import url as urls
from larbinpy.links.found import (
    ELEMENT_LINK,
    ELEMENT_REDIRECT,
    LINK_FORCE,
    LINK_REDIRECT,
    found_link,
    with_refreshes_to,
)
from larbinpy.parse import decode, directives, headers, html
from larbinpy.parse.charset import header_encoding
from larbinpy.parse.linkheader import canonical_of
from larbinpy.records import (
    ALL_DIRECTIVES,
    PAGE_TRUNCATED,
    Directive,
    Filtered,
    Kind,
    Outcome,
    ParsedPage,
    Reading,
)
from larbinpy.url import Base, LarbinBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.linkfilter import LinkFilter
    from larbinpy.links.choice import Acceptance, Details
    from larbinpy.parse.lists import ListReader
    from larbinpy.records import Page

HTML_TYPES: Final = (b"text/html", b"application/xhtml+xml")
MAX_DECODED_BYTES: Final = 20 << 20
MAX_ROBOTS_BYTES: Final = 512 << 10
_OUTCOMES: Final = tuple(Outcome)


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
        has_cookies: cookies are kept, so a page that sets one and redirects to itself is worth a
            second request.
        lists: reads sitemaps, feeds, and what else is no HTML; None = nobody does.
        agent: our name in robots.txt, which pages may address.
        obeyed: what is done as pages ask.
        acceptance: the operator's function, asked about each new link; None = nobody is.
    """

    __slots__ = (
        "_accept", "_acceptance", "_agent", "_digest", "_has_cookies", "_is_new", "_links",
        "_lists", "_make_base", "_max_bytes", "_max_redirects", "_near", "_nofollow",
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
        self._links = links
        self._accept = accept
        self._max_redirects = max_redirects
        self._max_bytes = max_bytes
        self._make_base = make_base
        self._digest = digest
        self._is_new = is_new
        self._near = near
        self._has_cookies = has_cookies
        self._lists = lists
        self._agent = agent.lower()
        self._nofollow = obeyed & Directive.NOFOLLOW
        self._acceptance = acceptance

    def read(self, page: Page) -> Reading:
        """Read one page; whatever is in it, this returns."""
        parsed = ParsedPage(page.id, page.epoch, _OUTCOMES[page.outcome], page.status)
        reading = Reading(page, parsed)
        if parsed.outcome == Outcome.ERR_30X:
            self._follow_redirect(page, reading)
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
        reading.mime = headers.mime(content_type)
        decoded = decode.decode(
            page.body, headers.field(page.headers, b"content-encoding"), self._max_bytes
        )
        reading.body = decoded.body
        parsed.body_bytes = len(decoded.body)
        parsed.outcome = self._outcome(page, reading, decoded)
        if parsed.outcome == Outcome.BAD_TYPE and not decoded.is_opaque:
            if self._lists and self._lists.read_linked(page, reading, content_type):
                parsed.outcome = Outcome.LINK_LIST
            return
        if parsed.outcome not in (Outcome.SUCCESS, Outcome.TRUNCATED):
            return
        parsed.directives = directives.of_headers(page.headers, self._agent)
        parsed.digest = self._digest(decoded.body)
        if self._is_duplicate(page, parsed.digest):
            parsed.outcome = Outcome.DUPLICATE
        elif reading.mime in HTML_TYPES or not reading.mime:
            is_left = bool(self._near and self._near(page, parsed, decoded.body))
            self._find_links(page, reading, content_type, is_left=is_left)
        elif not (self._lists and self._lists.read_linked(page, reading, content_type)):
            own = self._own_url(page)
            _name(reading, own)
            if own:
                self._filter(page, reading, own)

    def _is_duplicate(self, page: Page, digest: bytes) -> bool:
        """Whether another page has this digest; one that was sent before may be its own copy."""
        return bool(self._is_new and not self._is_new(digest, page.id) and not page.attempt)

    def _outcome(self, page: Page, reading: Reading, decoded: decode.Decoded) -> Outcome:
        if decoded.is_too_big:
            return Outcome.TOO_BIG
        if decoded.is_opaque:
            return Outcome.BAD_TYPE
        if self._accept and reading.mime and not reading.mime.startswith(self._accept):
            return Outcome.BAD_TYPE
        if decoded.is_truncated or page.flags & PAGE_TRUNCATED:
            return Outcome.TRUNCATED
        return Outcome.SUCCESS

    def _find_links(
        self, page: Page, reading: Reading, content_type: bytes, *, is_left: bool
    ) -> None:
        document = html.read(
            reading.body,
            content_type,
            self._links.links_per_page,
            agent=self._agent,
            details=self._acceptance is not None,
        )
        if document.robots:
            reading.parsed.directives |= directives.of_meta(document.robots)
        base, links = self._make_base(page.url), document.links
        if document.base is not None:
            target = urls.parse(document.base, page.url)
            base = self._make_base(target.url) if target else base
            links = with_refreshes_to(page.url, links)
        own, details = self._own_url(page), document.details
        _name(reading, own if own[urls.ITEM_BYTES :] else _canonical(base, document))
        if is_left:
            return
        resolved = own + urls.resolve(base, links, document.encoding)
        if own and details:
            details = [(b"Link", b"canonical", None, None), *details]
        self._filter(page, reading, resolved, dropped=document.dropped, details=details)

    def _own_url(self, page: Page) -> bytes:
        """The canonical URL that the header names, resolved; empty when it names none."""
        value = headers.field(page.headers, b"link")
        target = canonical_of(value, page.url) if value else None
        if target is None:
            return b""
        return urls.resolve(self._make_base(page.url), found_link(ELEMENT_LINK, target))

    def _follow_redirect(self, page: Page, reading: Reading) -> None:
        location = headers.field(page.headers, b"location")
        if not location:
            return
        found = found_link(ELEMENT_REDIRECT, location)
        base = self._make_base(page.url)
        resolved = urls.resolve(base, found)
        if resolved[urls.ITEM_BYTES :] == page.url:
            # The server tells apart what we take for one: it is asked as it wants.
            resolved = urls.resolve(base, found, exact=True)
        reading.parsed.canonical = resolved[urls.ITEM_BYTES :]
        if page.hops >= self._max_redirects:
            reading.parsed.links = 1
            reading.parsed.filtered = {Filtered.REDIRECTS: 1}
            return
        flags = LINK_REDIRECT
        if self._has_cookies and _is_again(page, location):
            flags |= LINK_FORCE
        if page.kind == Kind.SITEMAP:
            reading.via = page.via  # the robots.txt that speaks for it
        self._filter(page, reading, resolved, hops=page.hops + 1, flags=flags)

    def _filter(
        self,
        page: Page,
        reading: Reading,
        resolved: bytes,
        *,
        hops: int = 0,
        flags: int = 0,
        dropped: int = 0,
        details: Details = (),
    ) -> None:
        asked = reading.parsed.directives
        choose = None
        if self._acceptance:
            depth = page.depth if flags & LINK_REDIRECT else page.depth + 1
            choose = self._acceptance.on_page(page.url, depth, details)
        batch = self._links.run(
            resolved,
            host=urls.host_of(page.url),
            depth=page.depth,
            left=page.left,
            hops=hops,
            kind=page.kind,
            flags=flags,
            nofollow=bool(asked and asked & self._nofollow),
            choose=choose,
        )
        reading.take(batch, dropped)


def _canonical(base: Base | LarbinBase, document: html.Reading) -> bytes:
    """The URL that a page says is its own, resolved; empty when it says none."""
    if document.canonical is None:
        return b""
    link = found_link(ELEMENT_LINK, document.canonical)
    return urls.resolve(base, link, document.encoding)


def _name(reading: Reading, own: bytes) -> None:
    """Note the URL that a page says is its own, if it is another one that we could ask for."""
    url = own[urls.ITEM_BYTES :]
    reading.parsed.canonical = url if url != reading.page.url else b""


def _is_again(page: Page, location: bytes) -> bool:
    """Whether a page sets a cookie and redirects to itself, for the first time."""
    if page.via == page.url or not headers.field(page.headers, b"set-cookie"):
        return False
    target = urls.parse(location, page.url)
    return target is not None and target.url == page.url


def plain_type(content_type: bytes, accept: tuple[bytes, ...]) -> bytes | None:
    """The type of pages in UTF-8, if this Content-Type says that; see ``_native.plainpage``.

    Args:
        accept: prefixes of the types that are pages; () = every type.
    """
    mime = headers.mime(content_type)
    is_page = mime in HTML_TYPES and (not accept or mime.startswith(accept))
    return mime if is_page and header_encoding(content_type) == "UTF-8" else None


def unread(page: Page) -> Reading:
    """What is said of a page that is only logged."""
    return Reading(page, ParsedPage(page.id, page.epoch, Outcome(page.outcome), page.status))


def robots_reading(page: Page) -> Reading:
    """Read an answer to a request for robots.txt; the text is cut at 512 KiB.

    A text that cannot be read, or not to its end, is no text: what it forbids is not known.
    """
    parsed = ParsedPage(page.id, page.epoch, Outcome(page.outcome), page.status)
    mime = headers.mime(headers.field(page.headers, b"content-type"))
    if parsed.outcome not in (Outcome.SUCCESS, Outcome.TRUNCATED):
        return Reading(page, parsed, mime)
    encodings = headers.field(page.headers, b"content-encoding")
    decoded = decode.decode(page.body, encodings, MAX_ROBOTS_BYTES)
    is_cut = decoded.is_truncated and not page.flags & PAGE_TRUNCATED
    if decoded.is_opaque or is_cut:
        parsed.outcome = Outcome.BAD_TYPE if decoded.is_opaque else Outcome.TRUNCATED
        return Reading(page, parsed, mime)
    text = decoded.body[:MAX_ROBOTS_BYTES]
    parsed.body_bytes = len(text)
    return Reading(page, parsed, mime, text)
