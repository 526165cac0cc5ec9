"""The URL that a page says is its own, by its header or its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy.links.found import ELEMENT_LINK, found_link
from larbinpy.parse import headers
from larbinpy.parse.linkheader import canonical_of

if TYPE_CHECKING:
    from larbinpy.parse import html
    from larbinpy.records import Page, Reading
    from larbinpy.url import Base, LarbinBase


def of_headers(page: Page, base: Base | LarbinBase) -> bytes:
    """The URL that the field Link names, resolved; empty when it names none."""
    value = headers.field(page.headers, b"link")
    target = canonical_of(value, page.url) if value else None
    return b"" if target is None else urls.resolve(base, found_link(ELEMENT_LINK, target))


def of_document(document: html.Reading, base: Base | LarbinBase) -> bytes:
    """The URL that a ``link`` element names, resolved; empty when none does."""
    if document.canonical is None:
        return b""
    link = found_link(ELEMENT_LINK, document.canonical)
    return urls.resolve(base, link, document.encoding)


def note(reading: Reading, own: bytes) -> None:
    """Note the URL that a page says is its own, if it is another one that we could ask for."""
    url = own[urls.ITEM_BYTES :]
    reading.parsed.canonical = url if url != reading.page.url else b""
