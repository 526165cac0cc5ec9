"""How a shard treats hosts that do not answer as they should; one object a shard.

Every result passes ``judge``, which tells the host table and the log what follows for the host,
and says what becomes of the URL: it ends, it is tried again, or it is held until it is clear
whether our own line is at fault.  The decisions are those of ``politeness.backoff`` and
``politeness.outage``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from larbinpy.frontier.payloads import HostState
from larbinpy.parse import headers
from larbinpy.politeness.backoff import HostTrouble, Trouble, retry_after_s, trouble_of
from larbinpy.politeness.gate import is_answer
from larbinpy.politeness.outage import State
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy.clock import Clock
    from larbinpy.dns.addresses import Addresses
    from larbinpy.frontier.frontier import Frontier
    from larbinpy.politeness.backoff import Backoff
    from larbinpy.politeness.outage import Line
    from larbinpy.records import FetchResult

FRIENDS: Final = 8
CHARGED: Final = 10_000
"""Tries in vain since somebody was heard, which are taken back when our line was down."""
SHORTENED: Final = 20
"""Hosts whose Crawl-delay is shortened that are named; the others are not."""
LINE_REASON: Final = "our own line was down"
_PROBE_AGAIN_NS: Final = 250_000_000
_RECORDED_NS: Final = 10**9
"""A shorter delay need not be on disk at once: after a restart all hosts count as just asked."""


class Fate(IntEnum):
    """What becomes of a result."""

    END = 0
    RETRY = 1
    HOLD = 2


class Manners:
    """Back-off, retries and the state of our own line.

    Args of ``__init__``:
        max_tries: requests for one URL at most.
        max_delay_s: the longest Crawl-delay that is obeyed.
        say: tells the operator.
    """

    __slots__ = (
        "_addresses", "_backoff", "_charged", "_clock", "_excused", "_friends",
        "_frontier", "_held", "_is_friend_asked", "_line", "_max_delay_s", "_max_tries", "_ours",
        "_say", "_shortened", "_strangers", "_table", "outages", "retries",
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
        self._table = table
        self._frontier = frontier
        self._addresses = addresses
        self._backoff = backoff
        self._line = line
        self._clock = clock
        self._max_tries = max_tries
        self._max_delay_s = max_delay_s
        self._shortened: set[bytes] = set()
        self._say = say
        self._friends: deque[FetchJob] = deque(maxlen=FRIENDS)
        self._strangers: deque[FetchJob] = deque(maxlen=FRIENDS)
        self._is_friend_asked = False
        self._held: list[FetchResult] = []
        self._ours: list[FetchResult] = []
        self._charged: deque[tuple[int, int, bytes]] = deque(maxlen=CHARGED)
        self._excused: set[int] = set()
        self.outages = 0
        """Of our own line, in this run."""
        self.retries = 0
        """Requests whose URLs are tried again, in this run."""

    @property
    def held(self) -> int:
        """Results of queued URLs that wait until it is clear whose fault they are."""
        return sum(not r.job.id & ID_WITHOUT_ENQ for r in (*self._held, *self._ours))

    @property
    def has_held(self) -> bool:
        """Whether there are results that wait, of any kind."""
        return bool(self._held or self._ours)

    @property
    def is_line_fine(self) -> bool:
        """Whether requests may be made."""
        return self._line.state is State.FINE

    def change(self, *, max_tries: int, max_delay_s: float, wait_ns: int, dead_ns: int) -> None:
        """Other numbers, from the next result on; what was decided stays."""
        self._max_tries = max_tries
        self._max_delay_s = max_delay_s
        self._backoff.change(wait_ns=wait_ns, dead_ns=dead_ns)

    # --- restarts ------------------------------------------------------------------------------

    def restore(self, hosts: dict[bytes, HostState], *, latest_us: int = 0) -> None:
        """Take over what the log knows of hosts; they are delayed when their turn comes.

        Args:
            latest_us: a time when the log was still written: a wall clock that was set back since
                makes nobody wait for longer.
        """
        wall_us = max(self._clock.wall_us(), latest_us)
        now_ns = self._clock.now_ns()  # after the other: what passes in between is waited too
        for state in hosts.values():
            until_ns = max(now_ns + (state.until_us - wall_us) * 1000, 0)
            trouble = HostTrouble(until_ns, state.level, state.failures)
            self._backoff.restore(state.host, trouble, now_ns)

    def state_of(self, host: bytes) -> HostState | None:
        """What the log is to know of a host; None = nothing is wrong with it."""
        known = self._backoff.get(host)
        return None if known is None else self._record(host, known)

    def is_away(self, job: FetchJob, now_ns: int) -> bool:
        """Whether the host of a URL just taken is to be left alone; only after a restart.

        Then the host has been delayed or given up, from its release on.
        """
        if not len(self._backoff):
            return False
        known = self._backoff.get(job.host)
        if known is None or known.until_ns <= now_ns:
            return False
        self._apply(job.host_id, known, Trouble.UNREACHABLE)
        return True

    @property
    def troubles(self) -> dict[bytes, HostTrouble]:
        """The hosts that are not well."""
        return self._backoff.troubles

    def all_well(self, jobs: list[FetchJob], end_ns: int) -> None:
        """What ``judge`` says of good answers of hosts that are well, while the line is fine."""
        self._line.heard(end_ns)
        self._friends.extend(jobs[-FRIENDS:])
        if self._charged:
            self._charged.clear()

    # --- results -------------------------------------------------------------------------------

    def judge(self, result: FetchResult, end_ns: int) -> Fate:
        """A request has ended: what follows for its host is done, what for its URL is returned."""
        job = result.job
        if result.is_swallowed and job.kind is not Kind.RETRY:
            return Fate.RETRY
        trouble = _rules_trouble(result) if job.kind is Kind.ROBOTS else trouble_of(result)
        if trouble is Trouble.UNREACHABLE:
            self._silence(result, end_ns)
            if job.kind is not Kind.RETRY and not self.is_line_fine:
                self._held.append(result)
                return Fate.HOLD
        elif result.status and self._line.heard(end_ns):
            self._line_is_back(end_ns)
        if job.kind is Kind.RETRY:
            return Fate.END
        if trouble is Trouble.NONE:
            self._answered(result, end_ns)
            return Fate.END
        known = self._trouble(result, trouble, end_ns)
        if job.id & ID_WITHOUT_ENQ or known.is_dead or job.attempt + 1 >= self._max_tries:
            return Fate.END
        return Fate.RETRY

    def goes_elsewhere(self, result: FetchResult, now_ns: int) -> bool:
        """Whether nobody took a request, but its host now has another address to be tried.

        It is asked before ``judge``: host and URL are charged for their last address only.
        """
        if result.outcome is not Outcome.NO_CONNECTION or result.job.kind is Kind.RETRY:
            return False
        return self.is_line_fine and self._addresses.fails_over(result.job.host_id, now_ns)

    def rules_failed(self, host: bytes, now_ns: int) -> None:
        """A host's robots.txt cannot be read: delay it, unless it is delayed for that already."""
        known = self._backoff.get(host)
        if known is not None and known.until_ns > now_ns:
            return
        known = self._backoff.failed(host, Trouble.RULES, now_ns)
        self._tell(self._table.find(host), host, known, Trouble.RULES)

    def rules_known(self, host: bytes, crawl_delay_s: float, took_ns: int, now_ns: int) -> None:
        """A host's robots.txt is read: what it says of our pace, within the limit we have.

        Args:
            took_ns: how long the request took.
        """
        host_id = self._table.find(host)
        self._is_well(host_id, host, took_ns, now_ns)
        if crawl_delay_s > self._max_delay_s:
            self._shorten(host, crawl_delay_s)
        self._table.set_wait(host_id, round(min(crawl_delay_s, self._max_delay_s) * 1e9))

    def _shorten(self, host: bytes, crawl_delay_s: float) -> None:
        """Say once that a host's Crawl-delay is longer than we wait."""
        if host in self._shortened:
            return
        self._shortened.add(host)
        if len(self._shortened) <= SHORTENED:
            self._say(
                f"{host.decode('ascii', 'replace')}: its Crawl-delay of {crawl_delay_s:g} s is"
                f" shortened to {self._max_delay_s:g} s (maxCrawlDelay)"
            )

    def retried(self, result: FetchResult) -> FetchResult:
        """The result as it is logged when its URL is tried again, and charged with a try.

        A request that was swallowed with its connection costs no try.
        """
        job = result.job
        self.retries += 1
        if result.is_swallowed:
            return _logged(result, job.attempt, result.reason)
        if trouble_of(result) is Trouble.UNREACHABLE:
            self._charged.append((job.id, job.attempt + 1, job.host))
        reason = f"{result.reason or result.status}; try {job.attempt + 1} of {self._max_tries}"
        return _logged(result, job.attempt + 1, reason)

    def retry(self, job: FetchJob, now_ns: int) -> None:
        """The log line of a try in vain is written: its URL waits for the next one."""
        known = self._backoff.get(job.host)
        due_ns = now_ns + self._backoff.base_ns()
        if known:
            due_ns = max(due_ns, known.until_ns)
        due_us = self._clock.wall_us() + (due_ns - now_ns) // 1000
        is_excused = job.id in self._excused
        self._excused.discard(job.id)
        self._frontier.retry(job, job.attempt - is_excused, due_ns, due_us)

    def _trouble(self, result: FetchResult, trouble: Trouble, now_ns: int) -> HostTrouble:
        job = result.job
        asked_s = 0.0
        if result.status >= 400:
            field = headers.field(result.headers, b"retry-after")
            asked_s = retry_after_s(field, self._clock.wall_us()) if field else 0.0
        if trouble is Trouble.UNREACHABLE:
            self._unreachable(job)
        known = self._backoff.failed(job.host, trouble, now_ns, asked_s=asked_s)
        self._tell(job.host_id, job.host, known, trouble)
        return known

    def _unreachable(self, job: FetchJob) -> None:
        """The first time, the host may have addresses that nobody has asked for yet."""
        if job.kind is Kind.ROBOTS:
            self._charged.append((0, 0, job.host))
        known = self._backoff.get(job.host)
        if known is None or not known.points:
            self._addresses.look_further(job.host_id, job.host)

    def _answered(self, result: FetchResult, now_ns: int) -> None:
        job = result.job
        if result.status and not job.id & ID_WITHOUT_ENQ:
            self._friends.append(job)
        if self._charged:
            self._charged.clear()
        if job.kind is not Kind.ROBOTS:  # which is no good answer before a parser could read it
            self._is_well(job.host_id, job.host, result.duration_us * 1000, now_ns)

    def _is_well(self, host_id: int, host: bytes, took_ns: int, now_ns: int) -> None:
        known = self._backoff.answered(host, took_ns, now_ns)
        if known is not None:
            self._tell(host_id, host, known, Trouble.NONE)

    def _tell(self, host_id: int, host: bytes, known: HostTrouble, trouble: Trouble) -> None:
        """Tell table and log; the record is written before the host can be asked again."""
        self._apply(host_id, known, trouble)
        if trouble is Trouble.NONE and known.slow_ns:
            return
        is_urgent = known.until_ns - self._clock.now_ns() >= _RECORDED_NS
        self._frontier.note_host(self._record(host, known), is_urgent=is_urgent)

    def _apply(self, host_id: int, known: HostTrouble, trouble: Trouble) -> None:
        if known.is_dead and trouble is not Trouble.NONE:
            is_rules = trouble is Trouble.RULES
            outcome = Outcome.FORBIDDEN_ROBOTS if is_rules else Outcome.NO_CONNECTION
            self._unfriend(host_id)
            self._addresses.give_up(host_id, outcome, known.until_ns)
        elif known.until_ns:
            self._table.delay(host_id, known.until_ns)

    def _unfriend(self, host_id: int) -> None:
        for friend in [friend for friend in self._friends if friend.host_id == host_id]:
            self._friends.remove(friend)

    def _record(self, host: bytes, known: HostTrouble) -> HostState:
        until_us = 0
        if known.until_ns:
            ahead_us = (known.until_ns - self._clock.now_ns()) // 1000
            until_us = max(self._clock.wall_us() + ahead_us, 0)
        return HostState(host, until_us, known.level, known.points)

    # --- our own line --------------------------------------------------------------------------

    def settled(self) -> list[FetchResult]:
        """Results that were held and that count: ``judge`` them again."""
        if not self._held or not self.is_line_fine:
            return []
        held, self._held = self._held, []
        return held

    def excused(self) -> list[FetchResult]:
        """Results that were our own fault, as they are logged; nobody is charged for them."""
        if self._line.state is State.DOWN:
            self._ours += self._held
            self._held.clear()
        ours, self._ours = self._ours, []
        return [_logged(result, result.job.attempt, LINE_REASON) for result in ours]

    def probe(self, page_id: int, now_ns: int) -> FetchJob | None:
        """A request that finds out whether anybody can be reached, when one is due."""
        if self.is_line_fine or now_ns < self._line.probe_ns:
            return None
        self._line.probe_ns = now_ns + _PROBE_AGAIN_NS
        self._is_friend_asked = bool(self._friends)
        known = self._friends or self._strangers
        for _ in range(len(known)):
            known.rotate(1)
            if self._table.visit(known[0].host_id, now_ns) == 0:
                return replace(known[0], id=page_id, kind=Kind.RETRY, attempt=0)
        if not self._friends:
            self._probe_failed(now_ns)
        return None

    def probe_ns(self) -> int:
        """When the next probe is due; -1 while the line is fine."""
        return -1 if self.is_line_fine else self._line.probe_ns

    def _silence(self, result: FetchResult, now_ns: int) -> None:
        if result.job.kind is Kind.RETRY:
            self._probe_failed(now_ns)
            return
        self._strangers.append(result.job)
        self._line.silent(result.job.ip, now_ns)

    def _probe_failed(self, now_ns: int) -> None:
        is_settled = self._line.probed(now_ns, is_friend=self._is_friend_asked)
        if is_settled and not self.is_line_fine:
            self.outages += 1
            self._say("nobody answers: our own line seems to be down; waiting until it is back")
            self._take_back(now_ns)

    def _take_back(self, now_ns: int) -> None:
        """What hosts and URLs were charged with since the line went silent does not count."""
        for page_id, tries, host in self._charged:
            if tries and not self._frontier.uncharge(page_id, tries):
                self._excused.add(page_id)
            forgiven = self._backoff.forgive(host)
            if forgiven:
                self._frontier.note_host(self._record(host, forgiven), is_urgent=False)
        self._charged.clear()

    def _line_is_back(self, now_ns: int) -> None:
        """Somebody has answered while the line was not fine."""
        if self.outages and self._line.was_down:
            seconds = (now_ns - self._line.since_ns) / 1e9
            self._say(f"our own line is back after {seconds:.0f} s")
            self._ours += self._held
            self._held.clear()


def _rules_trouble(result: FetchResult) -> Trouble:
    """A robots.txt that cannot be read is trouble, whatever the reason."""
    trouble = trouble_of(result)
    if trouble is Trouble.UNREACHABLE:
        return trouble
    return Trouble.NONE if is_answer(result.outcome, result.status) else Trouble.RULES


def _logged(result: FetchResult, attempt: int, reason: str) -> FetchResult:
    """A result that is only logged."""
    job = replace(result.job, kind=Kind.RETRY, attempt=attempt)
    return replace(result, job=job, body=b"", headers=b"", reason=reason)
