"""larbin's hash codes and bit table, said plainly."""

from __future__ import annotations

import struct

from tests.reference.linkbuffers import read_links

TABLE_BITS = 64_000_000
WORD = 2**32


def _append(code: int, text: bytes, factor: int) -> int:
    for byte in text:
        code = (factor * code + byte) % WORD
    return code


def url_code(host: bytes, file: bytes, port: int) -> int:
    return _append(_append(port, host, 31), file, 31) % TABLE_BITS


def url_codes(links: bytes) -> bytes:
    codes = [url_code(link.host, link.file, link.port) for link in read_links(links)]
    return struct.pack(f"<{len(codes)}I", *codes)


def host_code(host: bytes) -> int:
    return _append(0, host, 37) % 20_000


def ip_code(ip4: bytes) -> int:
    code = 0
    for byte in struct.unpack("4b", ip4):
        code = (31 * code + byte) % WORD
    return code % 10_000


def page_code(page: bytes) -> int:
    code = 0
    for byte in page.split(b"\0")[0]:
        if ord("A") < byte < ord("z"):
            code = (code * 23 + byte) % TABLE_BITS
    return code


class BitTable:
    def __init__(self, bits: int = TABLE_BITS) -> None:
        self.size = bits
        self._table = bytearray(bits // 8)

    def __len__(self) -> int:
        return int.from_bytes(self._table, "little").bit_count()

    def add(self, code: int) -> bool:
        was_new = not self._table[code >> 3] & 1 << (code & 7)
        self._table[code >> 3] |= 1 << (code & 7)
        return was_new

    def add_many(self, codes: bytes) -> bytes:
        return bytes(self.add(code) for (code,) in struct.iter_unpack("<I", codes))

    def contains_many(self, codes: bytes) -> bytes:
        values = [code for (code,) in struct.iter_unpack("<I", codes)]
        return bytes(self._table[code >> 3] >> (code & 7) & 1 for code in values)

    def to_bytes(self) -> bytes:
        return bytes(self._table)

    def load(self, raw: bytes) -> None:
        self._table = bytearray(raw)
