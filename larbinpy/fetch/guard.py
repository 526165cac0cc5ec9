"""Which addresses a crawler may talk to: a decision about 4 or 16 bytes.

The decision is about the address of the socket, never about the spelling in a URL: there are many
spellings of one address and only one socket.
The table follows IANA's special-purpose registries; what ``ipaddress.is_global`` says differs
between Python versions and lets embedded IPv4 addresses through.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final

_IPV4_SPECIAL: Final = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local, cloud metadata among it
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast among it
)
_IPV6_SPECIAL: Final = (
    "2001::/23",  # protocol assignments; Teredo is looked into before
    "2001:db8::/32",  # documentation
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)
_IPV6_GLOBAL: Final = "2000::/3"  # the only block that global unicast addresses come from


def _table(networks: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    parsed = [ipaddress.ip_network(text) for text in networks]
    return tuple((int(net.network_address), int(net.netmask)) for net in parsed)


_IPV4: Final = _table(_IPV4_SPECIAL)
_IPV6: Final = _table(_IPV6_SPECIAL)
(_GLOBAL_BASE, _GLOBAL_MASK), *_ = _table((_IPV6_GLOBAL,))
_LOOK_CLOSER: Final = frozenset(
    first
    for first in range(256)
    if any((first << 24) & mask == base & (0xFF << 24) for base, mask in _IPV4)
)
"""First bytes under which a special IPv4 network lies; all others are public at a glance."""

_MAPPED: Final = bytes(10) + b"\xff\xff"
_COMPATIBLE: Final = bytes(12)
_NAT64: Final = bytes.fromhex("0064ff9b") + bytes(8)
_6TO4: Final = bytes.fromhex("2002")
_TEREDO: Final = bytes.fromhex("20010000")


def is_public(ip: bytes) -> bool:
    """Whether this address belongs to the public internet.

    Args:
        ip: 4 or 16 bytes, network order; anything else is not public.

    Cost: one look into a set for most IPv4 addresses.
    """
    if len(ip) == 4:
        return ip[0] not in _LOOK_CLOSER or not _is_in(int.from_bytes(ip, "big"), _IPV4)
    if len(ip) != 16:
        return False
    inner = _embedded(ip)
    if inner:
        return all(is_public(address) for address in inner)
    number = int.from_bytes(ip, "big")
    return number & _GLOBAL_MASK == _GLOBAL_BASE and not _is_in(number, _IPV6)


def _is_in(number: int, networks: tuple[tuple[int, int], ...]) -> bool:
    return any(number & mask == base for base, mask in networks)


def _embedded(ip: bytes) -> tuple[bytes, ...]:
    """Return the IPv4 addresses that an IPv6 address leads to; none for an ordinary one."""
    if ip[:12] in (_MAPPED, _COMPATIBLE, _NAT64):
        return (ip[12:],)
    if ip[:2] == _6TO4:
        return (ip[2:6],)
    if ip[:4] == _TEREDO:
        return (ip[4:8], bytes(byte ^ 0xFF for byte in ip[12:]))
    return ()


class Guard:
    """Says why a connection may not be made.

    Args:
        allow_private: whether addresses outside the public internet are fine for all hosts.
        own_ports: ports that we listen on: refused on every address of this machine.
    """

    __slots__ = ("_allow_private", "_own_ports")

    def __init__(self, *, allow_private: bool, own_ports: frozenset[int] = frozenset()) -> None:
        self._allow_private = allow_private
        self._own_ports = own_ports

    @property
    def public(self) -> bytes:
        """For each first byte of an IPv4 address, 1 when all of them are fine at a glance."""
        return bytes(self._allow_private or first not in _LOOK_CLOSER for first in range(256))

    def refusal(self, ip: bytes, port: int, *, is_named: bool) -> str:
        """Return why not, or an empty text.

        Args:
            is_named: the operator named this host.
        """
        if len(ip) not in (4, 16):
            return "no address"
        if not 0 < port < 65536:
            return f"no such port: {port}"
        if port in self._own_ports and is_of_this_machine(ip):
            return "our own port"
        if not (self._allow_private or is_named or is_public(ip)):
            return "not a public address"
        return ""


def is_of_this_machine(ip: bytes) -> bool:
    """Whether an address leads to this machine: one may be bound to, without anything being sent.

    Cost: three system calls.
    """
    plain = ip[12:] if ip[:12] == _MAPPED else ip
    family = socket.AF_INET if len(plain) == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((socket.inet_ntop(family, plain), 0))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True
