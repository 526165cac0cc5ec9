"""A segment of the log: its name, its header, and what is remembered of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.crc32c import crc32c
from larbinpy._native.logcodec import Codec
from larbinpy.frontier.disk import storage_errors

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.payloads import RecordType

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


@dataclass(slots=True)
class SegmentState:
    """What the log remembers of one of its segments."""

    number: int
    epoch: int
    path: Path
    size: int = 0
    """Bytes; 0 while it is being written."""
    hosts: int = 0
    """HOST records."""
    retries: int = 0
    """RETRY records."""
    is_sealed: bool = False
    has_seen: bool = False
    """Its fingerprints are in a seen file, or it has none."""
    first_lsn: int = 0
    cleared_lsn: int = 0
    """All that a start needs instead of this segment stands up to here; 0 = it is needed."""


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
