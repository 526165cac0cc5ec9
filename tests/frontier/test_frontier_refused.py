"""The frontier over a disk that refuses: every call may be repeated, and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy._native.hosts import HostTable
from larbinpy.dedup.seen import ExactSeen
from larbinpy.errors import StorageError
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.writer import BUFFER_BYTES
from larbinpy.records import Outcome, ParsedPage
from tests.frontier.logs import FailingDisk, end, is_balanced, links, open_log, reopened, waiting

if TYPE_CHECKING:
    from pathlib import Path

MANY = range(1000, 1000 + BUFFER_BYTES // 50)
"""More URLs than the log's buffer takes."""
OTHERS = range(5000, 5000 + BUFFER_BYTES // 50)


def frontier_on(directory: Path, disk: FailingDisk) -> tuple[Frontier, list[int]]:
    """A frontier with ten URLs; their positions."""
    fifo, found = open_log(directory, disk=disk, segment_bytes=1 << 20)
    table = HostTable(wait_ns=0, wait_ip_ns=0)
    frontier = Frontier(shard=0, fifo=fifo, table=table, seen=ExactSeen())
    frontier.restore(found)
    put = fifo.put(links(range(10)), b"\1" * 10)
    frontier.commit()
    return frontier, list(memoryview(put.positions).cast("Q"))


def pages(count: int) -> list[ParsedPage]:
    """Outcomes of the first URLs, whose ids follow the first COUNTS record."""
    return [ParsedPage(2 + number, 1, Outcome.SUCCESS, 200) for number in range(count)]


@pytest.mark.parametrize(
    ("before", "refused"), [(MANY, range(100, 110)), (range(100, 110), MANY), (MANY, OTHERS)]
)
def test_refused_links_are_new_when_they_come_again(
    tmp_path: Path, before: range, refused: range
) -> None:
    """The seen set does not know what the log has not taken, few or many, behind few or many."""
    disk = FailingDisk()
    frontier, _ = frontier_on(tmp_path, disk)
    assert frontier.put(links(before)).new == len(before)
    disk.fail_next_write(times=2)
    for _ in range(2):
        with pytest.raises(StorageError, match="No space left"):
            frontier.put(links(refused))
    assert frontier.put(links(refused)).new == len(refused)
    assert frontier.waiting == len(before) + len(refused)
    frontier.close()
    with reopened(tmp_path) as (fifo, found):
        assert waiting(fifo, found) == [*range(10), *before, *refused]


def test_refused_outcomes_are_noted_later(tmp_path: Path) -> None:
    """They are neither lost nor noted twice, and are counted as undone meanwhile."""
    disk = FailingDisk()
    frontier, places = frontier_on(tmp_path, disk)
    frontier.put(links(MANY))
    disk.fail_next_write(times=3)
    end(frontier, pages(4), places[:4])
    end(frontier, pages(5)[4:], places[4:5])
    assert frontier.undone == 5
    with pytest.raises(StorageError, match="No space left"):
        frontier.commit()
    frontier.commit()
    assert frontier.undone == 0
    frontier.close()
    with reopened(tmp_path) as (fifo, found):
        assert is_balanced(found)
        assert waiting(fifo, found)[:6] == [*range(5, 10), MANY[0]]


def test_tidying_is_repeated(tmp_path: Path) -> None:
    """It writes what waits, then the counters."""
    disk = FailingDisk()
    frontier, places = frontier_on(tmp_path, disk)
    frontier.put(links(MANY))
    disk.fail_next_write(times=2)
    end(frontier, pages(1), places[:1])
    with pytest.raises(StorageError, match="No space left"):
        frontier.tidy()
    frontier.tidy(wait=True)
    assert frontier.undone == 0
    frontier.close()
