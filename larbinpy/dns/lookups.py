"""The names that a shard is asking for, each once at a time.

A lookup that nobody answered is repeated before its host fails, and as often as it takes while our
own line is not fine.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

from larbinpy.politeness.outage import State

if TYPE_CHECKING:
    from larbinpy.dns.base import Answer, Resolver
    from larbinpy.politeness.outage import Line

ASKED_MAX: Final = 2000
"""Most names asked for at a time; the resolver has its own, smaller number of places."""
MAX_LOOKUPS: Final = 3
"""Lookups without an answer after which a host has no address."""


class Found(NamedTuple):
    """What came of a lookup."""

    host_id: int
    is_known: bool
    """The host has had an address all the time."""
    answer: Answer


class _Again(NamedTuple):
    """A lookup that is to be repeated."""

    due_ns: int
    host: bytes
    host_id: int
    is_known: bool


class Lookups:
    """Lookups under way, and those that are to be repeated.

    Args of ``__init__``:
        line: is told of silence, and says when it is our own.
    """

    __slots__ = ("_again", "_asked", "_line", "_resolver", "_silences")

    def __init__(self, resolver: Resolver, line: Line) -> None:
        self._resolver = resolver
        self._line = line
        self._asked: dict[bytes, tuple[int, bool]] = {}  # name -> host, has it an address now
        self._again: list[_Again] = []
        self._silences: dict[bytes, int] = {}

    @property
    def room(self) -> int:
        """Names that may be asked for now."""
        return max(ASKED_MAX - len(self._asked), 0)

    def ask(self, host_id: int, host: bytes, *, is_known: bool = False) -> None:
        """Ask for a host; one that has lost its address meanwhile waits for the same answer."""
        asked = self._asked.get(host)
        if asked is None:
            self._asked[host] = (host_id, is_known)
            self._resolver.submit(host)
        elif asked[1] and not is_known:
            self._asked[host] = (host_id, False)

    def ask_further(self, host_id: int, host: bytes) -> None:
        """Ask for addresses of the other family, unless the host is being asked for."""
        if host not in self._asked and self.room:
            self._asked[host] = (host_id, True)
            self._resolver.submit_further(host)

    def found(self, now_ns: int) -> list[Found]:
        """The answers that have come; lookups that are to be repeated go on."""
        while self._again and self._again[0].due_ns <= now_ns:
            again = heapq.heappop(self._again)
            self.ask(again.host_id, again.host, is_known=again.is_known)
        found = []
        for answer in self._resolver.answers():
            asked = self._asked.pop(answer.host, None)
            if asked is None:
                continue
            if answer.is_transient and self._is_repeated(answer, *asked, now_ns):
                continue
            self._silences.pop(answer.host, None)
            found.append(Found(*asked, answer))
        return found

    def _is_repeated(self, answer: Answer, host_id: int, is_known: bool, now_ns: int) -> bool:
        self._line.silent(b"name " + answer.host, now_ns)
        silences = self._silences.get(answer.host, 0) + 1
        if silences >= MAX_LOOKUPS and self._line.state is State.FINE:
            return False
        self._silences[answer.host] = silences
        heapq.heappush(self._again, _Again(answer.expires_ns, answer.host, host_id, is_known))
        return True

    def wait_s(self, now_ns: int) -> float:
        """Seconds until ``found`` must be called, whatever the sockets say; -1: no need."""
        wait_s = self._resolver.wait_s()
        if not self._again:
            return wait_s
        again_s = max(self._again[0].due_ns - now_ns, 0) / 1e9
        return again_s if wait_s < 0 else min(wait_s, again_s)
