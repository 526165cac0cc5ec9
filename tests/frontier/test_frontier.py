"""The frontier loses no URL and makes none, whatever is done to it, also over restarts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from larbinpy import stats
from larbinpy._native.hosts import HostTable
from larbinpy.dedup.seen import ExactSeen
from larbinpy.frontier.frontier import Added, Frontier
from larbinpy.records import ID_SHARD_SHIFT, Kind, Outcome, ParsedPage
from tests.frontier.logs import end, links, open_log, url_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from larbinpy.frontier.log import PersistentFifo
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.records import FetchJob

SHARD = 3


class Run:
    """A frontier over a real log, from one start to the next."""

    def __init__(self, directory: Path, apart: Collection[int] = ()) -> None:
        self.fifo: PersistentFifo
        self.found: Recovered
        self.fifo, self.found = open_log(directory)
        self.table = HostTable(wait_ns=0, wait_ip_ns=0)
        self.frontier = Frontier(shard=SHARD, fifo=self.fifo, table=self.table, seen=ExactSeen())
        self.frontier.restore(self.found, apart)
        self.out: dict[int, FetchJob] = {}
        self.resolve()

    def resolve(self) -> None:
        """Each host has an address of its own."""
        for host_id, _ in self.table.unresolved(100):
            self.table.resolved(host_id, host_id.to_bytes(4, "big"), 0)

    def put(self, *numbers: int) -> Added:
        added = self.frontier.put(links(numbers))
        self.resolve()
        return added

    def take(self, limit: int = 100) -> list[FetchJob]:
        jobs = self.frontier.take(1, limit)
        self.out.update((job.id, job) for job in jobs)
        return jobs

    def done(self, *jobs: FetchJob) -> None:
        pages = [ParsedPage(job.id, self.fifo.epoch, Outcome.SUCCESS, 200) for job in jobs]
        end(self.frontier, pages, [job.position for job in jobs])
        for job in jobs:
            del self.out[job.id]

    def put_back(self, job: FetchJob) -> None:
        self.frontier.put_back(job)
        del self.out[job.id]

    def is_balanced(self) -> bool:
        """accepted = done + waiting + handed out."""
        counters = self.fifo.counters
        rest = self.frontier.waiting + len(self.out)
        return counters[stats.ACCEPTED] == counters[stats.DONE] + rest

    def numbers(self) -> set[int]:
        """Numbers of the URLs that wait, taken one after the other; ends this run."""
        found = set()
        while jobs := self.take():
            for job in jobs:
                found.add(int(job.url.rpartition(b"/")[2]))
                self.frontier.skip(job.host_id)
        return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_new_links_are_queued_once(run: Run) -> None:
    """What was seen is not, within a frame and between frames."""
    assert run.put(1, 2, 2, 3) == Added(new=3, seen=1, hosts=3)
    assert run.put(3, 8) == Added(new=1, seen=1, hosts=0)
    assert (run.frontier.waiting, run.is_balanced()) == (4, True)


def test_a_job_has_what_the_link_had(run: Run) -> None:
    """Written or not, and its id names the shard and the record."""
    run.put(1)
    (job,) = run.take()
    assert (job.url, job.host, job.port, job.https) == (url_of(1), b"h1.example", 80, False)
    assert job.id >> ID_SHARD_SHIFT == SHARD
    assert (job.depth, job.left, job.kind, job.hops) == (1, 4, Kind.PAGE, 0)
    assert (job.score, job.relevance, job.via) == (0.5, 0.25, b"http://h1.example/")


def test_http_and_https_are_one_host(run: Run) -> None:
    """NUTCH-2623: of two URLs that differ in the scheme, one waits for the other."""
    plain = links([7])
    secure = links([14]).replace(b"http://h0.example/14", b"http://h0.example/15")
    run.frontier.put(plain)
    added = run.frontier.put(secure)
    assert (added.new, added.hosts) == (1, 0)


def test_malformed_links_take_nothing(run: Run) -> None:
    """A frame is taken whole or not at all."""
    with pytest.raises(ValueError, match="malformed LINKS"):
        run.frontier.put(links([1, 2])[:-1])
    assert (run.frontier.waiting, run.is_balanced()) == (0, True)
    assert run.put(1, 2).new == 2


def test_a_host_is_busy_until_it_is_released(run: Run) -> None:
    """One URL of a host at a time; ``skip`` and ``release`` free it."""
    run.put(1, 8, 15)  # all of one host
    (first,) = run.take()
    assert run.take() == []
    run.frontier.release(first.host_id, 1, 1)
    (second,) = run.take()
    run.frontier.skip(second.host_id)
    assert len(run.take()) == 1


def test_what_is_put_back_is_next(run: Run) -> None:
    """And its host stays busy until its rules are known."""
    run.put(1, 8)
    (job,) = run.take()
    run.put_back(job)
    assert run.take() == []
    assert run.is_balanced()
    run.frontier.release(job.host_id, 1, 1)
    (again,) = run.take()
    assert again == job


def test_commit_writes_what_was_put(run: Run, tmp_path: Path) -> None:
    """Then it is there after a kill; without it nothing that was answered is missing."""
    run.put(1, 2)
    run.frontier.commit()
    assert run.fifo.written_lsn == run.fifo.next_lsn - 1
    run.put(3)
    assert run.fifo.written_lsn < run.fifo.next_lsn - 1
    run.frontier.close()


def test_done_urls_do_not_come_back(run: Run, tmp_path: Path) -> None:
    """The others do, taken ones too, and all are still seen."""
    run.put(*range(20))
    jobs = run.take()
    run.done(*jobs[:3])
    run.frontier.close()
    again = Run(tmp_path)
    assert again.is_balanced()
    assert again.put(*range(20)) == Added(new=0, seen=20, hosts=0)
    finished = {int(job.url.rpartition(b"/")[2]) for job in jobs[:3]}
    assert again.numbers() == set(range(20)) - finished


def test_segments_that_are_done_go(run: Run, tmp_path: Path) -> None:
    """``tidy`` deletes them, and counters survive it."""
    for start in range(0, 200, 20):
        run.put(*range(start, start + 20))
        run.frontier.commit()
    while jobs := run.take():
        run.done(*jobs)
        for job in jobs:
            run.frontier.skip(job.host_id)
    many = len(run.fifo.segments)
    run.fifo.collect(wait=True)
    run.frontier.tidy()
    assert len(run.fifo.segments) < many
    run.frontier.close()
    again = Run(tmp_path)
    assert again.fifo.counters[stats.DONE] == 200
    assert again.put(*range(200)).new == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_identity_holds_after_every_step(tmp_path: Path, seed: int) -> None:
    """Random operations against sets of numbers, with restarts between them."""
    chance = random.Random(seed)
    run = Run(tmp_path)
    accepted: set[int] = set()
    done: set[int] = set()
    for _ in range(250):
        jobs = list(run.out.values())
        match chance.choice(["put", "put", "take", "take", "done", "back", "commit", "restart"]):
            case "put":
                numbers = [chance.randrange(300) for _ in range(chance.randrange(1, 12))]
                added = run.put(*numbers)
                assert added.new == len(set(numbers) - accepted)
                accepted |= set(numbers)
            case "take":
                for job in run.take(chance.randrange(1, 5)):
                    number = int(job.url.rpartition(b"/")[2])
                    assert number in accepted - done
            case "done" if jobs:
                some = chance.sample(jobs, chance.randrange(1, len(jobs) + 1))
                run.done(*some)
                done |= {int(job.url.rpartition(b"/")[2]) for job in some}
                for job in some:
                    run.frontier.release(job.host_id, 1, 1)
            case "back" if jobs:
                job = chance.choice(jobs)
                run.put_back(job)
                run.frontier.skip(job.host_id)
            case "commit":
                run.frontier.commit()
                run.frontier.tidy()
            case "restart" if chance.random() < 0.2:
                run.frontier.close()
                run = Run(tmp_path)
        assert run.is_balanced()
        assert run.fifo.counters[stats.ACCEPTED] == len(accepted)
        assert run.fifo.counters[stats.DONE] == len(done)
    run.frontier.close()
    last = Run(tmp_path)
    assert last.numbers() == accepted - done


# --- URLs that are set apart ---------------------------------------------------------------------


def left(directory: Path) -> dict[int, int]:
    """A log of several segments, some of its URLs done and some moved; number -> id of the rest."""
    run = Run(directory)
    for start in range(0, 60, 10):
        run.put(*range(start, start + 10))
        run.fifo.flush()
    for _ in range(3):
        for job in run.take(7):
            run.frontier.skip(job.host_id)
            run.done(job)
    ids = {}
    while jobs := run.take():
        for job in jobs:
            run.frontier.skip(job.host_id)
            ids[int(job.url.rpartition(b"/")[2])] = job.id
            run.frontier.retry(job, 1, 10**9, 0)
            if job.id % 3 == 0:
                run.fifo.move([(job.position, 1)])
    run.frontier.close()
    return ids


def test_some_urls_are_set_apart(tmp_path: Path) -> None:
    """They wait, and no host hands them out; ids that do not wait are passed over."""
    ids = left(tmp_path)
    chosen = dict(random.Random(5).sample(sorted(ids.items()), 9))
    run = Run(tmp_path, [*chosen.values(), SHARD << ID_SHARD_SHIFT | 2, 1 << 50])
    assert run.frontier.apart.ids == set(chosen.values())
    assert run.frontier.waiting == len(ids)
    assert run.is_balanced()
    assert run.numbers() == ids.keys() - chosen.keys()


def test_a_url_that_is_set_apart_has_its_tries(tmp_path: Path) -> None:
    """A kill in its last try must not give it all of them again."""
    run = Run(tmp_path)
    run.put(1)
    (job,) = run.take()
    run.frontier.retry(job, 2, 10**9, 0)
    run.frontier.close()
    (job,) = Run(tmp_path, [job.id]).frontier.apart.waiting
    assert job.attempt == 2


def test_a_url_that_was_set_apart_is_put_back_there(tmp_path: Path) -> None:
    """Until it rejoins the others; then its host hands it out."""
    ids = left(tmp_path)
    number = min(ids)
    run = Run(tmp_path, [ids[number]])
    job = run.frontier.apart.take(ids[number])
    assert job.url == url_of(number)
    job.host_id = run.table.add(job.host)
    run.frontier.put_back(job)
    assert run.frontier.waiting == len(ids)
    run.frontier.rejoin(job)
    run.resolve()
    assert (len(run.frontier.apart), run.frontier.waiting) == (0, len(ids))
    assert run.numbers() == ids.keys()
