"""What is known to be wrong with hosts, told to the host table and to the log.

``politeness.backoff`` decides for how long a host is left alone; a HOST record that says so is
written before the host could be asked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy.frontier.payloads import HostState
from larbinpy.politeness.backoff import Closed, HostTrouble
from larbinpy.politeness.trouble import Trouble
from larbinpy.records import Outcome
from larbinpy.shard.remarks import Remarks

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy.clock import Clock
    from larbinpy.dns.addresses import Addresses
    from larbinpy.frontier.frontier import Frontier
    from larbinpy.politeness.backoff import Backoff
    from larbinpy.records import FetchJob

_OUTCOMES: Final = {
    Trouble.RULES: Outcome.FORBIDDEN_ROBOTS,
    Trouble.INSECURE: Outcome.TLS_ERROR,
}
_GIVEN_UP: Final = (Outcome.NO_CONNECTION, *_OUTCOMES.values())
"""What URLs of a host end with that was given up for its troubles, and not for its name."""
_RECORDED_NS: Final = 10**9
"""A shorter delay need not be on disk at once: after a restart all hosts count as just asked."""


class Troubles:
    """The hosts of a shard that are not well.

    Args of ``__init__``:
        max_delay_s: the longest Crawl-delay that is obeyed.
        say: tells the operator.
        given_up: told the number of each host that is dead.
    """

    __slots__ = (
        "_addresses", "_backoff", "_clock", "_frontier", "_given_up", "_max_delay_s", "_remarks",
        "_table",
    )  # fmt: skip

    def __init__(
        self,
        *,
        table: HostTable,
        frontier: Frontier,
        addresses: Addresses,
        backoff: Backoff,
        clock: Clock,
        max_delay_s: float,
        say: Callable[[str], None],
        given_up: Callable[[int], None],
    ) -> None:
        self._table = table
        self._frontier = frontier
        self._addresses = addresses
        self._backoff = backoff
        self._clock = clock
        self._max_delay_s = max_delay_s
        self._remarks = Remarks(say)
        self._given_up = given_up

    @property
    def known(self) -> dict[bytes, HostTrouble]:
        """The hosts that are not well, by name."""
        return self._backoff.troubles

    def change(self, *, max_delay_s: float, wait_ns: int, dead_ns: int) -> None:
        """Other numbers, from the next result on; what was decided stays."""
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

        def moment_ns(us: int) -> int:
            return max(now_ns + (us - wall_us) * 1000, 0) if us else 0

        for state in hosts.values():
            trouble = HostTrouble(moment_ns(state.until_us), state.level, state.failures)
            if state.closed:
                origins = {o: Trouble(number) for o, number in state.closed.items()}
                trouble.closed = Closed(origins, moment_ns(state.closed_until_us))
                trouble.asked_until_ns = moment_ns(state.asked_until_us)
            self._backoff.restore(state.host, trouble, now_ns)

    def state_of(self, host: bytes) -> HostState | None:
        """What the log is to know of a host; None = nothing is wrong with it."""
        known = self._backoff.get(host)
        if known is None or not (known.points or known.level or known.until_ns or known.closed):
            return None
        return self._record(host, known)

    def is_away(self, host_id: int, host: bytes, now_ns: int) -> bool:
        """Whether a host whose URL was just taken is to be left alone; only after a restart.

        Then the host has been delayed or given up, from its release on.
        """
        if not len(self._backoff):
            return False
        known = self._backoff.get(host)
        if known is None or known.until_ns <= now_ns:
            return False
        self._apply(host_id, known, Trouble.UNREACHABLE)
        return True

    # --- answers and silences ------------------------------------------------------------------

    def until_ns(self, host: bytes, now_ns: int) -> int:
        """When a URL of a host that was tried in vain may be tried again."""
        known = self._backoff.get(host)
        due_ns = now_ns + self._backoff.base_ns()
        return max(due_ns, known.until_ns) if known else due_ns

    def is_first(self, host: bytes) -> bool:
        """Whether a host that failed just now was well before."""
        known = self._backoff.get(host)
        return known is None or not known.points

    def failed(
        self,
        host_id: int,
        host: bytes,
        trouble: Trouble,
        now_ns: int,
        *,
        origin: bytes,
        asked_s: float = 0.0,
        is_repeated: bool = False,
    ) -> HostTrouble:
        """A host failed.

        Args:
            origin: for which of its origins it was asked.
            asked_s: for how long it wants to be left alone.
            is_repeated: it did so for the same URL before.
        """
        known = self._backoff.failed(
            host, trouble, now_ns, asked_s=asked_s, origin=origin, is_repeated=is_repeated
        )
        self._remarks.pause(host, asked_s, known.asked_until_ns - now_ns)
        self._tell(host_id, host, known, trouble)
        return known

    def answered(self, host_id: int, host: bytes, took_ns: int, now_ns: int) -> None:
        """A host answered well, after so long."""
        known = self._backoff.answered(host, took_ns, now_ns)
        if known is not None:
            self._tell(host_id, host, known, Trouble.NONE)

    def asked(self, host_id: int, host: bytes, asked_s: float, now_ns: int) -> None:
        """A host that is well wants to be left alone for so long."""
        known = self._pause(host_id, host, asked_s, now_ns)
        self._remarks.pause(host, asked_s, known.asked_until_ns - now_ns)

    def _pause(self, host_id: int, host: bytes, asked_s: float, now_ns: int) -> HostTrouble:
        known = self._backoff.asked(host, asked_s, now_ns)
        self._apply(host_id, known, Trouble.NONE)
        self._frontier.note_host(self._record(host, known), is_urgent=True)
        return known

    def forgive(self, host: bytes) -> None:
        """The latest silence of a host was not its fault."""
        forgiven = self._backoff.forgive(host)
        if forgiven:
            self._frontier.note_host(self._record(host, forgiven), is_urgent=False)

    # --- origins that are closed ---------------------------------------------------------------

    def closed(self, job: FetchJob, now_ns: int) -> Outcome:
        """The outcome of a URL whose origin its host was given up for; ``SUCCESS`` (0) = none."""
        if not len(self._backoff):
            return Outcome.SUCCESS
        trouble = self._backoff.closed(job.host, job.origin, now_ns)
        if trouble is Trouble.NONE:
            return Outcome.SUCCESS
        return self._addresses.outcome(job.host_id, _outcome_of(trouble))

    def lives_on(self, job: FetchJob, now_ns: int) -> bool:
        """Whether a host that was given up is tried all the same, for a URL of another origin."""
        if job.failed not in _GIVEN_UP:
            return False
        known = self._backoff.revive(job.host, job.origin, now_ns)
        if known is None or not self._addresses.revive(job.host_id, now_ns):
            return False
        self._table.delay(job.host_id, known.until_ns)
        self._frontier.note_host(self._record(job.host, known), is_urgent=False)
        return True

    # --- robots.txt ----------------------------------------------------------------------------

    def rules_failed(self, origin: bytes, host: bytes, now_ns: int) -> None:
        """A host's robots.txt cannot be read: delay it, unless it is delayed for that already."""
        known = self._backoff.get(host)
        if known is None or known.until_ns <= now_ns:
            self.failed(self._table.find(host), host, Trouble.RULES, now_ns, origin=origin)

    def rules_known(self, host: bytes, crawl_delay_s: float, took_ns: int, now_ns: int) -> None:
        """A host's robots.txt is read: what it says of our pace, within the limit we have.

        Args:
            took_ns: how long the request took.
        """
        host_id = self._table.find(host)
        known = self._backoff.get(host)
        pause_ns = known.until_ns - now_ns if known and not known.is_dead else 0
        self.answered(host_id, host, took_ns, now_ns)
        if pause_ns > 0:  # the answer came with a Retry-After
            self._pause(host_id, host, pause_ns / 1e9, now_ns)
        if crawl_delay_s > self._max_delay_s:
            self._remarks.shortened(host, crawl_delay_s, self._max_delay_s)
        self._table.set_wait(host_id, round(min(crawl_delay_s, self._max_delay_s) * 1e9))

    # --- table and log -------------------------------------------------------------------------

    def _tell(self, host_id: int, host: bytes, known: HostTrouble, trouble: Trouble) -> None:
        self._apply(host_id, known, trouble)
        if trouble is Trouble.NONE and known.slow_ns:
            return
        is_urgent = known.until_ns - self._clock.now_ns() >= _RECORDED_NS
        self._frontier.note_host(self._record(host, known), is_urgent=is_urgent)

    def _apply(self, host_id: int, known: HostTrouble, trouble: Trouble) -> None:
        if known.is_dead and trouble is not Trouble.NONE:
            self._given_up(host_id)
            self._addresses.give_up(host_id, _outcome_of(trouble), known.until_ns)
        elif known.until_ns:
            self._table.delay(host_id, known.until_ns)

    def _record(self, host: bytes, known: HostTrouble) -> HostState:
        now_ns, wall_us = self._clock.now_ns(), self._clock.wall_us()

        def moment_us(ns: int) -> int:
            return max(wall_us + (ns - now_ns) // 1000, 0) if ns else 0

        state = HostState(host, moment_us(known.until_ns), known.level, known.points)
        if closed := known.closed:
            state.closed = {origin: int(trouble) for origin, trouble in closed.origins.items()}
            state.closed_until_us = moment_us(closed.until_ns)
            state.asked_until_us = moment_us(known.asked_until_ns)
        return state


def _outcome_of(trouble: Trouble) -> Outcome:
    """Of the URLs that are not asked for because of it."""
    return _OUTCOMES.get(trouble, Outcome.NO_CONNECTION)
