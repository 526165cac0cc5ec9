"""What c-ares answers, in our terms.  Pure."""

from __future__ import annotations

import socket
from typing import Final

import pycares

from larbinpy.dns import names

NO_DATA: Final = frozenset({pycares.errno.ARES_ENODATA})
"""The name is there, without an address of the family that was asked for."""
FINAL: Final = frozenset(
    {
        pycares.errno.ARES_ENODATA,
        pycares.errno.ARES_ENOTFOUND,
        pycares.errno.ARES_EBADNAME,
        pycares.errno.ARES_EFORMERR,
    }
)
"""What a name server says of a name; all else may be otherwise the next time."""


def addresses_of(name: bytes, result: pycares.DNSResult) -> tuple[tuple[bytes, ...], int]:
    """Return the addresses at the end of the name's chain of CNAMEs, and the smallest TTL."""
    aliases: dict[str, tuple[str, int]] = {}
    for record in result.answer:
        if isinstance(record.data, pycares.CNAMERecordData):
            aliases[_plain(record.name)] = (_plain(record.data.cname), record.ttl)
    end = names.canonical(_plain(name.decode("ascii")), aliases)
    if end is None:
        return (), 0
    final, ttl_s = end
    ips = []
    for record in result.answer:
        data = record.data
        if not isinstance(data, pycares.ARecordData | pycares.AAAARecordData):
            continue
        if _plain(record.name) == final:
            ips.append(_packed(data.addr))
            ttl_s = min(ttl_s, record.ttl)
    return names.best(ips), ttl_s


def words_of(error: int) -> str:
    """What an error is called, for humans."""
    words = pycares.errno.strerror(error)
    return words if isinstance(words, str) else words.decode("ascii", "replace")


def _plain(name: str) -> str:
    return name.lower().rstrip(".")


def _packed(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
