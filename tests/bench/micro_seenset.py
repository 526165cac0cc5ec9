"""The set of fingerprints: kernel beside the reference, a plain set and a Bloom filter.

Workloads: batches of 30 and of 4,096 fingerprints added to sets that hold 300,000 (half of each
batch is known); then the kernel alone with 10 million: adds while growing, tests of known and of
unknown ones, longest pause, bytes an entry.

Command: python -m tests.bench.micro_seenset
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from pybloomfilter import BloomFilter

from larbinpy._native.seenset import SeenSet
from tests.bench.measure import compare
from tests.reference import seenset as plain

if TYPE_CHECKING:
    from collections.abc import Callable

HELD = 300_000
MANY = 10_000_000
BATCH = 4096


def cut(data: bytes) -> list[bytes]:
    """Single fingerprints."""
    return [data[i : i + 8] for i in range(0, len(data), 8)]


def add_bytes(seen: set[bytes], data: bytes) -> bytes:
    """What a user would write without the kernel."""
    answers = bytearray(len(data) // 8)
    for i, fingerprint in enumerate(cut(data)):
        if fingerprint not in seen:
            seen.add(fingerprint)
            answers[i] = 1
    return bytes(answers)


def add_bloom(bloom: BloomFilter, data: bytes) -> bytes:
    """The same with a Bloom filter."""
    return bytes(not bloom.add(fingerprint) for fingerprint in cut(data))


def side_by_side(batch: int) -> None:
    """All ways on the same batch, which is known after its first round."""
    held = os.urandom(8 * HELD)
    data = held[: 4 * batch] + os.urandom(4 * batch)
    kernel, reference, plain_set = SeenSet(), plain.SeenSet(), set(cut(held))
    bloom = BloomFilter(10_000_000, 0.001)
    bloom.update(cut(held))
    kernel.add_many(held)
    reference.add_many(held)
    compare(
        f"add_many, batches of {batch:,} to {HELD:,}",
        {
            "kernel": lambda: kernel.add_many(data),
            "reference": lambda: reference.add_many(data),
            "plain set of bytes": lambda: add_bytes(plain_set, data),
            "pybloomfiltermmap3, 10 million": lambda: add_bloom(bloom, data),
        },
        items=batch,
    )


def walk(title: str, work: Callable[[bytes], bytes], data: bytes) -> None:
    """Feed data in batches; print the rate and the longest call."""
    longest, start = 0.0, time.perf_counter()
    for at in range(0, len(data), 8 * BATCH):
        begin = time.perf_counter()
        work(data[at : at + 8 * BATCH])
        longest = max(longest, time.perf_counter() - begin)
    rate = len(data) / 8 / (time.perf_counter() - start) / 1e6
    print(f"  {title:32} {rate:8.1f} M/s   longest call {longest * 1e3:.1f} ms")


def ten_million() -> None:
    """The kernel alone at its target size."""
    print(f"SeenSet, {MANY:,} fingerprints in batches of {BATCH:,}")
    seen, known, unknown = SeenSet(), os.urandom(8 * MANY), os.urandom(8 * MANY)
    walk("add while growing", seen.add_many, known)
    walk("test known", seen.contains_many, known)
    walk("test unknown", seen.contains_many, unknown)
    walk("add known", seen.add_many, known)
    print(f"  {seen.nbytes / len(seen):.2f} bytes an entry")


if __name__ == "__main__":
    side_by_side(30)
    side_by_side(4096)
    ten_million()
