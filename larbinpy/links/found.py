"""Found links that Python makes: seeds and targets of redirections; numbers of ``ext/layout.h``."""

from __future__ import annotations

import struct
from typing import Final

ELEMENT_REDIRECT: Final = 11
ELEMENT_SEED: Final = 12
LINK_SEED: Final = 2
LINK_REDIRECT: Final = 4
_ATTRIBUTE_HREF: Final = 1
_FOUND: Final = struct.Struct("<BBBBI")


def found_link(element: int, value: bytes) -> bytes:
    """A ``found_link`` item with its value."""
    return _FOUND.pack(element, _ATTRIBUTE_HREF, 0, 0, len(value)) + value
