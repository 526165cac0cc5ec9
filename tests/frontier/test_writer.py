"""The bytes of a segment as it is written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from larbinpy.frontier.disk import Disk
from larbinpy.frontier.payloads import (
    HostState,
    RecordType,
    Retry,
    done_entry,
    pack_host,
    pack_retry,
)
from larbinpy.frontier.segment import Header
from larbinpy.frontier.writer import SegmentWriter
from larbinpy.records import Outcome, ParsedPage
from tests.frontier.logs import UUID, links

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = "71939d727424152873072b23da8028de64d782a138c9221820446dd471ac6c60"


def test_segment_bytes_never_change(tmp_path: Path) -> None:
    """Golden value: states of every version must stay readable, so never change this."""
    writer = SegmentWriter(Disk(), tmp_path, Header(UUID, 1, 2, 3), counts=bytes(80))
    records, offsets = writer.codec.encode_links(links([1, 2, 3], tag=b"t"), b"\1\0\1", 4)
    writer.append(records, count=len(offsets) // 4)
    page = ParsedPage(7 << 56 | 4, 1, Outcome.SUCCESS, 200, 9, 8, 7, bytes(range(16)), {2: 5})
    writer.append_one(RecordType.DONE, done_entry(page))
    writer.append_one(RecordType.RETRY, pack_retry(Retry(5, 1, 77)))
    writer.append_one(RecordType.HOST, pack_host(HostState(b"h1.example", 5, 1, 2)))
    writer.seal()
    writer.close()
    data = writer.path.read_bytes()
    assert writer.path.name == "q-00000001-0000000000000002.seg"
    assert hashlib.sha256(data).hexdigest() == GOLDEN


class Watched(Disk):
    """Keeps what it is given to write."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        self.written: list[bytes | bytearray] = []

    def pwrite(self, fd: int, data: bytes | bytearray, offset: int) -> int:
        """See ``Disk``."""
        self.written.append(data)
        return super().pwrite(fd, data, offset)


def test_many_records_are_written_where_they_lie(tmp_path: Path) -> None:
    """Few gather in a buffer; whatever comes behind many, the file has all in their order."""
    disk = Watched()
    writer = SegmentWriter(disk, tmp_path, Header(UUID, 1, 1, 1), counts=bytes(80))
    start = writer.end
    batches = [bytes([number]) * size for number, size in enumerate((100, 20_000, 30, 20_000, 7))]
    writer.append(batches[0], count=1)
    writer.flush()
    for batch in batches[1:]:
        writer.append(batch, count=1)
        if batch is batches[1]:
            writer.flush()
            assert disk.written[-1] is batch
    writer.append(batches[0], count=1)
    writer.flush()
    writer.append(batches[1], count=1)
    writer.append(batches[2], count=1)
    writer.flush()
    writer.close()
    expected = b"".join([*batches, batches[0], batches[1], batches[2]])
    assert writer.path.read_bytes()[start:] == expected
