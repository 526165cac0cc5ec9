"""The set of fingerprints against its reference, against a plain set, and out of memory."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.seenset import SeenSet
from tests.reference import seenset as plain

if TYPE_CHECKING:
    from collections.abc import Callable

fingerprints = st.lists(
    st.one_of(st.integers(0, 20), st.integers(0, 2**64 - 1), st.sampled_from([0, 2**64 - 1])),
    max_size=300,
)

OUT_OF_MEMORY = """
import os, resource, struct
from larbinpy._native.seenset import SeenSet

seen = SeenSet()
before = struct.pack("<1000Q", *range(1000))
seen.add_many(before)
batch = os.urandom(8 << 20)
with open("/proc/self/statm") as statm:
    pages = int(statm.read().split()[0])
limit = pages * resource.getpagesize() + (10 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    seen.add_many(batch)
except MemoryError:
    pass
else:
    raise SystemExit("there was memory for all")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert len(seen) == 1000
assert seen.contains_many(before) == bytes([1]) * 1000
assert 1 not in seen.contains_many(batch)
assert seen.add_many(batch).count(1) == 1 << 20
"""


def pack(values: list[int]) -> bytes:
    """Fingerprints as the kernel reads them."""
    return struct.pack(f"<{len(values)}Q", *values)


@given(st.lists(fingerprints, max_size=6))
@settings(max_examples=60)
def test_equals_reference(batches: list[list[int]]) -> None:
    """Masks and sizes are those of a plain set."""
    expected, actual = plain.SeenSet(), SeenSet()
    for batch in batches:
        data = pack(batch)
        assert expected.contains_many(data) == actual.contains_many(data)
        assert expected.add_many(data) == actual.add_many(data)
        assert len(expected) == len(actual)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda i: i, id="counting"),
        pytest.param(lambda i: i << 48, id="high bits only"),
        pytest.param(lambda i: 0xABCD << 48 | i, id="one domain"),
        pytest.param(lambda i: i * 0x9E3779B97F4A7C15 % 2**64, id="multiples"),
    ],
)
def test_patterns_do_not_cluster(make: Callable[[int], int]) -> None:
    """Fingerprints that share their bits are told apart, in the memory of random ones."""
    values = [make(i) for i in range(60_000)]
    seen = SeenSet()
    assert seen.add_many(pack(values)) == bytes([1]) * len(values)
    assert seen.contains_many(pack(values)) == bytes([1]) * len(values)
    assert seen.nbytes < 16 * len(values)


def test_order_within_a_batch() -> None:
    """The second of two equal fingerprints is not new."""
    seen = SeenSet()
    assert seen.add_many(pack([7, 7, 0, 0, 8])) == bytes([1, 0, 1, 0, 1])
    assert len(seen) == 3


def test_zero_is_a_fingerprint_like_others() -> None:
    """0 marks an empty slot, but is kept beside the table."""
    seen = SeenSet()
    assert 0 not in seen
    assert seen.add(0) is True
    assert seen.add(0) is False
    assert 0 in seen
    assert seen.contains_many(pack([0, 1])) == bytes([1, 0])


def test_growth_keeps_all_and_stays_small() -> None:
    """Through many growths nothing is lost, nothing invented, at most 14 bytes an entry."""
    rng = random.Random(1)
    seen, expected = SeenSet(), set[int]()
    worst = 0.0
    for _ in range(40):
        batch = [rng.getrandbits(64) for _ in range(10_000)]
        seen.add_many(pack(batch))
        expected.update(batch)
        if len(expected) >= 100_000:
            worst = max(worst, seen.nbytes / len(seen))
    assert len(expected) == len(seen)
    assert seen.contains_many(pack(list(expected))) == bytes([1]) * len(expected)
    assert 1 not in seen.contains_many(pack([rng.getrandbits(64) for _ in range(10_000)]))
    assert worst < 14


def test_capacity_is_made_at_once() -> None:
    """A set of a known size does not grow before it is full."""
    rng = random.Random(2)
    seen = SeenSet(100_000)
    before = seen.nbytes
    seen.add_many(pack([rng.getrandbits(64) for _ in range(100_000)]))
    assert before == seen.nbytes


def test_torn_fingerprints_are_refused() -> None:
    """A buffer has a multiple of 8 bytes."""
    seen = SeenSet()
    with pytest.raises(ValueError, match="8 bytes each"):
        seen.add_many(b"1234567")
    with pytest.raises(ValueError, match="8 bytes each"):
        seen.contains_many(b"1234567")


def test_values_beyond_64_bits_are_refused() -> None:
    """A fingerprint is a u64."""
    seen = SeenSet()
    with pytest.raises(OverflowError):
        seen.add(2**64)
    with pytest.raises(OverflowError):
        seen.add(-1)


def test_no_memory_adds_nothing() -> None:
    """A batch without room raises MemoryError and leaves the set as it was, and usable."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_MEMORY], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
