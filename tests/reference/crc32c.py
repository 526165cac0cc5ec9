"""CRC-32C from its definition."""

from __future__ import annotations


def crc32c(data: bytes, value: int = 0) -> int:
    """Bit by bit."""
    state = value ^ 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF
