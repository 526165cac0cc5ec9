from __future__ import annotations

import os
import signal
import socket
import threading
import time
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pycurl
import pytest

from larbinpy._native.eventloop import READ, WRITE, EventLoop

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    near.setblocking(False)
    with near, far:
        yield near, far


Pair = tuple[socket.socket, socket.socket]


def test_watched_socket_is_served(loop: EventLoop, pair: Pair) -> None:
    """The callback gets what the socket is ready for, again until it is read."""
    near, far = pair
    seen: list[int] = []
    loop.watch(near.fileno(), READ, seen.append)
    assert loop.poll(0) == 0
    far.send(b"x")
    assert [loop.poll(0), loop.poll(0)] == [1, 1]
    near.recv(1)
    assert loop.poll(0) == 0
    assert seen == [READ, READ]


def test_rewatch_changes_and_pauses(loop: EventLoop, pair: Pair) -> None:
    """What a socket waits for can change; 0 waits for nothing."""
    near, far = pair
    seen: list[int] = []
    loop.watch(near.fileno(), READ | WRITE, seen.append)
    loop.poll(0)
    far.send(b"x")
    loop.poll(0)
    loop.rewatch(near.fileno(), READ)
    loop.poll(0)
    loop.rewatch(near.fileno(), 0)
    loop.poll(0)
    loop.poll(0)
    loop.rewatch(near.fileno(), READ)
    loop.poll(0)
    assert seen == [WRITE, READ | WRITE, READ, READ]


def test_unwatched_socket_is_not_served(loop: EventLoop, pair: Pair) -> None:
    """Forgetting is immediate, also twice; the descriptor can be watched again."""
    near, far = pair
    seen: list[int] = []
    far.send(b"x")
    loop.watch(near.fileno(), READ, seen.append)
    loop.unwatch(near.fileno())
    loop.unwatch(near.fileno())
    assert loop.poll(0) == 0
    loop.watch(near.fileno(), READ, seen.append)
    loop.poll(0)
    assert seen == [READ]
    with pytest.raises(KeyError):
        loop.rewatch(10**6, READ)


def test_events_of_a_closed_socket_are_dropped(loop: EventLoop) -> None:
    """A batch may hold an event for a number that an earlier callback closed and opened again."""
    pairs = [socket.socketpair() for _ in range(2)]
    seen: list[str] = []

    def replace(index: int, _: int) -> None:
        other = pairs[1 - index][0]
        number = other.fileno()
        loop.unwatch(number)
        os.dup2(fresh.fileno(), number)  # the same number, another socket
        loop.watch(number, READ, lambda _: seen.append("new"))

    fresh, peer = socket.socketpair()
    for index, (near, far) in enumerate(pairs):
        far.send(b"x")
        loop.watch(near.fileno(), READ, partial(replace, index))
    loop.poll(0)
    assert seen == []
    for one, two in [*pairs, (fresh, peer)]:
        one.close()
        two.close()


def test_end_of_the_peer_is_an_event(loop: EventLoop, pair: Pair) -> None:
    """A hang-up is reported as what was asked for."""
    near, far = pair
    seen: list[int] = []
    loop.watch(near.fileno(), READ, seen.append)
    far.close()
    loop.poll(0)
    assert seen == [READ]


def test_bad_descriptors_are_faults(loop: EventLoop) -> None:
    """What cannot be watched is said at once."""
    with pytest.raises(ValueError, match="descriptor"):
        loop.watch(-1, READ, print)
    with pytest.raises(OSError, match="cannot watch descriptor 100000"):
        loop.watch(100_000, READ, print)
    assert loop.poll(0) == 0


def test_fault_of_a_callback_does_not_starve_others(loop: EventLoop) -> None:
    """All events of the batch are served; then the first fault is raised."""
    pairs = [socket.socketpair() for _ in range(3)]
    seen: list[int] = []

    def fail(_: int) -> None:
        seen.append(0)
        raise RuntimeError("mine")

    for near, far in pairs:
        loop.watch(near.fileno(), READ, fail)
        far.send(b"x")
    with pytest.raises(RuntimeError, match="mine"):
        loop.poll(0)
    assert len(seen) == 3
    for near, far in pairs:
        near.close()
        far.close()


def test_poll_waits_as_told(loop: EventLoop) -> None:
    """The time given is waited for, rounded up to a millisecond."""
    begin = time.monotonic()
    loop.poll(0.0501)
    assert time.monotonic() - begin > 0.05


def test_signal_is_harmless(loop: EventLoop) -> None:
    """xroche/httrack#1145: A signal during the wait runs its handler and ends the wait, no more."""
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    main = threading.main_thread().ident or 0
    timer = threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGUSR1))
    timer.start()
    assert loop.poll(5) == 0
    timer.join()
    signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


class FakeMulti:
    """Takes the callbacks and records the actions."""

    def __init__(self) -> None:
        self.actions: list[tuple[int, int]] = []
        self.callbacks: dict[int, Any] = {}
        self.fault: Exception | None = None
        self.due_s: float | None = None

    def setopt(self, option: int, value: Any) -> None:
        self.callbacks[option] = value

    def socket_action(self, fd: int, bits: int) -> None:
        self.actions.append((fd, bits))
        if self.fault:
            raise self.fault
        if fd == pycurl.SOCKET_TIMEOUT:
            self.due_s = None

    def timeout(self) -> int:
        if self.due_s is None:
            return -1
        return max(ceil((self.due_s - time.monotonic()) * 1000), 0)

    def want(self, what: int, fd: int) -> None:
        self.callbacks[pycurl.M_SOCKETFUNCTION](what, fd, self, None)

    def timer(self, timeout_ms: int) -> None:
        self.due_s = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000


@pytest.fixture
def multi(loop: EventLoop) -> FakeMulti:
    multi = FakeMulti()
    loop.attach(multi)
    return multi


def test_curl_socket_is_served(loop: EventLoop, multi: FakeMulti, pair: Pair) -> None:
    """libcurl hears of what it asked for, in its own bits."""
    near, far = pair
    loop.opened(near.fileno())
    multi.want(pycurl.POLL_OUT, near.fileno())
    loop.poll(0)
    multi.want(pycurl.POLL_IN, near.fileno())
    loop.poll(0)
    far.send(b"x")
    loop.poll(0)
    assert multi.actions == [
        (near.fileno(), pycurl.CSELECT_OUT),
        (near.fileno(), pycurl.CSELECT_IN),
    ]


def test_removed_socket_is_quiet_and_comes_back(
    loop: EventLoop, multi: FakeMulti, pair: Pair
) -> None:
    """An idle socket wakes us once, is then disarmed, and is armed again when wanted."""
    near, far = pair
    loop.opened(near.fileno())
    multi.want(pycurl.POLL_IN, near.fileno())
    multi.want(pycurl.POLL_REMOVE, near.fileno())
    far.send(b"x")
    assert [loop.poll(0), loop.poll(0)] == [1, 0]
    assert multi.actions == []
    multi.want(pycurl.POLL_IN, near.fileno())
    loop.poll(0)
    assert multi.actions == [(near.fileno(), pycurl.CSELECT_IN)]


@pytest.mark.parametrize("is_told", [True, False])
def test_number_used_again(loop: EventLoop, multi: FakeMulti, pair: Pair, is_told: bool) -> None:
    """A socket closed and opened under the same number is watched anew.

    Without being told, a change of what is wanted mends what we believed of the old socket.
    """
    near, far = pair
    old, old_far = socket.socketpair()
    number = old.fileno()
    loop.opened(number)
    multi.want(pycurl.POLL_IN, number)
    multi.want(pycurl.POLL_REMOVE, number)
    os.dup2(near.fileno(), number)
    if is_told:
        loop.opened(number)
        multi.want(pycurl.POLL_IN, number)
    else:
        multi.want(pycurl.POLL_INOUT, number)
    far.send(b"x")
    loop.poll(0)
    assert [(fd, bits & pycurl.CSELECT_IN) for fd, bits in multi.actions] == [(number, 1)]
    old.close()
    old_far.close()


def test_timer_runs_once(loop: EventLoop, multi: FakeMulti) -> None:
    """The timer ends the wait, and libcurl hears of it once for each time; -1 stops it."""
    multi.timer(60_000)
    assert loop.poll(0) == 0
    assert multi.actions == []
    begin = time.monotonic()
    multi.timer(20)
    loop.poll(60)
    loop.poll(0)
    assert 0.02 <= time.monotonic() - begin < 30
    multi.timer(0)
    multi.timer(-1)
    loop.poll(0)
    assert multi.actions == [(pycurl.SOCKET_TIMEOUT, 0)]


def test_a_timer_that_an_event_sets_runs_in_the_same_turn(
    loop: EventLoop, multi: FakeMulti, pair: Pair
) -> None:
    """Else what a transfer has to do next would wait for another one."""
    near, far = pair
    loop.watch(near.fileno(), READ, lambda _: multi.timer(0))
    far.send(b"x")
    assert loop.poll(60) == 1
    assert multi.actions == [(pycurl.SOCKET_TIMEOUT, 0)]


def test_faults_of_libcurl_are_kept(loop: EventLoop, multi: FakeMulti) -> None:
    """A fault does not raise; libcurl is left alone until another handle is attached."""
    multi.fault = ValueError("broken")
    multi.timer(0)
    loop.poll(0)
    multi.timer(0)
    loop.poll(0)
    assert multi.actions == [(pycurl.SOCKET_TIMEOUT, 0)]
    faults = [loop.curl_error]
    other = FakeMulti()
    loop.attach(other)
    faults.append(loop.curl_error)
    assert faults == [multi.fault, None]
    other.timer(0)
    loop.poll(0)
    assert other.actions == [(pycurl.SOCKET_TIMEOUT, 0)]


def test_a_fault_of_the_timer_is_kept(loop: EventLoop, multi: FakeMulti) -> None:
    """Like any other of libcurl's."""
    multi.timeout = Mock(side_effect=ValueError("broken"))  # type: ignore[method-assign]
    loop.attach(multi)
    assert [loop.poll(0), loop.poll(0)] == [0, 0]
    assert str(loop.curl_error) == "broken"
    assert (multi.timeout.call_count, multi.actions) == (1, [])


def test_impossible_wish_of_libcurl_is_kept(loop: EventLoop, multi: FakeMulti) -> None:
    """The callback never raises: that would fail every transfer."""
    multi.want(pycurl.POLL_IN, 100_000)
    assert isinstance(loop.curl_error, OSError)


def test_events_gather_for_a_while(loop: EventLoop, pair: Pair) -> None:
    """An event that is there waits for others, counted from the last ``poll``; not without time."""
    near, far = pair
    loop.watch(near.fileno(), READ, lambda _: None)
    far.send(b"x")
    begun = time.monotonic()
    loop.poll(0)
    assert loop.poll(1.0, 0.05) == 1
    gathered = time.monotonic()
    assert gathered - begun >= 0.05
    assert loop.poll(0.0, 60.0) == 1
    assert loop.poll(0.001, 60.0) == 1
    assert time.monotonic() - gathered < 30
