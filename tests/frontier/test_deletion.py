"""The oldest segments go, and what is needed of them stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import StorageError
from larbinpy.frontier.payloads import Retry
from tests.frontier.logs import FailingDisk, files, finish, open_log, places_of, put, reopened

if TYPE_CHECKING:
    from pathlib import Path


def test_only_segments_below_a_number_go(tmp_path: Path) -> None:
    """The seen set may need the others."""
    fifo, _ = open_log(tmp_path)
    finish(fifo, [p for n in range(0, 200, 50) for p in places_of(put(fifo, range(n, n + 50)))])
    numbers = [state.number for state in fifo.segments]
    assert fifo.collect(below=numbers[2], wait=True) == 2
    assert [state.number for state in fifo.segments][:1] == numbers[2:3]
    fifo.close()


def test_nothing_goes_before_what_replaces_it_is_written(tmp_path: Path) -> None:
    """A note on a URL that lives on stands in a dead segment: first the disk takes it again."""
    disk = FailingDisk()
    fifo, _ = open_log(tmp_path, disk=disk)
    (place,) = places_of(put(fifo, [0]))
    (url,) = fifo.read([place])
    fifo.retry(Retry(url[0], 2, 77))
    finish(fifo, places_of(put(fifo, range(1, 50))))
    put(fifo, range(50, 99))
    fifo.move([(place, None)])
    assert [state.retries for state in fifo.segments][:2] == [1, 0]
    fifo.flush()
    fifo._shelf.settle(wait=True)
    before = len(files(tmp_path))
    disk.fail_next_write()
    with pytest.raises(StorageError, match="No space left"):
        fifo.collect()
    assert len(files(tmp_path)) == before
    assert fifo.collect() == 1
    fifo.close()
    with reopened(tmp_path) as (_, found):
        assert found.retries == {url[0]: Retry(url[0], 2, 77)}
