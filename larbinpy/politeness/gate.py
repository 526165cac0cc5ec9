"""The robots gate of a shard: what is known of each origin's robots.txt, and what follows from it.

RFC 9309, section 2.3.1: a file that is there decides; 4xx means that there are no rules; while
there is a 5xx or no answer, nothing may be asked: the rules stay unknown, but for those that were
read before, which stand in for another day.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from larbinpy import url as urls
from larbinpy.politeness.robots import Rules
from larbinpy.records import Kind, Outcome

if TYPE_CHECKING:
    from larbinpy.records import FetchJob
    from larbinpy.url import Url

DAY_NS: Final = 24 * 3600 * 10**9
RETRY_NS: Final = 60 * 10**9
MAX_REDIRECTS: Final = 5
NO_RULES_STATUS: Final = 404


class Verdict(IntEnum):
    """Answer of the gate."""

    ALLOWED = 0
    FORBIDDEN = 1
    UNKNOWN = 2
    """The origin's robots.txt has to be asked for first."""
    ASKED = 3
    """It is being asked for, on another host."""


@dataclass(slots=True)
class Asked:
    """A request for robots.txt whose answer is not read yet; the host asked is busy."""

    host_id: int
    start_ns: int
    end_ns: int


@dataclass(slots=True)
class _Search:
    """A robots.txt that has moved or could not be read, until there is an answer."""

    usable_ns: int
    """Until then the rules of before stand in for it."""
    failures: int = 0
    redirects: int = 0
    target: Url | None = None
    """Where it has moved to."""
    is_elsewhere: bool = False

    def end_redirection(self) -> None:
        """The next request goes to the first place again."""
        self.target, self.redirects, self.is_elsewhere = None, 0, False


class _Dated(Rules):
    """The rules of an origin; one object, since there are as many as hosts."""

    __slots__ = ("fresh_ns",)

    fresh_ns: int
    """Until then they are used without asking."""


class Gate:
    """Robots rules of all origins of a shard.

    Args of ``__init__``:
        token: our product token, in any case.
        is_open: larbin's ``ignoreRobots``: everything is allowed, nothing is asked.
    """

    __slots__ = ("_asked", "_delays", "_searches", "_token", "good", "is_open", "origins", "seen")

    def __init__(self, token: bytes, *, is_open: bool = False) -> None:
        self._token = token
        self.is_open = is_open
        """Whether everything is allowed and nothing asked."""
        self.origins: dict[bytes, _Dated] = {}
        """The rules that are known, by origin."""
        self._searches: dict[bytes, _Search] = {}
        self._asked: dict[bytes, Asked] = {}
        self._delays: dict[bytes, dict[bytes, float]] = {}  # host -> its origins with a Crawl-delay
        self.seen = 0
        """robots.txt files that were answered for, whatever the answer."""
        self.good = 0
        """Those that could be read."""

    def ask(self, origin: bytes, path: bytes, now_ns: int) -> Verdict:
        """May ``path`` (with its query) be fetched?  Cost: a dict look-up and one match."""
        if self.is_open:
            return Verdict.ALLOWED
        known = self.origins.get(origin)
        if known is None or known.fresh_ns <= now_ns:
            search = self._searches.get(origin)
            return Verdict.ASKED if search and search.is_elsewhere else Verdict.UNKNOWN
        return Verdict.ALLOWED if known.allows(path) else Verdict.FORBIDDEN

    def rules(self, origin: bytes) -> Rules | None:
        """The rules of an origin; None when they are not known."""
        return self.origins.get(origin)

    def reason(self, origin: bytes, path: bytes) -> str:
        """Which line forbids a path, for humans; empty when no line does."""
        rules = self.rules(origin)
        line = rules.match(path)[1] if rules else 0
        return f"line {line} of robots.txt" if line else ""

    def crawl_delay_s(self, host: bytes) -> float:
        """The longest Crawl-delay that a host's origins ask for; 0 = none.

        All schemes and ports are one host, so one of them hurries nobody.
        """
        delays = self._delays.get(host)
        return max(delays.values()) if delays else 0.0

    # --- a request for robots.txt ------------------------------------------------------------

    def job(self, job: FetchJob, page_id: int) -> FetchJob:
        """The request that tells what ``job`` must know first; for a redirected one, the next."""
        origin = job.tag if job.kind is Kind.ROBOTS else job.origin
        search = self._searches.get(origin)
        request = replace(
            job, id=page_id, kind=Kind.ROBOTS, tag=origin, via=b"", hops=0, position=0, attempt=0
        )
        if search and search.target:
            target = search.target
            request.url, request.host = target.url, target.host
            request.port, request.https = target.port, target.https
        else:
            request.url = _robots_url(job)
        return request

    def answered(self, job: FetchJob, start_ns: int, end_ns: int) -> None:
        """The request for an origin's rules has ended; a parser reads the answer."""
        self._asked[job.tag] = Asked(job.host_id, start_ns, end_ns)

    def take_asked(self, origin: bytes) -> Asked | None:
        """The request whose answer has been read now; None for an answer that was read before."""
        return self._asked.pop(origin, None)

    def redirect(
        self, origin: bytes, target: Url | None, now_ns: int, *, is_elsewhere: bool = False
    ) -> bool:
        """robots.txt has moved.

        Args:
            target: where to; None = to where we do not follow, which is as if there were no file.
            is_elsewhere: to another host, where the caller is to ask for it.

        Returns:
            Whether the redirection is followed.
        """
        search = self._search(origin)
        search.redirects += 1
        if target is None or search.redirects > MAX_REDIRECTS:
            self.learn(origin, NO_RULES_STATUS, b"", now_ns)
            return False
        search.target = target
        search.is_elsewhere = is_elsewhere
        return True

    def learn(self, origin: bytes, status: int, text: bytes, now_ns: int) -> Rules | None:
        """Take an answer: HTTP status (0 = none came) and decoded text.

        Returns:
            The rules that hold now; None = the file cannot be read, and nothing may be asked.
        """
        self.seen += 1
        if not is_answer(Outcome.SUCCESS, status):
            return self._stand_in(origin, now_ns)
        is_file = status < 300
        self.good += is_file
        self._searches.pop(origin, None)
        known = self.origins[origin] = _Dated.parse(text if is_file else b"", self._token)
        known.fresh_ns = now_ns + DAY_NS
        self._note_delay(origin, known.crawl_delay_s or 0.0)
        return known

    def _note_delay(self, origin: bytes, delay_s: float) -> None:
        """Only hosts that ask for a delay cost memory."""
        host = urls.host_of(origin)
        delays = self._delays.pop(host, {})
        delays.pop(origin, None)
        if delay_s:
            delays[origin] = delay_s
        if delays:
            self._delays[host] = delays

    def _search(self, origin: bytes) -> _Search:
        """The search of an origin, begun if there is none."""
        search = self._searches.get(origin)
        if search is None:
            known = self.origins.get(origin)
            search = self._searches[origin] = _Search(known.fresh_ns + DAY_NS if known else 0)
        return search

    def _stand_in(self, origin: bytes, now_ns: int) -> Rules | None:
        """The old rules go on for a while, if there are any and they are not too old."""
        search = self._search(origin)
        search.end_redirection()
        search.failures += 1
        known = self.origins.get(origin)
        if known is None or now_ns >= search.usable_ns:
            self.origins.pop(origin, None)
            return None
        retry_ns = now_ns + (RETRY_NS << min(search.failures - 1, 10))
        known.fresh_ns = min(retry_ns, search.usable_ns)
        return known


def is_answer(outcome: int, status: int) -> bool:
    """Whether a response says what may be asked: a whole file, or that there is none."""
    is_whole = outcome == Outcome.SUCCESS or status >= 300
    return is_whole and 200 <= status < 500 and status != 429


def answer_status(outcome: int, status: int) -> int:
    """The status to ``learn``: that of a response which says what may be asked, else 0."""
    return status if is_answer(outcome, status) else 0


def moved_to(location: bytes, url: bytes) -> Url | None:
    """Where the redirection of ``url`` leads; None = to no place that could be asked.

    A status of 3xx without a Location is none: it would lead to ``url`` again.
    """
    return urls.parse(location, url) if location else None


def _robots_url(job: FetchJob) -> bytes:
    return job.url[: job.url.index(b"/", 8)] + b"/robots.txt"
