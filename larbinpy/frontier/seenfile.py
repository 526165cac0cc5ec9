"""What a sealed segment leaves for ever: fingerprints of its URLs, digests of its pages.

Each in a file of its own that outlives the segment; see ``docs/format-seen.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.crc32c import crc32c
from larbinpy.frontier.disk import storage_errors, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.disk import Disk

MAGIC: Final = b"\x8aLBSN\r\n\x1a"
VERSION: Final = 1
BLOCK: Final = 4096
"""Entries in a block."""
END: Final = b"END\n"

_NAME: Final = re.compile(r"[a-z]+-([0-9a-f]{16})\.fp")
_HEADER: Final = Struct("<8sHHI16sQQ12x")
BLOCK_HEAD: Final = Struct("<II")
_CRC: Final = Struct("<I")
HEADER_BYTES: Final = _HEADER.size + _CRC.size


@dataclass(frozen=True, slots=True)
class Kind:
    """What is in a file."""

    number: int
    prefix: str
    """Of its name."""
    size: int
    """Bytes of an entry."""


URLS: Final = Kind(1, "seen", 8)
PAGES: Final = Kind(2, "pages", 16)


@dataclass(slots=True)
class SeenFile:
    """What could be read of a seen file."""

    entries: bytes
    """Back to back, of the good blocks."""
    bad_blocks: int
    is_valid: bool
    """False without a header and a footer of this crawl: then nothing of it is used."""


def name_of(segment: int, kind: Kind = URLS) -> str:
    """Name of the seen file of a segment."""
    return f"{kind.prefix}-{segment:016x}.fp"


def segment_of(path: Path) -> int | None:
    """Number of the segment that a seen file belongs to, None for another file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1], 16) if match else None


def numbers(directory: Path, kind: Kind = URLS) -> list[int]:
    """Segments that have a seen file, in order."""
    found = (segment_of(path) for path in directory.glob(f"{kind.prefix}-*.fp"))
    return sorted(number for number in found if number is not None)


def write(
    disk: Disk, directory: Path, uuid: bytes, segment: int, entries: bytes, *, is_synced: bool,
    kind: Kind = URLS,
) -> None:  # fmt: skip
    """Write the seen file of a segment, whole or not at all.

    Args:
        entries: back to back; without any no file is written.

    Raises:
        StorageError: the disk refused; an older file of that name stays as it was.
    """
    path = directory / name_of(segment, kind)
    if entries:
        write_file(disk, path, encode(uuid, segment, entries, kind), is_synced=is_synced)
    else:
        path.unlink(missing_ok=True)


def encode(uuid: bytes, segment: int, entries: bytes, kind: Kind = URLS) -> bytes:
    """The bytes of a seen file."""
    count = len(entries) // kind.size
    header = _HEADER.pack(MAGIC, VERSION, HEADER_BYTES, kind.number, uuid, segment, count)
    parts = [header, _CRC.pack(crc32c(header))]
    crcs = []
    for start in range(0, len(entries), kind.size * BLOCK):
        block = entries[start : start + kind.size * BLOCK]
        crcs.append(_CRC.pack(crc32c(block)))
        parts += (BLOCK_HEAD.pack(len(block) // kind.size, crc32c(block)), block)
    parts += (_CRC.pack(crc32c(b"".join(crcs))), END)
    return b"".join(parts)


def read(directory: Path, uuid: bytes, segment: int, kind: Kind = URLS) -> SeenFile:
    """Read the seen file of a segment; one that is not there is not valid.

    Raises:
        StorageError: the file is there but cannot be read.
    """
    path = directory / name_of(segment, kind)
    if not path.exists():
        return SeenFile(b"", 0, is_valid=False)
    with storage_errors(path):
        return decode(path.read_bytes(), uuid, segment, kind)


def decode(data: bytes, uuid: bytes, segment: int, kind: Kind = URLS) -> SeenFile:
    """Read the bytes of a seen file; damage costs the block that has it."""
    expected = expected_blocks(data, uuid, segment, kind)
    if expected is None:
        return SeenFile(b"", 0, is_valid=False)
    good, bad, at = [], 0, HEADER_BYTES
    for count in expected:
        block = data[at + BLOCK_HEAD.size : at + BLOCK_HEAD.size + kind.size * count]
        if BLOCK_HEAD.unpack_from(data, at) == (count, crc32c(block)):
            good.append(block)
        else:
            bad += 1
        at += BLOCK_HEAD.size + kind.size * count
    return SeenFile(b"".join(good), bad, is_valid=True)


def expected_blocks(data: bytes, uuid: bytes, segment: int, kind: Kind = URLS) -> list[int] | None:
    """Sizes of the blocks that header and length agree on, None for a file that is not ours."""
    if len(data) < HEADER_BYTES + 8 or not data.endswith(END):
        return None
    if _CRC.unpack_from(data, _HEADER.size)[0] != crc32c(data[: _HEADER.size]):
        return None
    magic, version, _, what, owner, number, count = _HEADER.unpack_from(data)
    if (magic, version, what, owner, number) != (MAGIC, VERSION, kind.number, uuid, segment):
        return None
    sizes = [BLOCK] * (count // BLOCK) + ([count % BLOCK] if count % BLOCK else [])
    blocks = BLOCK_HEAD.size * len(sizes) + kind.size * count
    if len(data) != HEADER_BYTES + blocks + _CRC.size + len(END):
        return None
    return sizes
