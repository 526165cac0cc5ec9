"""Is it them or us?  Tells an outage of our own line from hosts that are dead.  Pure.

When many addresses are silent and nobody else is heard, the line is *suspect*: nothing new is
asked, and failures are held back.  Somebody who answered before is asked again (a *friend*): an
answer clears the line and the failures count; silence means that the line is *down*, the failures
are nobody's, and friends are asked at growing intervals until one is heard.  Silence lasts as long
as a timeout, so several of them are asked meanwhile; those count as one.

A crawl that was never answered has no friends.  When it finds no way out of this machine, not even
to its proxy, the line is down all the same, and ordinary requests, a few at growing intervals, find
out when it is back.  Otherwise more silence is needed, some ordinary requests take the friends'
place, and after these the silence is taken for theirs.
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
"""Probes of a crawl without friends that found a way out, after which it believes that the hosts
are dead."""


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
        "_failed_ns", "_is_known", "_left_ns", "_random", "_rounds", "_silent", "_strangers",
        "_trusted_ns", "_unsent", "probe_ns", "since_ns", "state", "was_down",
    )  # fmt: skip

    def __init__(self, random: Random) -> None:
        self._random = random
        self._silent: OrderedDict[bytes, int] = OrderedDict()
        self._unsent: set[bytes] = set()
        """Those among the silent to which there is no way."""
        self._is_known = False
        self._strangers = self._rounds = 0
        self._failed_ns = self._left_ns = self._trusted_ns = 0
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
            self._forget()
        if self.state is State.FINE:
            return False
        self._clear(now_ns)
        return True

    def silent(self, address: bytes, now_ns: int, *, is_unsent: bool = False) -> bool:
        """An address did not answer; true when the line becomes suspect by it, or is down.

        Args:
            is_unsent: the request found no way out.
        """
        self._note(address, now_ns, is_unsent=is_unsent)
        if self.state is not State.FINE or now_ns < self._trusted_ns:
            return False
        is_lost = len(self._unsent) >= SILENT and not self._is_known
        if not is_lost and len(self._silent) < (SILENT if self._is_known else SILENT_ALONE):
            return False
        self.state = State.DOWN if is_lost else State.SUSPECT
        self._strangers = self._rounds = 0
        self.since_ns = next(iter(self._silent.values()))
        self.probe_ns = self._left_ns = now_ns
        return True

    def _note(self, address: bytes, now_ns: int, *, is_unsent: bool) -> None:
        self._silent.pop(address, None)
        self._silent[address] = now_ns
        self._unsent.discard(address)
        if is_unsent:
            self._unsent.add(address)
        while next(iter(self._silent.values())) < now_ns - WINDOW_NS:
            old, _ = self._silent.popitem(last=False)
            self._unsent.discard(old)

    def probed(
        self, begun_ns: int, now_ns: int, *, is_friend: bool, is_unsent: bool = False
    ) -> bool:
        """A probe was not answered; true when that settles what was suspected.

        Args:
            begun_ns: when it was sent.
            is_friend: it was asked of somebody who has answered before.
            is_unsent: it found no way out.

        Then ``state`` is DOWN, or FINE when it must be theirs.
        """
        is_proof = is_friend or (is_unsent and not self._is_known)
        if not is_proof:
            self._strangers += begun_ns >= self._left_ns
            if self._strangers >= STRANGERS:
                self._clear(now_ns)
                return True
        if begun_ns >= self._failed_ns:
            self._failed_ns = now_ns
            self._rounds += 1
            span_ns = min(FIRST_PROBE_NS << min(self._rounds - 1, 16), LAST_PROBE_NS)
            self.probe_ns = now_ns + round(span_ns * (1 + self._random.random() / 2))
        is_news = self.state is State.SUSPECT and is_proof
        if is_news:
            self.state = State.DOWN
        return is_news

    def _clear(self, now_ns: int) -> None:
        self.was_down = self.state is State.DOWN
        if not (self.was_down and self._is_known):
            self._trusted_ns = now_ns + TRUST_NS
        self.state = State.FINE
        self._forget()

    def _forget(self) -> None:
        self._silent.clear()
        self._unsent.clear()
