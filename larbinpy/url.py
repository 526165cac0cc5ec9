"""What the program may ask of a URL; thin over ``_native.urlnorm``.

URLs are normalised by the URL standard: ASCII, http or https, without fragment and user info. The
kernel does all of it but two rare things, which are done here: hosts that are not ASCII (IDNA), and
queries in a document's legacy encoding.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from typing import Final

from larbinpy._native import urlnorm
from larbinpy._native.urlnorm import Base, LarbinBase
from larbinpy.domain import Domains, domain_to_ascii, psl_bytes
from larbinpy.query import encode_query, is_utf8

__all__ = [
    "Base",
    "Domains",
    "Equal",
    "LarbinBase",
    "Url",
    "base_of",
    "domain_to_ascii",
    "host_of",
    "parse",
    "parse_larbin",
    "psl_bytes",
    "resolve",
]

# Status of a resolved link, as in ext/layout.h.
OK: Final = 0
INVALID: Final = 1
SCHEME: Final = 2
SLOW: Final = 3
EMPTY: Final = 4
TOO_LONG: Final = 5

CACHED_HOSTS: Final = 4096

_ITEM: Final = struct.Struct("<BB2sBBHI")
"""``resolved_link`` of docs/protocol.md, section 6; element and rel are carried as two bytes."""
ITEM_BYTES: Final = _ITEM.size
"""Of one resolved link, before its URL."""
_TRIMMED: Final = bytes(range(0x21))
_HTTP_PORT: Final = 80

_Parsed = tuple[int, bytes, bool, int, int, int]


class Equal(IntFlag):
    """Which URLs are taken for one, beyond what the standard says; never renumbered.

    Their common form is what is queued and asked for; ``ext/urlequal.h`` has the names.
    """

    SORT_QUERY = 1
    """Parameters stand in the order of their names."""
    DROP_SESSIONS = 2
    """Without session ids, in the query and behind ``;`` in the path."""
    DROP_TRACKING = 4
    """Without parameters that only tell where a visitor came from."""
    SLASH = 8
    """A path other than ``/`` loses the ``/`` at its end."""
    INDEX = 16
    """Without ``index.html`` and its like at the end, when there is no query."""


@dataclass(slots=True)
class Url:
    """A normalised URL and where its host stands."""

    url: bytes
    https: bool
    host: bytes
    port: int
    """The port to connect to, also where the URL names none."""
    host_start: int


def parse(url: bytes | str, base: bytes | Base | None = None) -> Url | None:
    """Parse and normalise one URL, such as a seed or the target of a redirection.

    Args:
        url: UTF-8 (bytes that are not UTF-8 are escaped as they stand); relative to ``base``.
        base: absolute; of another scheme than http or https it counts as None. When it is a
            ``Base``, what that takes for one URL counts.

    Returns:
        None when the URL does not parse, is neither http nor https, or has a host that DNS
        could not know.
    """
    text = _utf8(url) if isinstance(url, str) else url
    found = _parse(text, base_of(base) if isinstance(base, bytes) else base)
    if found[0] != OK:
        return None
    _, normalised, https, start, size, port = found
    return Url(normalised, https, normalised[start : start + size], port, host_start=start)


def parse_larbin(url: bytes) -> Url | None:
    """Parse one URL as larbin does; None when larbin would not take it."""
    found = urlnorm.larbin_parse(url)
    if found is None:
        return None
    host, port, file = found
    shown_port = b"" if port == _HTTP_PORT else b":%d" % port
    normalised = b"http://%b%b%b" % (host, shown_port, file)
    return Url(normalised, https=False, host=host, port=port, host_start=len(b"http://"))


def base_of(url: bytes) -> Base | None:
    """The base that links of a document resolve against; None when it has no http or https URL."""
    found = _parse(url, None)
    return Base(found[1]) if found[0] == OK else None


def host_of(url: bytes) -> bytes:
    """The host of a normalised URL, an IPv6 address with its brackets."""
    authority = url.split(b"/", 3)[2]
    if authority.startswith(b"["):
        return authority[: authority.index(b"]") + 1]
    return authority.partition(b":")[0]


def resolve(
    base: Base | LarbinBase, links: bytes, encoding: str = "utf-8", *, exact: bool = False
) -> bytes:
    """Resolve all links of a document.

    Args:
        links: ``found_link`` items of docs/protocol.md, section 6.
        encoding: of the document, by its name in the encoding standard.
        exact: URLs are not exchanged for those that are taken for the same.

    Returns:
        ``resolved_link`` items, one for one, none of them SLOW.

    Raises:
        ValueError: the items do not fill ``links`` exactly.

    Cost: 0.1 us a link; 10 us for a link that the kernel cannot do alone.
    """
    resolved = base.resolve(links, encoding_is_utf8=is_utf8(encoding), exact=exact)
    if not isinstance(base, Base):
        return resolved
    slow = urlnorm.slow_links(links, resolved)
    if not slow:
        return resolved
    pieces = []
    done = 0
    for value, offset in slow:
        pieces.append(resolved[done:offset])
        done = offset + _ITEM.size
        element_rel = resolved[offset + 2 : offset + 4]
        pieces.append(_resolve_slow(base, value, encoding, element_rel, exact))
    pieces.append(resolved[done:])
    return b"".join(pieces)


def _resolve_slow(
    base: Base, value: bytes, encoding: str, element_rel: bytes, exact: bool
) -> bytes:
    """The item of one link that the kernel could not do alone."""
    text = value if is_utf8(encoding) else _with_query_in(encoding, value)
    status, url, https, start, size, port = _parse(text, base, exact)
    return _ITEM.pack(status, https, element_rel, start, size, port, len(url)) + url


def _with_query_in(encoding: str, value: bytes) -> bytes:
    """The reference with its query encoded and escaped, without its fragment."""
    text = value.strip(_TRIMMED).translate(None, b"\t\n\r")
    head, mark, query = text.partition(b"#")[0].partition(b"?")
    return head + mark + encode_query(query.decode("utf-8", "replace"), encoding)


def _parse(url: bytes, base: Base | None, exact: bool = False) -> _Parsed:
    """``urlnorm.parse`` with IDNA; never SLOW."""
    found = urlnorm.parse(url, base, None, exact)
    if found[0] != SLOW:
        return found
    host = _ascii_host(found[1])
    return (INVALID, b"", False, 0, 0, 0) if host is None else urlnorm.parse(url, base, host, exact)


@lru_cache(maxsize=CACHED_HOSTS)
def _ascii_host(host: bytes) -> bytes | None:
    return domain_to_ascii(host.decode("utf-8", "replace"))


def _utf8(text: str) -> bytes:
    """The text as UTF-8; surrogates that stand alone become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
