"""Which files of a directory are a log's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import Disk
from larbinpy.frontier.inventory import take_inventory
from larbinpy.frontier.quarantine import Damage
from larbinpy.frontier.segment import Header, name_of
from tests.frontier.logs import UUID, files, reopened, seen, waiting, write_log

if TYPE_CHECKING:
    from pathlib import Path


def test_numbers_of_any_file_are_not_used_again(tmp_path: Path) -> None:
    """Those of a name, of a header that says otherwise, and of a seen file without its segment."""
    (tmp_path / name_of(3, 5)).write_bytes(Header(UUID, 7, 2, 9).pack())
    (tmp_path / name_of(1, 8)).write_bytes(b"no header")
    (tmp_path / seenfile.name_of(11)).write_bytes(b"")
    found = take_inventory(Disk(), tmp_path, UUID, [seenfile.URLS])
    assert [(s.number, s.epoch, s.first_lsn) for s in found.segments] == [(2, 7, 9), (8, 1, 0)]
    assert (found.epoch, found.number, found.damage) == (7, 11, [])


def test_of_two_segments_with_one_number_the_older_one_stays(tmp_path: Path) -> None:
    """The other is put aside as a stranger."""
    for epoch in (1, 2):
        (tmp_path / name_of(epoch, 5)).write_bytes(Header(UUID, epoch, 5, 1).pack())
    found = take_inventory(Disk(), tmp_path, UUID, [seenfile.URLS])
    assert [segment.epoch for segment in found.segments] == [1]
    assert [Damage(name_of(2, 5), 0, 64, "foreign")] == found.damage


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ("foreign", Header(bytes(16), 1, 50, 1)),
        ("version", Header(UUID, 1, 50, 1, version=2)),
    ],
)
def test_a_segment_that_is_not_ours(tmp_path: Path, kind: str, header: Header) -> None:
    """Moved to the quarantine with its bytes, and said; its number is not used again."""
    write_log(tmp_path)
    stranger = tmp_path / "q-00000009-0000000000000032.seg"
    stranger.write_bytes(header.pack() + b"what stands in it")
    with reopened(tmp_path) as (fifo, found):
        assert list(range(200)) == waiting(fifo, found)
        assert [Damage(stranger.name, 0, 81, kind)] == found.damage
        assert (fifo.epoch, fifo.segments[-1].number) == (10, 51)
    kept = (tmp_path / "quarantine" / stranger.name).read_bytes()
    assert kept == header.pack() + b"what stands in it"


def test_leftovers_of_a_full_disk(tmp_path: Path) -> None:
    """7 (nsqio/nsq#938): temporary files are swept away, finished ones stay."""
    write_log(tmp_path)
    (tmp_path / "seen-0000000000000001.fp.tmp").write_bytes(b"half")
    with reopened(tmp_path) as (fifo, found):
        assert list(range(200)) == waiting(fifo, found)
        assert set(range(200)) == seen(found)
    assert list(tmp_path.rglob("*.tmp")) == []


def test_exchanged_segments(tmp_path: Path) -> None:
    """Two files with each other's names: the headers tell."""
    write_log(tmp_path, done=10)
    first, second = files(tmp_path)[:2]
    second.rename(tmp_path / "x")
    first.rename(second)
    (tmp_path / "x").rename(first)
    with reopened(tmp_path) as (fifo, found):
        assert list(range(10, 200)) == waiting(fifo, found)
        assert found.damage == []
