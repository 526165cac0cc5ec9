"""Addresses for the hosts of a shard: asks the resolver, tells the host table.

A host that has no address, or that is given up, fails: its URLs are handed out at once with the
outcome instead of being fetched, the first one under the outcome itself, the others under larbin's
``fast`` one.  After a while it may try again.

A lookup that nobody answered is repeated before the host fails, and as often as it takes while our
own line is not fine.

An address is kept while its answer holds; then it is asked for again beside the next request, and
the host moves when the answer has changed.

Which addresses may be asked is decided about an answer (``_take``) and about each URL
(``permits``): a host that has private addresses alone gets its address like any other, but only
URLs that the operator gave, and then all URLs of that host, may use it.
"""

from __future__ import annotations

import heapq
from array import array
from typing import TYPE_CHECKING, Final

from larbinpy._native.hosts import FAILED, NEW
from larbinpy.dns.names import is_stand_in
from larbinpy.politeness.outage import State
from larbinpy.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.base import Answer, Resolver
    from larbinpy.dns.named import NamedHosts
    from larbinpy.politeness.outage import Line

ASKED_MAX: Final = 2000
"""Most names asked for at a time; the resolver has its own, smaller number of places."""
MAX_LOOKUPS: Final = 3
"""Lookups without an answer after which a host has no address."""
FAILED_NS: Final = 60 * 10**9
SECOND_NS: Final = 10**9
_NEVER_S: Final = (1 << 32) - 1
_FAST: Final = {
    Outcome.NO_DNS: Outcome.FAST_NO_DNS,
    Outcome.NO_CONNECTION: Outcome.FAST_NO_CONN,
}


class Addresses:
    """Keeps every host with URLs supplied with an address.

    Args of ``__init__``:
        is_askable: whether an address may be asked at all.
        is_allowed: whether an address may be asked for everybody's links.
        named: the hosts that may have any address that may be asked at all.
        line: is told of silence, and says when it is our own.
        not_before_ns: no host is asked before; after a restart any may have been asked just now.

    Memory: 8 bytes a host, more for the few that have several addresses or IPv6 alone.
    """

    __slots__ = (
        "_again", "_asked", "_expires_s", "_hosts", "_ipv4", "_is_allowed", "_is_askable", "_line",
        "_lookups", "_named", "_not_before_ns", "_others", "_private", "_rare", "_resolver",
        "_told", "answered",
    )  # fmt: skip

    def __init__(
        self,
        hosts: HostTable,
        resolver: Resolver,
        *,
        is_askable: Callable[[bytes], bool],
        is_allowed: Callable[[bytes], bool],
        named: NamedHosts,
        line: Line,
        not_before_ns: int = 0,
    ) -> None:
        self._hosts = hosts
        self._resolver = resolver
        self._is_askable = is_askable
        self._is_allowed = is_allowed
        self._named = named
        self._line = line
        self._not_before_ns = not_before_ns
        self._asked: dict[bytes, tuple[int, bool]] = {}  # name -> host, has it an address now
        self._again: list[tuple[int, bytes, int, bool]] = []
        self._lookups: dict[bytes, int] = {}
        self._told: set[int] = set()
        self._ipv4 = array("I")
        self._rare: dict[int, bytes] = {}
        self._expires_s = array("I")
        self._others: dict[int, tuple[bytes, ...]] = {}  # the addresses that come next
        self._private: set[int] = set()
        self.answered = 0
        """Hosts that have got an address."""

    def turn(self, now_ns: int) -> None:
        """Ask for the addresses that are needed, and hand out those that have come."""
        for host_id, host in self._hosts.unresolved(max(ASKED_MAX - len(self._asked), 0)):
            self._ask(host_id, host)
        while self._again and self._again[0][0] <= now_ns:
            _, host, host_id, is_known = heapq.heappop(self._again)
            self._ask(host_id, host, is_known=is_known)
        for answer in self._resolver.answers():
            asked = self._asked.pop(answer.host, None)
            if asked is not None:
                self._take(asked[0], answer, now_ns, is_known=asked[1])

    def _ask(self, host_id: int, host: bytes, *, is_known: bool = False) -> None:
        """Ask for a host; one that has lost its address meanwhile waits for the same answer."""
        asked = self._asked.get(host)
        if asked is None:
            self._asked[host] = (host_id, is_known)
            self._resolver.submit(host)
        elif asked[1] and not is_known:
            self._asked[host] = (host_id, False)

    def want(self, host: bytes) -> int:
        """The number of a host that is to get an address although it may have no URLs."""
        host_id = self._hosts.add(host)
        if self._hosts.state_of(host_id) == NEW:
            self._ask(host_id, host)
        return host_id

    def wait_s(self, now_ns: int) -> float:
        """Seconds until ``turn`` must be called, whatever the sockets say; -1: no need."""
        wait_s = self._resolver.wait_s()
        if not self._again:
            return wait_s
        again_s = max(self._again[0][0] - now_ns, 0) / SECOND_NS
        return again_s if wait_s < 0 else min(wait_s, again_s)

    def plain(self) -> tuple[array[int], array[int], set[int]]:
        """What most URLs need to know, as it is kept: IPv4 addresses by host (0: another one, or
        none), until when each holds (monotonic seconds), and hosts that only some URLs may use."""
        return self._ipv4, self._expires_s, self._private

    # --- about a URL -----------------------------------------------------------------------

    def ip(self, host_id: int) -> bytes:
        """The address of a host; empty when it has none, or when only a proxy knows it."""
        ip = self._ip(host_id)
        return b"" if is_stand_in(ip) else ip

    def permits(self, host_id: int, host: bytes, *, is_seed: bool) -> bool:
        """Whether a URL may use the address of its host.

        Args:
            is_seed: the operator gave this URL, and so names its host.
        """
        if host_id not in self._private:
            return True
        if not is_seed:
            return False
        self._private.discard(host_id)
        self._named.add(host_id)
        self._named.remember(host)
        return True

    def is_named(self, host_id: int, host: bytes) -> bool:
        """Whether the operator named a host."""
        return self._named.has(host_id, host)

    def name_all(self, hosts: Iterable[bytes]) -> None:
        """The operator has named these hosts."""
        for host in hosts:
            host_id = self._hosts.find(host)
            if host_id >= 0:
                self._named.add(host_id)
                self.permits(host_id, host, is_seed=True)

    def commit(self) -> None:
        """Keep which hosts the operator named.

        Raises:
            StorageError: the disk refused; a later call does it.
        """
        self._named.commit()

    def renew(self, host_id: int, host: bytes, now_ns: int) -> None:
        """Ask for an address again when its answer does not hold any more; until then it is used.

        Cost: one comparison.
        """
        if now_ns // SECOND_NS >= self._expires_s[host_id] and len(self._asked) < ASKED_MAX:
            self._expires_s[host_id] = _NEVER_S
            self._ask(host_id, host, is_known=True)

    # --- about a request -------------------------------------------------------------------

    def fails_over(self, host_id: int, now_ns: int) -> bool:
        """The address of a host could not be reached: go on to its next one.

        Returns:
            False when there is none; the request has failed.
        """
        others = self._others.pop(host_id, ())
        if not others:
            return False
        self._settle(host_id, others, now_ns)
        return True

    def look_further(self, host_id: int, host: bytes) -> None:
        """None of a host's addresses could be reached: it may have some of the other family."""
        if host not in self._asked and len(self._asked) < ASKED_MAX:
            self._asked[host] = (host_id, True)
            self._resolver.submit_further(host)

    def give_up(self, host_id: int, outcome: Outcome, until_ns: int) -> None:
        """A host does not do what it should: its URLs end with ``outcome`` for a time."""
        if outcome in _FAST:
            self._told.add(host_id)
        self._hosts.failed(host_id, outcome, until_ns)

    def revive(self, host_id: int, now_ns: int) -> bool:
        """A host that was given up is tried again before its time; whether it has an address."""
        ip = self._ip(host_id)
        if ip and self._hosts.state_of(host_id) == FAILED:
            self._hosts.revive(host_id, ip, now_ns)
        return bool(ip)

    def outcome(self, host_id: int, code: int) -> Outcome:
        """The outcome of a URL whose host has failed with ``code``."""
        outcome = Outcome(code)
        if host_id in self._told:
            return _FAST.get(outcome, outcome)
        self._told.add(host_id)
        return outcome

    # --- answers ---------------------------------------------------------------------------

    def _take(self, host_id: int, answer: Answer, now_ns: int, *, is_known: bool) -> None:
        """Give a host the addresses that it may have; a known one moves when they changed."""
        if answer.is_transient and self._is_repeated(host_id, answer, now_ns, is_known=is_known):
            return
        self._lookups.pop(answer.host, None)
        ips = self._allowed(host_id, answer)
        if not ips:
            self._take_failure(host_id, answer, now_ns, is_known=is_known)
            return
        current = self._ip(host_id)
        self.answered += not current
        self._expire(host_id, answer.expires_ns)
        if is_known and current in ips:
            self._set(host_id, (current, *(ip for ip in ips if ip != current)))
        else:
            self._settle(host_id, ips, now_ns)

    def _take_failure(self, host_id: int, answer: Answer, now_ns: int, *, is_known: bool) -> None:
        until_ns = max(answer.expires_ns, now_ns + FAILED_NS)
        if is_known and not answer.ips:  # an old address is better than none; if dead, it will show
            self._expire(host_id, until_ns)
            return
        self._told.discard(host_id)
        code = Outcome.FORBIDDEN_ADDRESS if answer.ips else Outcome.NO_DNS
        self._hosts.failed(host_id, code, until_ns)

    def _is_repeated(self, host_id: int, answer: Answer, now_ns: int, *, is_known: bool) -> bool:
        """Whether a lookup that had no answer is made again before the host fails."""
        self._line.silent(b"name " + answer.host, now_ns)
        lookups = self._lookups.get(answer.host, 0) + 1
        if lookups >= MAX_LOOKUPS and self._line.state is State.FINE:
            return False
        self._lookups[answer.host] = lookups
        heapq.heappush(self._again, (answer.expires_ns, answer.host, host_id, is_known))
        return True

    def _allowed(self, host_id: int, answer: Answer) -> tuple[bytes, ...]:
        """The addresses that may be asked; all of them, and a note, when none is for everybody."""
        ips = tuple(ip for ip in answer.ips if self._is_askable(ip))
        public = tuple(ip for ip in ips if self._is_allowed(ip))
        if answer.ips:
            self._private.discard(host_id)
        if len(public) == len(ips):
            return public
        if self._named.has(host_id, answer.host):
            self._named.remember(answer.host)
            return ips
        if not public:
            self._private.add(host_id)
        return public or ips

    # --- what is kept ----------------------------------------------------------------------

    def _ip(self, host_id: int) -> bytes:
        known = self._ipv4[host_id] if host_id < len(self._ipv4) else 0
        return known.to_bytes(4, "big") if known else self._rare.get(host_id, b"")

    def _settle(self, host_id: int, ips: tuple[bytes, ...], now_ns: int) -> None:
        """A host has got a new address, and others that come next."""
        self._set(host_id, ips)
        self._hosts.resolved(host_id, ips[0], now_ns, not_before_ns=self._not_before_ns)

    def _set(self, host_id: int, ips: tuple[bytes, ...]) -> None:
        """Note addresses, the one to be used first."""
        ip = ips[0]
        number = int.from_bytes(ip, "big") if len(ip) == 4 else 0
        self._ipv4[host_id] = number
        if not number:  # IPv6, or 0.0.0.0
            self._rare[host_id] = ip
        if len(ips) > 1:
            self._others[host_id] = ips[1:]
        else:
            self._others.pop(host_id, None)

    def _expire(self, host_id: int, expires_ns: int) -> None:
        """Note until when an answer holds."""
        if host_id >= len(self._ipv4):
            room = [0] * (host_id + 1024 - len(self._ipv4))
            self._ipv4.extend(room)
            self._expires_s.extend(room)
        self._expires_s[host_id] = min(expires_ns // SECOND_NS, _NEVER_S - 1)
