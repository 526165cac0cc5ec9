"""Are names silent, or the name servers?  Pure: the caller brings the time.

A name that nobody answers for may be dead; when no name server has said anything since it was asked
for, the servers may be.  Then a name below one that had an address before (a *friend*) is asked
for, at growing intervals until there is an answer, whatever it is; lookups that came to nothing
meanwhile are held.  It is a new name each time, or a cache on the way could answer.
A resolver that never had an answer has no friends, and believes that the names are dead.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from larbinpy.dns.cache import SECOND_NS

FRIENDS: Final = 8
FIRST_PROBE_NS: Final = SECOND_NS
LAST_PROBE_NS: Final = 60 * SECOND_NS
LONGEST_FRIEND: Final = 200
"""Bytes; a name below it must be a name."""
SAID_AFTER: Final = 3
"""Probes in vain before the operator is told: a lost answer or two are no news."""


class NameServers:
    """What is believed of the name servers."""

    __slots__ = ("_friends", "_heard_ns", "_probe_ns", "_probes")

    def __init__(self) -> None:
        self._friends: deque[bytes] = deque(maxlen=FRIENDS)
        self._heard_ns = 0
        self._probe_ns = 0
        self._probes = 0

    @property
    def is_silence_news(self) -> bool:
        """Whether the latest probe is the one after which an outage is to be told."""
        return self._probes == SAID_AFTER + 1

    def heard(self, now_ns: int, name: bytes = b"") -> bool:
        """A server has said something; true when that ends an outage that was told.

        Args:
            name: what it knew addresses of; empty: it knew none.
        """
        if name and len(name) <= LONGEST_FRIEND and name not in self._friends:
            self._friends.append(name)
        self._heard_ns, self._probe_ns = now_ns, 0
        was_told = self._probes > SAID_AFTER
        self._probes = 0
        return was_told

    def is_doubtful(self, begun_ns: int) -> bool:
        """Whether a lookup, begun then, may be without an answer because of the servers."""
        return bool(self._friends) and self._heard_ns < begun_ns

    def probe(self, now_ns: int) -> bytes | None:
        """The name to be asked for now; None: not yet."""
        if now_ns < self._probe_ns or not self._friends:
            return None
        self._probe_ns = now_ns + min(FIRST_PROBE_NS << min(self._probes, 16), LAST_PROBE_NS)
        self._probes += 1
        self._friends.rotate(1)
        return b"%x.%b" % (now_ns, self._friends[0])
