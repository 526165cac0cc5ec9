"""Addresses for the hosts of a shard: asks the resolver, tells the host table.

A host that has no address, or that is given up, fails: its URLs are handed out at once with the
outcome instead of being fetched, the first one under the outcome itself, the others under larbin's
``fast`` one.  After a while it may try again.

A lookup that nobody answered is repeated before the host fails, and as often as it takes while our
own line is not fine.
"""

from __future__ import annotations

import heapq
from array import array
from typing import TYPE_CHECKING, Final

from larbinpy._native.hosts import NEW
from larbinpy.politeness.outage import State
from larbinpy.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.base import Answer, Resolver
    from larbinpy.politeness.outage import Line

ASKED_MAX: Final = 2000
"""Most names asked for at a time; the resolver has its own, smaller number of places."""
MAX_LOOKUPS: Final = 3
"""Lookups without an answer after which a host has no address."""
FAILED_NS: Final = 60 * 10**9
SECOND_NS: Final = 10**9
_FAST: Final = {
    Outcome.NO_DNS: Outcome.FAST_NO_DNS,
    Outcome.NO_CONNECTION: Outcome.FAST_NO_CONN,
}


class Addresses:
    """Keeps every host with URLs supplied with an address.

    Args of ``__init__``:
        is_allowed: whether an address may be asked at all.
        line: is told of silence, and says when it is our own.
        not_before_ns: no host is asked before; after a restart any may have been asked just now.
    """

    __slots__ = (
        "_again", "_asked", "_expires_s", "_hosts", "_ipv4", "_ipv6", "_is_allowed", "_line",
        "_lookups", "_not_before_ns", "_resolver", "_told", "answered",
    )  # fmt: skip

    def __init__(
        self,
        hosts: HostTable,
        resolver: Resolver,
        *,
        is_allowed: Callable[[bytes], bool],
        line: Line,
        not_before_ns: int = 0,
    ) -> None:
        self._hosts = hosts
        self._resolver = resolver
        self._is_allowed = is_allowed
        self._line = line
        self._not_before_ns = not_before_ns
        self._asked: dict[bytes, int] = {}
        self._again: list[tuple[int, bytes, int]] = []
        self._lookups: dict[bytes, int] = {}
        self._told: set[int] = set()
        self._ipv4 = array("I")
        self._expires_s = array("I")
        self._ipv6: dict[int, bytes] = {}
        self.answered = 0
        """Hosts that have got an address."""

    def turn(self, now_ns: int) -> None:
        """Ask for the addresses that are needed, and hand out those that have come."""
        for host_id, host in self._hosts.unresolved(ASKED_MAX - len(self._asked)):
            self._ask(host_id, host)
        while self._again and self._again[0][0] <= now_ns:
            _, host, host_id = heapq.heappop(self._again)
            self._ask(host_id, host)
        for answer in self._resolver.answers():
            self._take(self._asked.pop(answer.host), answer, now_ns)

    def _ask(self, host_id: int, host: bytes) -> None:
        if host not in self._asked:
            self._asked[host] = host_id
            self._resolver.submit(host)

    def want(self, host: bytes) -> int:
        """The number of a host that is to get an address although it may have no URLs."""
        host_id = self._hosts.add(host)
        if self._hosts.state_of(host_id) == NEW:
            self._ask(host_id, host)
        return host_id

    def renew(self, host_id: int, host: bytes, now_ns: int) -> None:
        """Ask again for the address of a host when what is known has run out."""
        known = self._expires_s[host_id] if host_id < len(self._expires_s) else 0
        if known and known * SECOND_NS <= now_ns:
            self._expires_s[host_id] = 0
            self._ask(host_id, host)

    def wait_s(self, now_ns: int) -> float:
        """Seconds until ``turn`` must be called, whatever the sockets say; -1: no need."""
        wait_s = self._resolver.wait_s()
        if not self._again:
            return wait_s
        again_s = max(self._again[0][0] - now_ns, 0) / SECOND_NS
        return again_s if wait_s < 0 else min(wait_s, again_s)

    def ip(self, host_id: int) -> bytes:
        """The address of a host that has one."""
        known = self._ipv4[host_id] if host_id < len(self._ipv4) else 0
        return known.to_bytes(4, "big") if known else self._ipv6.get(host_id, b"")

    def give_up(self, host_id: int, outcome: Outcome, until_ns: int) -> None:
        """A host does not do what it should: its URLs end with ``outcome`` for a time."""
        if outcome in _FAST:
            self._told.add(host_id)
        self._hosts.failed(host_id, outcome, until_ns)

    def outcome(self, host_id: int, code: int) -> Outcome:
        """The outcome of a URL whose host has failed with ``code``."""
        outcome = Outcome(code)
        if host_id in self._told:
            return _FAST.get(outcome, outcome)
        self._told.add(host_id)
        return outcome

    def _keep(self, host_id: int, ip: bytes, expires_ns: int) -> None:
        """Note an address: 8 bytes a host, but for the few that have IPv6 only."""
        if host_id >= len(self._ipv4):
            more = [0] * (host_id + 1024 - len(self._ipv4))
            self._ipv4.extend(more)
            self._expires_s.extend(more)
        self._expires_s[host_id] = min(expires_ns // SECOND_NS, (1 << 32) - 1)
        if len(ip) == 4:
            self._ipv4[host_id] = int.from_bytes(ip, "big")
        else:
            self._ipv4[host_id] = 0
            self._ipv6[host_id] = ip

    def _take(self, host_id: int, answer: Answer, now_ns: int) -> None:
        if answer.is_transient and self._is_repeated(host_id, answer, now_ns):
            return
        self._lookups.pop(answer.host, None)
        known = self.ip(host_id)
        if known and answer.is_transient:
            self._keep(host_id, known, now_ns + FAILED_NS)
            return
        allowed = [ip for ip in answer.ips if self._is_allowed(ip)]
        if allowed:
            self.answered += not known
            self._keep(host_id, allowed[0], answer.expires_ns)
            self._hosts.resolved(host_id, allowed[0], now_ns, not_before_ns=self._not_before_ns)
            return
        code = Outcome.FORBIDDEN_ADDRESS if answer.ips else Outcome.NO_DNS
        self._told.discard(host_id)
        self._hosts.failed(host_id, code, max(answer.expires_ns, now_ns + FAILED_NS))

    def _is_repeated(self, host_id: int, answer: Answer, now_ns: int) -> bool:
        """Whether a lookup that had no answer is made again before the host fails."""
        self._line.silent(b"name " + answer.host, now_ns)
        lookups = self._lookups.get(answer.host, 0) + 1
        if lookups >= MAX_LOOKUPS and self._line.state is State.FINE:
            return False
        self._lookups[answer.host] = lookups
        heapq.heappush(self._again, (answer.expires_ns, answer.host, host_id))
        return True
