"""What a parser reads pages by: it is made anew when the filter of links changes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from larbinpy import wiring
from larbinpy.parse.page import unread
from larbinpy.records import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.shared import Blame
    from larbinpy.parser.batch import Batch
    from larbinpy.records import Page
    from larbinpy.shared import CrawlMemory
    from larbinpy.wiring import Start


class Readers:
    """The plain way of a page and the long one, and the filter of links that both use.

    Args of ``__init__``:
        notice: told what the operator should know.
    """

    def __init__(
        self, start: Start, memory: CrawlMemory, slot: Blame, notice: Callable[[str], object]
    ) -> None:
        self._slot = slot
        self._pages = wiring.make_pages(start.config, memory)
        self._near = wiring.make_near(start, memory)
        self._acceptance = wiring.make_acceptance(start.config, notice)
        self.make(start)

    def make(self, start: Start) -> None:
        """Judge links by these sites and this configuration from now on."""
        self.links = wiring.make_links(start)
        parts = self.links, self._pages, self._near, self._acceptance
        self._long = wiring.make_reader(start, *parts)
        self._plain = wiring.make_plain(start, *parts)

    def read_next(self, pages: list[Page], batch: Batch, *, keeps: bool) -> None:
        """Read the next page of a batch and, if pages are not stored, others while they are plain.

        No Python runs between those that are plain; ``slot`` shows which page is in hand.
        The body of a page that was read is let go.
        """
        readings = batch.readings
        if not (self._plain and self._plain.read_run(pages, readings, self._slot, keeps)):
            self._slot.begin(pages[len(readings)].id, time.monotonic_ns())
            self._read(pages[len(readings)], batch)

    def _read(self, page: Page, batch: Batch) -> None:
        """Read a page that is not plain."""
        if page.kind == Kind.RETRY:
            reading = unread(page)
        elif page.kind == Kind.ROBOTS:
            reading = self._long.read_robots(page)
            batch.robots.append(reading)
        else:
            reading = self._long.read(page)
        batch.readings.append(reading)
        page.body = b""
