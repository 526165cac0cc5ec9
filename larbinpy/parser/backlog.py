"""The first half of a batch's way: its pages are read and stored."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from larbinpy import entries, wiring
from larbinpy.parser.batch import Batch, shard_of
from larbinpy.records import PAGE_BODY_IN_FILE, Kind
from larbinpy.shared import ParserWord

if TYPE_CHECKING:
    from larbinpy.frames import Frame
    from larbinpy.parser.disk import Disk
    from larbinpy.parser.readers import Readers
    from larbinpy.records import Page, Reading
    from larbinpy.shared import ParserMemory
    from larbinpy.store.base import Store
    from larbinpy.wiring import Start

BATCH_PAGES: Final = 64


class Backlog:
    """Pages that wait to be read, and the batch whose last page the disk has refused.

    Args of ``__init__``:
        slot: shows which page is in hand, and what it is doing to the output.
    """

    __slots__ = (
        "_disk", "_pages", "_readers", "_refused_directives", "_slot", "_specific", "_store",
        "refused",
    )  # fmt: skip

    def __init__(
        self, start: Start, slot: ParserMemory, readers: Readers, store: Store, disk: Disk
    ) -> None:
        self._slot = slot
        self._readers = readers
        self._store = store
        self._disk = disk
        self._specific = wiring.specific_types(start.config)
        self._refused_directives = wiring.obeyed(start.config) & store.refuses
        self._pages: list[Page] = []
        self.refused: Batch | None = None
        """What was read; its last page is not stored yet, its links are not sent."""

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, frame: Frame, memory: memoryview) -> None:
        """Take the pages of a PAGE frame; ``memory``: of the shard that sent it."""
        self._pages += _pages_of(frame, memory)

    def left(self, shard: int) -> None:
        """A shard is gone: its pages are not wanted."""
        batch = self.refused
        if batch and batch.unstored and shard_of(batch.unstored.page) == shard:
            batch.unstored = None
            batch.readings.pop()
        self._pages = [page for page in self._pages if shard_of(page) != shard]

    def read(self) -> Batch | None:
        """Read and store a batch; None when the disk has refused its last page."""
        batch = Batch()
        self._read_all(self._pages[:BATCH_PAGES], batch)
        del self._pages[: len(batch.readings)]
        self._slot.end()
        self._slot.words.add(ParserWord.PAGES, len(batch.readings))
        if batch.unstored:
            self.refused = batch
            return None
        return batch

    def stored(self) -> Batch | None:
        """Try again to store the page that the disk refused; then its batch is returned."""
        batch = self.refused
        if batch and self._disk.attempt(partial(self._put, batch)):
            self.refused = None
            return batch
        return None

    def _read_all(self, pages: list[Page], batch: Batch) -> None:
        """Read pages until one cannot be stored; each is stored before the next one is in hand."""
        keeps = self._store.keeps
        while len(batch.readings) < len(pages):
            self._readers.read_next(pages, batch, keeps=keeps)
            if keeps and self._is_wanted(batch.readings[-1]):
                batch.unstored = batch.readings[-1]
                if not self._disk.attempt(partial(self._put, batch)):
                    return

    def _put(self, batch: Batch) -> None:
        """Store the last page of a batch, if that has not been done."""
        reading = batch.unstored
        if reading:
            self._slot.store()
            self._store.put(reading.page, reading.body, reading.mime)
        batch.unstored = None

    def _is_wanted(self, reading: Reading) -> bool:
        """Whether a page goes to the output: by its type (``specificSearch``), if it allows it."""
        if not reading.is_good or reading.page.kind in (Kind.ROBOTS, Kind.RETRY):
            return False
        asked = reading.parsed.directives
        if asked and asked & self._refused_directives:
            return False
        return not self._specific or reading.mime in self._specific


def _pages_of(frame: Frame, memory: memoryview) -> list[Page]:
    pages = entries.decode_pages(frame.payload, frame.count, memory)
    for page, fd in zip(pages, frame.descriptors, strict=False):
        if page.flags & PAGE_BODY_IN_FILE:
            page.body = os.pread(fd, os.fstat(fd).st_size, 0)
        os.close(fd)
    return pages
