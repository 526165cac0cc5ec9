"""The shared table of different pages by host, said plainly and without other processes."""

from __future__ import annotations

import struct
from typing import Final

from tests.reference.linkentry import siphash13

PAGES: Final = 63
BUCKET_BYTES: Final = 1024


class NearTable:
    def __init__(self, buffer: bytearray, key: bytes, bits: int) -> None:
        self._buffer, self._key, self._bits = buffer, key, bits

    def near(self, host: bytes, simhash: int, page_id: int) -> int:
        hashed = siphash13(self._key, host)
        bucket = (hashed * (len(self._buffer) // BUCKET_BYTES) >> 64) * BUCKET_BYTES
        pages = [
            struct.unpack_from("<QQ", self._buffer, bucket + 16 + 16 * at) for at in range(PAGES)
        ]
        if any(other == page_id for _, other in pages):
            return 0
        near = [
            ((value ^ hashed ^ simhash).bit_count(), at)
            for at, (value, other) in enumerate(pages)
            if other
        ]
        distance, at = min(near, default=(65, 0))
        if distance <= self._bits:
            value, found = pages[at]
            (added,) = struct.unpack_from("<Q", self._buffer, bucket)
            if (added + PAGES - 1 - at) % PAGES >= PAGES // 2:
                struct.pack_into("<Q", self._buffer, bucket + 16 + 16 * at + 8, 0)
                self._remember(bucket, value, found)
            return int(found)
        self._remember(bucket, simhash ^ hashed, page_id)
        return 0

    def _remember(self, bucket: int, value: int, page_id: int) -> None:
        (added,) = struct.unpack_from("<Q", self._buffer, bucket)
        struct.pack_into("<Q", self._buffer, bucket, added + 1)
        place = bucket + 16 + 16 * (added % PAGES)
        struct.pack_into("<QQ", self._buffer, place, value, page_id)
