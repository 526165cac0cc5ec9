"""The canonical URL in the header field Link (RFC 8288, RFC 6596), parsed as appendix B.2 says.

What is malformed ends the field: the links before it count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from larbinpy import url as urls

if TYPE_CHECKING:
    from collections.abc import Iterator

_TARGET: Final = re.compile(rb"[ \t,]*<([^>]*)>")
_PARAMETER: Final = re.compile(
    rb"[ \t]*;[ \t]*([^ \t=;,]*)[ \t]*"
    rb'(?:=[ \t]*(?:"([^"\\]*(?:\\.[^"\\]*)*)"?|([^;,]*)))?',
    re.DOTALL,
)
_QUOTED_PAIR: Final = re.compile(rb"\\(.)", re.DOTALL)
_CANONICAL: Final = b"canonical"

Link = tuple[bytes, dict[bytes, bytes]]


def canonical_of(value: bytes, url: bytes) -> bytes | None:
    """The target of the first canonical link of a page; None when there is none.

    Args:
        value: all values of the field, joined by commas.
        url: of the page; what the target is relative to. A link with an anchor is a link of that,
            and counts when it is the page itself.

    Cost: O(bytes of the value).
    """
    if _CANONICAL not in value.lower():
        return None
    for target, parameters in _links(value):
        if _CANONICAL in parameters.get(b"rel", b"").lower().split():
            anchor = parameters.get(b"anchor")
            if anchor is None or _is_page(anchor, url):
                return target
    return None


def _is_page(anchor: bytes, url: bytes) -> bool:
    context = urls.parse(anchor, url)
    return context is not None and context.url == url


def _links(value: bytes) -> Iterator[Link]:
    """Targets, and their parameters: names in lower case, of equal ones the first."""
    at = 0
    while found := _TARGET.match(value, at):
        parameters: dict[bytes, bytes] = {}
        at = found.end()
        while more := _PARAMETER.match(value, at):
            name, quoted, bare = more.groups()
            text = _QUOTED_PAIR.sub(rb"\1", quoted) if quoted is not None else bare or b""
            parameters.setdefault(name.lower(), text.strip(b" \t"))
            at = more.end()
        yield found[1], parameters
