"""A set of fingerprints, said plainly."""

from __future__ import annotations

import struct
import sys


class SeenSet:
    def __init__(self, capacity: int = 0) -> None:
        self._set: set[int] = set()

    def __len__(self) -> int:
        return len(self._set)

    def __contains__(self, fp: int) -> bool:
        return fp in self._set

    @property
    def nbytes(self) -> int:
        return sys.getsizeof(self._set) + sum(map(sys.getsizeof, self._set))

    def add(self, fp: int) -> bool:
        was_new = fp not in self._set
        self._set.add(fp)
        return was_new

    def add_many(self, fingerprints: bytes) -> bytes:
        return bytes(self.add(fp) for (fp,) in struct.iter_unpack("<Q", fingerprints))

    def contains_many(self, fingerprints: bytes) -> bytes:
        return bytes(fp in self._set for (fp,) in struct.iter_unpack("<Q", fingerprints))
