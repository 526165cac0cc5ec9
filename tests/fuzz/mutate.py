"""Changes of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

MAX_INPUT_BYTES: Final = 64 << 10
_ODD: Final = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x0D, 0x20, 0x22, 0x26, 0x27, 0x2F, 0x3C, 0x3E)


def mutated(
    data: bytes, pool: Sequence[bytes], words: Sequence[bytes], rng: random.Random
) -> bytes:
    """The input after one to eight changes; ``pool``: others that pieces are taken from."""
    for _ in range(1 << rng.randint(0, 3)):
        at = rng.randint(0, len(data))
        data = rng.choice(_CHANGES)(data, at, pool, words, rng)
    return data[:MAX_INPUT_BYTES]


def _flip(
    data: bytes, at: int, _: Sequence[bytes], __: Sequence[bytes], rng: random.Random
) -> bytes:
    if not data:
        return b"\0"
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _odd(
    data: bytes, at: int, _: Sequence[bytes], __: Sequence[bytes], rng: random.Random
) -> bytes:
    return data[:at] + bytes([rng.choice(_ODD)]) + data[at + rng.randint(0, 1) :]


def _word(
    data: bytes, at: int, _: Sequence[bytes], words: Sequence[bytes], rng: random.Random
) -> bytes:
    return data[:at] + rng.choice(words) + data[at + rng.choice((0, 0, 1, 4)) :]


def _drop(
    data: bytes, at: int, _: Sequence[bytes], __: Sequence[bytes], rng: random.Random
) -> bytes:
    return data[:at] + data[at + (1 << rng.randint(0, 8)) :]


def _cut(
    data: bytes, at: int, _: Sequence[bytes], __: Sequence[bytes], rng: random.Random
) -> bytes:
    return data[:at] if rng.random() < 0.5 else data[at:]


def _repeat(
    data: bytes, at: int, _: Sequence[bytes], __: Sequence[bytes], rng: random.Random
) -> bytes:
    piece = data[at : at + (1 << rng.randint(0, 6))]
    return data[:at] + piece * (1 << rng.randint(0, 9)) + data[at:]


def _splice(
    data: bytes, at: int, pool: Sequence[bytes], _: Sequence[bytes], rng: random.Random
) -> bytes:
    other = rng.choice(pool)
    start = rng.randint(0, len(other))
    return data[:at] + other[start : start + (1 << rng.randint(2, 10))] + data[at:]


_CHANGES: Final[
    Sequence[Callable[[bytes, int, Sequence[bytes], Sequence[bytes], random.Random], bytes]]
] = (_flip, _odd, _word, _word, _drop, _cut, _repeat, _splice)
