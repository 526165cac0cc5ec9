"""Addresses for the hosts of a shard: asks the resolver, tells the host table.

A host that has no address, or that cannot be reached, fails: its URLs are handed out at once with
the outcome instead of being fetched, the first one under the outcome itself, the others under
larbin's ``fast`` one.  After a while it may try again.

An address is kept while its answer holds; then it is asked for again beside the next request, and
the host moves when the answer has changed.

Which addresses may be asked is decided about an answer (``_take``) and about each URL
(``permits``): a host that has private addresses alone gets its address like any other, but only
URLs that the operator gave, and then all URLs of that host, may use it.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from larbinpy.dns.names import is_stand_in
from larbinpy.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.base import Answer, Resolver
    from larbinpy.dns.named import NamedHosts

ASKED_MAX: Final = 2000
"""Most names asked for at a time; the resolver has its own, smaller number of places."""
DEAD_AFTER: Final = 3
"""Failures to connect in a row after which a host counts as dead."""
DEAD_NS: Final = 24 * 3600 * 10**9
SECOND_NS: Final = 10**9
_FAST: Final = {
    Outcome.NO_DNS: Outcome.FAST_NO_DNS,
    Outcome.NO_CONNECTION: Outcome.FAST_NO_CONN,
}


class Addresses:
    """Keeps every host with URLs supplied with an address.

    Args of ``__init__``:
        is_allowed: whether an address may be asked for everybody's links.
        named: the hosts that may have any address.

    Memory: 8 bytes a host, more for the few that have several addresses or IPv6 alone.
    """

    __slots__ = (
        "_asked", "_expires_s", "_hosts", "_ipv4", "_is_allowed", "_named", "_others",
        "_private", "_rare", "_resolver", "_strikes", "_told", "answered",
    )  # fmt: skip

    def __init__(
        self,
        hosts: HostTable,
        resolver: Resolver,
        *,
        is_allowed: Callable[[bytes], bool],
        named: NamedHosts,
    ) -> None:
        self._hosts = hosts
        self._resolver = resolver
        self._is_allowed = is_allowed
        self._named = named
        self._asked: dict[bytes, tuple[int, bool]] = {}  # name -> host, has it an address now
        self._strikes: dict[int, int] = {}
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
        for host_id, host in self._hosts.unresolved(ASKED_MAX - len(self._asked)):
            self._asked[host] = (host_id, False)
            self._resolver.submit(host)
        for answer in self._resolver.answers():
            asked = self._asked.pop(answer.host, None)
            if asked is not None:
                self._take(asked[0], answer, now_ns, is_known=asked[1])

    def wait_s(self) -> float:
        """Seconds until ``turn`` must be called, whatever the sockets say; -1: no need."""
        return self._resolver.wait_s()

    # --- about a URL -----------------------------------------------------------------------

    def ip(self, host_id: int) -> bytes:
        """The address of a host; empty when only a proxy knows it."""
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
        self.name(host_id)
        self._named.remember(host)
        return True

    def is_named(self, host_id: int, host: bytes) -> bool:
        """Whether the operator named a host."""
        return self._named.has(host_id, host)

    def name(self, host_id: int) -> None:
        """The operator has named a host."""
        self._named.add(host_id)

    def name_all(self, hosts: Iterable[bytes]) -> None:
        """The operator has named these hosts."""
        for host in hosts:
            host_id = self._hosts.find(host)
            if host_id >= 0:
                self.name(host_id)
                if host_id in self._private:
                    self.permits(host_id, host, is_seed=True)

    def refresh(self, host_id: int, host: bytes, now_ns: int) -> None:
        """Ask for an address again when its answer does not hold any more; until then it is used.

        Cost: one comparison.
        """
        now_s = now_ns // SECOND_NS
        if now_s < self._expires_s[host_id] or host in self._asked:
            return
        if len(self._asked) < ASKED_MAX:
            self._asked[host] = (host_id, True)
            self._resolver.submit(host)

    # --- about a request -------------------------------------------------------------------

    def fails_over(self, host_id: int, now_ns: int) -> bool:
        """The address of a host could not be reached: go on to its next one.

        Returns:
            False when there is none; the request has failed.
        """
        others = self._others.pop(host_id, ())
        if not others:
            return False
        self._set(host_id, others)
        self._hosts.resolved(host_id, others[0], now_ns)
        return True

    def noted(self, host_id: int, is_unreachable: bool, now_ns: int) -> None:
        """A request has ended: count failures to connect, and give a dead host up."""
        if not is_unreachable:
            self._strikes.pop(host_id, None)
            return
        strikes = self._strikes.get(host_id, 0) + 1
        self._strikes[host_id] = strikes
        if strikes == 1:
            self._look_further(host_id)
        if strikes >= DEAD_AFTER:
            del self._strikes[host_id]
            self._told.add(host_id)
            self._hosts.failed(host_id, Outcome.NO_CONNECTION, now_ns + DEAD_NS)

    def _look_further(self, host_id: int) -> None:
        """None of a host's addresses could be reached: it may have some of the other family."""
        host = self._hosts.host(host_id)
        if host not in self._asked and len(self._asked) < ASKED_MAX:
            self._asked[host] = (host_id, True)
            self._resolver.submit_further(host)

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
        if not answer.ips:
            self._take_failure(host_id, answer, is_known=is_known)
            return
        ips = self._allowed(host_id, answer)
        self._grow(host_id)
        self._expires_s[host_id] = answer.expires_ns // SECOND_NS + 1
        current = self._ip(host_id)
        if is_known and current in ips:
            ips = (current, *(ip for ip in ips if ip != current))
            self._set(host_id, ips)
            return
        self.answered += not is_known
        self._set(host_id, ips)
        self._hosts.resolved(host_id, ips[0], now_ns)

    def _take_failure(self, host_id: int, answer: Answer, *, is_known: bool) -> None:
        if is_known:  # an old address is better than none; if it is dead, that will show
            self._expires_s[host_id] = answer.expires_ns // SECOND_NS + 1
            return
        self._told.discard(host_id)
        self._hosts.failed(host_id, Outcome.NO_DNS, answer.expires_ns)

    def _allowed(self, host_id: int, answer: Answer) -> tuple[bytes, ...]:
        """The addresses that may be asked; all of them, and a note, when none is for everybody."""
        public = tuple(ip for ip in answer.ips if self._is_allowed(ip))
        self._private.discard(host_id)
        if len(public) == len(answer.ips):
            return public
        if self._named.has(host_id, answer.host):
            self._named.remember(answer.host)
            return answer.ips
        if not public:
            self._private.add(host_id)
        return public or answer.ips

    def _ip(self, host_id: int) -> bytes:
        known = self._ipv4[host_id]
        return known.to_bytes(4, "big") if known else self._rare.get(host_id, b"")

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

    def _grow(self, host_id: int) -> None:
        if host_id >= len(self._ipv4):
            room = [0] * (host_id + 1024 - len(self._ipv4))
            self._ipv4.extend(room)
            self._expires_s.extend(room)
