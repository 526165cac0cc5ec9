"""Names, headers and bytes of segments and seen files."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import Disk
from larbinpy.frontier.payloads import (
    HostState,
    RecordType,
    Retry,
    done_entry,
    pack_host,
    pack_retry,
    unpack_host,
    unpack_retry,
)
from larbinpy.frontier.segment import Header, SegmentWriter, name_of, parse_name
from larbinpy.records import Outcome, ParsedPage
from tests.frontier.logs import UUID, flip_byte, links

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN_SEGMENT = "71939d727424152873072b23da8028de64d782a138c9221820446dd471ac6c60"
GOLDEN_SEEN = "33dd4208e8ea5c2a27d391a8fa1ad51c479063ddced623dcd44c997bb131ec0c"
PRINTS = struct.pack("<10000Q", *(i * 0x9E3779B97F4A7C15 % 2**64 for i in range(10_000)))


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
    assert hashlib.sha256(data).hexdigest() == GOLDEN_SEGMENT


def test_seen_bytes_never_change() -> None:
    """Golden value: seen files outlive everything else, so never change this."""
    data = seenfile.encode(UUID, 7, PRINTS)
    assert hashlib.sha256(data).hexdigest() == GOLDEN_SEEN


def test_names() -> None:
    """Only whole names are names."""
    assert parse_name(name_of(3, 1 << 40)) == (3, 1 << 40)
    for other in ("q-1-2.seg", name_of(1, 1) + ".tmp", "q-0000000g-0000000000000001.seg"):
        assert parse_name(other) is None


def test_headers() -> None:
    """Read back; any flipped byte or a short one makes it void."""
    header = Header(UUID, 1, 2, 3)
    data = header.pack()
    assert (len(data), Header.unpack(data)) == (64, header)
    assert Header.unpack(data[:63]) is None
    for at in range(64):
        assert Header.unpack(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]) is None


def test_small_payloads() -> None:
    """What follows the known fields is ignored."""
    retry, host = Retry(5, 2, 1 << 50), HostState(b"h" * 253, 9, 1, 2)
    assert unpack_retry(pack_retry(retry) + b"new") == retry
    assert unpack_host(pack_host(host) + b"new") == host


def test_seen_file_read_back(tmp_path: Path) -> None:
    """In blocks of 4,096; without fingerprints there is no file."""
    for number, prints in ((1, PRINTS), (2, PRINTS[: 8 * 4096]), (3, b"")):
        seenfile.write(Disk(), tmp_path, UUID, number, prints, is_synced=True)
        assert prints == seenfile.read(tmp_path, UUID, number).entries
    assert seenfile.numbers(tmp_path) == [1, 2]
    assert list(tmp_path.glob("*.tmp")) == []


def test_damage_of_a_seen_file_costs_a_block(tmp_path: Path) -> None:
    """A flipped byte in a block; in header or footer, or a cut, the file is void."""
    seenfile.write(Disk(), tmp_path, UUID, 1, PRINTS, is_synced=False)
    path = tmp_path / seenfile.name_of(1)
    good = path.read_bytes()
    for at in (64, 70, 80, 30_000):
        flip_byte(path, at, 1)
        seen = seenfile.read(tmp_path, UUID, 1)
        assert (PRINTS[8 * 4096 :], 1, True) == (seen.entries, seen.bad_blocks, seen.is_valid)
        path.write_bytes(good)
    for at in (0, 20, 45, len(good) - 1):
        flip_byte(path, at, 1)
        assert not seenfile.read(tmp_path, UUID, 1).is_valid
        path.write_bytes(good)
    for size in (0, 63, 1000, len(good) - 1):
        path.write_bytes(good[:size])
        assert not seenfile.read(tmp_path, UUID, 1).is_valid
    assert not seenfile.decode(good, UUID, 2).is_valid
    assert not seenfile.decode(good, bytes(16), 1).is_valid
