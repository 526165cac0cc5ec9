"""What becomes of a request that has ended: its host's delay begins, a parser gets the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy._native.plainway import PlainEnds
from larbinpy.parse.handover import INLINE_BYTES
from larbinpy.politeness.backoff import SLOW_NS
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, Kind
from larbinpy.shard.manners import Fate

if TYPE_CHECKING:
    from larbinpy.records import FetchResult
    from larbinpy.shard.flow import Flow
    from larbinpy.shard.parts import ShardParts
    from larbinpy.shard.rules import Rules


class Results:
    """Takes the fetcher's results."""

    __slots__ = (
        "_bandwidth", "_budgets", "_clock", "_flow", "_frontier", "_handover", "_ledger",
        "_manners", "_plain", "_rules", "_slots", "_suspects", "_tickets", "_waits_for_links",
    )  # fmt: skip

    def __init__(self, parts: ShardParts, flow: Flow, rules: Rules) -> None:
        self._flow = flow
        self._rules = rules
        self._bandwidth = parts.bandwidth
        self._budgets = parts.budgets
        self._clock = parts.clock
        self._frontier = parts.frontier
        self._handover = parts.handover
        self._ledger = parts.ledger
        self._manners = parts.manners
        self._slots = parts.slots
        self._suspects = parts.suspects
        self._tickets = parts.tickets
        self._waits_for_links = parts.waits_for_links
        self._plain = PlainEnds(parts.manners.hosts.known, SLOW_NS, INLINE_BYTES)

    def take_all(self, results: list[FetchResult]) -> None:
        """Requests have ended; those that went well all the way are taken by few steps."""
        if results and self._is_plain():
            results = self._take_plain(results)
        for result in results:
            self.take(result)

    def _is_plain(self) -> bool:
        """Whether a good result means nothing but itself."""
        is_free = not (self._waits_for_links or self._bandwidth.is_limited)
        return is_free and self._manners.line.is_fine and not len(self._suspects)

    def _take_plain(self, results: list[FetchResult]) -> list[FetchResult]:
        """Take what is plain, and let everybody know who must; returns the others."""
        now = self._clock.now_ns()
        plain, jobs, read, written, others = self._plain.sort(results)
        if plain:
            self._handover.give_all(plain)
            self._frontier.release_all(plain, now)
            self._flow.in_flight -= len(jobs)
            self._ledger.traffic(read, written)
            self._manners.all_well(jobs, now)
            self._slots.end_all(jobs)
        return others

    def take(self, result: FetchResult) -> None:
        """A request has ended."""
        self._end(result)
        self._slots.end(result.job.id)

    def _end(self, result: FetchResult) -> None:
        job = result.job
        end_ns = self._clock.now_ns()
        start_ns = end_ns - result.duration_us * 1000
        self._ledger.traffic(result.bytes_read, result.bytes_written)
        self._bandwidth.settle(job.id, result.bytes_read, end_ns)
        if self._manners.goes_elsewhere(result, end_ns):
            self._try_elsewhere(job, start_ns, end_ns)
            return
        if result.is_swallowed and job.kind is Kind.ROBOTS:
            self._handover.give(self._manners.retried(result))
            self._try_elsewhere(job, start_ns, end_ns)
            return
        if job.kind is Kind.ROBOTS:
            self._rules.answered(result, start_ns, end_ns)
        else:
            self._flow.in_flight -= not job.id & ID_WITHOUT_ENQ
            if self._waits_for_links and not job.id & ID_WITHOUT_ENQ:
                self._flow.unread[job.id] = (job.host_id, start_ns, end_ns)
            else:
                self._frontier.release(job.host_id, start_ns, end_ns)
        self._conclude(result, end_ns)
        self._suspects.ended(job.id)

    def settle(self) -> None:
        """Results that were held, once it is known whose fault they were."""
        if not self._manners.line.has_held:
            return
        for result in self._manners.line.settled():
            self._conclude(result, self._clock.now_ns())
        for result in self._manners.excused():
            self._rules.excused(result.job)
            self._handover.give(result)

    def _conclude(self, result: FetchResult, now: int) -> None:
        """The result goes to a parser, unless it may be the fault of our own line."""
        fate = self._manners.judge(result, now)
        if fate is Fate.RETRY:
            result = self._manners.retried(result)
        if fate is not Fate.HOLD:
            self._handover.give(result)

    def _try_elsewhere(self, job: FetchJob, start_ns: int, end_ns: int) -> None:
        """Nobody took the request: its URL waits for the host's next turn, or next address."""
        if not job.id & ID_WITHOUT_ENQ:  # the URL that wants to know the rules waits already
            self._flow.in_flight -= 1
            self._tickets.settle(job.id, is_spent=False)
            self._budgets.settle(job.id, is_good=False)
            self._frontier.put_back(job)
        self._frontier.release(job.host_id, start_ns, end_ns)
        if job.kind is Kind.ROBOTS:
            self._rules.again(job, end_ns)
