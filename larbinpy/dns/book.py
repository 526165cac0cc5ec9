"""What a shard knows of the addresses of its hosts, by their numbers."""

from __future__ import annotations

from array import array
from typing import Final

from larbinpy.dns.cache import SECOND_NS

NEVER_S: Final = (1 << 32) - 1
_ROOM: Final = 1024
"""Hosts that room is made for at a time."""


class AddressBook:
    """The address that each host is asked at, those that come next, and until when they hold.

    Memory: 8 bytes a host, more for the few that have several addresses or IPv6 alone.
    """

    __slots__ = ("_others", "_rare", "expires_s", "ipv4")

    def __init__(self) -> None:
        self.ipv4 = array("I")
        """0: another address, or none."""
        self.expires_s = array("I")
        """Monotonic seconds."""
        self._rare: dict[int, bytes] = {}
        self._others: dict[int, tuple[bytes, ...]] = {}

    def ip(self, host_id: int) -> bytes:
        """The address of a host; empty when it has none."""
        known = self.ipv4[host_id] if host_id < len(self.ipv4) else 0
        return known.to_bytes(4, "big") if known else self._rare.get(host_id, b"")

    def set(self, host_id: int, ips: tuple[bytes, ...]) -> None:
        """Note the addresses of a host that has an expiry, the one to be used first."""
        ip = ips[0]
        number = int.from_bytes(ip, "big") if len(ip) == 4 else 0
        self.ipv4[host_id] = number
        if not number:  # IPv6, or 0.0.0.0
            self._rare[host_id] = ip
        if len(ips) > 1:
            self._others[host_id] = ips[1:]
        else:
            self._others.pop(host_id, None)

    def take_others(self, host_id: int) -> tuple[bytes, ...]:
        """The addresses that come next: they are forgotten here."""
        return self._others.pop(host_id, ())

    def expire(self, host_id: int, expires_ns: int) -> None:
        """Note until when an answer holds."""
        if host_id >= len(self.ipv4):
            room = [0] * (host_id + _ROOM - len(self.ipv4))
            self.ipv4.extend(room)
            self.expires_s.extend(room)
        self.expires_s[host_id] = min(expires_ns // SECOND_NS, NEVER_S - 1)
