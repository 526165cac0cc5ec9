"""The fingerprints of a sealed segment, in a file that outlives it; see ``docs/format-seen.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import crc32c
from larbinpy.frontier.disk import storage_errors, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.frontier.disk import Disk

MAGIC: Final = b"\x8aLBSN\r\n\x1a"
VERSION: Final = 1
KIND_URLS: Final = 1
BLOCK: Final = 4096
"""Fingerprints in a block."""
END: Final = b"END\n"

_NAME: Final = re.compile(r"seen-([0-9a-f]{16})\.fp")
_HEADER: Final = Struct("<8sHHI16sQQ12x")
BLOCK_HEAD: Final = Struct("<II")
_CRC: Final = Struct("<I")
HEADER_BYTES: Final = _HEADER.size + _CRC.size


@dataclass(slots=True)
class SeenFile:
    """What could be read of a seen file."""

    fingerprints: bytes
    """u64 each, of the good blocks."""
    bad_blocks: int
    is_valid: bool
    """False without a header and a footer of this crawl: then nothing of it is used."""


def name_of(segment: int) -> str:
    """Name of the seen file of a segment."""
    return f"seen-{segment:016x}.fp"


def segment_of(path: Path) -> int | None:
    """Number of the segment that a seen file belongs to, None for another file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1], 16) if match else None


def numbers(directory: Path) -> list[int]:
    """Segments that have a seen file, in order."""
    found = (segment_of(path) for path in directory.glob("seen-*.fp"))
    return sorted(number for number in found if number is not None)


def write(
    disk: Disk, directory: Path, uuid: bytes, segment: int, prints: bytes, *, is_synced: bool
) -> None:
    """Write the seen file of a segment, whole or not at all.

    Args:
        prints: fingerprints, u64 each; without any no file is written.

    Raises:
        StorageError: the disk refused; an older file of that name stays as it was.
    """
    path = directory / name_of(segment)
    if prints:
        write_file(disk, path, encode(uuid, segment, prints), is_synced=is_synced)
    else:
        path.unlink(missing_ok=True)


def encode(uuid: bytes, segment: int, prints: bytes) -> bytes:
    """The bytes of a seen file."""
    header = _HEADER.pack(MAGIC, VERSION, HEADER_BYTES, KIND_URLS, uuid, segment, len(prints) // 8)
    parts = [header, _CRC.pack(crc32c(header))]
    crcs = []
    for block in _blocks(prints):
        crcs.append(_CRC.pack(crc32c(block)))
        parts += (BLOCK_HEAD.pack(len(block) // 8, crc32c(block)), block)
    parts += (_CRC.pack(crc32c(b"".join(crcs))), END)
    return b"".join(parts)


def _blocks(prints: bytes) -> Iterator[bytes]:
    for start in range(0, len(prints), 8 * BLOCK):
        yield prints[start : start + 8 * BLOCK]


def read(directory: Path, uuid: bytes, segment: int) -> SeenFile:
    """Read the seen file of a segment; one that is not there is not valid.

    Raises:
        StorageError: the file is there but cannot be read.
    """
    path = directory / name_of(segment)
    if not path.exists():
        return SeenFile(b"", 0, is_valid=False)
    with storage_errors(path):
        return decode(path.read_bytes(), uuid, segment)


def decode(data: bytes, uuid: bytes, segment: int) -> SeenFile:
    """Read the bytes of a seen file; damage costs the block that has it."""
    expected = expected_blocks(data, uuid, segment)
    if expected is None:
        return SeenFile(b"", 0, is_valid=False)
    good, bad, at = [], 0, HEADER_BYTES
    for count in expected:
        block = data[at + BLOCK_HEAD.size : at + BLOCK_HEAD.size + 8 * count]
        if BLOCK_HEAD.unpack_from(data, at) == (count, crc32c(block)):
            good.append(block)
        else:
            bad += 1
        at += BLOCK_HEAD.size + 8 * count
    return SeenFile(b"".join(good), bad, is_valid=True)


def expected_blocks(data: bytes, uuid: bytes, segment: int) -> list[int] | None:
    """Sizes of the blocks that header and length agree on, None for a file that is not ours."""
    if len(data) < HEADER_BYTES + 8 or not data.endswith(END):
        return None
    if _CRC.unpack_from(data, _HEADER.size)[0] != crc32c(data[: _HEADER.size]):
        return None
    magic, version, _, kind, owner, number, count = _HEADER.unpack_from(data)
    if (magic, version, kind, owner, number) != (MAGIC, VERSION, KIND_URLS, uuid, segment):
        return None
    sizes = [BLOCK] * (count // BLOCK) + ([count % BLOCK] if count % BLOCK else [])
    if len(data) != HEADER_BYTES + BLOCK_HEAD.size * len(sizes) + 8 * count + _CRC.size + len(END):
        return None
    return sizes
