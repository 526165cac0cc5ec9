"""Content types of pages: what is read as HTML, and what is so in the plainest way."""

from __future__ import annotations

from typing import Final

from larbinpy.parse import headers
from larbinpy.parse.charset import header_encoding

XHTML: Final = b"application/xhtml+xml"
HTML_TYPES: Final = (b"text/html", XHTML)


def plain_type(content_type: bytes, accept: tuple[bytes, ...]) -> bytes | None:
    """The type of pages in UTF-8, if this Content-Type says that; see ``_native.plainpage``.

    Args:
        accept: prefixes of the types that are pages; () = every type.
    """
    mime = headers.mime(content_type)
    is_page = mime in HTML_TYPES and (not accept or mime.startswith(accept))
    return mime if is_page and header_encoding(content_type) == "UTF-8" else None
