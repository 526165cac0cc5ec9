"""Fingerprints and shards, said plainly."""

from __future__ import annotations

import struct

WORD = 2**64 - 1


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & WORD


def _round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & WORD
    v[2] = (v[2] + v[3]) & WORD
    v[1] = _rotate(v[1], 13) ^ v[0]
    v[3] = _rotate(v[3], 16) ^ v[2]
    v[0] = _rotate(v[0], 32)
    v[2] = (v[2] + v[1]) & WORD
    v[0] = (v[0] + v[3]) & WORD
    v[1] = _rotate(v[1], 17) ^ v[2]
    v[3] = _rotate(v[3], 21) ^ v[0]
    v[2] = _rotate(v[2], 32)


def siphash13(key: bytes, data: bytes) -> int:
    k0, k1 = struct.unpack("<QQ", key)
    v: list[int] = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D]
    v += [k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        _round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def fingerprint_of(key: bytes, domain: bytes, url: bytes) -> int:
    return (siphash13(key, domain) >> 48 << 48) | (siphash13(key, url) >> 16)


def shard(fp: int, shards: int) -> int:
    return (fp >> 48) * shards >> 16
