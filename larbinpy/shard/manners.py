"""How a shard treats hosts that do not answer as they should; one object a shard.

Every result passes ``judge``, which says what becomes of its URL: it ends, it is tried again, or it
is held until it is clear whether our own line is at fault.  What follows for hosts is done by
``troubles``, what follows for our own line by ``ownline``.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from larbinpy.parse import headers
from larbinpy.politeness.gate import is_answer
from larbinpy.politeness.trouble import UNHEARD, Trouble, retry_after_s, trouble_of
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, FetchResult, Kind, Outcome
from larbinpy.shard.ownline import Charge, OwnLine
from larbinpy.shard.troubles import Troubles
from larbinpy.url import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy.clock import Clock
    from larbinpy.dns.addresses import Addresses
    from larbinpy.frontier.frontier import Frontier
    from larbinpy.politeness.backoff import Backoff, HostTrouble
    from larbinpy.politeness.outage import Line

LINE_REASON: Final = "our own line was down"


class Fate(IntEnum):
    """What becomes of a result."""

    END = 0
    RETRY = 1
    HOLD = 2


class Manners:
    """Retries, and who is charged for them.

    Args of ``__init__``:
        max_tries: requests for one URL at most.
        max_delay_s: the longest Crawl-delay that is obeyed.
        say: tells the operator.
    """

    __slots__ = (
        "_addresses", "_clock", "_excused", "_frontier", "_max_tries", "hosts", "line", "retries",
    )  # fmt: skip

    def __init__(
        self,
        *,
        table: HostTable,
        frontier: Frontier,
        addresses: Addresses,
        backoff: Backoff,
        line: Line,
        clock: Clock,
        max_tries: int,
        max_delay_s: float,
        say: Callable[[str], None],
    ) -> None:
        self._frontier = frontier
        self._addresses = addresses
        self._clock = clock
        self._max_tries = max_tries
        self._excused: set[int] = set()
        self.line = OwnLine(line, table, say)
        self.hosts = Troubles(
            table=table,
            frontier=frontier,
            addresses=addresses,
            backoff=backoff,
            clock=clock,
            max_delay_s=max_delay_s,
            say=say,
            given_up=self.line.unfriend,
        )
        self.retries = 0
        """Requests whose URLs are tried again, in this run."""

    def change(self, *, max_tries: int, max_delay_s: float, wait_ns: int, dead_ns: int) -> None:
        """Other numbers, from the next result on; what was decided stays."""
        self._max_tries = max_tries
        self.hosts.change(max_delay_s=max_delay_s, wait_ns=wait_ns, dead_ns=dead_ns)

    # --- results -------------------------------------------------------------------------------

    def all_well(self, jobs: list[FetchJob], end_ns: int) -> None:
        """What ``judge`` says of good answers of hosts that are well, while the line is fine."""
        self.line.heard(end_ns)
        self.line.befriend(jobs)

    def judge(self, result: FetchResult, end_ns: int) -> Fate:
        """A request has ended: what follows for its host is done, what for its URL is returned."""
        job = result.job
        if result.is_swallowed and job.kind is not Kind.RETRY:
            return Fate.RETRY
        trouble = _rules_trouble(result) if job.kind is Kind.ROBOTS else trouble_of(result)
        if trouble is Trouble.BROKEN and self._is_kept(result):
            trouble = Trouble.NONE
        if trouble in UNHEARD:
            self.line.silent(result, end_ns)
            self._take_back()
            if job.kind is not Kind.RETRY and not self.line.is_fine:
                self.line.hold(result)
                return Fate.HOLD
        elif result.status:
            self.line.heard(end_ns)
        if job.kind is Kind.RETRY:
            return Fate.END
        if trouble is Trouble.NONE:
            self._answered(result, end_ns)
            return Fate.END
        known = self._failed(result, trouble, end_ns)
        if job.id & ID_WITHOUT_ENQ or known.is_dead or job.attempt + 1 >= self._max_tries:
            return Fate.END
        return Fate.RETRY

    def _is_kept(self, result: FetchResult) -> bool:
        """Whether a page is taken as it came: a host that cuts all its pages short answers so."""
        is_last = result.job.attempt + 1 >= self._max_tries
        return is_last and result.outcome is Outcome.TRUNCATED

    def goes_elsewhere(self, result: FetchResult, now_ns: int) -> bool:
        """Whether nobody took a request, but its host now has another address to be tried.

        It is asked before ``judge``: host and URL are charged for their last address only.
        """
        if result.outcome is not Outcome.NO_CONNECTION or result.job.kind is Kind.RETRY:
            return False
        return self.line.is_fine and self._addresses.fails_over(result.job.host_id, now_ns)

    def _answered(self, result: FetchResult, now_ns: int) -> None:
        job = result.job
        is_page = bool(result.status) and not job.id & ID_WITHOUT_ENQ
        self.line.befriend([job] if is_page else [])
        if job.kind is not Kind.ROBOTS:  # which is no good answer before a parser could read it
            self.hosts.answered(job.host_id, job.host, result.duration_us * 1000, now_ns)
        asked_s = self._asked_s(result)
        if asked_s:  # who says where a page is, or that there is none, may also want a pause
            self.hosts.asked(job.host_id, job.host, asked_s, now_ns)

    def _failed(self, result: FetchResult, trouble: Trouble, now_ns: int) -> HostTrouble:
        job = result.job
        if trouble in UNHEARD:
            self._unreachable(job)
        return self.hosts.failed(
            job.host_id,
            job.host,
            trouble,
            now_ns,
            origin=_origin_of(job),
            asked_s=self._asked_s(result),
            is_repeated=job.attempt > 0,
        )

    def _asked_s(self, result: FetchResult) -> float:
        """For how long a host wants to be left alone; 0 = it does not say."""
        if result.status < 300:
            return 0.0
        field = headers.field(result.headers, b"retry-after")
        return retry_after_s(field, self._clock.wall_us()) if field else 0.0

    def _unreachable(self, job: FetchJob) -> None:
        """The first time, the host may have addresses that nobody has asked for yet."""
        if job.kind is Kind.ROBOTS:
            self.line.charge(Charge(0, 0, job.host))
        if self.hosts.is_first(job.host):
            self._addresses.look_further(job.host_id, job.host)

    # --- tries ---------------------------------------------------------------------------------

    def retried(self, result: FetchResult) -> FetchResult:
        """The result as it is logged when its URL is tried again, and charged with a try.

        A request that was swallowed with its connection costs no try.
        """
        job = result.job
        self.retries += 1
        if result.is_swallowed:
            return _logged(result, job.attempt, result.reason)
        if trouble_of(result) in UNHEARD:
            self.line.charge(Charge(job.id, job.attempt + 1, job.host))
        reason = f"{result.reason or result.status}; try {job.attempt + 1} of {self._max_tries}"
        return _logged(result, job.attempt + 1, reason)

    def retry(self, job: FetchJob, now_ns: int) -> None:
        """The log line of a try in vain is written: its URL waits for the next one."""
        due_ns = self.hosts.until_ns(job.host, now_ns)
        due_us = self._clock.wall_us() + (due_ns - now_ns) // 1000
        is_excused = job.id in self._excused
        self._excused.discard(job.id)
        self._frontier.retry(job, job.attempt - is_excused, due_ns, due_us)

    # --- our own line --------------------------------------------------------------------------

    def probe(self, page_id: int, now_ns: int) -> FetchJob | None:
        """A request that finds out whether anybody can be reached, when one is due."""
        job = self.line.probe(page_id, now_ns)
        self._take_back()
        return job

    def excused(self) -> list[FetchResult]:
        """Results that were our own fault, as they are logged; nobody is charged for them."""
        return [_logged(one, one.job.attempt, LINE_REASON) for one in self.line.excused()]

    def _take_back(self) -> None:
        """What hosts and URLs were charged with since the line went silent does not count."""
        for charge in self.line.taken_back():
            if charge.tries and not self._frontier.uncharge(charge.page_id, charge.tries):
                self._excused.add(charge.page_id)
            self.hosts.forgive(charge.host)


def _rules_trouble(result: FetchResult) -> Trouble:
    """A robots.txt that cannot be read is trouble, whatever the reason."""
    trouble = trouble_of(result)
    if trouble in UNHEARD:
        return Trouble.UNREACHABLE  # it takes no server long to say what may be asked
    if result.outcome is Outcome.TLS_ERROR:
        return Trouble.INSECURE
    return Trouble.NONE if is_answer(result.outcome, result.status) else Trouble.RULES


def _origin_of(job: FetchJob) -> bytes:
    """What a request is for: of a robots.txt that has moved within its host, the first place."""
    is_own = job.kind is Kind.ROBOTS and job.tag and host_of(job.tag) == job.host
    return job.tag if is_own else job.origin


def _logged(result: FetchResult, attempt: int, reason: str) -> FetchResult:
    """A result that is only logged."""
    job = replace(result.job, kind=Kind.RETRY, attempt=attempt)
    return replace(result, job=job, body=b"", headers=b"", reason=reason)
