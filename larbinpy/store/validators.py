"""What a server said of a page's version: ETag and Last-Modified (RFC 9110, section 8.8).

They stand in the page's line of ``crawl.log``, so a later crawl can ask whether the page has
changed instead of fetching it again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.store.crawlindex import lines_of

if TYPE_CHECKING:
    from pathlib import Path

MAX_ETAG_BYTES: Final = 200
_ETAG_NAME: Final = b"\netag:"
_ETAG: Final = re.compile(rb"[ \t]*([!-~][ -~]{0,%d}?)[ \t]*\r?\n" % (MAX_ETAG_BYTES - 1))
_MODIFIED_NAME: Final = b"\nlast-modified:"
_MODIFIED: Final = re.compile(rb"[ \t]*([A-Z][a-z]{2}, [ -~]{21}GMT)[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Validators:
    """The version of a page; an empty field was not sent, or cannot be sent back."""

    etag: bytes = b""
    """As received, at most ``MAX_ETAG_BYTES`` of visible ASCII and blanks."""
    modified: bytes = b""
    """An HTTP date."""

    @classmethod
    def of(cls, headers: bytes) -> Validators:
        """Read the header block of a response; of equal fields the first counts.

        Cost: a copy of the block and two searches; two matches more where both are there.
        """
        lowered = headers.lower()
        etag_at = lowered.find(_ETAG_NAME)
        modified_at = lowered.find(_MODIFIED_NAME)
        if etag_at < 0 and modified_at < 0:
            return NONE
        return cls(
            _value(headers, etag_at, _ETAG_NAME, _ETAG),
            _value(headers, modified_at, _MODIFIED_NAME, _MODIFIED),
        )

    def conditions(self) -> list[bytes]:
        """Header lines that ask for the page only if it has changed (RFC 9110, section 13.1)."""
        lines = []
        if self.etag:
            lines.append(b"If-None-Match: " + self.etag)
        if self.modified:
            lines.append(b"If-Modified-Since: " + self.modified)
        return lines


NONE: Final = Validators()


def _value(headers: bytes, at: int, name: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """The value of the field at a place, if it is one that can be sent back."""
    match = pattern.match(headers, at + len(name)) if at >= 0 else None
    return match[1] if match else b""


def latest(log: Path, key: bytes, url: bytes) -> Validators:
    """What was said of a URL when it was last fetched well; nothing when it never was.

    Args:
        log: ``crawl.log``.
        key: 16 bytes of the crawl.
        url: as a line spells it (``crawllog.escaped``).

    Raises:
        StorageError: the log cannot be read.

    Cost: that of ``lines_of``.
    """
    for _, line in reversed(lines_of(log, key, url)):
        fields = json.loads(line)
        if fields["outcome"] == "success" and fields["kind"] == "page":
            texts = fields.get("etag") or "", fields.get("modified") or ""
            return Validators(*(text.encode("ascii") for text in texts))
    return NONE
