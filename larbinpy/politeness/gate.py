"""The robots gate of a shard: what is known of each origin's robots.txt, and what follows from it.

RFC 9309, section 2.3.1: a file that is there decides; 4xx means that there are no rules; 5xx and no
answer mean that everything is forbidden until it can be read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from larbinpy.politeness.robots import Rules
from larbinpy.records import Kind

if TYPE_CHECKING:
    from larbinpy.records import FetchJob

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


@dataclass(slots=True)
class Asked:
    """A request for robots.txt whose answer is not read yet; its host is busy."""

    host_id: int
    start_ns: int
    end_ns: int


class _Origin:
    """What is known of one origin."""

    __slots__ = ("expires_ns", "failures", "redirects", "rules", "url")

    def __init__(self) -> None:
        self.rules: Rules | None = None
        self.expires_ns = 0
        self.failures = 0
        self.redirects = 0
        self.url = b""


class Gate:
    """Robots rules of all origins of a shard.

    Args of ``__init__``:
        token: our product token, in any case.
        is_open: larbin's ``ignoreRobots``: everything is allowed, nothing is asked.
    """

    __slots__ = ("_asked", "_is_open", "_origins", "_token", "good", "seen")

    def __init__(self, token: bytes, *, is_open: bool = False) -> None:
        self._token = token
        self._is_open = is_open
        self._origins: dict[bytes, _Origin] = {}
        self._asked: dict[bytes, Asked] = {}
        self.seen = 0
        """robots.txt files that were answered for, whatever the answer."""
        self.good = 0
        """Those that could be read."""

    def ask(self, origin: bytes, path: bytes, now_ns: int) -> Verdict:
        """May ``path`` (with its query) be fetched?  Cost: a dict look-up and one match."""
        if self._is_open:
            return Verdict.ALLOWED
        known = self._origins.get(origin)
        if known is None or known.expires_ns <= now_ns:
            return Verdict.UNKNOWN
        if known.rules is None:
            return Verdict.FORBIDDEN
        return Verdict.ALLOWED if known.rules.allows(path) else Verdict.FORBIDDEN

    # --- a request for robots.txt ------------------------------------------------------------

    def job(self, job: FetchJob, page_id: int) -> FetchJob:
        """The request that tells what ``job`` must know first."""
        origin = job.origin
        known = self._origins.get(origin)
        url = known.url if known and known.url else _robots_url(job)
        return replace(
            job, id=page_id, url=url, kind=Kind.ROBOTS, tag=origin, via=b"", hops=0, position=0
        )

    def answered(self, job: FetchJob, start_ns: int, end_ns: int) -> None:
        """The request for an origin's rules has ended; a parser reads the answer."""
        self._asked[job.tag] = Asked(job.host_id, start_ns, end_ns)

    def take_asked(self, origin: bytes) -> Asked | None:
        """The request whose answer has been read now; None for an answer that was read before."""
        return self._asked.pop(origin, None)

    def redirect(self, origin: bytes, url: bytes | None, now_ns: int) -> None:
        """robots.txt has moved.

        Args:
            url: where to, within the same host; None = to where we do not follow, which is as if
                there were no file.
        """
        known = self._origins.setdefault(origin, _Origin())
        known.redirects += 1
        if url is None or known.redirects > MAX_REDIRECTS:
            self.learn(origin, NO_RULES_STATUS, b"", now_ns)
        else:
            known.url = url

    def learn(self, origin: bytes, status: int, text: bytes, now_ns: int) -> None:
        """Take an answer: HTTP status (0 = none came) and decoded text."""
        known = self._origins.setdefault(origin, _Origin())
        known.url, known.redirects = b"", 0
        self.seen += 1
        if 200 <= status < 300:
            self.good += 1
            known.rules = Rules.parse(text, self._token)
        elif 300 <= status < 500 and status != 429:
            known.rules = Rules.parse(b"", self._token)
        else:
            known.rules = None
            known.failures += 1
            known.expires_ns = now_ns + min(RETRY_NS << min(known.failures - 1, 10), DAY_NS)
            return
        known.failures = 0
        known.expires_ns = now_ns + DAY_NS


def _robots_url(job: FetchJob) -> bytes:
    return job.url[: job.url.index(b"/", 8)] + b"/robots.txt"
