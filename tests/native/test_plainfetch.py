"""Which requests are plain, and what becomes of those that libcurl refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pycurl
import pytest

from larbinpy._native.easyslots import Running, Slot
from larbinpy._native.plainfetch import PlainFetch
from larbinpy._native.transfer import Transfer
from larbinpy.fetch.guard import Guard
from larbinpy.records import FetchJob, Kind

JOB = FetchJob(1, b"http://a.test/", b"a.test", 80, https=False, ip=b"\x08\x08\x08\x08")
IPV6 = bytes.fromhex("20014860486000000000000000008888")


class Handle:
    """Takes every setting."""

    def setopt(self, option: int, value: Any) -> None:
        assert option in (pycurl.URL, pycurl.CONNECT_TO, pycurl.FORBID_REUSE)

    def getinfo(self, what: int) -> int:
        return 0


class Multi:
    """Notes which handles it has, and gives out what a test has ended."""

    def __init__(self) -> None:
        self.handles: list[Any] = []
        self.ended: list[tuple[int, list[Any], list[Any]]] = []
        self.is_refusing = False

    def add_handle(self, easy: Any) -> None:
        if self.is_refusing:
            raise pycurl.error(1, "no")
        self.handles.append(easy)

    def remove_handle(self, easy: Any) -> None:
        self.handles.remove(easy)

    def info_read(self) -> tuple[int, list[Any], list[Any]]:
        return self.ended.pop(0) if self.ended else (0, [], [])


class Stage:
    """A ``PlainFetch`` with all that it works on."""

    def __init__(self, *, allow_private: bool = False, **changes: Any) -> None:
        self.multi = Multi()
        self.running = Running()
        self.idle: list[Slot] = []
        self.slots: dict[Any, Slot] = {}
        given: dict[str, Any] = {
            "is_plain": True,
            "public": Guard(allow_private=allow_private).public,
            "own_ports": frozenset({8081}),
            "closers": {(b"closer.test", 80): None},
            "limit": 1000,
            "check_type": True,
            **changes,
        }
        self.plain = PlainFetch(
            self.multi, self.running, self.idle, self.slots, self._make, **given
        )  # fmt: skip

    def _make(self) -> Slot:
        slot = Slot(Handle(), Transfer(print, (b"text/html",)))
        self.slots[slot.easy] = slot
        return slot


@pytest.mark.parametrize(
    "change",
    [
        {"kind": Kind.ROBOTS},
        {"kind": Kind.RETRY},
        {"ip": IPV6},
        {"ip": b""},
        {"ip": b"\x0a\0\0\1"},
        {"ip": b"\x7f\0\0\1"},
        {"ip": b"\xc0\xa8\0\1"},
        {"port": 8081},
        {"port": 0},
        {"port": 65536},
        {"host": b"closer.test"},
    ],
)
def test_what_somebody_must_decide_is_left(change: dict[str, Any]) -> None:
    """Nothing is begun; a public address of a page is plain."""
    stage = Stage()
    one = replace(JOB, **change)
    assert stage.plain.begin([one, JOB, one], 9, True) == [one, one]
    assert (len(stage.running), len(stage.multi.handles)) == (1, 1)


def test_nothing_is_plain_where_handles_differ() -> None:
    """Proxies, cookies, headers of origins."""
    stage = Stage(is_plain=False)
    assert stage.plain.begin([JOB], 9, True) == [JOB]


def test_private_addresses_are_plain_where_they_are_allowed() -> None:
    """Then the first byte says nothing."""
    one = replace(JOB, ip=b"\x7f\0\0\1")
    assert Stage(allow_private=True).plain.begin([one], 9, True) == []


def test_no_more_are_begun_than_there_is_room_for() -> None:
    """The others are left, in order."""
    stage = Stage()
    jobs = [replace(JOB, id=number) for number in range(5)]
    assert stage.plain.begin(jobs, 2, True) == jobs[2:]
    assert len(stage.running) == 2


def test_what_libcurl_refuses_is_left() -> None:
    """The slot is idle again."""
    stage = Stage()
    stage.multi.is_refusing = True
    assert stage.plain.begin([JOB], 9, True) == [JOB]
    assert (len(stage.running), len(stage.idle)) == (0, 1)


def test_only_whole_good_pages_end_here() -> None:
    """All others still run when they are told of."""
    stage = Stage()
    lines: dict[bytes, list[bytes]] = {
        b"/good": [b"HTTP/1.1 200 OK\r\n", b"\r\n"],
        b"/gone": [b"HTTP/1.1 404 Not Found\r\n", b"\r\n"],
        b"/part": [b"HTTP/1.1 206 Part\r\n", b"\r\n"],
        b"/none": [],
        b"/cookie": [b"HTTP/1.1 200 OK\r\n", b"Set-Cookie: a=b\r\n", b"\r\n"],
        b"/image": [b"HTTP/1.1 200 OK\r\n", b"Content-Type: image/png\r\n", b"\r\n"],
        b"/two-ends": [
            b"HTTP/1.1 200 OK\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
            b"\r\n",
        ],
    }  # fmt: skip
    assert stage.plain.begin([replace(JOB, url=path) for path in lines], 99, True) == []
    for easy in stage.multi.handles:
        slot = stage.slots[easy]
        assert slot.job is not None
        for line in lines[slot.job.url]:
            slot.transfer.header(line)
        slot.transfer.write(b"body")
    *succeeded, failed = stage.multi.handles
    stage.multi.ended = [(1, succeeded[:3], []), (0, succeeded[3:], [(failed, 56, "reset")])]
    results, others = stage.plain.ended()
    assert [(result.job.url, result.body) for result in results] == [(b"/good", b"body")]
    assert [slot.job.url for slot, _, _ in others if slot.job] == list(lines)[1:]
    assert {(code, text) for _, code, text in others} == {(0, ""), (56, "reset")}
    assert (len(stage.running), len(stage.idle)) == (len(lines) - 1, 1)
