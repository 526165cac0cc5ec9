"""URLs between two tries: when they are due, and how often they were tried."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from larbinpy._native.hosts import HostTable
from larbinpy.dedup.seen import ExactSeen
from larbinpy.frontier import retries as module
from larbinpy.frontier.frontier import Frontier
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.retries import Retries
from larbinpy.records import FetchJob, Outcome, ParsedPage
from tests.frontier.logs import FailingDisk, end, links, open_log, reopened

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from larbinpy.frontier.disk import Disk

SHARD = 3
IP = bytes([127, 0, 0, 1])


def job(number: int, level: int = 0) -> FetchJob:
    """A URL of some host."""
    return FetchJob(SHARD << 56 | number, b"http://a/", b"a", 80, https=False, host_id=number % 3,
                    level=level, position=number)  # fmt: skip


def test_urls_come_in_the_order_of_their_times() -> None:
    """Of equal times, the one that was found first."""
    retries = Retries()
    times = [Random(1).randrange(20) for _ in range(100)]
    for number, due in enumerate(times):
        retries.park(job(number), due)
    assert retries.next_ns() == min(times)
    found = []
    for now in range(20):
        found += [parked.position for parked in retries.due(now)]
    assert found == sorted(range(100), key=lambda n: (times[n], n))
    assert (len(retries), retries.next_ns()) == (0, -1)


def test_too_many_are_given_back_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest ones; memory is bounded."""
    monkeypatch.setattr(module, "MAX_WAITING", 5)
    retries = Retries()
    for number in range(8):
        retries.park(job(number), 1000 + number)
    assert [parked.position for parked in retries.due(0)] == [0, 1, 2]


def test_tries_are_known_until_the_url_is_done() -> None:
    """Also after a restart."""
    retries = Retries()
    retries.restore({7: Retry(7, 2, 0)})
    retries.count(SHARD << 56 | 8, 1)
    assert [retries.tries(SHARD << 56 | n) for n in (7, 8, 9)] == [2, 1, 0]
    retries.forget(SHARD << 56 | 7)
    retries.count(SHARD << 56 | 8, 0)
    assert [retries.tries(n) for n in (7, 8)] == [0, 0]


def take_all(frontier: Frontier, table: HostTable, now_ns: int) -> list[FetchJob]:
    """All URLs whose turn is now, their hosts free again."""
    for host_id, _ in table.unresolved(100):
        table.resolved(host_id, IP, now_ns)
    found = []
    while taken := frontier.take(now_ns, 1):
        found += taken
        frontier.skip(taken[0].host_id)
    return found


def open_frontier(directory: Path, disk: Disk | None = None) -> tuple[Frontier, HostTable]:
    """A frontier over a log, as a shard opens it."""
    fifo, found = open_log(directory, disk=disk)
    table = HostTable(wait_ns=0, wait_ip_ns=0)
    frontier = Frontier(shard=SHARD, fifo=fifo, table=table, seen=ExactSeen())
    frontier.restore(found)
    return frontier, table


def test_a_url_waits_for_its_next_try_in_the_log(tmp_path: Path) -> None:
    """It is waiting all the time, and comes back with its tries, also after a kill."""
    frontier, table = open_frontier(tmp_path)
    frontier.put(links(range(1)))
    (tried,) = take_all(frontier, table, 1)
    assert (tried.attempt, frontier.waiting) == (0, 0)
    frontier.retry(tried, 1, 100, 0)
    assert (frontier.waiting, frontier.next_ns()) == (1, 100)
    assert take_all(frontier, table, 99) == []
    (again,) = take_all(frontier, table, 100)
    assert (again.id, again.attempt, frontier.waiting) == (tried.id, 1, 0)
    frontier.retry(again, 2, 200, 0)
    frontier.close()

    frontier, table = open_frontier(tmp_path)
    assert frontier.waiting == 1
    (third,) = take_all(frontier, table, 1)
    assert (third.id, third.attempt) == (tried.id, 2)
    page = ParsedPage(third.id, 1, Outcome.SUCCESS, 200)
    end(frontier, [page], [third.position])
    frontier.close()

    frontier, table = open_frontier(tmp_path)
    assert frontier.waiting == 0
    frontier.close()


def test_a_try_can_be_taken_back(tmp_path: Path) -> None:
    """For a restart, too; one that is not known cannot."""
    frontier, table = open_frontier(tmp_path)
    frontier.put(links(range(1)))
    (tried,) = take_all(frontier, table, 1)
    frontier.retry(tried, 1, 100, 0)
    assert not frontier.uncharge(tried.id, 2)
    assert frontier.uncharge(tried.id, 1)
    frontier.close()
    frontier, table = open_frontier(tmp_path)
    assert [job.attempt for job in take_all(frontier, table, 1)] == [0]
    frontier.close()


def test_what_the_disk_refuses_is_noted_later(tmp_path: Path) -> None:
    """Nothing is raised where nothing can be done, and nothing is lost."""
    disk = FailingDisk()
    frontier, table = open_frontier(tmp_path, disk)
    frontier.put(links(range(200)))
    for job in take_all(frontier, table, 1):
        disk.fail_next_write(times=1)
        frontier.retry(job, 1, 100, 0)
        frontier.note_host(HostState(job.host, 7, 1, 1), is_urgent=True)
    disk.fails = 0
    frontier.commit()
    frontier.close()
    with reopened(tmp_path) as (_, found):
        assert len(found.retries) == 200
        assert {host.until_us for host in found.hosts.values()} == {7}
        assert len(found.hosts) == 7
