"""The newest segment of a log, as its records are written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import Codec
from larbinpy.frontier.disk import storage_errors, write_at
from larbinpy.frontier.payloads import RecordType, pack_seal
from larbinpy.frontier.segment import name_of

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.segment import Header


BUFFER_BYTES: Final = 16 << 10
"""More is written before anything is added to it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes that were written to a segment and are not known to be on the medium."""

    segment: int
    offset: int
    data: bytes | bytearray


class SegmentWriter:
    """The newest segment: records gather in memory and are written together.

    Invariant: what ``codec`` encoded is in the file or in the buffer, in order, once.
    After an error the buffer stays; the next ``flush`` writes it at the same place.
    With ``keeps_unsynced`` what was written stays in memory until ``take_unsynced``.
    """

    __slots__ = (
        "_buffer",
        "_disk",
        "_keeps_unsynced",
        "_unsynced",
        "codec",
        "fd",
        "is_sealed",
        "next_lsn",
        "number",
        "path",
        "unsynced_bytes",
        "written_end",
        "written_lsn",
    )

    def __init__(
        self, disk: Disk, directory: Path, header: Header, *, counts: bytes,
        keeps_unsynced: bool = False,
    ) -> None:  # fmt: skip
        """Create the file with its header and COUNTS.

        Raises:
            StorageError: the disk refused; no file is left.
        """
        self.number = header.number
        self.path = directory / name_of(header.epoch, header.number)
        self.codec = Codec(header.uuid, header.number)
        self.next_lsn = header.first_lsn
        self.written_lsn = header.first_lsn - 1
        self.written_end = 0
        self.is_sealed = False
        self.unsynced_bytes = 0
        self._keeps_unsynced = keeps_unsynced
        self._unsynced: list[Chunk] = []
        self._buffer: bytes | bytearray = bytearray(header.pack())
        self._disk = disk
        with storage_errors(self.path):
            self.fd = disk.create(self.path)
        try:
            self.append_one(RecordType.COUNTS, counts)
            self.flush()
        except BaseException:
            self.close()
            self.path.unlink(missing_ok=True)
            raise

    @property
    def end(self) -> int:
        """Offset behind the last record, buffered ones included."""
        return self.written_end + len(self._buffer)

    @property
    def buffered(self) -> int:
        """Bytes that are not written yet."""
        return len(self._buffer)

    @property
    def buffer(self) -> bytes | bytearray:
        """Those bytes; they go to ``written_end``. Not to be changed, nor kept."""
        return self._buffer

    def append(self, records: bytes, *, count: int) -> None:
        """Take records that ``codec`` encoded from ``next_lsn`` on; many are not copied."""
        if not self._buffer and len(records) >= BUFFER_BYTES:
            self._buffer = records
        elif isinstance(self._buffer, bytearray):
            self._buffer += records
        else:
            self._buffer = bytearray(self._buffer + records)
        self.next_lsn += count

    def append_one(self, kind: RecordType, payload: bytes) -> int:
        """Encode and take one record; returns its offset."""
        offset = self.end
        self.append(self.codec.encode(kind, payload, self.next_lsn), count=1)
        return offset

    def flush(self) -> None:
        """Write what is buffered, by one call.

        Raises:
            StorageError: nothing of it counts as written.
        """
        if self._buffer:
            write_at(self._disk, self.fd, self._buffer, self.written_end, self.path)
            if self._keeps_unsynced:
                self._unsynced.append(Chunk(self.number, self.written_end, self._buffer))
                self.unsynced_bytes += len(self._buffer)
            self.written_end += len(self._buffer)
            self._buffer = bytearray()
        self.written_lsn = self.next_lsn - 1

    def take_unsynced(self) -> list[Chunk]:
        """Hand over what was written since the last call; empty unless it is kept."""
        taken, self._unsynced = self._unsynced, []
        self.unsynced_bytes = 0
        return taken

    def seal(self) -> None:
        """Write SEAL behind all records; may be called again after an error."""
        if not self.is_sealed:
            self.flush()
            self.append_one(
                RecordType.SEAL, pack_seal(self.codec.records, self.end, self.codec.chain)
            )
            self.is_sealed = True
        self.flush()

    def close(self) -> None:
        """Close the file, without writing."""
        os.close(self.fd)
