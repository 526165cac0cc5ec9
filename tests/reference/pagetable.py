"""The shared table of pages seen, said plainly and without other processes."""

from __future__ import annotations

import struct


class PageTable:
    def __init__(self, buffer: bytearray, bits_per_page: int = 4) -> None:
        self._buffer = buffer
        self._bits_per_page = bits_per_page

    def _test_and_set(self, word: int, bits: int) -> bool:
        (before,) = struct.unpack_from("<Q", self._buffer, 8 * word)
        struct.pack_into("<Q", self._buffer, 8 * word, before | bits)
        return bool(~before & bits)

    def add(self, digest: bytes) -> bool:
        place, names = struct.unpack("<QQ", digest)
        bits = 0
        for i in range(self._bits_per_page):
            bits |= 1 << (names >> 6 * i & 63)
        return self._test_and_set(place * (len(self._buffer) // 8) >> 64, bits)

    def add_code(self, code: int) -> bool:
        return self._test_and_set(code >> 6, 1 << (code & 63))
