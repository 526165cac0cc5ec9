"""One segment of the log: its name and header, and the writer of the newest one."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import compress
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import Codec, crc32c
from larbinpy.frontier.disk import storage_errors, write_at
from larbinpy.frontier.payloads import RecordType, pack_seal

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.disk import Disk

MAGIC: Final = b"\x8aLBPY\r\n\x1a"
VERSION: Final = 1
HEADER_BYTES: Final = 64
SEGMENT_SHIFT: Final = 32
"""A position is ``segment number << SEGMENT_SHIFT | offset``."""
OFFSET_MASK: Final = (1 << SEGMENT_SHIFT) - 1

_HEADER: Final = Struct("<8sHHI16sI4xQQ4x")
_CRC: Final = Struct("<I")
_NAME: Final = re.compile(r"q-([0-9a-f]{8})-([0-9a-f]{16})\.seg")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes that were written to a segment and are not known to be on the medium."""

    segment: int
    offset: int
    data: bytearray


@dataclass(frozen=True, slots=True)
class Header:
    """The first bytes of a segment."""

    uuid: bytes
    epoch: int
    number: int
    first_lsn: int
    version: int = VERSION

    def pack(self) -> bytes:
        """The 64 bytes on disk."""
        head = _HEADER.pack(
            MAGIC, self.version, HEADER_BYTES, 0, self.uuid, self.epoch, self.number, self.first_lsn
        )
        return head + _CRC.pack(crc32c(head))

    @classmethod
    def unpack(cls, data: bytes) -> Header | None:
        """Read a header; None when it is short or damaged."""
        if len(data) < HEADER_BYTES or not data.startswith(MAGIC):
            return None
        if _CRC.unpack_from(data, _HEADER.size)[0] != crc32c(data[: _HEADER.size]):
            return None
        _, version, _, _, uuid, epoch, number, first_lsn = _HEADER.unpack_from(data)
        return cls(uuid, epoch, number, first_lsn, version)


def name_of(epoch: int, number: int) -> str:
    """File name of a segment."""
    return f"q-{epoch:08x}-{number:016x}.seg"


def parse_name(name: str) -> tuple[int, int] | None:
    """Epoch and number in a segment's name, None for another file."""
    match = _NAME.fullmatch(name)
    return (int(match[1], 16), int(match[2], 16)) if match else None


def payloads_in(path: Path, uuid: bytes, number: int, kind: RecordType) -> list[bytes]:
    """The payloads of all records of a type in a segment.

    Raises:
        StorageError: the segment cannot be read.
    """
    with storage_errors(path):
        data = path.read_bytes()
    codec = Codec(uuid, number)
    run = codec.scan(data, HEADER_BYTES, 0)
    places = memoryview(run.offsets).cast("I")
    chosen = compress(places, map(int(kind).__eq__, run.types))
    return [codec.record(data, place)[2] for place in chosen]


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
        self._buffer = bytearray(header.pack())
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
    def buffer(self) -> bytearray:
        """Those bytes; they go to ``written_end``. Not to be changed, nor kept."""
        return self._buffer

    def append(self, records: bytes, *, count: int) -> None:
        """Take records that ``codec`` encoded from ``next_lsn`` on."""
        self._buffer += records
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
