"""What spreads the bits of a number."""

from __future__ import annotations

WORD = (1 << 64) - 1


def mix64(key: int) -> int:
    """The finalizer of MurmurHash3."""
    key ^= key >> 33
    key = key * 0xFF51AFD7ED558CCD & WORD
    key ^= key >> 33
    key = key * 0xC4CEB9FE1A85EC53 & WORD
    return key ^ key >> 33
