"""Documents that list links: sitemaps, RSS and Atom feeds; and the links of other XML and of texts.

What a document is, its first bytes say and the name of its root element, never its URL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Flag, auto
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy._native import listscan
from larbinpy.parse import decode
from larbinpy.parse.charset import find_xml_encoding, to_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

XML_TYPES: Final = (
    b"application/xml",
    b"text/xml",
    b"application/rss+xml",
    b"application/atom+xml",
    b"application/rdf+xml",
)
TEXT_TYPE: Final = b"text/plain"
MAX_LINKS: Final = 50_000
"""URLs of a sitemap, by its protocol."""

_FOUND: Final = Struct("<4xI")
"""Head of a ``found_link``: the size of its value."""
_GZIP: Final = b"\x1f\x8b\x08"


class Lists(Flag):
    """Documents that are read for their links."""

    SITEMAPS = auto()
    FEEDS = auto()
    PLAIN = auto()
    """Any XML, and texts."""


_ROOTS: Final = {
    b"urlset": Lists.SITEMAPS,
    b"sitemapindex": Lists.SITEMAPS,
    b"rss": Lists.FEEDS,
    b"rdf": Lists.FEEDS,
    b"feed": Lists.FEEDS,
}


@dataclass(slots=True)
class Listing:
    """The links of such a document."""

    links: bytes
    """``found_link`` items in document order."""
    count: int = 0
    dropped: int = 0
    """Links behind the limit, which ``links`` does not hold."""
    bases: list[tuple[int, int, bytes | None]] = field(default_factory=list)
    """What links are relative to, as ``listscan.Listing`` tells it; see ``runs``."""
    is_sitemap: bool = False
    is_index: bool = False
    """The links are sitemaps."""
    details: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    """Name and rel of the element of each link of XML, when they were asked for."""

    def runs(self, url: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The links in runs of those that are relative to the same URL, behind that.

        Args:
            url: of the document.
        """
        start, around = 0, [url]
        for end, level, value in self.bases:
            if start < end:
                yield around[-1], self.links[start:end]
            del around[level + 1 :]
            if value is not None:
                base = urls.parse(value, around[-1])
                around.append(base.url if base else around[-1])
            start = end
        yield around[-1], self.links[start:]

    def cut(self, most: int) -> None:
        """Drop the links behind the first ``most``."""
        if self.count <= most:
            return
        end = 0
        for _ in range(most):
            end += _FOUND.size + _FOUND.unpack_from(self.links, end)[0]
        self.links = self.links[:end]
        self.dropped += self.count - most
        self.count = most


def kind_of(body: bytes, content_type: bytes, mime: bytes) -> Lists | None:
    """What kind of list a document is that a page led to; None when it is of no type of lists.

    Args: those of ``read``.
    """
    if mime == TEXT_TYPE:
        return Lists.PLAIN
    if mime not in XML_TYPES:
        return None
    text = to_utf8(body, find_xml_encoding(content_type, body))
    return _ROOTS.get(listscan.scan_xml(text, max_links=0).root, Lists.PLAIN)


def read(
    body: bytes,
    content_type: bytes,
    mime: bytes,
    lists: Lists,
    max_links: int = MAX_LINKS,
    *,
    details: bool = False,
    is_cut: bool = False,
) -> Listing | None:
    """Read a document that a page led to; None when it is not one of ``lists``.

    Args:
        body: content encodings removed.
        mime: the type that ``content_type`` says, in lower case.
        details: they are wanted.
        is_cut: the end of the document is missing, which may have been the end of a URL.

    Cost: O(bytes of the body).
    """
    if mime == TEXT_TYPE:
        is_read = Lists.PLAIN in lists
        return _texts(body, content_type, max_links, is_cut=is_cut) if is_read else None
    if mime not in XML_TYPES:
        return None
    text = to_utf8(body, find_xml_encoding(content_type, body))
    found = listscan.scan_xml(text, max_links, details=details)
    kind = _ROOTS.get(found.root)
    if kind is not None and kind in lists:
        return _listing(found)
    if Lists.PLAIN in lists:
        return _listing(listscan.scan_xml(text, max_links, every=True, details=details))
    return None


def read_sitemap(
    body: bytes,
    content_type: bytes,
    max_links: int = MAX_LINKS,
    *,
    details: bool = False,
    is_cut: bool = False,
) -> Listing | None:
    """Read what should be a sitemap or a feed, in whatever form; None when it is neither.

    Those that are no XML are texts with a URL on each line. Of what ``is_cut`` only URLs count
    whose end is there.
    """
    text = to_utf8(body, find_xml_encoding(content_type, body))
    if text.lstrip()[:1] == b"<":
        found = listscan.scan_xml(text, max_links, details=details)
        return _listing(found) if found.root in _ROOTS else None
    found = listscan.scan_lines(_up_to(b"\r\n", text) if is_cut else text, max_links)
    is_sitemap = found.count or found.dropped
    return Listing(found.links, found.count, found.dropped, is_sitemap=True) if is_sitemap else None


def gunzip(found: decode.Decoded, limit: int) -> decode.Decoded:
    """A body that is a gzip file itself, unpacked; any other one as it is.

    Sitemaps often are; a server may have unpacked them, though, whatever their names say.
    """
    if not found.body.startswith(_GZIP):
        return found
    inner = decode.decode(found.body, b"gzip", limit)
    inner.is_truncated |= found.is_truncated
    inner.is_too_big |= found.is_too_big
    return inner


def _texts(body: bytes, content_type: bytes, max_links: int, *, is_cut: bool) -> Listing:
    text = to_utf8(body, find_xml_encoding(content_type, body))
    found = listscan.scan_text(_up_to(b" \t\r\n", text) if is_cut else text, max_links)
    return Listing(found.links, found.count, found.dropped)


def _up_to(marks: bytes, text: bytes) -> bytes:
    """A text up to the last of some bytes."""
    return text[: max(text.rfind(mark) for mark in marks) + 1]


def _listing(found: listscan.Listing) -> Listing:
    is_index = found.root == b"sitemapindex"
    is_sitemap = is_index or found.root == b"urlset"
    return Listing(
        found.links, found.count, found.dropped, found.bases, is_sitemap, is_index, found.details
    )
