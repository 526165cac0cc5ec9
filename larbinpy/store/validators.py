"""What a server said of a page's version: ETag and Last-Modified (RFC 9110, section 8.8).

They stand in the page's line of ``crawl.log`` (``ext/headerversion.pxd``), so a later crawl can ask
whether the page has changed instead of fetching it again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from larbinpy.store.crawlindex import lines_of

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Validators:
    """The version of a page; an empty field was not sent, or cannot be sent back."""

    etag: bytes = b""
    """As received, at most 200 bytes of visible ASCII and blanks."""
    modified: bytes = b""
    """An HTTP date."""

    def conditions(self) -> list[bytes]:
        """Header lines that ask for the page only if it has changed (RFC 9110, section 13.1)."""
        lines = []
        if self.etag:
            lines.append(b"If-None-Match: " + self.etag)
        if self.modified:
            lines.append(b"If-Modified-Since: " + self.modified)
        return lines


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
    return Validators()
