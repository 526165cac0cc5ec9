"""Any damage to a log is found, counted and passed over, and the rest is used.

The numbers 1 to 15 in test names are the reports of other systems' queues that went wrong.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.logcodec import Codec
from larbinpy.frontier.segment import Header
from tests.frontier.logs import (
    UUID,
    drop_tail,
    files,
    finish,
    flip_byte,
    is_balanced,
    kinds,
    open_log,
    places_of,
    put,
    reopened,
    seen,
    truncate,
    waiting,
    write_log,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def check_second_start(directory: Path, expected: list[int]) -> None:
    """A second restart changes nothing: the same URLs wait, nothing new is put aside."""
    before = sorted(path.name for path in (directory / "quarantine").glob("*"))
    with reopened(directory) as (fifo, found):
        assert expected == waiting(fifo, found)
        assert is_balanced(found)
    assert before == sorted(path.name for path in (directory / "quarantine").glob("*"))


# --- torn tails and flipped bits -------------------------------------------------------------


def small_log(directory: Path) -> tuple[bytes, list[int]]:
    """A log of one segment of about 2 KiB; its bytes and where each URL's record begins."""
    fifo, _ = open_log(directory)
    first = places_of(put(fifo, range(6)))
    finish(fifo, first[:2])
    second = places_of(put(fifo, range(6, 10)))
    fifo.flush()
    data = files(directory)[0].read_bytes()
    fifo.close()
    return data, [place & 0xFFFFFFFF for place in first + second]


def cut_and_check(directory: Path, data: bytes, starts: list[int], size: int) -> None:
    """Open what is left after ``size`` bytes: every whole record counts, no other does."""
    path = directory / "q-00000001-0000000000000001.seg"
    directory.mkdir()
    path.write_bytes(data[:size])
    ends = ends_of(data)
    whole = {n for n, start in enumerate(starts) if min(e for e in ends if e > start) <= size}
    dones = [e for e in ends if e <= size and is_done(data, e, ends)]
    with reopened(directory) as (fifo, found):
        assert sorted(whole - ({0, 1} if dones else set())) == waiting(fifo, found)
        assert is_balanced(found)
        assert found.damage == []
        assert set(found_numbers(found.torn_bytes, size, ends)) <= {True}
        put(fifo, [99])
    with reopened(directory) as (fifo, found):
        assert waiting(fifo, found)[-1] == 99
        assert (found.torn_bytes, found.damage) == (0, [])


def ends_of(data: bytes) -> list[int]:
    """Where the records of a segment end."""
    run = Codec(UUID, 1).scan(data, 64, 1)
    assert run.stop == len(data)
    return [*list(memoryview(run.offsets).cast("I"))[1:], len(data)]


def is_done(data: bytes, end: int, ends: list[int]) -> bool:
    """Whether the record that ends there is a DONE."""
    start = max((e for e in ends if e < end), default=64)
    return Codec(UUID, 1).record(data, start)[0] == 2


def found_numbers(torn_bytes: int, size: int, ends: list[int]) -> list[bool]:
    """Whether exactly the bytes behind the last whole record were cut."""
    return [torn_bytes == size - max((e for e in ends if e <= size), default=0)]


def test_every_truncation_point(tmp_path: Path) -> None:
    """Cut after any byte: what is whole counts, the rest is cut silently, new URLs are kept."""
    data, starts = small_log(tmp_path / "whole")
    for size in range(0, len(data) + 1, 13):
        cut_and_check(tmp_path / str(size), data, starts, size)


@pytest.mark.slow
def test_every_truncation_point_without_steps(tmp_path: Path) -> None:
    """The same for each byte."""
    data, starts = small_log(tmp_path / "whole")
    for size in range(len(data) + 1):
        cut_and_check(tmp_path / str(size), data, starts, size)


def flip_and_check(directory: Path, data: bytes, at: int, bit: int) -> None:
    """Open a log with one wrong bit: at most the record that holds it is lost."""
    directory.mkdir()
    path = directory / "q-00000001-0000000000000001.seg"
    path.write_bytes(data)
    flip_byte(path, at, 1 << bit)
    is_in_last = at >= sorted(ends_of(data))[-2]
    with reopened(directory) as (fifo, found):
        numbers = waiting(fifo, found)
        assert len(set(range(2, 10)) - set(numbers)) <= 1
        assert set(numbers) <= set(range(10))
        assert is_balanced(found)
        assert is_in_last or found.damage
    check_second_start(directory, numbers)
    shutil.rmtree(directory)


def test_one_flipped_bit_in_each_place(tmp_path: Path) -> None:
    """15 (nats-io/nats-server#7549): one flipped bit costs one record, not all behind it."""
    data, _ = small_log(tmp_path / "whole")
    for at in range(0, len(data), 29):
        if not is_padding(data, at) and at >= 64:
            flip_and_check(tmp_path / str(at), data, at, at % 8)


def is_padding(data: bytes, at: int) -> bool:
    """Whether a byte is none of the checked ones: padding behind a payload."""
    start = max((e for e in [64, *ends_of(data)] if e <= at), default=64)
    size = int.from_bytes(data[start + 4 : start + 8], "little")
    return at >= start + 20 + size


@pytest.mark.slow
@pytest.mark.parametrize("verb", [truncate, flip_byte])
def test_a_log_of_64_kib(tmp_path: Path, verb: Callable[[Path, int], None]) -> None:
    """Several segments, damaged in the first, a middle and the last one; the records between are
    tested byte by byte with the codec."""
    write_log(tmp_path / "whole", 700, done=100)
    names = [path.name for path in files(tmp_path / "whole")]
    for name in (names[0], names[5], names[-1]):
        for at in range(0, (tmp_path / "whole" / name).stat().st_size, 97):
            copy = tmp_path / "copy"
            shutil.copytree(tmp_path / "whole", copy)
            verb(copy / name, at)
            with reopened(copy) as (fifo, found):
                numbers = waiting(fifo, found)
                assert len(set(numbers)) == len(numbers)
                assert is_balanced(found)
            check_second_start(copy, numbers)
            shutil.rmtree(copy)


# --- gaps --------------------------------------------------------------------------------------


def test_a_done_behind_a_gap_is_ignored(tmp_path: Path) -> None:
    """In doubt a page is fetched again; what the next process finishes is finished for good."""
    places = write_log(tmp_path, 40, done=20)
    flip_byte(files(tmp_path)[0], (places[30] & 0xFFFFFFFF) + 30)
    fifo, found = open_log(tmp_path)
    expected = [n for n in range(40) if n != 30]
    assert expected == waiting(fifo, found)
    assert kinds(found.damage) == ["range"]
    assert (found.ignored_dones, found.lost_records, found.lost) == (20, 1, 0)
    assert is_balanced(found)
    assert 30 not in seen(found)
    finish(fifo, list(memoryview(found.waiting).cast("Q"))[:15])
    put(fifo, [30])
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert [*expected[15:], 30] == waiting(fifo, found)
        assert is_balanced(found)
        assert found.counters.as_dict()["done"] == 15
    assert len(list((tmp_path / "quarantine").glob("*.bad"))) == 1


def test_a_missing_segment_in_the_middle(tmp_path: Path) -> None:
    """6 (nsqio/nsq#1033): skipped once and counted; its URLs can be found again."""
    write_log(tmp_path)
    lost = files(tmp_path)[1]
    number = int(lost.stem.split("-")[2], 16)
    lost.unlink()
    with reopened(tmp_path) as (fifo, found):
        numbers = waiting(fifo, found)
        assert 100 < len(numbers) < 200
        assert set(numbers) == seen(found)
        assert kinds(found.damage) == ["gap", "segment missing"]
        assert found.lost_records == 200 - len(numbers) + 2  # COUNTS and SEAL
        assert is_balanced(found)
        assert number not in [segment.number for segment in fifo.segments]
    check_second_start(tmp_path, numbers)


def test_a_truncated_segment_in_the_middle(tmp_path: Path) -> None:
    """What is before the cut is used, and all other segments."""
    write_log(tmp_path)
    drop_tail(files(tmp_path)[1], 1000)
    with reopened(tmp_path) as (fifo, found):
        numbers = waiting(fifo, found)
        assert 180 < len(numbers) < 200
        assert is_balanced(found)
    check_second_start(tmp_path, numbers)


def test_zeros_in_the_middle_of_a_segment(tmp_path: Path) -> None:
    """A block that the disk forgot: the records around it are used."""
    write_log(tmp_path)
    path = files(tmp_path)[1]
    data = path.read_bytes()
    path.write_bytes(data[:1024] + bytes(512) + data[1536:])
    with reopened(tmp_path) as (fifo, found):
        numbers = waiting(fifo, found)
        assert kinds(found.damage) == ["range"]
        assert 190 < len(numbers) < 200
        (kept,) = (tmp_path / "quarantine").glob("*.bad")
        assert bytes(512) in kept.read_bytes()
    check_second_start(tmp_path, numbers)


def test_a_damaged_header_costs_nothing(tmp_path: Path) -> None:
    """The name and the checksums say as much."""
    write_log(tmp_path, done=10)
    for path in files(tmp_path):
        flip_byte(path, 3)
    with reopened(tmp_path) as (fifo, found):
        assert list(range(10, 200)) == waiting(fifo, found)
        assert {"header"} == set(kinds(found.damage))


def test_thousands_of_bad_records(tmp_path: Path) -> None:
    """12 (MetPX/sarracenia#1647): a loop, not a recursion; the last good record is found."""
    fifo, _ = open_log(tmp_path, segment_bytes=1 << 20)
    places = places_of(put(fifo, range(3000)))
    fifo.close()
    path = files(tmp_path)[0]
    data = bytearray(path.read_bytes())
    for place in places[1:2999]:
        data[(place & 0xFFFFFFFF) + 25] ^= 1
    path.write_bytes(data)
    with reopened(tmp_path) as (fifo, found):
        assert waiting(fifo, found) == [0, 2999]
        assert (kinds(found.damage), found.lost_records) == (["range"], 2998)


# --- files that do not belong ------------------------------------------------------------------


def test_a_file_of_zeros(tmp_path: Path) -> None:
    """10 (peter-wangxu/persist-queue#180): opened all the same; the file is kept aside."""
    write_log(tmp_path)
    (tmp_path / "q-00000001-0000000000000040.seg").write_bytes(bytes(9000))
    with reopened(tmp_path) as (fifo, found):
        assert list(range(200)) == waiting(fifo, found)
        assert kinds(found.damage) == ["unreadable"]


@pytest.mark.parametrize("size", [0, 30, 64, 70])
def test_a_segment_just_begun(tmp_path: Path, size: int) -> None:
    """A kill between creating a file and its first record leaves no trace."""
    write_log(tmp_path)
    begun = tmp_path / "q-00000001-0000000000000040.seg"
    begun.write_bytes((Header(UUID, 1, 64, 500).pack() + bytes(20))[:size])
    with reopened(tmp_path) as (fifo, found):
        assert list(range(200)) == waiting(fifo, found)
        assert ([], size) == (found.damage, found.torn_bytes)
    assert not begun.exists()


def test_bytes_behind_the_end_are_not_lost_and_not_in_the_way(tmp_path: Path) -> None:
    """4 (nsqio/go-diskqueue#28): a file longer than anything says; new URLs go elsewhere."""
    fifo, _ = open_log(tmp_path)
    put(fifo, range(10))
    fifo.close()
    old = files(tmp_path)[0]
    old.write_bytes(old.read_bytes() + b"\0" * 77)
    fifo, found = open_log(tmp_path)
    assert (list(range(10)), 77) == (waiting(fifo, found), found.torn_bytes)
    put(fifo, [10])
    fifo.close()
    assert len(files(tmp_path)) == 2
    with reopened(tmp_path) as (fifo, found):
        assert list(range(11)) == waiting(fifo, found)


def test_nothing_but_segments_is_needed(tmp_path: Path) -> None:
    """3, 9 (scrapy/scrapy#3333, rsyslog/rsyslog#5771): all else is derived from them."""
    write_log(tmp_path, done=50)
    for path in tmp_path.iterdir():
        if path.suffix != ".seg":
            path.unlink()
    with reopened(tmp_path) as (fifo, found):
        assert list(range(50, 200)) == waiting(fifo, found)
        assert set(range(200)) == seen(found)
        assert found.damage == []


def test_the_oldest_segment_lost_is_noticed(tmp_path: Path) -> None:
    """Nothing tells a lost oldest segment from a deleted one but the counters: they do."""
    write_log(tmp_path)
    files(tmp_path)[0].unlink()
    with reopened(tmp_path) as (fifo, found):
        numbers = waiting(fifo, found)
        assert (["URLs missing"], 200 - len(numbers)) == (kinds(found.damage), found.lost)
        assert is_balanced(found)


def test_the_number_of_files_does_not_follow_the_hosts(tmp_path: Path) -> None:
    """16 (scrapy/scrapy#5275): one log for all hosts."""
    fifo, _ = open_log(tmp_path, segment_bytes=1 << 20)
    put(fifo, range(5000))
    fifo.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["LOCK", "q-00000001-0000000000000001.seg"]


def test_a_start_without_anything_waiting(tmp_path: Path) -> None:
    """13 (internetarchive/heritrix3#227): an empty log says that it is empty, and goes on."""
    for epoch in range(1, 4):
        with reopened(tmp_path) as (fifo, found):
            assert ([], epoch, 0) == (waiting(fifo, found), fifo.epoch, len(found.damage))
            fifo.collect(wait=True)


# --- again and again ---------------------------------------------------------------------------


def test_crash_recover_add_crash_recover(tmp_path: Path) -> None:
    """Torn, opened, added to, torn again: each time all whole records count."""
    write_log(tmp_path, 20)
    for i in range(3):
        drop_tail(files(tmp_path)[-1], 30)
        fifo, found = open_log(tmp_path)
        assert (found.torn_bytes == 0, found.damage) == (False, [])
        put(fifo, [100 + 2 * i, 101 + 2 * i])
        fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert [*range(19), 100, 102, 104, 105] == waiting(fifo, found)


def test_two_starts_from_one_copy(tmp_path: Path) -> None:
    """Resuming twice from a copy of the same state gives the same."""
    write_log(tmp_path / "a", done=40)
    drop_tail(files(tmp_path / "a")[-1], 10)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    results = []
    for name in "ab":
        with reopened(tmp_path / name) as (fifo, found):
            results.append((waiting(fifo, found), found.counters.as_dict(), found.torn_bytes))
    assert results[0] == results[1]
