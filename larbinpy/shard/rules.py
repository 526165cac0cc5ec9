"""What a shard does about robots.txt: whose answer it was, where it has moved, what follows.

A host stays busy from the request for its rules until a parser has read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import url as urls
from larbinpy.parse import headers
from larbinpy.politeness.gate import moved_to
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, Outcome

if TYPE_CHECKING:
    from larbinpy.records import FetchResult
    from larbinpy.shard.parts import ShardParts


class Rules:
    """The way of a robots.txt through a shard."""

    __slots__ = ("_errands", "_frontier", "_gate", "_manners", "_parts")

    def __init__(self, parts: ShardParts) -> None:
        self._parts = parts
        self._errands = parts.errands
        self._frontier = parts.frontier
        self._gate = parts.gate
        self._manners = parts.manners

    def job(self, wanting: FetchJob) -> FetchJob:
        """The request for the rules of a URL's origin."""
        return self._gate.job(wanting, self._parts.next_id())

    def elsewhere(self, now: int) -> list[FetchJob]:
        """Requests to make now for robots.txt files that lie on other hosts."""
        if not len(self._errands):
            return []
        jobs = self._errands.ready(now)
        for job in self._errands.lost():
            self._rule(job.tag, 0, b"", now)
        return jobs

    def answered(self, result: FetchResult, start_ns: int, end_ns: int) -> None:
        """The host stays busy until a parser has read its rules, or is asked again elsewhere."""
        job = result.job
        self._gate.answered(job, start_ns, end_ns)
        if result.outcome == Outcome.ERR_30X:
            self._gate.take_asked(job.tag)
            self._frontier.release(job.host_id, start_ns, end_ns)
            location = headers.field(result.headers, b"location")
            self._follow(job, moved_to(location, job.url), end_ns)

    def _follow(self, job: FetchJob, target: urls.Url | None, now: int) -> None:
        """A robots.txt has moved; what it says there belongs to the host that was asked first."""
        is_elsewhere = target is not None and target.host != urls.host_of(job.tag)
        is_followed = self._gate.redirect(job.tag, target, now, is_elsewhere=is_elsewhere)
        if is_followed and is_elsewhere:
            self._errands.add(self.job(job), now)

    def again(self, job: FetchJob, now: int) -> None:
        """A host did not answer a request for rules and has another address: ask there."""
        if job.host != urls.host_of(job.tag):
            self._errands.add(job, now)

    def excused(self, job: FetchJob) -> None:
        """A request was in vain for a reason of ours: its host, if it waits, is free again."""
        if job.id & ID_WITHOUT_ENQ:
            self._free(job.tag)

    def learn(self, origin: bytes, status: int, text: bytes, now: int) -> None:
        """An origin's rules have been read: the host that was asked may be asked for more."""
        asked = self._gate.take_asked(origin)
        if asked:
            self._rule(origin, status, text, now, asked.end_ns - asked.start_ns)
            self._frontier.release(asked.host_id, asked.start_ns, asked.end_ns)

    def _free(self, origin: bytes) -> None:
        asked = self._gate.take_asked(origin)
        if asked:
            self._frontier.release(asked.host_id, asked.start_ns, asked.end_ns)

    def _rule(self, origin: bytes, status: int, text: bytes, now: int, took_ns: int = 0) -> None:
        """What an origin's rules mean for its host."""
        host = urls.host_of(origin)
        if self._gate.learn(origin, status, text, now) is None:
            self._manners.hosts.rules_failed(origin, host, now)
        else:
            delay_s = self._gate.crawl_delay_s(host)
            self._manners.hosts.rules_known(host, delay_s, took_ns, now)
