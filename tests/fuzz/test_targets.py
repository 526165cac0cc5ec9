"""The targets of the fuzzer in the ordinary tests: a few hundred inputs each, and its seeds."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutate import MAX_INPUT_BYTES, mutated
from tests.fuzz.seeds import WORDS, grammar, seeds
from tests.fuzz.targets import TARGETS

DEADLINE_S = 2.0
names = pytest.mark.parametrize("name", TARGETS)


@names
def test_whatever_comes_nothing_is_raised(name: str) -> None:
    """Words of the target's grammar and any bytes, in any order."""

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.sampled_from(WORDS[name]) | st.binary(max_size=8), max_size=30))
    def check(parts: list[bytes]) -> None:
        TARGETS[name](b"".join(parts))

    check()


@names
def test_changed_seeds_raise_nothing(name: str) -> None:
    """A few of the conformance data, changed; the random seed is printed."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    pool = rng.sample(found := seeds(name), min(len(found), 40))
    for data in pool:
        TARGETS[name](data)
        TARGETS[name](mutated(data, pool, WORDS[name], rng))
        TARGETS[name](grammar(name, rng))


@names
def test_long_repetitions_are_quick(name: str) -> None:
    """64 KiB of each word take far less than the fuzzer's deadline."""
    for word in WORDS[name]:
        start_s = time.process_time()
        TARGETS[name]((word * (MAX_INPUT_BYTES // len(word)))[:MAX_INPUT_BYTES])
        assert time.process_time() - start_s < DEADLINE_S, word
