"""The one place where it is decided how long a host that is in trouble is left alone.  Pure.

A host has *points* for what went wrong since it last answered well, and a *level* that doubles its
delay: 429, 503 and failures to connect raise it at once, pages that are broken or take too long
from the third in a row on.
Each good answer takes one level back, so a host is not run into the wall again at full speed.  A
host whose points reach ``DEAD_POINTS`` is given up for a time; then one request tries it again.
It is tried before when it has URLs of another origin (scheme, port) than the one that failed.

Only hosts in trouble cost memory (some 250 bytes, twice that when they are given up); the callers
bring time and chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from larbinpy.politeness.trouble import Trouble

if TYPE_CHECKING:
    from random import Random

DEAD_POINTS: Final = 8
MAX_POINTS: Final = 255
MAX_LEVEL: Final = 20
MIN_BASE_NS: Final = 100_000_000
MAX_DELAY_NS: Final = 600 * 10**9
WAITS: Final = 10
"""The first delay, in waits between two requests of a good host."""
JITTER: Final = 0.5
"""Hosts that got into trouble together do not come back together."""
BROKEN_IN_A_ROW: Final = 3
SLOW_NS: Final = 2 * 10**9
"""A response that takes longer is followed by as long a pause."""
GROWTH: Final = 1.5
MAX_SLOWNESS: Final = 4
MAX_REVIVALS: Final = 8
"""Origins (ports) of a host that may be tried, one after the other, when it seems dead."""
_OF_PAGES: Final = (Trouble.BROKEN, Trouble.SILENT)
"""Troubles that some pages may have alone."""
_OF_ORIGINS: Final = (Trouble.RULES, Trouble.UNREACHABLE, Trouble.INSECURE, Trouble.SILENT)
"""Troubles that one scheme or port may have alone; the others are those of a machine."""
_POINTS: Final = {
    Trouble.BROKEN: 1,
    Trouble.BUSY: 1,
    Trouble.RULES: 3,
    Trouble.UNREACHABLE: 3,
    Trouble.INSECURE: 3,
    Trouble.SILENT: 1,
}


@dataclass(slots=True)
class Closed:
    """Origins that were what their host was given up for.

    A site without TLS is not dead because of a link to https, nor because of a port where nobody
    listens.
    """

    origins: dict[bytes, Trouble]
    until_ns: int
    revivals: int = 0
    """How often another origin was a reason to try, while these are closed; in the log, how many
    are closed tells about that."""


@dataclass(slots=True)
class HostTrouble:
    """What is remembered of a host; kept in HOST records of the log.

    There may be millions, so what few have stands elsewhere.
    """

    until_ns: int = 0
    """Not to be asked before."""
    level: int = 0
    points: int = 0
    slow_ns: int = 0
    """How long its latest slow response took; not kept in the log."""
    closed: Closed | None = None
    asked_until_ns: int = field(default=0, compare=False)
    """Until when its latest Retry-After wants it left alone; where no origin is closed, the log has
    it as ``until_ns`` alone."""

    @property
    def is_dead(self) -> bool:
        """Whether it is given up until ``until_ns``."""
        return self.points >= DEAD_POINTS


class Backoff:
    """The hosts in trouble, by name.

    Args of ``__init__``:
        random: for the jitter.
        wait_ns: time between two requests of a good host.
        dead_ns: after this time a host that was given up is tried again (``deadHostRetry``).
    """

    __slots__ = ("_base_ns", "_dead_ns", "_max_ns", "_random", "troubles")

    def __init__(self, random: Random, *, wait_ns: int, dead_ns: int) -> None:
        self._random = random
        self.troubles: dict[bytes, HostTrouble] = {}
        """What is wrong, by host."""
        self.change(wait_ns=wait_ns, dead_ns=dead_ns)

    def change(self, *, wait_ns: int, dead_ns: int) -> None:
        """Other delays, from the next trouble on."""
        self._max_ns = max(MAX_DELAY_NS, wait_ns)
        self._base_ns = min(max(WAITS * wait_ns, MIN_BASE_NS), self._max_ns)
        self._dead_ns = dead_ns

    def __len__(self) -> int:
        return len(self.troubles)

    def get(self, host: bytes) -> HostTrouble | None:
        """What is wrong with a host; None = nothing."""
        return self.troubles.get(host)

    def restore(self, host: bytes, trouble: HostTrouble, now_ns: int) -> None:
        """Take over what the log says; a wall clock that jumped cannot delay for ever."""
        latest_ns = now_ns + max(self._dead_ns, self._max_ns) * 3 // 2
        trouble.until_ns = min(trouble.until_ns, latest_ns)
        trouble.asked_until_ns = min(trouble.asked_until_ns, latest_ns)
        if closed := trouble.closed:
            closed.until_ns = min(closed.until_ns, latest_ns)
            closed.revivals = len(closed.origins) - 1
            if closed.until_ns <= now_ns:
                trouble.closed = None
        if trouble.points or trouble.level or trouble.until_ns > now_ns or trouble.closed:
            self.troubles[host] = trouble

    # --- what is heard of hosts ----------------------------------------------------------------

    def failed(
        self,
        host: bytes,
        trouble: Trouble,
        now_ns: int,
        *,
        asked_s: float = 0.0,
        origin: bytes = b"",
        is_repeated: bool = False,
    ) -> HostTrouble:
        """A request has failed.

        Args:
            trouble: not ``NONE``.
            asked_s: what Retry-After said, or 0.
            origin: scheme, host and port it was made for; empty: unknown.
            is_repeated: it failed before.  The troubles of a page count once: a few that never do
                well, tried three times each, are no dead host.

        Returns:
            What now holds of the host: delay it until ``until_ns``, give it up if ``is_dead``.
        """
        known = self.troubles.setdefault(host, HostTrouble())
        is_of_page = trouble in _OF_PAGES
        if not (is_of_page and is_repeated):
            known.points = min(known.points + _POINTS[trouble], MAX_POINTS)
            if not is_of_page or known.points >= BROKEN_IN_A_ROW:
                known.level = min(known.level + 1, MAX_LEVEL)
        delay_ns = self._delay_ns(known.level) if known.level else 0
        if known.is_dead:
            delay_ns = self._jittered(self._dead_ns)
        self._ask(known, asked_s, now_ns)
        known.until_ns = max(known.until_ns, now_ns + delay_ns)
        if known.is_dead and origin and trouble in _OF_ORIGINS:
            known.closed = known.closed or Closed({}, 0)
            known.closed.origins[origin] = trouble
            known.closed.until_ns = known.until_ns
        return known

    def closed(self, host: bytes, origin: bytes, now_ns: int) -> Trouble:
        """Why nothing is to be asked of an origin, when its host was given up for it."""
        known = self.troubles.get(host)
        if known is None or known.closed is None:
            return Trouble.NONE
        if known.closed.until_ns <= now_ns:
            known.closed = None
            return Trouble.NONE
        return known.closed.origins.get(origin, Trouble.NONE)

    def revive(self, host: bytes, origin: bytes, now_ns: int) -> HostTrouble | None:
        """A host that was given up for other origins has a URL of this one.

        Returns:
            What now holds of the host, which is to be tried not before ``until_ns``; None when it
            stays dead.
        """
        known = self.troubles.get(host)
        if known is None or self.closed(host, origin, now_ns) or known.closed is None:
            return None
        if known.is_dead:
            if known.closed.revivals >= MAX_REVIVALS:
                return None
            known.closed.revivals += 1
            known.points = known.level = 0
            known.until_ns = max(now_ns + self.base_ns(), known.asked_until_ns)
        return known

    def asked(self, host: bytes, asked_s: float, now_ns: int) -> HostTrouble:
        """A host that is well wants to be left alone for a time (Retry-After)."""
        known = self.troubles.setdefault(host, HostTrouble())
        self._ask(known, asked_s, now_ns)
        return known

    def answered(self, host: bytes, duration_ns: int, now_ns: int) -> HostTrouble | None:
        """A host has answered well.

        Returns:
            What now holds of a host that was or is in trouble, level and points 0 when that is
            over; None for all others.

        Cost: a look into a dict for a host that is well.
        """
        known = self.troubles.get(host)
        if known is None:
            if duration_ns < SLOW_NS:
                return None
            known = self.troubles[host] = HostTrouble()
        if known.closed and not (known.points or known.level or duration_ns >= SLOW_NS):
            return None  # all is as it was
        known.points = 0
        known.level = max(known.level - 1, 0)
        pause_ns = self._delay_ns(known.level) if known.level else 0
        known.until_ns = now_ns + max(pause_ns, self._slowness_ns(known, duration_ns))
        if known.until_ns == now_ns:
            known.until_ns = 0
            if not known.closed:
                del self.troubles[host]
        return known

    def forgive(self, host: bytes) -> HostTrouble | None:
        """Forget a host's troubles: they were our own."""
        if self.troubles.pop(host, None) is None:
            return None
        return HostTrouble()

    # --- how long -------------------------------------------------------------------------------

    def _ask(self, known: HostTrouble, asked_s: float, now_ns: int) -> None:
        """Whoever wants to be left alone for longer than a dead host is as good as dead."""
        asked_ns = min(round(asked_s * 1e9), max(self._dead_ns, self._max_ns))
        known.asked_until_ns = max(known.asked_until_ns, now_ns + asked_ns)
        known.until_ns = max(known.until_ns, known.asked_until_ns)

    def _slowness_ns(self, known: HostTrouble, duration_ns: int) -> int:
        """A slow host is asked for half of the time at most, for less while it gets slower."""
        before_ns, known.slow_ns = known.slow_ns, 0
        if duration_ns < SLOW_NS:
            return 0
        known.slow_ns = duration_ns
        factor = MAX_SLOWNESS if before_ns and duration_ns > GROWTH * before_ns else 1
        return min(duration_ns * factor, self._max_ns)

    def base_ns(self) -> int:
        """The first delay, also of a URL that failed alone; with jitter."""
        return self._jittered(self._base_ns)

    def _delay_ns(self, level: int) -> int:
        return self._jittered(min(self._base_ns << (level - 1), self._max_ns))

    def _jittered(self, span_ns: int) -> int:
        return round(span_ns * (1 + JITTER * self._random.random()))
