"""The search for a URL in a segment, said plainly."""

from __future__ import annotations

import struct

HEAD = struct.Struct("<IIBBHQ")
DONE = struct.Struct("<Q1xB30x")
STOP_END, STOP_SEALED, STOP_DAMAGED = range(3)


def run(
    data: bytes,
    start: int,
    dones_before: int,
    fingerprint: int,
    host: bytes,
    ids: set[int],
    waiting: set[tuple[int, int]],
) -> tuple[list[tuple[int, int]], int, int]:
    """See the kernel; ``ids`` grows, ``waiting`` gets levels and lsns of the host's URLs."""
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
        if kind != 2 or at < dones_before:
            note(kind, lsn, payload, host, waiting)
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


def note(kind: int, lsn: int, payload: bytes, host: bytes, waiting: set[tuple[int, int]]) -> None:
    """Add a URL of the host, or take those of a DONE out."""
    if kind == 4:
        lsn, payload = int.from_bytes(payload[:8], "little"), payload[8:]
    if kind == 2:
        ended = done(payload)
        waiting -= {one for one in waiting if one[1] in ended}
    elif kind in (1, 4) and len(payload) >= 40 and host and payload[15] == len(host):
        start = 40 + payload[14]
        if payload[start : start + len(host)] == host:
            waiting.add((payload[16] % 64, lsn))


def ahead(waiting: set[tuple[int, int]], lsn: int, level: int, *, newest_first: bool) -> int:
    """See the kernel."""
    return sum(
        of < level or (of == level and (one > lsn if newest_first else one < lsn))
        for of, one in waiting
    )


def done(payload: bytes) -> set[int]:
    """The ids of whole DONE entries."""
    found, at = set(), 0
    while at + DONE.size <= len(payload):
        number, filters = DONE.unpack_from(payload, at)
        at += DONE.size + 5 * filters
        if at <= len(payload):
            found.add(number)
    return found
