"""Whatever the kind of the seen set, a restart knows every URL that was accepted, and no other."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.hosts import HostTable
from larbinpy._native.logcodec import Codec
from larbinpy.dedup.bitsfile import BitsFile
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.dedup.seen import BitsSeen, BloomSeen, ExactSeen
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.payloads import RecordType
from larbinpy.frontier.segment import HEADER_BYTES, SEGMENT_SHIFT
from larbinpy.records import Outcome, ParsedPage
from tests.frontier.logs import UUID, end, files, links, open_log

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.dedup.base import SeenUrls
    from larbinpy.frontier.log import PersistentFifo


def make_seen(kind: str, directory: Path) -> SeenUrls:
    """A seen set that keeps its files where the log does."""
    if kind == "bloom":
        return BloomSeen(BloomFiles(directory, capacity=5000, rate=1e-6, boot_id="boot"))
    return BitsSeen(BitsFile(directory, UUID)) if kind == "bits" else ExactSeen()


class Shard:
    """A frontier with its log and seen set, opened from a directory."""

    def __init__(self, directory: Path, kind: str) -> None:
        self.fifo, self.found = open_log(directory)
        self.seen = make_seen(kind, directory)
        table = HostTable(wait_ns=0, wait_ip_ns=0)
        self.frontier = Frontier(shard=0, fifo=self.fifo, table=table, seen=self.seen)
        self.frontier.restore(self.found)

    def settle(self) -> None:
        """Do what the seconds do: save, and delete what may be deleted."""
        for _ in range(2):
            self.frontier.tidy(wait=True)


def finish_all(fifo: PersistentFifo, frontier: Frontier, places: list[int]) -> None:
    """Give every URL its outcome."""
    urls = fifo.read(places)
    end(frontier, [ParsedPage(url[0], 1, Outcome.SUCCESS, 200) for url in urls], places)


def put(shard: Shard, numbers: range) -> list[int]:
    """Add URLs in frames of ten; the positions of all that wait."""
    for start in range(numbers.start, numbers.stop, 10):
        shard.frontier.put(links(range(start, start + 10)))
    shard.frontier.commit()
    return [place for state in shard.fifo.segments for place in places_in(shard.fifo, state.number)]


def places_in(fifo: PersistentFifo, number: int) -> list[int]:
    """Positions of the URLs of a segment of this epoch."""
    run = Codec(UUID, number).scan(fifo.raw(number, 0, 1 << 20), HEADER_BYTES, 0)
    found = zip(run.types, memoryview(run.offsets).cast("I"), strict=True)
    return [number << SEGMENT_SHIFT | offset for kind, offset in found if kind == RecordType.ENQ]


@pytest.mark.parametrize("kind", ["exact", "bloom", "bits"])
def test_a_restart_knows_what_was_accepted(kind: str, tmp_path: Path) -> None:
    """Old segments are deleted, the newest URLs came after the last save; then the kill."""
    shard = Shard(tmp_path / "log", kind)
    finish_all(shard.fifo, shard.frontier, put(shard, range(200)))
    shard.settle()
    deleted = shard.fifo.segments[0].number > 1
    put(shard, range(200, 300))
    shard.fifo.collect(below=0, wait=True)
    shutil.copytree(tmp_path / "log", tmp_path / "killed")
    after = Shard(tmp_path / "killed", kind)
    added = after.frontier.put(links(range(290, 310)))
    assert (deleted, added.new, added.seen) == (True, 10, 10)
    assert after.frontier.put(links(range(300))).new == 0
    assert after.frontier.waiting == 110


def test_bits_keep_the_segments_they_need(tmp_path: Path) -> None:
    """While the table cannot be saved, nothing that only the log tells is deleted."""
    shard = Shard(tmp_path / "log", "bits")
    finish_all(shard.fifo, shard.frontier, put(shard, range(200)))
    before = len(files(tmp_path / "log"))
    shard.fifo.collect(below=shard.seen.needs_from, wait=True)
    assert before == len(files(tmp_path / "log")) > 2
    shard.settle()
    assert len(files(tmp_path / "log")) == 1


@pytest.mark.parametrize(("before", "after"), [("exact", "bloom"), ("bloom", "exact")])
def test_another_kind_is_made_from_the_seen_files(before: str, after: str, tmp_path: Path) -> None:
    """And back again, under the same boot of the machine."""
    for step, kind in enumerate((before, after, before)):
        shard = Shard(tmp_path / "log", kind)
        assert shard.frontier.put(links(range(step * 50))).new == 0
        finish_all(shard.fifo, shard.frontier, put(shard, range(step * 50, step * 50 + 50)))
        shard.settle()
        shard.frontier.close()
