"""What the parser makes of one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from larbinpy.records import Filtered, Outcome

if TYPE_CHECKING:
    from larbinpy._native.linkfilter import LinkBatch
    from larbinpy.records import ParsedPage


@dataclass(slots=True)
class Reading:
    """What became of one page."""

    parsed: ParsedPage
    mime: bytes = b""
    body: bytes = b""
    """Decoded; to be stored when ``is_good``."""
    links: LinkBatch | None = None
    via: bytes = b""
    """Where the links were found, if that is not the page's URL."""

    @property
    def is_good(self) -> bool:
        """Whether this is a page for the output."""
        return self.parsed.outcome == Outcome.SUCCESS

    def take(self, batch: LinkBatch, dropped: int = 0) -> None:
        """Take the links, sorted out; ``dropped``: those that a scanner did not list."""
        self.links = batch
        self.parsed.links = batch.found + dropped
        self.parsed.duplicates = batch.duplicates
        self.parsed.filtered = batch.filtered
        if dropped:
            self.refuse(dropped, Filtered.LINKS_PER_PAGE)

    def refuse(self, count: int, reason: Filtered) -> None:
        """Count links that are not followed; ``parsed.links`` has them already."""
        filtered = self.parsed.filtered
        filtered[reason] = filtered.get(reason, 0) + count
