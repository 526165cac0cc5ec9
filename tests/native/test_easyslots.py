"""What stands in easy handles from request to request, and the order of those that run."""

from __future__ import annotations

import random
import time
from typing import Any

import pycurl
import pytest

from larbinpy._native.easyslots import Running, Slot
from larbinpy._native.transfer import Transfer
from larbinpy.records import FetchJob, Outcome


class Handle:
    """Notes what is set, as a ``pycurl.Curl`` would take it."""

    def __init__(self) -> None:
        self.said: list[tuple[int, Any]] = []
        self.is_refusing = False

    def setopt(self, option: int, value: Any) -> None:
        if self.is_refusing:
            raise pycurl.error(3, "no")
        self.said.append((option, value))

    def unsetopt(self, option: int) -> None:
        self.said.append((option, None))

    def getinfo(self, what: int) -> int:
        assert what == pycurl.REQUEST_SIZE
        return 77


def slot() -> Slot:
    return Slot(Handle(), Transfer(print, (b"text/html",)))


def job(
    number: int = 1, ip: bytes = b"\x7f\0\0\1", port: int = 80, host: bytes = b"a.test"
) -> FetchJob:
    return FetchJob(number, b"http://%b/" % host, host, port, https=False, ip=ip)


@pytest.mark.parametrize(
    ("ip", "target"),
    [(b"\x7f\0\0\1", b"::127.0.0.1:80"), (bytes(15) + b"\1", b"::[::1]:80")],
)
def test_a_handle_is_aimed_once(ip: bytes, target: bytes) -> None:
    """At address and port; again only when one of them is another."""
    one = slot()
    one.aim(job(ip=ip))
    one.aim(job(2, ip=ip))
    assert one.easy.said == [(pycurl.CONNECT_TO, [target])]
    one.aim(job(ip=ip, port=81))
    assert one.easy.said[1:] == [(pycurl.CONNECT_TO, [target.replace(b":80", b":81")])]


@pytest.mark.parametrize(
    ("ip", "host"), [(b"\x7f\0\0\1", b"127.0.0.1"), (bytes(15) + b"\1", b"[::1]")]
)
def test_a_url_that_says_its_address_needs_no_aim(ip: bytes, host: bytes) -> None:
    """An earlier one is taken back, and a later one set again."""
    one = slot()
    one.aim(job(ip=ip, host=host))
    assert one.easy.said == []
    one.aim(job(ip=ip))
    one.aim(job(ip=ip, host=host, port=81))
    one.aim(job(ip=ip, host=host, port=81))
    one.aim(job(ip=ip))
    assert [value and len(value) for _, value in one.easy.said] == [1, None, 1]


def test_a_url_that_says_another_address_is_aimed() -> None:
    """The address that was judged is the one that is asked."""
    one = slot()
    one.aim(job(ip=b"\x7f\0\0\1", host=b"127.0.0.10"))
    assert one.easy.said == [(pycurl.CONNECT_TO, [b"::127.0.0.1:80"])]


def test_what_libcurl_refuses_is_not_aimed_at() -> None:
    """The next request sets it again, to whatever address it goes."""
    one = slot()
    one.aim(job())
    one.easy.is_refusing = True
    with pytest.raises(pycurl.error):
        one.aim(job(port=81))
    one.easy.is_refusing = False
    one.aim(job())
    assert len(one.easy.said) == 2
    with pytest.raises(ValueError, match="4 or 16 bytes"):
        one.aim(job(ip=b"", port=82))


def test_connections_are_kept_unless_said() -> None:
    """libcurl is told when that changes."""
    one = slot()
    for is_kept in (True, False, False, True):
        one.keep(is_kept)
    assert one.easy.said == [(pycurl.FORBID_REUSE, 1), (pycurl.FORBID_REUSE, 0)]


def test_a_result_tells_of_its_request() -> None:
    """It counts from the moment when the request went out, not from the wait for a connection."""
    one, running = slot(), Running()
    one.transfer.reset(b"\x7f\0\0\1", 80, 1000, True, True)
    before_us = time.time_ns() // 1000
    running.begin(one, job(), 0)
    time.sleep(0.002)
    one.transfer.before_request("127.0.0.1", "127.0.0.1", 80, 1)
    one.transfer.header(b"HTTP/1.1 200 OK\r\n")
    one.transfer.write(b"page")
    one.framing_bytes = 5
    end_ns = one.transfer.last_ns
    ended = running.end(one)
    result = one.result(ended, Outcome.SUCCESS, True, False, "", end_ns)
    assert (result.job, result.outcome, result.status) == (ended, Outcome.SUCCESS, 200)
    assert (result.headers, result.body) == (b"HTTP/1.1 200 OK\r\n", b"page")
    assert (result.bytes_read, result.bytes_written) == (17 + 4 + 5, 77)
    assert before_us + 2000 <= result.start_us <= time.time_ns() // 1000
    assert result.duration_us == (end_ns - one.transfer.sent_ns) // 1000
    without = one.result(ended, Outcome.TIMEOUT, False, True, "late", end_ns)
    assert (without.body, without.is_truncated, without.reason) == (b"", True, "late")
    one.unverified = "unverified: no"
    assert one.result(ended, Outcome.SUCCESS, True, False, "", end_ns).reason == one.unverified


def test_a_request_that_never_went_out_lasts_from_its_start() -> None:
    """There is nothing else to count from."""
    one, running = slot(), Running()
    one.transfer.reset(b"\x7f\0\0\1", 80, 1000, True, True)
    running.begin(one, job(), 0)
    result = one.result(running.end(one), Outcome.TIMEOUT, False, False, "", one.start_ns + 9000)
    assert (result.start_us, result.duration_us) == (one.start_us, 9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_running_slots_are_a_list(seed: int) -> None:
    """Random starts and ends: order, who is late, who receives chunks; each is late once."""
    chance = random.Random(seed)
    running, idle = Running(), [slot() for _ in range(20)]
    model: list[Slot] = []
    asked: set[int] = set()
    for number in range(1, 3000):
        if idle and chance.random() < 0.5:
            one = idle.pop(chance.randrange(len(idle)))
            one.transfer.reset(b"\x7f\0\0\1", 80, 1000, False, False)
            if chance.random() < 0.5:
                one.transfer.header(b"HTTP/1.1 200 OK\r\n")
                one.transfer.header(b"Transfer-Encoding: chunked\r\n")
            since_ns = chance.choice([0, 5])
            running.begin(one, job(number), since_ns)
            assert one.since_ns == (since_ns or one.start_ns)
            model.append(one)
        elif model:
            one = model.pop(chance.randrange(len(model)))
            expected = one.job
            assert running.end(one) is expected
            assert one.job is None
            idle.append(one)
        assert len(running) == len(model)
        if model and chance.random() < 0.2:
            before_ns = chance.choice(model).start_ns
            old = [one for one in model if one.start_ns <= before_ns]
            assert running.chunked(before_ns) == [one for one in old if one.transfer.is_chunked]
            late = [one for one in old if id(one.job) not in asked and not one.transfer.first_ns]
            assert running.late(before_ns) == late
            asked |= {id(one.job) for one in old}
        asked &= {id(one.job) for one in model}
        unasked = [one.start_ns for one in model if id(one.job) not in asked]
        assert running.unasked_ns == (unasked[0] if unasked else -1)


def test_a_slot_ends_once() -> None:
    """An end without a start is a fault of ours."""
    running, one = Running(), slot()
    with pytest.raises(ValueError, match="without a job"):
        running.end(one)
    running.begin(one, job(), 0)
    running.end(one)
    with pytest.raises(ValueError, match="without a job"):
        running.end(one)
