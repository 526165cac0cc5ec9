"""Digests of pages that are done outlive their segments, when the log is told to keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import done_entry
from larbinpy.frontier.settings import Settings
from larbinpy.records import Outcome, ParsedPage
from tests.frontier.logs import SEGMENT_BYTES, UUID, files, flip_byte, places_of, put

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.recovered import Recovered


def open_log(directory: Path, *, keeps_pages: bool = True) -> tuple[PersistentFifo, Recovered]:
    """A log of small segments."""
    return PersistentFifo.open(
        directory, uuid=UUID, lock_wait_s=0,
        settings=Settings(SEGMENT_BYTES, "off", keeps_pages=keeps_pages),
    )  # fmt: skip


def digest(number: int) -> bytes:
    """Of the page of a URL."""
    return number.to_bytes(16, "big")


def finish(fifo: PersistentFifo, places: list[int]) -> None:
    """Finish URLs; each page has its own digest."""
    for url, place in zip(fifo.read(places), places, strict=True):
        page = ParsedPage(url[0], 1, Outcome.SUCCESS, 200, digest=digest(url[1]))
        fifo.done(done_entry(page), [place])


def kept(found: Recovered) -> set[int]:
    """Numbers of the pages whose digests were kept."""
    data = b"".join(found.digests())
    return {int.from_bytes(data[at : at + 16], "big") for at in range(0, len(data), 16)}


def test_digests_outlive_their_segments(tmp_path: Path) -> None:
    """Those of deleted segments, of sealed ones, and of the one that a kill left open."""
    fifo, _ = open_log(tmp_path)
    for number in range(1, 200):
        finish(fifo, places_of(put(fifo, [number])))
    put(fifo, [500])
    assert fifo.collect(wait=True) > 0
    fifo.close()
    fifo, found = open_log(tmp_path)
    fifo.close()
    assert kept(found) == set(range(1, 200))


def test_digests_are_made_from_segments_that_are_left(tmp_path: Path) -> None:
    """When a crawl is told to keep them later on."""
    fifo, _ = open_log(tmp_path, keeps_pages=False)
    finish(fifo, places_of(put(fifo, range(1, 5))))
    fifo.close()
    assert not list(tmp_path.glob("pages-*"))
    fifo, found = open_log(tmp_path)
    fifo.close()
    assert kept(found) == {1, 2, 3, 4}


def test_doubtful_pages_are_not_kept(tmp_path: Path) -> None:
    """Pages whose DONE lies behind a gap are fetched again, and must not be their own duplicate."""
    fifo, _ = open_log(tmp_path)
    places = places_of(put(fifo, range(1, 4)))
    finish(fifo, places[:1])
    fifo.flush()
    gap = files(tmp_path)[0].stat().st_size + 4
    finish(fifo, places[1:2])
    finish(fifo, places[2:])
    fifo.close()
    flip_byte(files(tmp_path)[0], gap)
    for _ in range(2):
        fifo, found = open_log(tmp_path)
        fifo.close()
        assert kept(found) == {1}
