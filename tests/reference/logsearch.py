"""The search for a URL in a segment, said plainly."""

from __future__ import annotations

import struct

HEAD = struct.Struct("<IIBBHQ")
DONE = struct.Struct("<Q1xB30x")
STOP_END, STOP_SEALED, STOP_DAMAGED = range(3)


def run(
    data: bytes, start: int, fingerprint: int, host: bytes, ids: set[int]
) -> tuple[list[tuple[int, int]], int, int]:
    """See the kernel; ``ids`` grows."""
    found: list[tuple[int, int]] = []
    at = start
    while at + HEAD.size <= len(data):
        _, size, kind, _, _, lsn = HEAD.unpack_from(data, at)
        if not 1 <= kind <= 8 or size > 65_536:
            return found, at, STOP_DAMAGED
        end = at + (HEAD.size + size + 7) // 8 * 8
        if end > len(data):
            break
        payload = data[at + HEAD.size : at + HEAD.size + size]
        if is_wanted(kind, lsn, payload, fingerprint, host, ids):
            found.append((at, kind))
        elif kind == 8:
            return found, at, STOP_SEALED
        at = end
    return found, at, STOP_END


def is_wanted(
    kind: int, lsn: int, payload: bytes, fingerprint: int, host: bytes, ids: set[int]
) -> bool:
    """Whether a record is of the URL or its host."""
    if kind in (1, 4):
        enq = payload if kind == 1 else payload[8:]
        if len(enq) < 40 or int.from_bytes(enq[:8], "little") != fingerprint:
            return False
        ids.add(lsn if kind == 1 else int.from_bytes(payload[:8], "little"))
        return True
    if kind == 2:
        return not ids.isdisjoint(done(payload))
    if kind == 3:
        return len(payload) >= 8 and int.from_bytes(payload[:8], "little") in ids
    return kind == 6 and payload[10:11] == bytes([len(host)]) and payload[12:].startswith(host)


def done(payload: bytes) -> set[int]:
    """The ids of whole DONE entries."""
    found, at = set(), 0
    while at + DONE.size <= len(payload):
        number, filters = DONE.unpack_from(payload, at)
        at += DONE.size + 5 * filters
        if at <= len(payload):
            found.add(number)
    return found
