"""What is known of a host without asking anybody: literals, localhost, the hosts file. Pure."""

from __future__ import annotations

import hashlib
import socket
from typing import Final

LOOPBACK: Final = (b"\x7f\x00\x00\x01",)
MAX_ADDRESSES: Final = 4
MAX_CNAMES: Final = 8
_NOWHERE: Final = frozenset({bytes(4), bytes(16)})
_DISCARD: Final = bytes.fromhex("0100") + bytes(6)
"""100::/64, which leads nowhere (RFC 6666)."""


def literal(host: bytes) -> tuple[bytes, ...]:
    """Return the address that a host is (``127.0.0.1``, ``[::1]``); none for a name."""
    try:
        if host.startswith(b"[") and host.endswith(b"]"):
            return (socket.inet_pton(socket.AF_INET6, host[1:-1].decode("ascii")),)
        return (socket.inet_pton(socket.AF_INET, host.decode("ascii")),)
    except (OSError, ValueError):
        return ()


def is_localhost(name: bytes) -> bool:
    """Whether a name means this machine (RFC 6761)."""
    return name == b"localhost" or name.endswith(b".localhost")


def is_invalid(name: bytes) -> bool:
    """Whether a name exists nowhere, and no name server need be asked (RFC 6761, 6.4)."""
    return name == b"invalid" or name.endswith(b".invalid")


def known(name: bytes, hosts: dict[bytes, tuple[bytes, ...]]) -> tuple[bytes, ...] | None:
    """Return the addresses that need no lookup, () = there are none; None when nobody here knows.

    Args:
        name: without a final dot.
        hosts: of the hosts file (``parse_hosts``).
    """
    found = literal(name) or hosts.get(name)
    if found is None and is_localhost(name):
        return LOOPBACK
    return () if found is None and is_invalid(name) else found


def stand_in(name: bytes) -> bytes:
    """Return what stands for the address of a name that only a proxy looks up.

    Hosts whose addresses nobody knows must not share one: they would wait for each other.
    """
    return _DISCARD + hashlib.blake2b(name, digest_size=8).digest()


def is_stand_in(ip: bytes) -> bool:
    """Whether this stands for an address that is not known."""
    return ip.startswith(_DISCARD) and len(ip) == 16


def parse_hosts(text: bytes) -> dict[bytes, tuple[bytes, ...]]:
    """Read a hosts file: an address and its names per line; what is malformed is passed over."""
    found: dict[bytes, list[bytes]] = {}
    for line in text.splitlines():
        address, *names = line.partition(b"#")[0].split() or [b""]
        bracketed = b"[" + address + b"]" if b":" in address else address
        for ip in literal(bracketed):
            for name in names:
                found.setdefault(name.lower().rstrip(b"."), []).append(ip)
    return {name: best(ips) for name, ips in found.items()}


def best(ips: list[bytes]) -> tuple[bytes, ...]:
    """Return at most MAX_ADDRESSES different addresses, IPv4 first, without ``0.0.0.0``."""
    useful = [ip for ip in dict.fromkeys(ips) if ip not in _NOWHERE]
    return tuple(sorted(useful, key=len)[:MAX_ADDRESSES])


def canonical(name: str, aliases: dict[str, tuple[str, int]]) -> tuple[str, int] | None:
    """Follow a chain of CNAMEs.

    Args:
        name: where it begins.
        aliases: name -> (target, TTL in seconds), lower case without final dots.

    Returns:
        The last name and the smallest TTL (MAX_CNAMES links at most), or None for a loop or a
        chain that is too long.
    """
    ttl_s = 1 << 31
    for _ in range(MAX_CNAMES + 1):
        if name not in aliases:
            return name, ttl_s
        name, link_ttl_s = aliases[name]
        ttl_s = min(ttl_s, link_ttl_s)
    return None
