"""The end of the log, where records are appended.

Appending first makes room: the buffer is written when it is full, and a new segment begun when the
old one is.  Only that may fail, so an append that raises has taken nothing and may be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.frontier.lookup import Lookup
from larbinpy.frontier.segment import Header, SegmentState
from larbinpy.frontier.writer import BUFFER_BYTES, SegmentWriter

if TYPE_CHECKING:
    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.payloads import RecordType
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.frontier.settings import Settings
    from larbinpy.frontier.shelf import Shelf
    from larbinpy.frontier.syncer import Syncer


class Tail:
    """The newest segment and its successors."""

    __slots__ = ("_counters", "_directory", "_disk", "_epoch", "_settings", "_shelf", "_syncer",
                 "_uuid", "lookup", "writer")  # fmt: skip

    def __init__(
        self, disk: Disk, found: Recovered, settings: Settings, shelf: Shelf,
        syncer: Syncer | None,
    ) -> None:  # fmt: skip
        """Begin the first segment behind what was ``found``.

        Raises:
            StorageError: the disk refused.
        """
        self._disk = disk
        self._directory = found.directory
        self._uuid = found.uuid
        self._epoch = found.epoch
        self._counters = found.counters
        self._settings = settings
        self._shelf = shelf
        self._syncer = syncer
        self.writer = self._begin(found.next_number, found.next_lsn)
        self.lookup = Lookup(found.uuid, shelf, self.writer)

    def _begin(self, number: int, first_lsn: int) -> SegmentWriter:
        writer = SegmentWriter(
            self._disk,
            self._directory,
            Header(self._uuid, self._epoch, number, first_lsn),
            counts=self._counters.as_bytes(),
            keeps_unsynced=self._settings.is_synced,
        )
        self._shelf.segments[number] = SegmentState(
            number, self._epoch, writer.path, first_lsn=first_lsn
        )
        return writer

    def room(self, size: int = 0) -> SegmentWriter:
        """The writer to append to; all that can fail in appending happens here.

        ``size``: of what comes, about: many records are not copied behind others.
        """
        writer = self.writer
        if writer.is_sealed or writer.end >= self._settings.segment_bytes:
            self.rotate()
        elif writer.buffered and writer.buffered + size >= BUFFER_BYTES:
            writer.flush()
        return self.writer

    def append(self, kind: RecordType, payload: bytes) -> tuple[SegmentWriter, int]:
        """Append one record; returns where: segment and offset."""
        writer = self.room()
        return writer, writer.append_one(kind, payload)

    def rotate(self) -> None:
        """Seal the newest segment, whatever its size, and begin the next one."""
        full = self.writer
        full.seal()
        self.writer = self._begin(full.number + 1, full.next_lsn)
        self.lookup.writer = self.writer
        self._shelf.sealed(full.number)
        if self._syncer is None:
            full.close()
        else:
            self._syncer.retire(full)
