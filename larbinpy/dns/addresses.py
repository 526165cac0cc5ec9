"""Addresses for the hosts of a shard: asks the resolver, tells the host table.

A host that has no address, or that is given up, fails: its URLs are handed out at once with the
outcome instead of being fetched, the first one under the outcome itself, the others under larbin's
``fast`` one.  After a while it may try again.

An address is kept while its answer holds; then it is asked for again beside the next request, and
the host moves when the answer has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from larbinpy._native.hosts import FAILED, NEW
from larbinpy.dns.book import NEVER_S, AddressBook
from larbinpy.dns.cache import SECOND_NS
from larbinpy.dns.lookups import Lookups
from larbinpy.dns.names import is_stand_in
from larbinpy.records import Outcome

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable

    from larbinpy._native.hosts import HostTable
    from larbinpy.dns.base import Answer, Resolver
    from larbinpy.dns.rights import Rights
    from larbinpy.politeness.outage import Line

FAILED_NS: Final = 60 * 10**9
_FAST: Final = {
    Outcome.NO_DNS: Outcome.FAST_NO_DNS,
    Outcome.NO_CONNECTION: Outcome.FAST_NO_CONN,
}


class Addresses:
    """Keeps every host with URLs supplied with an address.

    Args of ``__init__``:
        rights: which addresses a host may have.
        line: is told of silence, and says when it is our own.
        not_before_ns: no host is asked before; after a restart any may have been asked just now.
    """

    __slots__ = (
        "_book", "_hosts", "_lookups", "_not_before_ns", "_told", "answered", "rights",
    )  # fmt: skip

    def __init__(
        self, hosts: HostTable, resolver: Resolver, rights: Rights, *, line: Line,
        not_before_ns: int = 0,
    ) -> None:  # fmt: skip
        self._hosts = hosts
        self._lookups = Lookups(resolver, line)
        self._book = AddressBook()
        self._not_before_ns = not_before_ns
        self._told: set[int] = set()
        """Failed hosts of which a URL has the outcome itself."""
        self.rights = rights
        self.answered = 0
        """Hosts that have got an address."""

    def turn(self, now_ns: int) -> None:
        """Ask for the addresses that are needed, and hand out those that have come."""
        for host_id, host in self._hosts.unresolved(self._lookups.room):
            self._lookups.ask(host_id, host)
        for host_id, is_known, answer in self._lookups.found(now_ns):
            self._take(host_id, answer, now_ns, is_known=is_known)

    def want(self, host: bytes) -> int:
        """The number of a host that is to get an address although it may have no URLs."""
        host_id = self._hosts.add(host)
        if self._hosts.state_of(host_id) == NEW:
            self._lookups.ask(host_id, host)
        return host_id

    def name_all(self, hosts: Iterable[bytes]) -> None:
        """The operator has named these hosts."""
        for host in hosts:
            host_id = self._hosts.find(host)
            if host_id >= 0:
                self.rights.name(host_id, host)

    def wait_s(self, now_ns: int) -> float:
        """Seconds until ``turn`` must be called, whatever the sockets say; -1: no need."""
        return self._lookups.wait_s(now_ns)

    def plain(self) -> tuple[array[int], array[int], set[int]]:
        """What most URLs need to know, as it is kept: IPv4 addresses by host (0: another one, or
        none), until when each holds (monotonic seconds), and hosts that only some URLs may use."""
        return self._book.ipv4, self._book.expires_s, self.rights.private

    # --- about a request -------------------------------------------------------------------

    def ip(self, host_id: int) -> bytes:
        """The address of a host; empty when it has none, or when only a proxy knows it."""
        ip = self._book.ip(host_id)
        return b"" if is_stand_in(ip) else ip

    def renew(self, host_id: int, host: bytes, now_ns: int) -> None:
        """Ask for an address again when its answer does not hold any more; until then it is used.

        Cost: one comparison.
        """
        expires_s = self._book.expires_s
        if now_ns // SECOND_NS >= expires_s[host_id] and self._lookups.room:
            expires_s[host_id] = NEVER_S
            self._lookups.ask(host_id, host, is_known=True)

    def fails_over(self, host_id: int, now_ns: int) -> bool:
        """The address of a host could not be reached: go on to its next one.

        Returns:
            False when there is none; the request has failed.
        """
        others = self._book.take_others(host_id)
        if not others:
            return False
        self._settle(host_id, others, now_ns)
        return True

    def look_further(self, host_id: int, host: bytes) -> None:
        """None of a host's addresses could be reached: it may have some of the other family."""
        self._lookups.ask_further(host_id, host)

    def give_up(self, host_id: int, outcome: Outcome, until_ns: int) -> None:
        """A host does not do what it should: its URLs end with ``outcome`` for a time."""
        if outcome in _FAST:
            self._told.add(host_id)
        self._hosts.failed(host_id, outcome, until_ns)

    def revive(self, host_id: int, now_ns: int) -> bool:
        """A host that was given up is tried again before its time; whether it has an address."""
        ip = self._book.ip(host_id)
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
        ips = self.rights.usable(host_id, answer)
        if not ips:
            self._take_failure(host_id, answer, now_ns, is_known=is_known)
            return
        current = self._book.ip(host_id)
        self.answered += not current
        self._book.expire(host_id, answer.expires_ns)
        if is_known and current in ips:
            self._book.set(host_id, (current, *(ip for ip in ips if ip != current)))
        else:
            self._settle(host_id, ips, now_ns)

    def _take_failure(self, host_id: int, answer: Answer, now_ns: int, *, is_known: bool) -> None:
        until_ns = max(answer.expires_ns, now_ns + FAILED_NS)
        if is_known and not answer.ips:  # an old address is better than none; if dead, it will show
            self._book.expire(host_id, until_ns)
            return
        self._told.discard(host_id)
        code = Outcome.FORBIDDEN_ADDRESS if answer.ips else Outcome.NO_DNS
        self._hosts.failed(host_id, code, until_ns)

    def _settle(self, host_id: int, ips: tuple[bytes, ...], now_ns: int) -> None:
        """A host has got a new address, and others that come next."""
        self._book.set(host_id, ips)
        self._hosts.resolved(host_id, ips[0], now_ns, not_before_ns=self._not_before_ns)
