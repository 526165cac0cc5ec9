"""Are names silent, or the name servers?  Pure: the caller brings the time.

A name that nobody answers for may be dead; when no name server has said anything since it was asked
for, the servers may be.  Then it is *held*, and at growing intervals, until there is an answer,
whatever it is, three names are asked for: the held one itself, one below its top level, and one
below a name that had an address before (a *friend*), if there is any.  The latter two are new names
each time, or a cache on the way could answer.

An answer to the first of these tells that the held names are silent for reasons of their own.  The
first answer of all, and one after an outage, tells nothing of them: they are asked for again.
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
"""Probes in vain before it is an outage, which the operator is told: a lost answer or two are no
news."""
_NEVER_NS: Final = -1


class NameServers:
    """What is believed of the name servers."""

    __slots__ = ("_friends", "_heard_ns", "_probe_ns", "probes")

    def __init__(self) -> None:
        self._friends: deque[bytes] = deque(maxlen=FRIENDS)
        self._heard_ns = _NEVER_NS
        self._probe_ns = 0
        self.probes = 0
        """Since a server was heard."""

    @property
    def is_outage(self) -> bool:
        """Whether so many probes were in vain that the operator was told."""
        return self.probes > SAID_AFTER

    @property
    def is_outage_news(self) -> bool:
        """Whether the latest probe is the one after which an outage is to be told."""
        return self.probes == SAID_AFTER + 1

    def heard(self, now_ns: int, name: bytes = b"") -> bool:
        """A server has said something; true when the names that are held had no chance before.

        Args:
            name: what it knew addresses of; empty: it knew none.
        """
        if name and len(name) <= LONGEST_FRIEND and name not in self._friends:
            self._friends.append(name)
        is_theirs = self.is_outage or self._heard_ns == _NEVER_NS
        self._heard_ns, self._probe_ns, self.probes = now_ns, 0, 0
        return is_theirs

    def is_doubtful(self, begun_ns: int) -> bool:
        """Whether a lookup, begun then, may be without an answer because of the servers."""
        return self._heard_ns < begun_ns

    def is_due(self, now_ns: int) -> bool:
        """Whether it is time for a probe."""
        return now_ns >= self._probe_ns

    def probe(self, held: bytes, now_ns: int) -> list[bytes]:
        """The names to be asked for now, for the sake of a held one."""
        self._probe_ns = now_ns + min(FIRST_PROBE_NS << min(self.probes, 16), LAST_PROBE_NS)
        self.probes += 1
        self._friends.rotate(1)
        zones = [held.rpartition(b".")[2], *list(self._friends)[:1]]
        return [held, *(b"%x.%b" % (now_ns, zone) for zone in zones)]
