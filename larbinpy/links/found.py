"""Found links that Python makes: seeds and targets of redirections; numbers of ``ext/layout.h``."""

from __future__ import annotations

import struct
from typing import Final

ELEMENT_LINK: Final = 3
ELEMENT_META: Final = 10
ELEMENT_REDIRECT: Final = 11
ELEMENT_SEED: Final = 12
LINK_SEED: Final = 2
LINK_REDIRECT: Final = 4
LINK_FORCE: Final = 8
_ATTRIBUTE_HREF: Final = 1
_REL_DOCUMENT: Final = 32
_FOUND: Final = struct.Struct("<BBBBI")


def with_refreshes_to(url: bytes, links: bytes) -> bytes:
    """Give meta refreshes without a URL the document's own, which is not always the base.

    Cost: a walk over all links; only documents with a base need it.
    """
    parts = []
    at = 0
    while at < len(links):
        element, _, rel, _, size = _FOUND.unpack_from(links, at)
        end = at + _FOUND.size + size
        parts.append(found_link(element, url) if rel & _REL_DOCUMENT else links[at:end])
        at = end
    return b"".join(parts)


def found_link(element: int, value: bytes) -> bytes:
    """A ``found_link`` item with its value."""
    return _FOUND.pack(element, _ATTRIBUTE_HREF, 0, 0, len(value)) + value
