"""Is it them or us?  Tells an outage of our own line from hosts that are dead.  Pure.

When many addresses are silent and nobody else is heard, the line is *suspect*: nothing new is
asked, and failures are held back.  Somebody who answered before is asked again (a *friend*): an
answer clears the line and the failures count; silence means that the line is *down*, the failures
are nobody's, and friends are asked at growing intervals until one is heard.  Silence lasts as long
as a timeout, so several of them are asked meanwhile; those count as one.

A crawl that was never answered has no friends; then more silence is needed, some ordinary requests
take the friends' place, and after these the silence is taken for theirs.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

SILENT: Final = 8
"""Addresses that must be silent, none heard between them, before the line is suspect."""
SILENT_ALONE: Final = 50
"""The same for a crawl that was never answered."""
WINDOW_NS: Final = 60 * 10**9
"""Silence that lies back longer says nothing about the line."""
TRUST_NS: Final = 60 * 10**9
"""A line that was cleared is not suspected again before this."""
FIRST_PROBE_NS: Final = 10**9
LAST_PROBE_NS: Final = 60 * 10**9
STRANGERS: Final = 5
"""Probes of a crawl without friends, after which it believes that the hosts are dead."""


class State(IntEnum):
    """What is believed of our line."""

    FINE = 0
    SUSPECT = 1
    DOWN = 2


class Line:
    """Our way to the web.

    Args of ``__init__``:
        random: for the jitter of the probes.
    """

    __slots__ = (
        "_failed_ns", "_is_known", "_probes", "_random", "_rounds", "_silent", "_trusted_ns",
        "probe_ns", "since_ns", "state", "was_down",
    )  # fmt: skip

    def __init__(self, random: Random) -> None:
        self._random = random
        self._silent: OrderedDict[bytes, int] = OrderedDict()
        self._is_known = False
        self._probes = self._rounds = 0
        self._failed_ns = self._trusted_ns = 0
        self.state = State.FINE
        self.was_down = False
        """Whether what ended last was an outage, not just a suspicion."""
        self.since_ns = 0
        """When the latest suspicion or outage began."""
        self.probe_ns = 0
        """When the next probe is due, while the line is not fine."""

    def heard(self, now_ns: int) -> bool:
        """Somebody has answered; true when that ends a suspicion or an outage."""
        self._is_known = True
        if self._silent:
            self._silent.clear()
        if self.state is State.FINE:
            return False
        self._clear(now_ns)
        return True

    def silent(self, address: bytes, now_ns: int) -> bool:
        """An address did not answer; true when the line becomes suspect by it."""
        self._silent.pop(address, None)
        self._silent[address] = now_ns
        while next(iter(self._silent.values())) < now_ns - WINDOW_NS:
            self._silent.popitem(last=False)
        if self.state is not State.FINE or now_ns < self._trusted_ns:
            return False
        if len(self._silent) < (SILENT if self._is_known else SILENT_ALONE):
            return False
        self.state = State.SUSPECT
        self._probes = self._rounds = 0
        self.since_ns = next(iter(self._silent.values()))
        self.probe_ns = now_ns
        return True

    def probed(self, begun_ns: int, now_ns: int, *, is_friend: bool) -> bool:
        """A probe was not answered; true when that settles what was suspected.

        Args:
            begun_ns: when it was sent.
            is_friend: it was asked of somebody who has answered before.

        Then ``state`` is DOWN, or FINE when it must be theirs.
        """
        self._probes += 1
        if not is_friend and self.state is State.SUSPECT and self._probes >= STRANGERS:
            self._clear(now_ns)
            return True
        if begun_ns >= self._failed_ns:
            self._failed_ns = now_ns
            self._rounds += 1
            span_ns = min(FIRST_PROBE_NS << min(self._rounds - 1, 16), LAST_PROBE_NS)
            self.probe_ns = now_ns + round(span_ns * (1 + self._random.random() / 2))
        is_news = self.state is State.SUSPECT and is_friend
        if is_news:
            self.state = State.DOWN
        return is_news

    def _clear(self, now_ns: int) -> None:
        self.was_down = self.state is State.DOWN
        if not self.was_down:
            self._trusted_ns = now_ns + TRUST_NS
        self.state = State.FINE
        self._silent.clear()
