"""Seen files: their bytes, and what damage costs."""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import Disk
from tests.frontier.logs import UUID, flip_byte

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = "33dd4208e8ea5c2a27d391a8fa1ad51c479063ddced623dcd44c997bb131ec0c"
PRINTS = struct.pack("<10000Q", *(i * 0x9E3779B97F4A7C15 % 2**64 for i in range(10_000)))


def test_seen_bytes_never_change() -> None:
    """Golden value: seen files outlive everything else, so never change this."""
    data = seenfile.encode(UUID, 7, PRINTS)
    assert hashlib.sha256(data).hexdigest() == GOLDEN


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
