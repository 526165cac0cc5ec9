"""What the log is told while the disk refuses."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import StorageError
from larbinpy.frontier.backlog import Backlog
from larbinpy.frontier.payloads import HostState, Retry, done_entry
from larbinpy.frontier.writer import BUFFER_BYTES
from larbinpy.records import Outcome, ParsedPage
from tests.frontier.logs import FailingDisk, open_log, places_of, put, reopened, waiting

if TYPE_CHECKING:
    from pathlib import Path

HOST = HostState(b"h1.example", 5, 1, 2)


class Run:
    """A backlog over a log whose next record needs a write that the disk refuses."""

    def __init__(self, directory: Path) -> None:
        self.disk = FailingDisk()
        self.fifo, _ = open_log(directory, disk=self.disk, segment_bytes=1 << 20)
        self.places = places_of(put(self.fifo, range(BUFFER_BYTES // 50)))
        self.ids = [url[0] for url in self.fifo.read(self.places[:3])]
        self.backlog = Backlog(self.fifo)

    def done(self, number: int) -> None:
        """One of the first URLs has ended."""
        entry = done_entry(ParsedPage(self.ids[number], 1, Outcome.SUCCESS, 200))
        self.backlog.done(entry, array("Q", self.places[number : number + 1]).tobytes())


def test_what_is_refused_is_written_once(tmp_path: Path) -> None:
    """Ends and notes, each in its order; until then URLs are counted."""
    run = Run(tmp_path)
    run.disk.fail_next_write(times=4)
    run.done(0)
    run.done(1)
    run.backlog.note(Retry(run.ids[2], 1, 7))
    assert run.backlog.urls == 2
    with pytest.raises(StorageError, match="No space left"):
        run.backlog.write()
    run.backlog.write()
    assert run.backlog.urls == 0
    run.fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert waiting(fifo, found)[0] == 2
        assert found.counters.as_dict()["done"] == 2
        assert found.retries == {run.ids[2]: Retry(run.ids[2], 1, 7)}


def test_an_urgent_note_is_in_the_files(tmp_path: Path) -> None:
    """Another one may stay in the log's buffer."""
    run = Run(tmp_path)
    run.fifo.flush()
    run.backlog.note(HOST)
    assert run.fifo.written_lsn == run.fifo.next_lsn - 2
    run.backlog.note(HOST, is_urgent=True)
    assert run.fifo.written_lsn == run.fifo.next_lsn - 1
    run.fifo.close()


def test_an_urgent_note_that_is_refused_is_kept(tmp_path: Path) -> None:
    """The next write meets the disk again."""
    run = Run(tmp_path)
    run.disk.fail_next_write(times=1)
    run.backlog.note(HOST, is_urgent=True)
    run.backlog.write()
    run.fifo.close()
    with reopened(tmp_path) as (_, found):
        assert found.hosts == {b"h1.example": HOST}
