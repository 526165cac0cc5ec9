"""What a shard does when nobody answers: whose fault it is, and what is held until that is known.

The decision is ``politeness.outage``'s; here are the requests that it is about: those who answered
lately (friends) and who may be asked again, results that wait, and what was charged meanwhile.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from larbinpy.politeness.outage import State
from larbinpy.records import ID_WITHOUT_ENQ, FetchJob, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy.politeness.outage import Line
    from larbinpy.records import FetchResult

FRIENDS: Final = 8
CHARGED: Final = 10_000
"""Tries in vain since somebody was heard, which are taken back when our line was down."""
TRIALS: Final = 8
"""Requests that find out, when nobody has answered yet, whether anybody can be reached: the hosts
of some may only have addresses of a family that this machine has not."""
_PROBE_AGAIN_NS: Final = 250_000_000
_TRIAL_AGAIN_NS: Final = 10 * 10**9
"""Trials may hang: others take their turn when those have failed, or after so long."""


class Charge(NamedTuple):
    """A try in vain that may have been our own fault."""

    page_id: int
    tries: int
    """Of the page with this one; 0 = only the host was charged."""
    host: bytes


class OwnLine:
    """Our own line to the web, as one shard sees it.

    Args of ``__init__``:
        line: decides.
        table: hands out the hosts of probes.
        say: tells the operator.
    """

    __slots__ = (
        "_charged", "_friends", "_held", "_is_friend_asked", "_line", "_ours", "_say",
        "_strangers", "_table", "_taken_back", "outages", "trials",
    )  # fmt: skip

    def __init__(self, line: Line, table: HostTable, say: Callable[[str], None]) -> None:
        self._line = line
        self._table = table
        self._say = say
        self._friends: deque[FetchJob] = deque(maxlen=FRIENDS)
        self._strangers: deque[FetchJob] = deque(maxlen=FRIENDS)
        self._is_friend_asked = False
        self._held: list[FetchResult] = []
        self._ours: list[FetchResult] = []
        self._charged: deque[Charge] = deque(maxlen=CHARGED)
        self._taken_back: list[Charge] = []
        self.trials = 0
        """Ordinary requests that may be made while the line is not fine."""
        self.outages = 0
        """In this run."""

    @property
    def is_fine(self) -> bool:
        """Whether requests may be made."""
        return self._line.state is State.FINE

    # --- who answers ---------------------------------------------------------------------------

    def heard(self, now_ns: int) -> None:
        """Somebody has answered, whatever it was."""
        if self._line.heard(now_ns):
            self._ended(now_ns)

    def _ended(self, now_ns: int) -> None:
        """Of a suspicion nothing is said; what was held in an outage was its fault."""
        if self._line.was_down:
            seconds = (now_ns - self._line.since_ns) / 1e9
            self._say(f"our own line is back after {seconds:.0f} s")
            self._ours += self._held
            self._held.clear()

    def befriend(self, jobs: list[FetchJob]) -> None:
        """These requests had answers: what was charged before is well charged."""
        self._friends.extend(jobs[-FRIENDS:])
        if self._charged:
            self._charged.clear()

    def unfriend(self, host_id: int) -> None:
        """A host is given up: it will not be asked."""
        for friend in [friend for friend in self._friends if friend.host_id == host_id]:
            self._friends.remove(friend)

    def silent(self, result: FetchResult, now_ns: int) -> None:
        """A request had no answer."""
        job = result.job
        if job.kind is Kind.RETRY or self._is_blind:
            begun_ns = now_ns - result.duration_us * 1000
            self._probe_failed(begun_ns, now_ns, is_unsent=result.is_unsent)
            return
        self._strangers.append(job)
        address = job.ip or job.host  # a proxy does not tell addresses
        is_news = self._line.silent(address, now_ns, is_unsent=result.is_unsent)
        if is_news and self._line.state is State.DOWN:
            self._began(f" ({result.reason})")

    @property
    def _is_blind(self) -> bool:
        """Whether the line is down, and nobody is known who could be asked when it is back."""
        return self._line.state is State.DOWN and not self._friends

    # --- what it costs -------------------------------------------------------------------------

    def charge(self, charge: Charge) -> None:
        """A host, or a page, is charged with a silence."""
        self._charged.append(charge)

    def taken_back(self) -> list[Charge]:
        """Charges that do not count, for our line was down."""
        taken, self._taken_back = self._taken_back, []
        return taken

    # --- results that wait ---------------------------------------------------------------------

    @property
    def held(self) -> int:
        """Results of queued URLs that wait until it is clear whose fault they are."""
        return sum(not r.job.id & ID_WITHOUT_ENQ for r in (*self._held, *self._ours))

    @property
    def has_held(self) -> bool:
        """Whether there are results that wait, of any kind."""
        return bool(self._held or self._ours)

    def hold(self, result: FetchResult) -> None:
        """Keep a result until it is clear whose fault it is."""
        self._held.append(result)

    def settled(self) -> list[FetchResult]:
        """Results that were held and that count."""
        if not self._held or not self.is_fine:
            return []
        held, self._held = self._held, []
        return held

    def excused(self) -> list[FetchResult]:
        """Results that were held and were our own fault."""
        if self._line.state is State.DOWN:
            self._ours += self._held
            self._held.clear()
        ours, self._ours = self._ours, []
        return ours

    # --- probes --------------------------------------------------------------------------------

    def probe(self, page_id: int, now_ns: int) -> FetchJob | None:
        """A request that finds out whether anybody can be reached, when one is due."""
        if self.is_fine or now_ns < self._line.probe_ns:
            return None
        self._line.probe_ns = now_ns + _PROBE_AGAIN_NS
        if self._is_blind:
            self._line.probe_ns = now_ns + _TRIAL_AGAIN_NS
            self._is_friend_asked = False
            self.trials = TRIALS
            return None
        self._is_friend_asked = bool(self._friends)
        known = self._friends or self._strangers
        for _ in range(len(known)):
            known.rotate(1)
            if self._table.visit(known[0].host_id, now_ns) == 0:
                return replace(known[0], id=page_id, kind=Kind.RETRY, attempt=0)
        if not self._friends:
            self._probe_failed(now_ns, now_ns, is_unsent=False)
        return None

    def probe_ns(self) -> int:
        """When the next probe is due; -1 while the line is fine."""
        return -1 if self.is_fine else self._line.probe_ns

    def _probe_failed(self, begun_ns: int, now_ns: int, *, is_unsent: bool) -> None:
        is_settled = self._line.probed(
            begun_ns, now_ns, is_friend=self._is_friend_asked, is_unsent=is_unsent
        )
        if is_settled and self.is_fine:
            self._ended(now_ns)
        elif is_settled:
            self._began()

    def _began(self, why: str = "") -> None:
        self.outages += 1
        self._say(f"nobody answers: our own line seems to be down{why}; waiting until it is back")
        self._taken_back += self._charged
        self._charged.clear()
        self.trials = 0
