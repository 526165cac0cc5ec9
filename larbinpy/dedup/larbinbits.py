"""The table of URLs that a real larbin had seen, beside the seen set of a crawl that continues it.

The table holds one bit for each of larbin's codes, and a code is made from larbin's own form of a
URL. So a URL is known when larbin's form of it has a code whose bit is set.
The table never changes: what larbinpy finds goes into the set beside it.
"""

from __future__ import annotations

import operator
import re
import struct
from array import array
from typing import TYPE_CHECKING, Final

from larbinpy._native.larbinhash import BitTable, url_code, url_codes
from larbinpy._native.linkframe import bare_links, with_forced
from larbinpy._native.urlnorm import larbin_parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.dedup.base import KnownUrls, SeenUrls

_HEAD: Final = struct.Struct("<8xH11xB10x")
"""Of a ``link_entry``: length of its URL, flags; the URL follows."""
_LINK_HTTPS: Final = 1
_ESCAPED_BYTE: Final = re.compile(rb"%([89A-Fa-f][0-9A-Fa-f])")


class ContinuedSeen:
    """A seen set that also knows what larbin had seen.

    Invariant: a link is new when it is new to the set beside the table and its bit is not set;
    a forced link is queued in any case.
    """

    __slots__ = ("_beside", "_is_larbin_form", "_table")

    def __init__(self, beside: SeenUrls, raw: bytes, *, is_larbin_form: bool) -> None:
        """Put a table beside a set.

        Args:
            beside: gets every link, so that each is looked up in the table once.
            raw: the bytes of ``hashtable.bin``.
            is_larbin_form: URLs are normalised as larbin does (``urlMode larbin``).

        Raises:
            ValueError: the table has not larbin's size.
        """
        self._beside = beside
        self._table = BitTable()
        self._table.load(raw)
        self._is_larbin_form = is_larbin_form

    @property
    def nbytes(self) -> int:
        """Bytes of set and table."""
        return self._beside.nbytes + self._table.size // 8

    def __len__(self) -> int:
        """Return the number of URLs of the set and of bits of the table."""
        return len(self._beside) + len(self._table)

    def add_links(self, groups: bytes, fingerprints: bytes) -> bytes:
        """See ``SeenUrls``.

        Cost: that of the set beside, and where the URLs have another form than larbin's, 1.5 us
        for each link that is new to it.
        """
        mask = self._beside.add_links(groups, fingerprints)
        if 1 not in mask:
            return mask
        links = bare_links(groups)
        if self._is_larbin_form:
            known = self._table.contains_many(url_codes(links))
        else:
            pairs = zip(mask, _urls(links), strict=True)
            known = bytes(is_new and self._knows(url) for is_new, url in pairs)
        return with_forced(groups, bytes(map(operator.gt, mask, known)))

    def _knows(self, url: bytes) -> bool:
        codes = array("I", larbin_codes(url)).tobytes()
        return 1 in self._table.contains_many(codes)

    def add_written(self, fingerprints: bytes) -> None:
        """See ``SeenUrls``."""
        self._beside.add_written(fingerprints)

    def restore(self, known: KnownUrls) -> None:
        """See ``SeenUrls``."""
        self._beside.restore(known)

    def save(self, segment: int, *, wait: bool = False) -> None:
        """See ``SeenUrls``; the table is there already."""
        self._beside.save(segment, wait=wait)

    @property
    def needs_from(self) -> int:
        """See ``SeenUrls``."""
        return self._beside.needs_from


def larbin_codes(url: bytes) -> list[int]:
    """larbin's codes of a URL that is normalised by the URL standard; none if larbin refuses it.

    larbin leaves a blank as it came, so an escaped one may have been either. It writes a byte that
    is not ASCII in lower case, and refuses one that came escaped.
    """
    raw = _ESCAPED_BYTE.sub(_unescaped, url)
    forms = (raw, raw.replace(b"%20", b" ")) if b"%20" in raw else (raw,)
    found = (larbin_parse(form) for form in forms)
    return [url_code(host, file, port) for host, port, file in filter(None, found)]


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes((int(match[1], 16),))


def _urls(links: bytes) -> Iterator[bytes]:
    """The URLs of link entries; empty for https, which larbin does not speak."""
    at = 0
    while at < len(links):
        size, flags = _HEAD.unpack_from(links, at)
        at += _HEAD.size
        yield b"" if flags & _LINK_HTTPS else links[at : at + size]
        at += size
