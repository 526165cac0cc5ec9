"""Fields of a header block as it was received; tolerant, because servers are what they are."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from larbinpy._native.headerfield import fields

__all__ = ["content_type", "field", "fields", "mime"]

_JOINED: Final = frozenset([b"content-encoding", b"link"])
"""Fields whose repetitions form one list; of the others the last one counts."""

_TOKEN: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PARAMETER: Final = re.compile(
    rb"[\t\n\r ]*([^;=]*)(?:=(?:\"((?:[^\"\\]|\\.)*)\"?[^;]*|([^;]*)))?;?", re.DOTALL
)
_QUOTED_PAIR: Final = re.compile(rb"\\(.)", re.DOTALL)


def field(headers: bytes, name: bytes) -> bytes:
    """Give the value of a field, without spaces around it; empty when there is none.

    Args:
        headers: lines ended by CR LF or LF; those without a colon are passed over.
        name: in lower case.

    Returns:
        the last value, or all of them joined by ``", "`` where the field is a list.
    """
    values = fields(headers, name)
    if not values:
        return b""
    return b", ".join(values) if name in _JOINED else values[-1]


@lru_cache(maxsize=1024)
def mime(value: bytes) -> bytes:
    """Type and subtype of a Content-Type in lower case; there are few different ones in a crawl."""
    return content_type(value)[0]


def content_type(value: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Split a Content-Type ("parse a MIME type").

    Returns:
        the type in lower case (``text/html``; empty when it is none), and its parameters: names in
        lower case, of equal ones the first; values without quotes.
    """
    essence, _, rest = value.partition(b";")
    essence = essence.strip(b"\t\n\r ").lower()
    kind, _, subtype = essence.partition(b"/")
    if not (_TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        essence = b""
    parameters: dict[bytes, bytes] = {}
    for name, quoted, bare in _PARAMETER.findall(rest):
        if _TOKEN.fullmatch(name) and (quoted or bare):
            found = _QUOTED_PAIR.sub(rb"\1", quoted) or bare.rstrip(b"\t\n\r ")
            parameters.setdefault(name.lower(), found)
    return essence, parameters
