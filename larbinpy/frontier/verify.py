"""What is wrong with the files of a log: every checksum, and every number that must agree.

Pure: bytes go in, faults come out.  Recovery mends what it can; here nothing is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.crc32c import crc32c
from larbinpy._native.logcodec import (
    SCAN_CRC,
    SCAN_LENGTH,
    SCAN_LSN,
    SCAN_SEALED,
    SCAN_SHORT,
    SCAN_TYPE,
)
from larbinpy.frontier import seenfile
from larbinpy.frontier.payloads import unpack_seal
from larbinpy.frontier.segment import HEADER_BYTES, VERSION, Header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy._native.logcodec import Codec, ScanResult

REASONS: Final = {
    SCAN_SHORT: "cut record",
    SCAN_LENGTH: "length",
    SCAN_TYPE: "type",
    SCAN_CRC: "checksum",
    SCAN_LSN: "lsn",
}
_HEAD_BYTES: Final = 20
_LENGTH: Final = Struct("<4xI")
_CRC: Final = Struct("<I")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong."""

    file: str
    offset: int
    kind: str


def header_faults(data: bytes, uuid: bytes, epoch: int, number: int) -> Iterator[tuple[int, str]]:
    """Offset and kind of the fault of a segment's header, if it has one."""
    header = Header.unpack(data[:HEADER_BYTES])
    if header is None:
        yield 0, "header"
    elif header.uuid != uuid:
        yield 0, "foreign"
    elif header.version > VERSION:
        yield 0, "version"
    elif (header.epoch, header.number) != (epoch, number):
        yield 0, "name"


def record_faults(data: bytes, run: ScanResult) -> Iterator[tuple[int, str]]:
    """Faults beside the good records of a run: padding that is not zero."""
    for at in memoryview(run.offsets).cast("I"):
        end = at + _HEAD_BYTES + _LENGTH.unpack_from(data, at)[0]
        if any(data[end : end + -end % 8]):
            yield end, "padding"


def seal_faults(data: bytes, codec: Codec, run: ScanResult) -> Iterator[tuple[int, str]]:
    """Faults of the SEAL that ends a segment which is one run."""
    if run.reason != SCAN_SEALED:
        return
    *places, seal = memoryview(run.offsets).cast("I")
    chain = crc32c(b"".join(data[place : place + _CRC.size] for place in places))
    if unpack_seal(codec.record(data, seal)[2]) != (len(places), seal, chain):
        yield seal, "seal"
    if run.stop < len(data):
        yield run.stop, "bytes behind the seal"


def seen_faults(
    data: bytes, uuid: bytes, number: int, prints: bytes | None
) -> Iterator[tuple[int, str]]:
    """Faults of a seen file.

    Args:
        prints: what its segment holds; None when that is gone.
    """
    sizes = seenfile.expected_blocks(data, uuid, number)
    if sizes is None:
        yield 0, "seen file"
        return
    good = True
    at, crcs = seenfile.HEADER_BYTES, []
    for size in sizes:
        count, crc = seenfile.BLOCK_HEAD.unpack_from(data, at)
        start = at + seenfile.BLOCK_HEAD.size
        if (count, crc) != (size, crc32c(data[start : start + 8 * size])):
            yield at, "seen block"
            good = False
        crcs.append(_CRC.pack(crc))
        at = start + 8 * size
    if _CRC.unpack_from(data, at)[0] != crc32c(b"".join(crcs)):
        yield at, "seen footer"
    if good and prints is not None and seenfile.decode(data, uuid, number).entries != prints:
        yield 0, "not the fingerprints of its segment"
