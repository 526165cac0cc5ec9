"""DONE records the slow way; docs/format-queue.md 4 in code."""

from __future__ import annotations

import struct

from tests.reference.logcodec import DONE, DONE_TYPE, HEAD


def done_totals(entries: bytes) -> bytes:
    """Sums over DONE entries: entries, responses, bytes, links, duplicates, 32 + 32 codes."""
    sums, at = [0] * 69, 0
    while at < len(entries):
        if len(entries) - at < DONE.size:
            raise ValueError("short entry")
        _, outcome, filters, status, body, links, duplicates, _ = DONE.unpack_from(entries, at)
        at += DONE.size
        if len(entries) - at < 5 * filters:
            raise ValueError("short filters")
        for index, value in enumerate((1, status != 0, body, links, duplicates)):
            sums[index] += value
        if outcome < 32:
            sums[5 + outcome] += 1
        for reason, count in struct.iter_unpack("<BI", entries[at : at + 5 * filters]):
            if reason < 32:
                sums[37 + reason] += count
        at += 5 * filters
    return struct.pack("<69Q", *sums)


def digests(data: bytes, types: bytes, offsets: bytes, dones_before: int) -> bytes:
    """Digests of all DONE entries before an offset, but those of 16 zeros."""
    found = []
    for kind, (offset,) in zip(types, struct.iter_unpack("<I", offsets), strict=True):
        if kind != DONE_TYPE or offset >= dones_before:
            continue
        at = offset + HEAD.size
        end = at + HEAD.unpack_from(data, offset)[1]
        while at + DONE.size <= end:
            _, _, filters, *_, digest = DONE.unpack_from(data, at)
            at += DONE.size + 5 * filters
            if at <= end and any(digest):
                found.append(digest)
    return b"".join(found)
