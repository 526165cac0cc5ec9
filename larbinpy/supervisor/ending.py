"""When a crawl ends, and what that is called; pure.

A crawl has finished when nothing is outstanding.  Every shard has two words that only grow:
``done`` and ``accepted``, and a page's children are counted as accepted before the page is
counted as done. All ``done`` are read first, all ``accepted`` after them: equal sums mean that at
the moment between the two readings nothing was outstanding.  The reading is void while seeds are
still being read or a shard is down, for those can accept more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from larbinpy.config import Config

FINISHED: Final = "finished"
PAGE_LIMIT: Final = "page limit"
SIZE_LIMIT: Final = "size limit"
TIME_LIMIT: Final = "time limit"
INTERRUPTED: Final = "interrupted"
FAULT: Final = "fault"

EXIT_CODES: Final = {
    FINISHED: 0,
    FAULT: 1,
    PAGE_LIMIT: 3,
    SIZE_LIMIT: 3,
    TIME_LIMIT: 3,
    INTERRUPTED: 130,
}

LIMIT_KEYS: Final = {
    PAGE_LIMIT: "limitPage",
    SIZE_LIMIT: "limitSize",
    TIME_LIMIT: "limitTime",
}


def limits(config: Config) -> Limits:
    """The limits of a crawl."""
    return Limits(
        pages=config.limit_page, bytes=config.limit_size_bytes, seconds=config.limit_time_s
    )


@dataclass(slots=True)
class Reading:
    """What the supervisor saw at one moment."""

    outstanding: int
    """Sum of ``accepted`` less the sum of ``done``, which was read first."""
    success: int
    bytes_read: int
    seconds: float
    """Of this run."""
    is_open: bool
    """True while seeds are being read or a shard is not up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """0 = no limit."""

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def met(self, reading: Reading) -> str | None:
        """The limit that a reading has reached, or None."""
        if self.pages and reading.success >= self.pages:
            return PAGE_LIMIT
        if self.bytes and reading.bytes_read >= self.bytes:
            return SIZE_LIMIT
        if self.seconds and reading.seconds >= self.seconds:
            return TIME_LIMIT
        return None


def verdict(reading: Reading, limits: Limits) -> str | None:
    """Why the crawl is over, or None: it goes on."""
    limit = limits.met(reading)
    if limit:
        return limit
    if not reading.is_open and not reading.outstanding:
        return FINISHED
    return None
