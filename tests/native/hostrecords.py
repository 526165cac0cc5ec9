"""Log records for the host table, as the codec would write them but for the checksum."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD = struct.Struct("<IIBBHQ")
ENQ = struct.Struct("<QHHHBBBBBBB3xffHHHH")
RECORD_ENQ, RECORD_MOVE = 1, 4
SCHEME = b"http://"

Batch = tuple[bytes, bytes, bytes]
"""The arguments of ``HostTable.put``: records, offsets, positions."""


def record(host: bytes, level: int = 0, *, is_move: bool = False) -> bytes:
    """One ENQ or MOVE record of a URL of ``host``."""
    url = SCHEME + host + b"/page"
    enq = ENQ.pack(1, 0, 0, 80, len(SCHEME), len(host), level, 0, 0, 0, 0, 0, 0, len(url), 0, 0, 0)
    payload = (struct.pack("<Q", 7) if is_move else b"") + enq + url
    kind = RECORD_MOVE if is_move else RECORD_ENQ
    whole = HEAD.pack(0, len(payload), kind, 0, 0, 1) + payload
    return whole + bytes(-len(whole) % 8)


def batch(urls: Iterable[tuple[bytes, int, int]]) -> Batch:
    """Records of (host, level, position) triples; every odd position makes a MOVE."""
    records, offsets, positions = bytearray(), [], []
    for host, level, position in urls:
        offsets.append(len(records))
        positions.append(position)
        records += record(host, level, is_move=position % 2 == 1)
    count = len(offsets)
    return (
        bytes(records),
        struct.pack(f"<{count}I", *offsets),
        struct.pack(f"<{count}Q", *positions),
    )
