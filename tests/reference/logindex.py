"""The index of crawl.log, said plainly."""

from __future__ import annotations

import re
import struct

from tests.reference.linkentry import siphash13

ENTRY = struct.Struct("<IIQ")
Ranges = list[tuple[int, int]]


INSIDE = rb'((?:[^"\\\n]|\\[^\n]?)*)'


def hash_of(key: bytes, text: bytes) -> int:
    return siphash13(key, text) % (1 << 32) or 1


def entries(key: bytes, lines: bytes, start: int) -> bytes:
    packed = []
    for line in re.findall(rb"[^\n]*\n", lines):
        start += len(line)
        url = re.search(rb'"url":"' + INSIDE, line)
        packed.append(ENTRY.pack(hash_of(key, url[1] if url else b""), digest_of(key, line), start))
    return b"".join(packed)


def digest_of(key: bytes, line: bytes) -> int:
    url = re.search(rb'"url":"' + INSIDE, line)
    rest = line[url.end() :] if url else b""
    digest = re.search(rb'"digest":"' + INSIDE, rest)
    is_good = rest.startswith(b'","outcome":"success"')
    return hash_of(key, digest[1]) if digest and is_good else 0


def find(data: bytes, wanted: int, start: int, by_digest: bool) -> tuple[Ranges, Ranges, int]:
    lines: Ranges = []
    gaps: Ranges = []
    for url, digest, end in ENTRY.iter_unpack(data[: len(data) // 16 * 16]):
        if end <= start:
            return lines, gaps, -1
        if url == 0 or (digest if by_digest else url) == wanted:
            (lines if url else gaps).append((start, end))
        start = end
    return lines, gaps, start
