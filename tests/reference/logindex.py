"""The index of crawl.log, said plainly."""

from __future__ import annotations

import re
import struct

from tests.reference.linkentry import siphash13

ENTRY = struct.Struct("<QQ")
Ranges = list[tuple[int, int]]


def hash_of(key: bytes, url: bytes) -> int:
    return siphash13(key, url) or 1


def entries(key: bytes, lines: bytes, start: int) -> bytes:
    packed = []
    for line in re.findall(rb"[^\n]*\n", lines):
        start += len(line)
        match = re.search(rb'"url":"((?:[^"\\\n]|\\[^\n]?)*)', line)
        packed.append(ENTRY.pack(hash_of(key, match[1] if match else b""), start))
    return b"".join(packed)


def find(data: bytes, wanted: int, start: int) -> tuple[Ranges, Ranges, int]:
    lines: Ranges = []
    gaps: Ranges = []
    for found, end in ENTRY.iter_unpack(data[: len(data) // 16 * 16]):
        if end <= start:
            return lines, gaps, -1
        if found in (0, wanted):
            (lines if found else gaps).append((start, end))
        start = end
    return lines, gaps, start
