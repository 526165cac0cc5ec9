"""How a shard asks: how much room there is, and what becomes of a URL whose time has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy._native.plainway import PlainStarts
from larbinpy.errors import StorageError
from larbinpy.frontier.budgets import Answer
from larbinpy.links.found import LINK_SEED
from larbinpy.politeness.gate import Verdict
from larbinpy.records import FetchJob, FetchResult, Kind, Outcome
from larbinpy.shard.suspects import LOOK_NS
from larbinpy.url import host_of

if TYPE_CHECKING:
    from larbinpy.shard.flow import Flow
    from larbinpy.shard.parts import ShardParts
    from larbinpy.shard.rules import Rules

TAKE_MAX: Final = 256
"""URLs taken in one turn."""
BUDGET_NS: Final = 50_000_000
"""How often it is looked whether a page that may use a budget up has done so."""
ELSEWHERE_NS: Final = 250_000_000
"""How often it is looked whether a robots.txt that lies on another host has come."""
HELD_PART: Final = 8
"""When done pages that wait for a sync (``durability power``) are such a part of the credit, the
sync is hurried: they count, for a kill would bring them back, and must not stop the fetching."""
SYNC_NS: Final = 1_000_000
"""How often it is looked whether that sync has ended, when nothing else may be done."""
NOT_PUBLIC: Final = "not a public address"
UNREAD: Final = "its robots.txt cannot be read"
BROUGHT_DOWN: Final = "brought down its shard twice"


class Requests:
    """Begins requests, or says why a URL is not asked for."""

    __slots__ = (
        "_addresses", "_bandwidth", "_budgets", "_clock", "_errands", "_fetcher", "_flow",
        "_frontier", "_gate", "_handover", "_manners", "_novelty", "_parts", "_plain", "_rights",
        "_rules", "_scope", "_slots", "_suspects", "_tickets",
    )  # fmt: skip

    def __init__(self, parts: ShardParts, flow: Flow, rules: Rules) -> None:
        self._parts = parts
        self._flow = flow
        self._rules = rules
        self._addresses = parts.addresses
        self._bandwidth = parts.bandwidth
        self._budgets = parts.budgets
        self._clock = parts.clock
        self._errands = parts.errands
        self._fetcher = parts.fetcher
        self._frontier = parts.frontier
        self._gate = parts.gate
        self._handover = parts.handover
        self._manners = parts.manners
        self._novelty = parts.novelty
        self._slots = parts.slots
        self._suspects = parts.suspects
        self._scope = parts.scope
        self._tickets = parts.tickets
        self._rights = parts.addresses.rights
        self._plain = PlainStarts(
            parts.gate.origins,
            parts.gate.is_open,
            *parts.addresses.plain(),
            parts.manners.hosts.known,
            parts.novelty.hosts,
            parts.novelty.most_same,
            parts.novelty.watch_after,
        )

    def start(self, now: int) -> None:
        """Begin what may begin now."""
        if not self._manners.line.is_fine:
            self._probe(now)
        room = min(self.room(), self._bandwidth.room(now))
        if room <= 0:
            return
        if len(self._suspects):
            self._start_alone(now)
            return
        for job in self._rules.elsewhere(now):
            self._submit(job, now)
        try:
            jobs = self._frontier.take(now, room)
        except StorageError as error:
            self._flow.refused(error)
            return
        if jobs:
            self._manners.line.trials = 0
        refused = self._scope.refused(jobs)
        if not refused and self._is_unlimited():
            plain, jobs = self._plain.sort(jobs, now)
            self._submit_all(plain)
        for job in jobs:
            if job.id in refused:
                self._refuse(job, Outcome.OUT_SITE, refused[job.id])
                self._frontier.skip(job.host_id)
            else:
                self._begin(job, now)

    def _is_unlimited(self) -> bool:
        """Whether nothing has to be counted when a request begins."""
        limits = (self._budgets, self._tickets, self._bandwidth)
        return not any(one.is_limited for one in limits)

    def _start_alone(self, now: int) -> None:
        """Ask for one of the URLs that may have brought the shard down, and for nothing else."""
        while job := self._suspects.condemned():
            self._refuse(job, Outcome.POISON, BROUGHT_DOWN)
        if not len(self._slots):
            job = self._suspects.next(now)
            if job:
                self._begin(job, now)

    def room(self) -> int:
        """How many requests may begin now: connections, credit, memory and tickets."""
        flow = self._flow
        if not flow.is_fetching or flow.refusal or self._handover.nbytes >= self._parts.body_bytes:
            return 0
        line = self._manners.line
        most = TAKE_MAX if line.is_fine else line.trials
        if not (most and self._scope.is_known):
            return 0
        held = self._frontier.held
        if held > self._parts.credit // HELD_PART:
            self._frontier.hurry()
        credit = self._parts.credit - flow.in_flight - len(self._handover) - flow.unwritten - held
        return min(self._fetcher.free(), credit, self._tickets.left(), most)

    def wait_s(self, now: int, longest_ns: int) -> float:
        """Time until the next request may begin, at most ``longest_ns``."""
        if self.room() <= 0:
            probe_ns = self._manners.line.probe_ns()
            longest_ns = min(longest_ns, max(probe_ns - now, 0)) if probe_ns >= 0 else longest_ns
            return (min(longest_ns, SYNC_NS) if self._frontier.held else longest_ns) / 1e9
        due_ns = self._due_ns(now)
        wait_ns = longest_ns if due_ns < 0 else min(max(due_ns - now, 0), longest_ns)
        names_s = self._addresses.wait_s(now)
        return wait_ns / 1e9 if names_s < 0 else min(names_s, wait_ns / 1e9)

    def _due_ns(self, now: int) -> int:
        """When the next request may begin; -1 = nobody knows."""
        if len(self._suspects):
            return -1 if len(self._slots) else now + LOOK_NS
        due_ns = self._frontier.next_ns()
        if len(self._errands):
            errand_ns = self._errands.next_ns()
            due_ns = errand_ns if due_ns < 0 else min(due_ns, errand_ns)
        return max(due_ns, self._bandwidth.next_ns())

    def _probe(self, now: int) -> None:
        """Our own line may be down: ask somebody, now and then."""
        if self._flow.is_fetching:
            job = self._manners.probe(self._parts.next_id(), now)
            if job:
                self._submit(job, now)

    def _submit_all(self, jobs: list[FetchJob]) -> None:
        """Make requests for pages."""
        self._flow.in_flight += len(jobs)
        self._slots.begin_all(jobs)
        for job in self._fetcher.begin(jobs, keep=self._parts.keeps_connections):
            self._send(job)

    def _submit(self, job: FetchJob, now: int, *, wanting: int = 0) -> None:
        """Make a request; one that is no page has its connection kept for what follows.

        Args:
            wanting: id of the URL that it is for, when that is not the job's.
        """
        self._slots.begin(job.id, wanting or job.id)
        self._bandwidth.take(job.id, now)
        self._send(job)

    def _send(self, job: FetchJob) -> None:
        is_kept = self._parts.keeps_connections or job.kind is not Kind.PAGE
        is_named = self._rights.is_named(job.host_id, job.host)
        self._fetcher.submit(job, keep=is_kept, is_named=is_named)

    def _begin(self, job: FetchJob, now: int) -> None:
        """Fetch a URL, ask for its host's rules first, or refuse it."""
        if job.failed:
            self._fail(job, now)
            return
        is_seed = bool(job.flags & LINK_SEED)
        if not self._rights.permits(job.host_id, job.host, is_seed=is_seed):
            self._refuse(job, Outcome.FORBIDDEN_ADDRESS, NOT_PUBLIC)
            self._frontier.skip(job.host_id)
            return
        if self._manners.hosts.is_away(job.host_id, job.host, now):
            self._pass(job)
            return
        answer, used_up = self._answer(job)
        if answer is Answer.NO:
            self._refuse(job, Outcome.EARLY_STOP, used_up)
            self._frontier.skip(job.host_id)
            return
        if answer is Answer.WAIT:
            self._frontier.delay(job.host_id, now + BUDGET_NS)
            self._pass(job)
            return
        self._request(job, now)

    def _answer(self, job: FetchJob) -> tuple[Answer, str]:
        """May a URL be asked for, by what its host has shown and by budgets?"""
        name = self._novelty.refusal(job.host_id, job.host)
        if name:
            return Answer.NO, name
        return self._budgets.ask(job.host, job.url, named_by=_named_by(job))

    def _request(self, job: FetchJob, now: int) -> None:
        """Ask for a URL, if robots.txt says that it may be."""
        closed = self._manners.hosts.closed(job, now)
        if closed:
            self._give_up(job, closed)
            self._frontier.skip(job.host_id)
            return
        self._addresses.renew(job.host_id, job.host, now)
        job.ip = self._addresses.ip(job.host_id)
        verdict = self._gate.ask(job.origin, job.path, now)
        if verdict is Verdict.UNKNOWN:
            self._frontier.put_back(job)
            self._submit(self._rules.job(job), now, wanting=job.id)
        elif verdict is Verdict.FORBIDDEN:
            self._refuse(job, Outcome.FORBIDDEN_ROBOTS, self._gate.reason(job.origin, job.path))
            self._frontier.skip(job.host_id)
        elif verdict is Verdict.ASKED:
            self._frontier.delay(job.host_id, now + ELSEWHERE_NS)
            self._pass(job)
        elif self._tickets.take(job.id):
            self._flow.in_flight += 1
            self._budgets.take(job.id, job.host, job.url, named_by=_named_by(job))
            job.watch = self._novelty.watch(job.host_id)
            self._submit(job, now)
        else:
            self._pass(job)

    def _pass(self, job: FetchJob) -> None:
        """Nothing is asked now: the URL waits again."""
        self._frontier.put_back(job)
        self._frontier.skip(job.host_id)

    def _fail(self, job: FetchJob, now: int) -> None:
        """The host of a URL has no address, or has been given up."""
        if self._manners.hosts.lives_on(job, now):
            self._frontier.put_back(job)
            return
        closed = self._manners.hosts.closed(job, now)
        self._give_up(job, closed or self._addresses.outcome(job.host_id, job.failed))

    def _give_up(self, job: FetchJob, outcome: Outcome) -> None:
        """The host of a URL has been given up, or what it is on that host."""
        is_unread = outcome in (Outcome.FORBIDDEN_ROBOTS, Outcome.TLS_ERROR)
        self._refuse(job, outcome, UNREAD if is_unread else "")

    def _refuse(self, job: FetchJob, outcome: Outcome, reason: str = "") -> None:
        result = FetchResult(job, outcome, start_us=self._clock.wall_us(), reason=reason)
        if outcome is Outcome.FORBIDDEN_ADDRESS and not reason:
            result.reason = self._parts.refusal
        self._handover.give(result)
        self._suspects.ended(job.id)
        self._flow.is_flushed = False


def _named_by(job: FetchJob) -> bytes:
    """The host that names a sitemap, by its robots.txt or another sitemap; empty for a page."""
    return host_of(job.via or job.url) if job.kind is Kind.SITEMAP else b""
