"""A web that is a table: requests end at once, and nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.records import FetchResult, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from larbinpy.records import FetchJob

PLACES: Final = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes of a request."""

    body: bytes = b""
    status: int = 200
    outcome: Outcome = Outcome.SUCCESS
    headers: bytes = b"Content-Type: text/html\r\n\r\n"
    duration_us: int = 1000


MISSING: Final = Reply(status=404, outcome=Outcome.ERR_40X)


class ScriptedFetcher:
    """A ``Fetcher`` for tests: a table of replies; a URL that is not in it is a 404.

    Args of ``__init__``:
        replies: URL -> what comes of it.
        places: most requests at a time.
        wait: called by ``poll`` with its time-out before it returns; a process puts its event loop
            here, a test its next step.

    ``submitted`` and ``timeouts_s`` are what was asked of it, in order.
    While ``is_slow``, requests stay in flight.
    """

    __slots__ = (
        "_places", "_replies", "_running", "_wait", "is_slow", "submitted", "timeouts_s",
    )  # fmt: skip

    def __init__(
        self,
        replies: Mapping[bytes, Reply],
        *,
        places: int = PLACES,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._replies = replies
        self._places = places
        self._wait = wait
        self._running: list[FetchJob] = []
        self.is_slow = False
        self.submitted: list[FetchJob] = []
        self.timeouts_s: list[float] = []

    def free(self) -> int:
        """See ``Fetcher``."""
        return self._places - len(self._running)

    def begin(self, jobs: list[FetchJob], *, keep: bool) -> list[FetchJob]:
        """See ``Fetcher``."""
        return jobs

    def submit(self, job: FetchJob, *, keep: bool = True, is_named: bool = False) -> None:
        """See ``Fetcher``."""
        self.submitted.append(job)
        self._running.append(job)

    def poll(self, timeout_s: float) -> list[FetchResult]:
        """See ``Fetcher``."""
        self.timeouts_s.append(timeout_s)
        if self._wait:
            self._wait(timeout_s)
        if self.is_slow:
            return []
        ended, self._running = self._running, []
        return [self._result(job) for job in ended]

    def allow(self, connections: int) -> None:
        """See ``Fetcher``."""
        self._places = connections

    def shed(self) -> None:
        """See ``Fetcher``."""

    def close(self) -> None:
        """See ``Fetcher``."""
        self._running.clear()

    def _result(self, job: FetchJob) -> FetchResult:
        reply = self._replies.get(job.url, MISSING)
        return FetchResult(
            job,
            reply.outcome,
            reply.status,
            reply.headers,
            reply.body,
            duration_us=reply.duration_us,
            bytes_read=len(reply.headers) + len(reply.body),
        )
