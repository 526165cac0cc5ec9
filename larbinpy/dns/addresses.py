"""Addresses for the hosts of a shard: asks the resolver, tells the host table.

A host that has no address, or that cannot be reached, fails: its URLs are handed out at once with
the outcome instead of being fetched, the first one under the outcome itself, the others under
larbin's ``fast`` one.  After a while it may try again.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from larbinpy.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.base import Answer, Resolver

ASKED_MAX: Final = 2000
"""Most names asked for at a time; the resolver has its own, smaller number of places."""
DEAD_AFTER: Final = 3
"""Failures to connect in a row after which a host counts as dead."""
DEAD_NS: Final = 24 * 3600 * 10**9
_FAST: Final = {
    Outcome.NO_DNS: Outcome.FAST_NO_DNS,
    Outcome.NO_CONNECTION: Outcome.FAST_NO_CONN,
}


class Addresses:
    """Keeps every host with URLs supplied with an address.

    Args of ``__init__``:
        is_allowed: whether an address may be asked at all.
    """

    __slots__ = (
        "_asked", "_hosts", "_ipv4", "_ipv6", "_is_allowed", "_resolver", "_strikes", "_told",
        "answered",
    )  # fmt: skip

    def __init__(
        self, hosts: HostTable, resolver: Resolver, *, is_allowed: Callable[[bytes], bool]
    ) -> None:
        self._hosts = hosts
        self._resolver = resolver
        self._is_allowed = is_allowed
        self._asked: dict[bytes, int] = {}
        self._strikes: dict[int, int] = {}
        self._told: set[int] = set()
        self._ipv4 = array("I")
        self._ipv6: dict[int, bytes] = {}
        self.answered = 0
        """Hosts that have got an address."""

    def turn(self, now_ns: int) -> None:
        """Ask for the addresses that are needed, and hand out those that have come."""
        for host_id, host in self._hosts.unresolved(ASKED_MAX - len(self._asked)):
            self._asked[host] = host_id
            self._resolver.submit(host)
        for answer in self._resolver.answers():
            self._take(self._asked.pop(answer.host), answer, now_ns)

    def wait_s(self) -> float:
        """Seconds until ``turn`` must be called, whatever the sockets say; -1: no need."""
        return self._resolver.wait_s()

    def ip(self, host_id: int) -> bytes:
        """The address of a host that has one."""
        known = self._ipv4[host_id] if host_id < len(self._ipv4) else 0
        return known.to_bytes(4, "big") if known else self._ipv6.get(host_id, b"")

    def noted(self, host_id: int, is_unreachable: bool, now_ns: int) -> None:
        """A request has ended: count failures to connect, and give a dead host up."""
        if not is_unreachable:
            self._strikes.pop(host_id, None)
            return
        strikes = self._strikes.get(host_id, 0) + 1
        self._strikes[host_id] = strikes
        if strikes >= DEAD_AFTER:
            del self._strikes[host_id]
            self._told.add(host_id)
            self._hosts.failed(host_id, Outcome.NO_CONNECTION, now_ns + DEAD_NS)

    def outcome(self, host_id: int, code: int) -> Outcome:
        """The outcome of a URL whose host has failed with ``code``."""
        outcome = Outcome(code)
        if host_id in self._told:
            return _FAST.get(outcome, outcome)
        self._told.add(host_id)
        return outcome

    def _keep(self, host_id: int, ip: bytes) -> None:
        """Note an address: 4 bytes a host, but for the few that have IPv6 only."""
        if len(ip) == 4:
            if host_id >= len(self._ipv4):
                self._ipv4.extend([0] * (host_id + 1024 - len(self._ipv4)))
            self._ipv4[host_id] = int.from_bytes(ip, "big")
            return
        self._ipv6[host_id] = ip
        if host_id < len(self._ipv4):
            self._ipv4[host_id] = 0

    def _take(self, host_id: int, answer: Answer, now_ns: int) -> None:
        allowed = [ip for ip in answer.ips if self._is_allowed(ip)]
        if allowed:
            self.answered += 1
            self._keep(host_id, allowed[0])
            self._hosts.resolved(host_id, allowed[0], now_ns)
            return
        code = Outcome.FORBIDDEN_ADDRESS if answer.ips else Outcome.NO_DNS
        self._told.discard(host_id)
        self._hosts.failed(host_id, code, answer.expires_ns)
