"""What ``larbinpy._native.shared`` does within one process: plain numbers in a buffer, a dict."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

WORD = struct.Struct("=Q")
MASK = 2**64 - 1


class Words:
    """Words of a buffer."""

    def __init__(self, buffer: Buffer, offset: int = 0, count: int = -1) -> None:
        memory = memoryview(buffer).cast("B")[offset:]
        count = len(memory) // 8 if count < 0 else count
        self._words = memory[: count * 8].cast("Q")

    def __len__(self) -> int:
        return len(self._words)

    def load(self, i: int) -> int:
        return self._words[i]

    def store(self, i: int, value: int) -> None:
        self._words[i] = value

    def add(self, i: int, delta: int) -> int:
        old = self._words[i]
        self._words[i] = (old + delta) & MASK
        return old

    def take(self, i: int, n: int) -> bool:
        if self._words[i] < n:
            return False
        self._words[i] -= n
        return True

    def snapshot(self) -> list[int]:
        return list(self._words)


class SeqBlock:
    """A counter, then values; the counter is odd while the values change."""

    def __init__(self, buffer: Buffer, offset: int, words: int) -> None:
        self._words = Words(buffer, offset, words + 1)

    def publish(self, values: list[int]) -> None:
        if len(values) != len(self._words) - 1:
            raise ValueError
        self._words.store(0, (self._words.load(0) | 1) + 1)
        for i, value in enumerate(values, start=1):
            self._words.store(i, value)

    def read(self) -> list[int] | None:
        counter, *values = self._words.snapshot()
        return None if counter % 2 else values


class IpTable:
    """Address -> time from which it is free."""

    def __init__(self, buffer: Buffer, offset: int, slots: int) -> None:
        self._free_at: dict[bytes, int] = {}
        self._until: dict[bytes, int] = {}

    def claim(self, ip: bytes, now_ns: int, lease_ns: int, owner: int = 0) -> int:
        if self._free_at.get(ip, 0) > now_ns:
            return self._free_at[ip]
        until = now_ns + lease_ns
        self._free_at[ip] = self._until[ip] = until - until % 512 + owner if owner else until
        return 0

    def release(self, ip: bytes, free_at_ns: int) -> None:
        if ip in self._until and self._until.pop(ip) == self._free_at[ip]:
            self._free_at[ip] = free_at_ns

    def forget(self, owner: int, now_ns: int, free_at_ns: int) -> None:
        for ip, at in self._free_at.items():
            if at > now_ns and at % 512 == owner:
                self._free_at[ip] = free_at_ns
