"""An answer to a request for robots.txt, to the text that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.parse import decode, headers
from larbinpy.records import PAGE_TRUNCATED, Outcome, ParsedPage, Reading

if TYPE_CHECKING:
    from larbinpy.records import Page

MAX_ROBOTS_BYTES: Final = 512 << 10


def robots_reading(page: Page) -> Reading:
    """Read an answer to a request for robots.txt; the text is cut at 512 KiB.

    A text that cannot be read, or not to its end, is no text: what it forbids is not known.
    """
    parsed = ParsedPage(page.id, page.epoch, Outcome(page.outcome), page.status)
    mime = headers.mime(headers.field(page.headers, b"content-type"))
    if parsed.outcome not in (Outcome.SUCCESS, Outcome.TRUNCATED):
        return Reading(page, parsed, mime)
    encodings = headers.field(page.headers, b"content-encoding")
    decoded = decode.decode(page.body, encodings, MAX_ROBOTS_BYTES)
    is_cut = decoded.is_truncated and not page.flags & PAGE_TRUNCATED
    if decoded.is_opaque or is_cut:
        parsed.outcome = Outcome.BAD_TYPE if decoded.is_opaque else Outcome.TRUNCATED
        parsed.reason = decoded.fault(encodings)
        return Reading(page, parsed, mime)
    text = decoded.body[:MAX_ROBOTS_BYTES]
    parsed.body_bytes = len(text)
    return Reading(page, parsed, mime, text)
