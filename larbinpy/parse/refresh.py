"""Where a page goes on to by its header, as a meta element of that name says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy._native.linkscan import refresh_url
from larbinpy.links.found import ELEMENT_META, found_link
from larbinpy.parse import headers

if TYPE_CHECKING:
    from larbinpy.records import Page
    from larbinpy.url import Base, LarbinBase


def of_headers(page: Page, base: Base | LarbinBase) -> bytes:
    """The URL that the field Refresh names, resolved; empty when it names none.

    Args:
        base: the page's own URL: the header is read before any ``base`` element.
    """
    value = headers.field(page.headers, b"refresh")
    target = refresh_url(value) if value else None
    return b"" if target is None else urls.resolve(base, found_link(ELEMENT_META, target))
