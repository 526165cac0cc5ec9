"""The fetcher: libcurl's multi interface on our event loop.

A job takes a slot (an easy handle with its transfer), and the slot goes back to the pool with the
result.  Per page there are two ``setopt``, one ``getinfo``, and nothing that grows with the number
of hosts or connections.  What is plain takes the short way of ``ext/plainfetch.pyx``.
"""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import pycurl

from larbinpy._native.easyslots import Running, Slot
from larbinpy._native.plainfetch import PlainFetch
from larbinpy.fetch.closers import Closers
from larbinpy.fetch.framing import FramingWatch
from larbinpy.fetch.guard import Guard
from larbinpy.fetch.handles import CUT_KINDS, SETOPT_ERRORS, SlotMaker
from larbinpy.fetch.outcomes import (
    BAD_CERTIFICATE,
    OK,
    Abort,
    Verdict,
    classify,
    is_unsent,
    printable,
)
from larbinpy.fetch.room import Room
from larbinpy.fetch.unverified import Unverified
from larbinpy.fetch.wire import shut_down
from larbinpy.records import FetchJob, FetchResult, Outcome

if TYPE_CHECKING:
    from larbinpy._native.eventloop import EventLoop
    from larbinpy.fetch.base import FetchOptions
    from larbinpy.fetch.cookies import CookieJar

_SECOND_NS: Final = 1_000_000_000
GATHER_S: Final = 0.002
"""Turns of the loop are so long at least while many requests run: a turn of its own for each
response costs more than the response."""
GATHER_EACH_S: Final = 0.00001
"""The same for each request that runs: few connections to a fast server need not wait for more."""
PROXY_WANTS_CREDENTIALS: Final = 407


class CurlFetcher:
    """Fetches over libcurl; see ``Fetcher``.

    Args:
        options: all settings.
        loop: the process's event loop; ``poll`` here polls it, other sockets included.
        jar: keeps cookies; without one they are neither kept nor sent.

    Process/thread: one thread of the process that made it; never across a fork.
    """

    def __init__(
        self, options: FetchOptions, loop: EventLoop, *, jar: CookieJar | None = None
    ) -> None:
        self._options = options
        self._loop = loop
        self._jar = jar
        self._maker = SlotMaker(options, loop.opened, jar)
        self._guard = Guard(allow_private=options.allow_private, own_ports=options.own_ports)
        self._unverified = Unverified()
        self._closers = Closers()
        self._first_byte_ns = round(options.first_byte_timeout_s * _SECOND_NS)
        self._pid = os.getpid()
        self._room = Room(options)
        self._done: list[FetchResult] = []
        self._deferred: deque[tuple[FetchJob, bool, int]] = deque()
        self._start_multi()

    def _start_multi(self) -> None:
        self._multi: Any = pycurl.CurlMulti()  # pycurl has no types
        self._multi.setopt(pycurl.M_PIPELINING, 0)
        self._room.bound(self._multi)
        self._loop.attach(self._multi)
        self._slots: dict[Any, Slot] = {}
        self._idle: list[Slot] = []
        self._running = Running()
        self._framing = FramingWatch(self._running)
        self._plain = PlainFetch(
            self._multi,
            self._running,
            self._idle,
            self._slots,
            self._new_slot,
            is_plain=self._maker.is_plain,
            public=self._guard.public,
            own_ports=self._options.own_ports,
            closers=self._closers.known,
            limit=self._options.page_bytes,
            check_type=not self._options.is_any_type,
        )

    # -- Fetcher ----------------------------------------------------------------------------------

    def free(self) -> int:
        """See ``Fetcher``; shrinks while the process has no descriptors left."""
        return max(self._left() - len(self._deferred), 0)

    def _left(self) -> int:
        return self._room.limit - len(self._running)

    def begin(self, jobs: list[FetchJob], *, keep: bool) -> list[FetchJob]:
        """See ``Fetcher``."""
        return self._plain.begin(jobs, self._left(), keep)

    def submit(self, job: FetchJob, *, keep: bool = True, is_named: bool = False) -> None:
        """See ``Fetcher``."""
        keep = keep and not self._closers.has(job)
        refusal = self._refusal(job, is_named=is_named)
        if refusal:
            outcome = Outcome.FORBIDDEN_ADDRESS if job.ip else Outcome.NO_DNS
            self._refuse(job, outcome, refusal)
        elif self._left() <= 0:
            self._deferred.append((job, keep, time.monotonic_ns()))
        else:
            self._start(job, keep)

    def _refusal(self, job: FetchJob, *, is_named: bool) -> str:
        if self._options.proxy and not job.ip:
            return ""  # only the proxy knows the address
        return self._guard.refusal(job.ip, job.port, is_named=is_named)

    def poll(self, timeout_s: float) -> list[FetchResult]:
        """See ``Fetcher``; the result may be empty."""
        if os.getpid() != self._pid:
            raise RuntimeError("a fetcher does not survive a fork")
        gather_s = min(GATHER_S, len(self._running) * GATHER_EACH_S)
        self._loop.poll(0.0 if self._done else self._wait_s(timeout_s), gather_s)
        self._collect()
        now_ns = time.monotonic_ns()
        for slot in self._running.late(now_ns - self._first_byte_ns):
            self._end(slot, OK, "", Abort.FIRST_BYTE)
        if self._framing.is_due(now_ns):
            for slot in self._framing.found(now_ns):
                self._end(slot, OK, "", Abort.FRAMING)
        if self._loop.curl_error is not None:
            self._rebuild(self._loop.curl_error)
        if self._deferred:
            self._start_deferred(time.monotonic_ns())
        done, self._done = self._done, []
        return done

    def allow(self, connections: int) -> None:
        """See ``Fetcher``."""
        self._room.allow(connections)

    def shed(self) -> None:
        """See ``Fetcher``; libcurl gives up idle connections with their multi handle only."""
        if not len(self._running) and self._slots:
            self._drop_multi()
            self._start_multi()

    def close(self) -> None:
        """See ``Fetcher``."""
        self._drop_multi()
        self._deferred.clear()
        self._room.allow(0)

    # -- a transfer's way -------------------------------------------------------------------------

    def _start(self, job: FetchJob, keep: bool, since_ns: int = 0) -> None:
        slot = self._idle.pop() if self._idle else self._new_slot()
        try:
            unverified = self._unverified.why(job) if job.https else ""
            self._maker.prepare(slot, job, keep=keep, unverified=unverified)
            self._multi.add_handle(slot.easy)
        except SETOPT_ERRORS as error:
            self._idle.append(slot)
            self._refuse(job, Outcome.PROTOCOL_ERROR, f"cannot be requested: {error}")
            return
        self._running.begin(slot, job, since_ns)

    def _new_slot(self) -> Slot:
        slot = self._maker.make()
        self._slots[slot.easy] = slot
        return slot

    def _refuse(self, job: FetchJob, outcome: Outcome, reason: str) -> None:
        now_us = time.time_ns() // 1000
        self._done.append(FetchResult(job, outcome, start_us=now_us, reason=printable(reason)))

    def _collect(self) -> None:
        results, others = self._plain.ended()
        self._done += results
        for slot, code, text in others:
            self._end(slot, code, text)
        self._recover(len(results))

    def _end(self, slot: Slot, code: int, text: str, abort: int = Abort.NONE) -> None:
        transfer = slot.transfer
        if transfer.is_ambiguous:
            shut_down(slot.easy)
        job = self._take_back(slot)
        abort = abort or transfer.abort
        if abort == Abort.DESCRIPTORS and self._starve(slot, job):
            return
        if code == BAD_CERTIFICATE and self._options.is_tls_recorded and slot.is_verified:
            self._unverified.note(job, text)
            self._start(job, slot.is_kept, slot.since_ns)
            return
        if transfer.has_cookies and self._jar and slot.is_verified:
            self._take_cookies(job, transfer.headers)
        verdict = self._judge(slot, job, code, text, abort)
        result = self._result(slot, job, verdict, is_whole=code == OK and not abort)
        if abort == Abort.REPEATED:
            result.is_swallowed = True
            self._closers.note(job)
        result.is_unsent = is_unsent(
            code, slot.easy.getinfo(pycurl.OS_ERRNO), has_proxy=bool(self._options.proxy)
        )
        self._done.append(result)
        self._recover(1)

    def _take_cookies(self, job: FetchJob, headers: bytes) -> None:
        if self._jar:
            now_s = time.time()
            self._jar.take(headers, job.host, job.path, https=job.https, now_s=now_s)

    def _take_back(self, slot: Slot) -> FetchJob:
        """Return the slot to the pool and its job to us; what it received stays readable."""
        job = self._running.end(slot)
        self._multi.remove_handle(slot.easy)
        self._idle.append(slot)
        return job

    def _judge(self, slot: Slot, job: FetchJob, code: int, text: str, abort: int) -> Verdict:
        transfer = slot.transfer
        if abort == Abort.TOO_BIG and job.kind in CUT_KINDS and transfer.status < 300:
            return Verdict(Outcome.SUCCESS, "cut", is_truncated=True)
        if self._options.proxy and (verdict := self._blame_proxy(slot, text)):
            return verdict
        return classify(
            code,
            status=transfer.status,
            abort=abort,
            is_complete=transfer.is_complete,
            has_location=transfer.has_location,
            is_connected=_is_connected(slot),
            text=text,
        )

    def _blame_proxy(self, slot: Slot, text: str) -> Verdict | None:
        """What a proxy answered of itself, instead of a server."""
        status = slot.easy.getinfo(pycurl.HTTP_CONNECTCODE)
        if status >= 300:
            return Verdict(Outcome.NO_CONNECTION, printable(text))
        if slot.transfer.status == PROXY_WANTS_CREDENTIALS:
            return Verdict(Outcome.NO_CONNECTION, "the proxy wants (other) credentials")
        return None

    def _result(
        self, slot: Slot, job: FetchJob, verdict: Verdict, *, is_whole: bool
    ) -> FetchResult:
        end_ns = slot.transfer.last_ns if is_whole else time.monotonic_ns()
        keeps_body = verdict.outcome is Outcome.SUCCESS or verdict.outcome is Outcome.TRUNCATED
        return slot.result(
            job, verdict.outcome, keeps_body, verdict.is_truncated, verdict.reason, end_ns
        )

    # -- time -------------------------------------------------------------------------------------

    def _wait_s(self, timeout_s: float) -> float:
        """Return how long the loop may sleep: until the next thing that only we know of."""
        wait_ns = timeout_s * _SECOND_NS if timeout_s >= 0 else float("inf")
        if (begun_ns := self._running.unasked_ns) >= 0:
            wait_ns = min(wait_ns, begun_ns + self._first_byte_ns - time.monotonic_ns())
        if self._deferred:
            wait_ns = min(wait_ns, self._room.retry_ns - time.monotonic_ns())
        return -1.0 if wait_ns == float("inf") else max(wait_ns, 0) / _SECOND_NS

    # -- descriptors ------------------------------------------------------------------------------

    def _starve(self, slot: Slot, job: FetchJob) -> bool:
        """No descriptor for a job: run fewer transfers, keep fewer connections, try it later.

        Returns:
            False when it has been tried for as long as a connection may take.
        """
        now_ns = time.monotonic_ns()
        if self._room.starved(len(self._running), now_ns):
            self._room.bound(self._multi)
        if now_ns - slot.since_ns > self._options.connect_timeout_s * _SECOND_NS:
            return False
        self._deferred.append((job, slot.is_kept, slot.since_ns))
        return True

    def _recover(self, results: int) -> None:
        if self._room.ended(results):
            self._room.bound(self._multi)

    def _start_deferred(self, now_ns: int) -> None:
        if now_ns < self._room.retry_ns:
            return
        for _ in range(min(len(self._deferred), self._left())):
            self._start(*self._deferred.popleft())

    # -- faults -----------------------------------------------------------------------------------

    def _rebuild(self, fault: Exception) -> None:
        """After a fault of the multi handle nothing about its transfers is certain: begin anew."""
        for slot in self._slots.values():
            if slot.job is not None:
                self._refuse(slot.job, Outcome.PROTOCOL_ERROR, f"internal error: {fault}")
        self._drop_multi()
        self._start_multi()

    def _drop_multi(self) -> None:
        """Close the multi handle, and with it every connection."""
        self._loop.detach()
        for slot in self._slots.values():
            if slot.job is not None:
                self._running.end(slot)
                self._multi.remove_handle(slot.easy)
            slot.easy.close()
        self._slots.clear()
        self._idle.clear()
        self._multi.close()


def _is_connected(slot: Slot) -> bool:
    """Whether a connection stood: a new one, or an earlier one that could be used again."""
    getinfo = slot.easy.getinfo
    return bool(getinfo(pycurl.CONNECT_TIME) > 0 or getinfo(pycurl.PRETRANSFER_TIME) > 0)
