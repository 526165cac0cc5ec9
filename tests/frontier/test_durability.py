"""What is on the medium, and what the log does and does not do before it is there."""

from __future__ import annotations

import errno
import itertools
import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larbinpy.errors import StorageError
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.synctimes import OwnSyncTimes, SharedSyncTimes
from larbinpy.shared import CrawlMemory
from tests.frontier.logs import (
    files,
    finish,
    is_balanced,
    open_log,
    places_of,
    put,
    seen,
    waiting,
)
from tests.frontier.medium import Medium

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.log import PersistentFifo
    from larbinpy.frontier.recovered import Recovered


def test_what_is_synced_is_marked(tmp_path: Path) -> None:
    """And the next start knows how far."""
    for durability in ("process", "power"):
        fifo, _ = open_log(tmp_path / durability, durability=durability)
        put_ = put(fifo, range(10))
        fifo.sync()
        assert fifo.synced_lsn >= put_.first_lsn + 9
        synced = fifo.synced_lsn
        fifo.close()
        fifo, found = open_log(tmp_path / durability)
        assert found.synced_lsn >= synced
        assert abs(found.synced_us - time.time_ns() // 1000) < 60 * 10**6
        assert fifo.synced_lsn == 0
        fifo.close()


def test_a_directory_just_made_is_synced_into_its_parents(tmp_path: Path) -> None:
    """A log is nothing when the name of its directory is lost."""
    medium = Medium()
    fifo, _ = open_log(tmp_path / "a" / "b", durability="process", disk=medium)
    fifo.close()
    assert medium.names[tmp_path] == {"a"}
    assert medium.names[tmp_path / "a"] == {"b"}


def test_off_never_waits_for_the_medium(tmp_path: Path) -> None:
    """No sync of data, of the directory or of a seen file."""
    medium = Medium()
    fifo, _ = open_log(tmp_path, disk=medium)
    finish(fifo, places_of(put(fifo, range(200)))[:150])
    put(fifo, range(200, 210))
    fifo.sync()
    fifo.collect(wait=True)
    fifo.close()
    assert (medium.syncs, medium.names, set(medium.bytes.values())) == (0, {}, {b""})


def test_an_idle_log_comes_to_rest(tmp_path: Path) -> None:
    """The last mark is synced, and not marked again."""
    medium = Medium()
    fifo, _ = open_log(tmp_path, durability="process", sync_s=0.0, disk=medium)
    put(fifo, range(10))
    fifo.sync()
    while fifo.synced_lsn < fifo.next_lsn - 1:
        fifo.flush()
    syncs, end = medium.syncs, fifo.next_lsn
    for _ in range(20):
        fifo.flush()
    assert (syncs, end) == (medium.syncs, fifo.next_lsn)
    fifo.close()


def test_segments_go_when_the_log_is_at_rest(tmp_path: Path) -> None:
    """Also when the last record is a mark, which nothing will ever cover."""
    fifo, _ = open_log(tmp_path, durability="process")
    finish(fifo, places_of(put(fifo, range(200))))
    put(fifo, [200])
    while fifo.synced_lsn < fifo.next_lsn - 1:
        fifo.sync()
    assert fifo.collect(wait=True) > 0
    fifo.close()


def test_a_sync_runs_beside_the_loop(tmp_path: Path) -> None:
    """While the disk takes its time, URLs are put, written and finished."""
    medium = Medium()
    fifo, _ = open_log(tmp_path, durability="process", sync_s=0.0, disk=medium)
    medium.go.clear()
    places = places_of(put(fifo, range(300)))
    fifo.flush()
    finish(fifo, places[:10])
    put(fifo, range(300, 400))
    assert fifo.flush() > fifo.synced_lsn
    assert fifo.counters.as_dict()["done"] == 10
    medium.go.set()
    fifo.sync()
    assert fifo.synced_lsn >= places[-1] & 0xFF
    fifo.close()


def test_power_holds_a_done_until_its_children_are_synced(tmp_path: Path) -> None:
    """They are held, not lost: closing writes them."""
    medium = Medium()
    fifo, _ = open_log(tmp_path, durability="power", disk=medium)
    places = places_of(put(fifo, range(20)))
    fifo.sync()
    medium.go.clear()
    finish(fifo, places[:5])
    fifo.flush()
    assert (fifo.held, fifo.counters.as_dict()["done"]) == (5, 0)
    medium.go.set()
    fifo.sync()
    finish(fifo, places[5:7])
    fifo.sync()
    assert (fifo.held, fifo.counters.as_dict()["done"]) == (0, 7)
    finish(fifo, places[7:9])
    fifo.close()
    fifo, found = open_log(tmp_path)
    assert list(range(9, 20)) == waiting(fifo, found)
    fifo.close()


def test_power_holds_a_done_until_its_page_is_synced(tmp_path: Path) -> None:
    """What parsers have stored, wherever it lies, and though nothing new stands in the log."""
    medium = Medium()
    outputs = (tmp_path / "not yet" / "there", tmp_path)
    fifo, _ = open_log(tmp_path / "log", durability="power", disk=medium, outputs=outputs)
    places = places_of(put(fifo, range(20)))
    fifo.sync()
    fifo.sync()
    assert medium.systems == 0
    medium.go.clear()
    finish(fifo, places[:5])
    fifo.flush()
    assert fifo.held == 5
    medium.go.set()
    fifo.sync()
    while fifo.held:
        fifo.sync()
    assert medium.systems == 1  # both lie on one file system
    at_rest = medium.syncs
    finish(fifo, places[5:7])
    fifo.close()
    assert medium.systems == 2
    assert medium.syncs > at_rest
    fifo, found = open_log(tmp_path / "log")
    assert list(range(7, 20)) == waiting(fifo, found)
    fifo.close()


def test_a_file_system_that_fails_to_sync_is_a_fault(tmp_path: Path) -> None:
    """At once: its pages are not taken for stored, and are fetched again by the next start."""

    class Failing(Medium):
        def sync_all(self, fd: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

    disk = Failing()
    fifo, _ = open_log(tmp_path / "log", durability="power", disk=disk, outputs=(tmp_path,))
    places = places_of(put(fifo, range(20)))
    finish(fifo, places[:5])
    with pytest.raises(StorageError, match="may be gone"):
        fifo.close()
    assert fifo.held == 5
    fifo, found = open_log(tmp_path / "log")
    assert list(range(20)) == waiting(fifo, found)
    fifo.close()


def test_power_waits_for_the_logs_of_other_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links go everywhere; a log that is closed is waited for no more, a dead one in vain."""
    monkeypatch.setattr("larbinpy.frontier.durability.CHILDREN_WAIT_S", 0.05)
    memory = CrawlMemory.create(2, 1)
    times = [SharedSyncTimes(memory, shard) for shard in range(2)]
    fifo, _ = open_log(tmp_path / "0", durability="power", times=times[0])
    other, _ = open_log(tmp_path / "1", durability="power", times=times[1])
    places = places_of(put(fifo, range(20)))
    finish(fifo, places[:5])
    fifo.sync()
    assert fifo.held == 5
    other.sync()
    fifo.flush()
    assert fifo.held == 0
    finish(fifo, places[5:7])
    other.close()
    fifo.sync()
    assert fifo.held == 0
    dead = CrawlMemory.create(2, 1)
    late, _ = open_log(tmp_path / "2", durability="power", times=SharedSyncTimes(dead, 0))
    finish(late, places_of(put(late, range(5)))[:2])
    late.close()
    fifo.close()
    late, found = open_log(tmp_path / "2")
    assert list(range(5)) == waiting(late, found)
    late.close()


def test_a_hurry_is_everybodys(tmp_path: Path) -> None:
    """A log that holds too much has all logs sync before their time, once each."""
    memory = CrawlMemory.create(2, 1)
    times = [SharedSyncTimes(memory, shard) for shard in range(2)]
    mediums = [Medium(), Medium()]
    logs = [
        open_log(
            tmp_path / str(shard), durability="power", sync_s=3600.0,
            times=times[shard], disk=mediums[shard],
        )[0]
        for shard in range(2)
    ]  # fmt: skip
    for log in (*logs, *logs):  # the second time for the marks of the first
        log.sync()
    places = places_of(put(logs[0], range(20)))
    put(logs[1], range(20, 40))
    finish(logs[0], places[:5])
    before = [medium.syncs for medium in mediums]
    for log in logs:
        log.flush()
    assert before == [medium.syncs for medium in mediums]
    logs[0].hurry()
    while logs[0].held:
        for log in logs:
            log.flush()
    assert all(medium.syncs > count for medium, count in zip(mediums, before, strict=True))
    for log in logs:
        log.close()


def test_published_times_never_go_back() -> None:
    """A last sync after "for ever" says nothing."""
    own = OwnSyncTimes()
    shared = SharedSyncTimes(CrawlMemory.create(1, 1), 0)
    for times in (own, shared):
        times.publish(9)
        times.publish(5)
        assert times.common_ns() == 9


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_segment_goes_when_what_replaces_it_is_safe(tmp_path: Path, durability: str) -> None:
    """After the sync of the mark that covers it; all that are dead go together."""
    medium = Medium()
    fifo, _ = open_log(tmp_path / "log", durability=durability, disk=medium)
    places = places_of(put(fifo, range(100)))
    for start in range(100, 300, 50):
        places += places_of(put(fifo, range(start, start + 50)))
    finish(fifo, places[1:])
    fifo.sync()
    fifo._shelf.settle(wait=True)
    medium.go.clear()
    assert (fifo.compact(), fifo.collect()) == (1, 0)
    before = len(files(tmp_path / "log"))
    copy = medium.after_power_loss(tmp_path / "log", tmp_path / "copy")
    medium.go.set()
    assert fifo.collect(wait=True) >= before - 2
    later = medium.after_power_loss(tmp_path / "log", tmp_path / "later")
    fifo.close()
    for path in (copy, later):
        fifo, found = open_log(path, is_trusted=False)
        assert 0 in waiting(fifo, found)
        assert (found.damage, found.lost, is_balanced(found)) == ([], 0, True)
        fifo.close()


# --- a disk that fails to sync ---------------------------------------------------------------


def test_no_descriptor_left_is_no_failed_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often directories cannot be opened, its own and then those of the output, a log is
    synced once they can."""
    fifo, _ = open_log(tmp_path / "log", durability="power", outputs=(tmp_path,))
    open_ = os.open

    def refuse(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECTORY:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return open_(path, flags, mode)

    for start in (0, 10):
        with monkeypatch.context() as short:
            short.setattr(os, "open", refuse)
            finish(fifo, places_of(put(fifo, range(start, start + 10)))[:5])
            for _ in range(4):
                fifo._durability.turn(wait=True)
            assert fifo.held == 5
        while fifo.held:
            fifo.sync()
    fifo.close()
    fifo, found = open_log(tmp_path / "log")
    assert waiting(fifo, found) == [*range(5, 10), *range(15, 20)]
    fifo.close()


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_failed_sync_is_not_repeated(tmp_path: Path, durability: str) -> None:
    """What it covered is written again elsewhere, and survives the loss of the failed file."""
    medium = Medium()
    fifo, _ = open_log(tmp_path / "log", durability=durability, segment_bytes=1 << 20, disk=medium)
    places = places_of(put(fifo, range(10)))
    fifo.sync()
    places += places_of(put(fifo, range(10, 50)))
    finish(fifo, places[5:15])
    fifo.retry(Retry(fifo.read(places[20:21])[0][0], 2, 77))
    fifo.host(HostState(b"slow.example", 5, 1, 1))
    medium.fails = 1
    fifo.sync()
    assert len(files(tmp_path / "log")) == 2
    assert [10, 49, 3] == [url[1] for url in fifo.read([places[10], places[49], places[3]])]
    fifo.sync()  # also of the mark
    copy = medium.after_power_loss(tmp_path / "log", tmp_path / "copy")
    fifo.close()
    fifo, found = open_log(copy, is_trusted=False)
    numbers = waiting(fifo, found)
    assert {*range(5), *range(15, 50)} <= set(numbers)
    assert is_balanced(found)
    assert [retry.attempt for retry in found.retries.values()] == [2]
    assert set(found.hosts) == {b"slow.example"}
    fifo.close()


def test_moved_by_a_failed_sync_and_killed(tmp_path: Path) -> None:
    """When only the process dies, both files count, and every URL once."""
    medium = Medium()
    fifo, _ = open_log(tmp_path, durability="process", disk=medium)
    places = places_of(put(fifo, range(100)))
    fifo.move([(place, None) for place in places[:3]])
    finish(fifo, places[5:15])
    medium.fails = 1
    fifo.sync()
    finish(fifo, places[1:2])
    fifo.close()
    fifo, found = open_log(tmp_path)
    assert [0, 2, 3, 4, *range(15, 100)] == waiting(fifo, found)
    assert (found.damage, found.lost, is_balanced(found)) == ([], 0, True)
    assert set(range(100)) == seen(found)
    fifo.close()


def test_the_second_failure_is_a_fault(tmp_path: Path) -> None:
    """And stays one: nothing is taken for written on a disk that fails."""
    medium = Medium()
    fifo, _ = open_log(tmp_path, durability="process", disk=medium)
    put(fifo, range(10))
    medium.fails = 2
    for _ in range(2):
        with pytest.raises(StorageError, match="failed to sync for the second time"):
            fifo.sync()
    with pytest.raises(StorageError, match="second time"):
        fifo.close()


# --- the machine goes down -------------------------------------------------------------------


def test_dones_above_the_mark_do_not_count_after_a_fall(tmp_path: Path) -> None:
    """They may have come to the medium before their children; at later starts neither."""
    fifo, _ = open_log(tmp_path, durability="process")
    places = places_of(put(fifo, range(200)))
    finish(fifo, places[:10])
    fifo.sync()
    finish(fifo, places[10:20])
    put(fifo, range(200, 220))
    fifo.flush()
    fifo._durability.close()
    del fifo
    fifo, found = kill_and_open(tmp_path, is_trusted=False)
    assert list(range(10, 220)) == waiting(fifo, found)
    assert (found.ignored_dones, found.damage, is_balanced(found)) == (10, [], True)
    finish(fifo, list(memoryview(found.waiting).cast("Q"))[5:15])
    fifo.close()
    fifo, found = open_log(tmp_path)
    assert [*range(10, 15), *range(25, 220)] == waiting(fifo, found)
    assert is_balanced(found)
    fifo.close()


def kill_and_open(directory: Path, *, is_trusted: bool) -> tuple[PersistentFifo, Recovered]:
    """Open a log whose owner was not asked."""
    (directory / "LOCK").unlink()
    return open_log(directory, is_trusted=is_trusted)


def test_a_fall_after_a_sync_costs_nothing(tmp_path: Path) -> None:
    """No DONE behind the mark: no doubt, nothing to remember."""
    fifo, _ = open_log(tmp_path, durability="process")
    finish(fifo, places_of(put(fifo, range(50)))[:10])
    fifo.close()
    fifo, found = open_log(tmp_path, is_trusted=False)
    assert (list(range(10, 50)), 0) == (waiting(fifo, found), found.ignored_dones)
    assert not (tmp_path / "quarantine").exists()
    fifo.close()


def test_a_log_without_marks_is_in_doubt_from_its_beginning(tmp_path: Path) -> None:
    """So is one of ``durability off``; its URLs are all there."""
    fifo, _ = open_log(tmp_path)
    finish(fifo, places_of(put(fifo, range(100)))[:10])
    fifo.close()
    fifo, found = open_log(tmp_path, is_trusted=False)
    assert (list(range(100)), 10) == (waiting(fifo, found), found.ignored_dones)
    fifo.close()


lives = st.lists(
    st.tuples(
        st.sampled_from(["put", "page", "page", "flush", "sync", "collect", "fail"]),
        st.integers(1, 12),
    ),
    max_size=30,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lives, st.sampled_from(["process", "power"]), st.integers(0, 400))
def test_no_life_loses_by_a_fall(
    tmp_path_factory: pytest.TempPathFactory, life: list[tuple[str, int]], durability: str,
    torn: int,
) -> None:  # fmt: skip
    """What was synced waits or is done; a page that is done has its links; twice the same."""
    root = tmp_path_factory.mktemp("log")
    medium = Medium()
    fifo, _ = open_log(root / "log", durability=durability, sync_s=0.0, disk=medium)
    numbers = itertools.count()
    places: dict[int, int] = {}
    lsns: dict[int, int] = {}
    links: dict[int, set[int]] = {}
    fails = 0
    for verb, count in [("put", 5), *life]:
        if verb in ("put", "page"):
            new = list(itertools.islice(numbers, count))
            put_ = put(fifo, new)
            places |= zip(new, places_of(put_), strict=True)
            lsns |= zip(new, range(put_.first_lsn, put_.first_lsn + count), strict=True)
            left = [n for n in places if n not in links and n not in new]
            if verb == "page" and left:
                finish(fifo, [places[left[count % len(left)]]])
                links[left[count % len(left)]] = set(new)
        elif verb == "fail":
            medium.fails, fails = int(not fails), fails + 1
        elif verb == "collect":
            fifo.compact(3)
            fifo.collect(wait=True)
        else:
            getattr(fifo, verb)()
    synced = fifo.synced_lsn
    copy = medium.after_power_loss(root / "log", root / "copy", torn=torn)
    medium.fails = 0
    fifo.close()
    safe = {n for n, lsn in lsns.items() if lsn <= synced}
    for is_trusted in (False, True):
        fifo, found = open_log(copy, is_trusted=is_trusted)
        left_over = set(waiting(fifo, found))
        gone = set(links) - left_over
        assert safe <= left_over | gone
        assert is_balanced(found)
        for page in gone & safe:
            if page in seen(found):
                assert links[page] <= left_over | set(links)
        fifo.close()
