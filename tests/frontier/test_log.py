"""PersistentFifo in a life without accidents, and with a disk that refuses."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larbinpy.errors import FormatError, StorageError
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.settings import Settings
from larbinpy.stats import HOSTS
from tests.frontier.logs import (
    UUID,
    FailingDisk,
    files,
    finish,
    flip_byte,
    is_balanced,
    links,
    open_log,
    places_of,
    put,
    reopened,
    seen,
    url_of,
    waiting,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_put_tells_where_urls_lie(tmp_path: Path) -> None:
    """Ids rise without a gap, positions read back the URL, masked links are left out."""
    fifo, _ = open_log(tmp_path)
    put_ = fifo.put(links([1, 2, 3]), b"\1\0\1")
    urls = fifo.read(places_of(put_))
    assert [(put_.first_lsn, 1), (put_.first_lsn + 1, 3)] == [url[:2] for url in urls]
    assert [url_of(1), url_of(3)] == [url[2] for url in urls]
    assert urls[0][3:8] == (b"http://h1.example/", b"", b"h1.example", 80, False)
    fifo.close()


def test_urls_are_read_before_and_after_they_are_written(tmp_path: Path) -> None:
    """In any order of positions, over several segments and the buffer."""
    fifo, _ = open_log(tmp_path)
    places = [place for i in range(0, 200, 10) for place in places_of(put(fifo, range(i, i + 10)))]
    mixed = places[::-3] + places[:50]
    expected = [url_of(i) for i in [*range(200)[::-3], *range(50)]]
    assert expected == [url[2] for url in fifo.read(mixed)]
    fifo.flush()
    assert expected == [url[2] for url in fifo.read(mixed)]
    assert len(files(tmp_path)) > 3
    fifo.close()


def test_written_means_write_has_returned(tmp_path: Path) -> None:
    """written_lsn moves with flush, and by itself when the buffer is full."""
    fifo, _ = open_log(tmp_path, segment_bytes=1 << 20)
    put_ = put(fifo, range(10))
    assert fifo.written_lsn < put_.first_lsn
    assert fifo.flush() == put_.first_lsn + 9
    put(fifo, range(10, 400))
    late = put(fifo, [400])
    assert fifo.written_lsn == late.first_lsn - 1
    fifo.close()


def test_what_is_done_does_not_come_back(tmp_path: Path) -> None:
    """Reopened: the others wait in their order, counters go on, all fingerprints are known."""
    fifo, _ = open_log(tmp_path)
    places = places_of(put(fifo, range(100)))
    finish(fifo, places[10:40])
    fifo.counters[HOSTS] = 5
    fifo.counts()
    live = fifo.counters.copy()
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert [*range(10), *range(40, 100)] == waiting(fifo, found)
        assert live == found.counters
        assert {"accepted": 100, "done": 30, "pages": 30, "links_found": 90}.items() <= (
            found.counters.as_dict().items()
        )
        assert set(range(100)) == seen(found)
        assert (fifo.epoch, found.damage, found.torn_bytes, found.lost) == (2, [], 0, 0)


def test_get_without_done_is_not_forgotten(tmp_path: Path) -> None:
    """peter-wangxu/persist-queue#36: got, not acknowledged, restarted: it is still there."""
    fifo, found = open_log(tmp_path)
    put(fifo, range(200))
    reader = fifo.reader(found)
    assert [url_of(i) for i in range(200)] == [url[2] for url in reader.get(1000)]
    assert fifo.collect(wait=True) == 0
    fifo.close()
    fifo, found = open_log(tmp_path)
    reader = fifo.reader(found)
    put(fifo, range(200, 300))
    got = [reader.try_get() for _ in range(300)]
    assert [url_of(i) for i in range(300)] == [url[2] for url in got if url]
    assert reader.try_get() is None
    put(fifo, [300])
    assert [url[1] for url in reader.get(5)] == [300]
    fifo.close()


def test_retry_and_host_come_back_with_their_newest_value(tmp_path: Path) -> None:
    """Retries of waiting URLs only."""
    fifo, _ = open_log(tmp_path)
    put_ = put(fifo, [1, 2])
    for attempt in (1, 2):
        fifo.retry(Retry(put_.first_lsn, attempt, 77))
        fifo.retry(Retry(put_.first_lsn + 1, attempt, 77))
        fifo.host(HostState(b"h1.example", until_us=attempt, level=3, failures=attempt))
    finish(fifo, places_of(put_)[1:])
    fifo.close()
    with reopened(tmp_path) as (_, found):
        assert {put_.first_lsn: Retry(put_.first_lsn, 2, 77)} == found.retries
        assert {b"h1.example": HostState(b"h1.example", 2, 3, 2)} == found.hosts


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_rotation_at_exactly_the_size(tmp_path: Path, step: int) -> None:
    """nsqio/nsq#1514: a segment that is full to the byte, one under, one over."""
    fifo, _ = open_log(tmp_path / "measure")
    put(fifo, range(20))
    fifo.flush()
    size = files(tmp_path / "measure")[0].stat().st_size
    fifo.close()
    fifo, found = open_log(tmp_path / "log", segment_bytes=size + step)
    put(fifo, range(20))
    put(fifo, range(20, 40))
    assert (1 if step > 0 else 2) == len(fifo.segments)
    assert list(range(40)) == [url[1] for url in fifo.reader(found).get(100)]
    fifo.close()
    with reopened(tmp_path / "log") as (fifo, found):
        assert list(range(40)) == waiting(fifo, found)


def test_the_oldest_segments_go_when_all_is_done(tmp_path: Path) -> None:
    """Never a newer one first; fingerprints stay; the number of files follows what waits."""
    fifo, _ = open_log(tmp_path)
    places = [place for i in range(0, 400, 10) for place in places_of(put(fifo, range(i, i + 10)))]
    before = len(fifo.segments)
    finish(fifo, places[100:])
    assert fifo.collect(wait=True) == 0
    finish(fifo, places[:100])
    assert fifo.collect(wait=True) >= before - 1
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert (waiting(fifo, found), found.damage, found.lost) == ([], [], 0)
        assert set(range(400)) == seen(found)
        assert found.counters.as_dict()["done"] == 400


def test_host_records_survive_their_segment(tmp_path: Path) -> None:
    """They are written again as the hosts are now, before the segment is deleted."""
    now = {b"slow.example": HostState(b"slow.example", 9, 2, 1)}
    fifo, _ = PersistentFifo.open(
        tmp_path, uuid=UUID, settings=Settings(4096, "off", host_state=now.get)
    )
    fifo.host(HostState(b"slow.example", 5, 1, 1))
    fifo.host(HostState(b"well.example", 5, 1, 1))
    finish(fifo, places_of(put(fifo, range(100))))
    put(fifo, [100])
    assert fifo.collect(wait=True) == 2
    fifo.close()
    with reopened(tmp_path) as (_, found):
        assert now == found.hosts


def test_moved_urls_keep_id_and_order(tmp_path: Path) -> None:
    """The old segment can go; the URL comes at its old place, with its attempts."""
    fifo, _ = open_log(tmp_path)
    places = places_of(put(fifo, range(100)))
    put(fifo, range(100, 110))
    ids = [url[0] for url in fifo.read(places[5:7])]
    finish(fifo, places[:5] + places[7:])
    fifo.move([(place, 2) for place in places[5:7]])
    fifo.move([(place, 3) for place in places[5:7]])
    assert fifo.collect(wait=True) == 1
    assert [(i, n, 3) for i, n in zip(ids, (5, 6), strict=True)] == [
        (url[0], url[1], url[13]) for url in fifo.read(places[5:7])
    ]
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert [5, 6, *range(100, 110)] == waiting(fifo, found)
        assert (found.lost, found.damage) == (0, [])
        finish(fifo, list(memoryview(found.waiting).cast("Q"))[:2])
    with reopened(tmp_path) as (fifo, found):
        assert list(range(100, 110)) == waiting(fifo, found)


def test_batches_hand_out_everything_in_order(tmp_path: Path) -> None:
    """Raw records by windows, for filling the host table."""
    fifo, _ = open_log(tmp_path)
    places = places_of(put(fifo, range(300)))
    places += places_of(put(fifo, range(300, 600)))
    finish(fifo, places[::3])
    fifo.close()
    with reopened(tmp_path) as (_, found):
        got = []
        for batch in found.batches():
            at = memoryview(batch.offsets).cast("I")
            got += [int.from_bytes(batch.records[i + 20 : i + 28], "little") for i in at]
        assert [i for i in range(600) if i % 3] == got


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """The text names who has the directory; it is free after close."""
    fifo, _ = open_log(tmp_path)
    with pytest.raises(StorageError, match=f"in use by pid {os.getpid()} since"):
        open_log(tmp_path)
    fifo.close()
    with reopened(tmp_path) as (fifo, _):
        assert fifo.epoch == 2


def test_positions_and_entries_are_checked(tmp_path: Path) -> None:
    """A wrong call takes nothing."""
    fifo, _ = open_log(tmp_path)
    put_ = put(fifo, [1])
    with pytest.raises(StorageError, match="no URL at position"):
        fifo.done(bytes(40), [99 << 32 | 64])
    for entries, places in ((bytes(40), []), (bytes(39), [0]), (bytes(40 * 1700), [0] * 1700)):
        with pytest.raises(ValueError, match="DONE"):
            fifo.done(entries, places)
    with pytest.raises(ValueError, match="malformed"):
        fifo.put(b"\0" * 13, b"")
    with pytest.raises(StorageError, match="segment 99"):
        fifo.read([99 << 32 | 64])
    fifo.flush()
    with pytest.raises(FormatError, match="seg"):
        fifo.read([places_of(put_)[0] + 8])
    flip_byte(files(tmp_path)[0], (places_of(put_)[0] & 0xFFFFFFFF) + 30)
    with pytest.raises(FormatError, match="seg"):
        fifo.read(places_of(put_))
    fifo.close()


# --- a disk that refuses ---------------------------------------------------------------------


@pytest.mark.parametrize("takes", [0, 1, 100])
def test_a_failed_write_is_repeated_whole(tmp_path: Path, takes: int) -> None:
    """scrapy/queuelib#14: error or short write: reported, cut back, nothing lost, goes on."""
    disk = FailingDisk()
    fifo, _ = open_log(tmp_path, disk=disk)
    put(fifo, range(10))
    fifo.flush()
    size = files(tmp_path)[0].stat().st_size
    put_ = put(fifo, range(10, 20))
    disk.fail_next_write(takes=takes)
    with pytest.raises(StorageError, match=r"\.seg: "):
        fifo.flush()
    assert fifo.written_lsn < put_.first_lsn
    assert files(tmp_path)[0].stat().st_size == size
    assert list(range(10, 20)) == [url[1] for url in fifo.read(places_of(put_))]
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert list(range(20)) == waiting(fifo, found)
        assert (found.torn_bytes, found.damage) == (0, [])


def test_every_failing_write_of_a_life(tmp_path: Path) -> None:
    """The n-th write fails, for all n: a call that raised is made again, nothing is lost."""
    for n in range(200):
        disk = FailingDisk()
        disk.fail_next_write(times=0)
        directory = tmp_path / str(n)
        fifo, _ = open_log(directory, disk=disk)
        disk.writes = -n
        for start in range(0, 150, 30):
            while True:
                disk.fails = int(disk.writes == 0)
                try:
                    put(fifo, range(start, start + 30))
                    break
                except StorageError:
                    pass
        _try_twice(fifo)
        is_over = disk.writes <= 0
        fifo.close()
        with reopened(directory) as (fifo, found):
            assert list(range(150)) == waiting(fifo, found)
            assert (found.damage, is_balanced(found)) == ([], True)
            assert set(range(150)) == seen(found)
        assert list(directory.rglob("*.tmp")) == []
        if is_over:
            break


def _try_twice(fifo: PersistentFifo) -> None:
    try:
        fifo.flush()
    except StorageError:
        fifo.flush()


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The system's own refusal (RLIMIT_FSIZE): a StorageError with the path, then it goes on."""
    fifo, _ = open_log(tmp_path, segment_bytes=1 << 20)
    put(fifo, range(100))
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, old[1]))
        with pytest.raises(StorageError, match=r"q-0+1-0+1\.seg: "):
            fifo.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    fifo.flush()
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert list(range(100)) == waiting(fifo, found)


# --- a model ---------------------------------------------------------------------------------

operations = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 25)),
        st.tuples(st.just("get"), st.integers(1, 30)),
        st.tuples(st.just("done"), st.integers(1, 20)),
        st.tuples(st.sampled_from(["flush", "reopen", "kill", "collect"]), st.just(0)),
    ),
    max_size=30,
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(operations)
def test_random_lives(
    tmp_path_factory: pytest.TempPathFactory, life: list[tuple[str, int]]
) -> None:
    """Against a deque of what waits and a dict of what was handed out."""
    _Model(tmp_path_factory.mktemp("log")).live(life)


class _Model:
    """A log beside the deque and the dict that say what it must hold."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.next = 0
        self.queue: deque[int] = deque()
        self.handed: dict[int, int] = {}
        self.places: dict[int, int] = {}
        self.done_count = 0
        self.fifo, found = open_log(directory)
        self.reader = self.fifo.reader(found)

    def live(self, life: list[tuple[str, int]]) -> None:
        """Go through the operations, then close and look once more."""
        for verb, number in life:
            getattr(self, verb)(number)
        self.reopen(0)
        self.get(10_000)
        assert not self.queue
        self.fifo.close()

    def put(self, number: int) -> None:
        numbers = range(self.next, self.next + number)
        self.places |= zip(numbers, places_of(put(self.fifo, numbers)), strict=True)
        self.queue += numbers
        self.next += number

    def get(self, number: int) -> None:
        urls = self.reader.get(number)
        expected = [self.queue.popleft() for _ in range(min(number, len(self.queue)))]
        assert expected == [url[1] for url in urls]
        self.handed |= {url[1]: url[0] for url in urls}

    def done(self, number: int) -> None:
        chosen = list(self.handed)[:number]
        finish(self.fifo, [self.places[n] for n in chosen])
        for n in chosen:
            del self.handed[n]
        self.done_count += len(chosen)

    def flush(self, _: int) -> None:
        assert self.fifo.flush() == self.fifo.next_lsn - 1

    def collect(self, _: int) -> None:
        self.fifo.collect(wait=True)

    def kill(self, _: int) -> None:
        """All that was written survives an end without close.

        A killed process has no helper thread any more: seen files not yet begun are never made.
        """
        self.fifo.flush()
        self.fifo._shelf._pool.shutdown(cancel_futures=True)
        os.close(self.fifo._lock)
        self.fifo._lock = os.open(os.devnull, os.O_RDONLY)
        old = self.fifo
        self._open()
        old._shelf.close()
        old._tail.writer.close()

    def reopen(self, _: int) -> None:
        self.fifo.close()
        self._open()

    def _open(self) -> None:
        self.queue = deque(sorted([*self.handed, *self.queue]))
        self.handed = {}
        self.fifo, found = open_log(self.directory)
        self.reader = self.fifo.reader(found)
        assert list(self.queue) == waiting(self.fifo, found)
        assert self.done_count == found.counters.as_dict()["done"]
        assert (found.damage, found.torn_bytes, is_balanced(found)) == ([], 0, True)
        assert set(range(self.next)) == seen(found)


# --- kills -----------------------------------------------------------------------------------

CHILD = """
import sys
from pathlib import Path
from tests.frontier.logs import finish, open_log, places_of, put
fifo, found = open_log(Path(sys.argv[1]))
n = int(sys.argv[2])
while True:
    places = places_of(put(fifo, range(n, n + 50)))
    fifo.flush()
    print(n + 50, flush=True)
    finish(fifo, places[:25])
    fifo.collect()
    n += 50
"""


@pytest.mark.crash
def test_killed_while_writing(tmp_path: Path) -> None:
    """scrapy/queuelib#5, LAW-Unimi/BUbiNG#27: SIGKILL at any time, opened again: nothing written
    is lost, old URLs come before new ones, and the next kill finds the same."""
    told = 0
    for round_ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), str(10_000 * round_)],
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        for _ in range(5 + 7 * round_):
            told = int(child.stdout.readline())
        child.kill()
        with child:
            pass
        with reopened(tmp_path) as (fifo, found):
            numbers = waiting(fifo, found)
            assert sorted(numbers) == numbers
            assert {n for n in range(10_000 * round_, told) if n % 50 >= 25} <= set(numbers)
            assert (found.damage, found.lost, is_balanced(found)) == ([], 0, True)
            assert set(numbers) <= seen(found)
