"""What goes through a parser together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from larbinpy.records import ID_SHARD_SHIFT

if TYPE_CHECKING:
    from larbinpy.records import Page, Reading


@dataclass(slots=True, eq=False)
class Batch:
    """Pages that wait for the same answers."""

    readings: list[Reading] = field(default_factory=list)
    needs: dict[int, int] = field(default_factory=dict)
    """Shard -> seq of the LINKS frame that it must have written."""
    fingerprints: bytes = b""
    """Of its links."""
    robots: list[Reading] = field(default_factory=list)
    """Those that are answers to requests for robots.txt."""
    unstored: Reading | None = None
    """The last page, while the disk refuses it."""


def shard_of(page: Page) -> int:
    """The shard that has sent a page."""
    return page.id >> ID_SHARD_SHIFT
