"""Shared words, blocks and addresses: against their model, then with processes that race."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import random
import signal
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import shared
from tests.reference import shared as model

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = 8
SIZE = 65536
SLOTS = 64
WORKERS = 4
ROUNDS = 3000
IP = bytes([10, 0, 0, 1])
FEW = settings(max_examples=60, deadline=None)
WORD = st.integers(0, 2**64 - 1)


@pytest.fixture
def memory() -> mmap.mmap:
    """Memory that forked children share with the test."""
    return mmap.mmap(-1, SIZE)


def fork(work: Callable[[int], None]) -> list[int]:
    """Run ``work(number)`` in a few child processes at the same time; return their pids."""
    pids = []
    for number in range(WORKERS):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                work(number)
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    return pids


def join(pids: list[int]) -> list[int]:
    """Wait for children; return their exit codes."""
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("load"), st.integers(0, WORDS - 1)),
        st.tuples(st.just("store"), st.integers(0, WORDS - 1), WORD),
        st.tuples(st.just("add"), st.integers(0, WORDS - 1), st.integers(-(2**63), 2**64 - 1)),
        st.tuples(st.just("take"), st.integers(0, WORDS - 1), st.integers(0, 9) | WORD),
        st.tuples(st.just("snapshot")),
    )
)


@FEW
@given(steps=STEPS, offset=st.sampled_from([0, 8, 64]))
def test_words_do_what_the_model_does(steps: list[tuple[str, int]], offset: int) -> None:
    """Every answer and every byte is the same."""
    ours, theirs = bytearray(offset + WORDS * 8), bytearray(offset + WORDS * 8)
    native, plain = shared.Words(ours, offset, WORDS), model.Words(theirs, offset, WORDS)
    for verb, *arguments in steps:
        expected = getattr(plain, verb)(*arguments)
        assert expected == getattr(native, verb)(*arguments)
    assert theirs == ours


@FEW
@given(states=st.lists(st.lists(WORD, min_size=3, max_size=3), max_size=4))
def test_block_reads_what_was_published_last(states: list[list[int]]) -> None:
    """Zeros at first; the bytes are those of the model."""
    ours, theirs = bytearray(64), bytearray(64)
    native, plain = shared.SeqBlock(ours, 8, 3), model.SeqBlock(theirs, 8, 3)
    for state in [[0, 0, 0], *states]:
        native.publish(state)
        plain.publish(state)
        assert state == plain.read() == native.read()
        assert theirs == ours


CLAIMS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 11), st.integers(0, 30), st.integers(0, 30))
)


@FEW
@given(steps=CLAIMS)
def test_addresses_do_what_the_model_does(steps: list[tuple[bool, int, int, int]]) -> None:
    """Claims and releases of a few addresses, old and new ones, while time goes on."""
    memory = bytearray(SLOTS * 16)
    native, plain = shared.IpTable(memory, 0, SLOTS), model.IpTable(memory, 0, SLOTS)
    now = 1
    for is_claim, host, later, span in steps:
        now += later
        ip = bytes([10, 0, 0, host]) if host % 2 else bytes([host]) * 16
        if is_claim:
            assert plain.claim(ip, now, span) == native.claim(ip, now, span)
        else:
            plain.release(ip, now + span)
            native.release(ip, now + span)


def test_ranges_are_checked() -> None:
    """Nothing is read or written outside of a buffer."""
    memory = bytearray(64)
    words = shared.Words(memory, 8)
    assert len(words) == 7
    for index in (-1, 7):
        with pytest.raises(IndexError):
            words.load(index)
    for make in (
        lambda: shared.Words(memory, 4),
        lambda: shared.Words(memory, -8),
        lambda: shared.Words(memory, 72),
        lambda: shared.Words(memory, 0, 9),
        lambda: shared.Words(bytearray()),
        lambda: shared.SeqBlock(memory, 0, 8),
        lambda: shared.SeqBlock(memory, 0, 7).publish([1]),
        lambda: shared.IpTable(memory, 0, 16),
        lambda: shared.IpTable(bytearray(256), 0, 8),
        lambda: shared.IpTable(bytearray(256), 0, 16).claim(b"abc", 1, 1),
    ):
        with pytest.raises(ValueError, match=r"."):
            make()


def test_full_set_lets_requests_through() -> None:
    """17 addresses in 16 slots: the last is granted, not noted; passed slots are used again."""
    table = shared.IpTable(bytearray(256), 0, 16)
    ips = [bytes([10, 0, 0, i]) for i in range(17)]
    assert [table.claim(ip, 1, 10) for ip in ips] == [0] * 17
    assert table.claim(ips[16], 2, 10) == 0
    assert table.claim(ips[0], 2, 10) == 11
    assert table.claim(ips[16], 11, 10) == 0
    assert table.claim(ips[16], 12, 10) == 21


def test_claim_that_ran_out_is_left_to_its_new_owner() -> None:
    """A late release does not free what somebody else owns by now."""
    memory = bytearray(256)
    slow, other = shared.IpTable(memory, 0, 16), shared.IpTable(memory, 0, 16)
    assert slow.claim(IP, 1, 10) == 0
    assert other.claim(IP, 11, 10) == 0
    slow.release(IP, 12)
    assert slow.claim(IP, 12, 10) == 21


def test_key_of_an_address_is_the_same_in_every_process() -> None:
    """Golden: shards of one crawl may be of different builds only if this stays."""
    memory = bytearray(256)
    table = shared.IpTable(memory, 0, 16)
    table.claim(IP, 1, 10)
    assert memory[:8].hex() == "ab0f36e102341271"


def test_create_makes_memory_that_cannot_change_its_size() -> None:
    """A process that maps it can never be hit by a file that shrank."""
    fd = shared.create(SIZE)
    try:
        assert os.fstat(fd).st_size == SIZE
        assert fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
        with pytest.raises(PermissionError):
            os.ftruncate(fd, SIZE // 2)
    finally:
        os.close(fd)


def test_death_signal_is_set() -> None:
    """The last one that was asked for; a wrong number is refused."""

    def work(number: int) -> None:
        shared.set_death_signal(signal.SIGKILL)
        shared.set_death_signal(signal.SIGTERM)
        asked = ctypes.c_int()
        get_death_signal = 2
        ctypes.CDLL(None).prctl(get_death_signal, ctypes.byref(asked))
        assert asked.value == signal.SIGTERM

    assert join(fork(work)) == [0] * WORKERS
    with pytest.raises(OSError, match="1000"):
        shared.set_death_signal(1000)


def test_child_dies_with_its_parent(memory: mmap.mmap) -> None:
    """The kernel ends a child whose parent was killed."""
    read_end, write_end = os.pipe()
    parent = os.fork()
    if not parent:
        child = os.fork()
        if not child:
            shared.set_death_signal(signal.SIGKILL)
            os.write(write_end, b"x")
            signal.pause()
        os._exit(os.waitpid(child, 0)[1])
    os.close(write_end)
    assert os.read(read_end, 1) == b"x"
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert os.read(read_end, 1) == b""
    os.close(read_end)


@pytest.mark.crash
def test_racing_processes_lose_no_addition(memory: mmap.mmap) -> None:
    """The sum of what was added is there; of n tickets exactly n are taken."""
    tickets = WORKERS * ROUNDS // 2
    shared.Words(memory).store(1, tickets)

    def work(number: int) -> None:
        words = shared.Words(memory)
        for _ in range(ROUNDS):
            words.add(0, 3)
            if words.take(1, 1):
                words.add(2, 1)

    assert join(fork(work)) == [0] * WORKERS
    assert shared.Words(memory).snapshot()[:3] == [3 * WORKERS * ROUNDS, 0, tickets]


@pytest.mark.crash
def test_block_is_never_seen_half_written(memory: mmap.mmap) -> None:
    """Readers see whole states only, also of writers that follow killed ones."""

    def work(number: int) -> None:
        block = shared.SeqBlock(memory, 0, 64)
        if number == 0:
            for i in range(10**9):
                block.publish([i] * 64)
        seen: set[int] = set()
        while len(seen) < 50:
            state = block.read()
            if state is not None:
                assert state == [state[0]] * 64
                seen.add(state[0])

    pids = fork(work)
    assert join(pids[1:]) == [0] * (WORKERS - 1)
    os.kill(pids[0], signal.SIGKILL)
    join(pids[:1])
    shared.Words(memory).store(0, 7)
    block = shared.SeqBlock(memory, 0, 64)
    assert block.read() is None
    block.publish([5] * 64)
    assert block.read() == [5] * 64


@pytest.mark.crash
def test_address_never_has_two_owners(memory: mmap.mmap) -> None:
    """Processes fight for more addresses than there are slots in a set; each checks for company.

    Word i counts the owners of address i; leases are so long that none runs out.
    """
    addresses = 40
    table_at = 1024

    def work(number: int) -> None:
        owners = shared.Words(memory, 0, addresses)
        table = shared.IpTable(memory, table_at, 16)
        chance = random.Random(number)
        for _ in range(ROUNDS):
            i = chance.randrange(addresses)
            ip = bytes([10, 0, 0, i])
            if table.claim(ip, time.monotonic_ns(), 60_000_000_000):
                continue
            assert owners.add(i, 1) == 0
            if chance.random() < 0.1:
                os.sched_yield()
            assert owners.add(i, -1) == 1
            table.release(ip, time.monotonic_ns())

    assert join(fork(work)) == [0] * WORKERS


@pytest.mark.crash
def test_leases_of_a_dead_owner_can_be_freed(memory: mmap.mmap) -> None:
    """Those of others, and times that are no claims, stay."""
    table = shared.IpTable(memory, 0, SLOTS)
    ips = [bytes([10, 0, 0, number]) for number in range(4)]
    second = 10**9
    for ip, owner in zip(ips, (1, 2, 1, 0), strict=True):
        assert table.claim(ip, second, 100 * second, owner) == 0
    shared.IpTable(memory, 0, SLOTS).forget(1, 2 * second, 3 * second)
    free = [table.claim(ip, 3 * second, second, 3) == 0 for ip in ips]
    assert free == [True, False, True, False]


def test_lease_of_a_killed_owner_runs_out(memory: mmap.mmap) -> None:
    """Nobody else gets the address before, everybody may after."""

    def work(number: int) -> None:
        table = shared.IpTable(memory, 0, SLOTS)
        table.claim(bytes([10, 0, 0, number]), 100, 50)
        os.kill(os.getpid(), signal.SIGKILL)

    assert join(fork(work)) == [-signal.SIGKILL] * WORKERS
    table = shared.IpTable(memory, 0, SLOTS)
    assert table.claim(IP, 149, 50) == 150
    assert table.claim(IP, 150, 50) == 0


@pytest.mark.parametrize("offset", [-8, 4, 16, 24])
def test_blame_needs_two_words(offset: int) -> None:
    """Inside of its buffer."""
    with pytest.raises(ValueError, match=r"offset|two words"):
        shared.Blame(bytearray(24), offset)


def test_blame_is_seen_in_its_words() -> None:
    """The id, and since when; nothing else of the buffer is written."""
    memory = bytearray(b"\xff" * 32)
    words, blame = shared.Words(memory), shared.Blame(memory, 8)
    blame.begin((1 << 64) - 2, 7)
    assert words.snapshot()[1:3] == [(1 << 64) - 2, 7]
    blame.store()
    assert words.load(2) == shared.STORING
    blame.end()
    assert words.snapshot() == [(1 << 64) - 1, (1 << 64) - 2, 0, (1 << 64) - 1]
