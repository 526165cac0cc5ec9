"""Reading of an HTML page: its encoding, its links, and what it says about itself."""

from __future__ import annotations

from dataclasses import dataclass

from larbinpy._native import linkscan
from larbinpy.parse import headers
from larbinpy.parse.charset import find_encoding, to_utf8
from larbinpy.parse.pagetypes import XHTML

MAX_LINKS = 50_000
MOST_LINKS = (1 << 32) - 1


@dataclass(slots=True)
class Reading:
    """What a page says; texts are UTF-8, None where it says nothing."""

    encoding: str
    encoding_from: str
    """``bom``, ``header``, ``meta``, ``meta-late``, ``xml``, ``detected`` or ``none``."""
    links: bytes
    """``found_link`` items in document order, see ``docs/protocol.md``."""
    count: int
    dropped: int
    """Links behind the limit, which ``links`` does not hold."""
    base: bytes | None
    title: bytes
    robots: bytes
    """The contents of all metas named robots or as we are, joined by commas."""
    canonical: bytes | None
    language: bytes | None
    details: list[tuple[bytes, bytes | None, bytes | None, bytes | None]]
    """Tag, rel, text and hreflang of each link, when they were asked for."""


def read(
    body: bytes,
    content_type: bytes,
    max_links: int = MAX_LINKS,
    *,
    agent: bytes = b"robots",
    details: bool = False,
) -> Reading:
    """Read a page.

    Args:
        body: the page, content encodings removed.
        content_type: value of the header field, empty when there is none.
        max_links: links beyond these are counted and not listed.
        agent: our name in robots.txt and meta elements, in lower case.
        details: they are wanted, which costs some time.

    Cost: O(bytes of the body).
    """
    encoding, encoding_from = find_encoding(content_type, body)
    found = linkscan.scan(
        to_utf8(body, encoding),
        min(max_links, MOST_LINKS),
        agent=agent,
        details=details,
        is_xml=headers.mime(content_type) == XHTML,
    )
    return Reading(
        encoding,
        encoding_from,
        found.links,
        found.count,
        found.dropped,
        found.base,
        b" ".join(found.title.split()),
        found.robots,
        found.canonical,
        found.language,
        found.details,
    )
