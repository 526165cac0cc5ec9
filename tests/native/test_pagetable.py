"""The shared table of pages seen: against its reference, its rate, and two processes at once."""

from __future__ import annotations

import mmap
import multiprocessing
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.pagetable import PageTable
from tests.patience import PATIENCE_S
from tests.reference import pagetable as plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.sharedctypes import SynchronizedArray


@given(
    st.lists(st.binary(min_size=16, max_size=16) | st.sampled_from([bytes(16), b"\xff" * 16])),
    st.integers(1, 8),
    st.integers(1, 3),
)
@settings(max_examples=100)
def test_equals_reference(digests: list[bytes], bits_per_page: int, words: int) -> None:
    """Answers and table are those of the reference."""
    expected_bytes, actual_bytes = bytearray(8 * words), bytearray(8 * words)
    expected = plain.PageTable(expected_bytes, bits_per_page)
    actual = PageTable(actual_bytes, bits_per_page)
    for digest in digests:
        assert expected.add(digest) == actual.add(digest)
    assert expected_bytes == actual_bytes


@given(st.lists(st.integers(0, 127)))
@settings(max_examples=50)
def test_codes_equal_reference(codes: list[int]) -> None:
    """Codes set the bits of larbin's ``dupfile.bin``."""
    expected_bytes, actual_bytes = bytearray(16), bytearray(16)
    expected, actual = plain.PageTable(expected_bytes), PageTable(actual_bytes)
    for code in codes:
        assert expected.add_code(code) == actual.add_code(code)
        assert actual_bytes[code >> 3] & 1 << (code & 7)
    assert expected_bytes == actual_bytes


def test_rate_of_false_seen() -> None:
    """With one word a page, in 8 bytes each, under 0.1 % of the pages are taken for seen."""
    rng = random.Random(3)
    pages = 20_000
    buffer = bytearray(8 * pages)
    table = PageTable(buffer)
    refused = sum(not table.add(rng.randbytes(16)) for _ in range(pages))
    assert refused < pages / 1000


def test_shared_mapping() -> None:
    """A table in an anonymous shared mapping is seen by every table over it."""
    with mmap.mmap(-1, 4096) as buffer:
        first, second = PageTable(buffer), PageTable(buffer)
        assert [first.add(b"x" * 16), second.add(b"x" * 16)] == [True, False]
        del first, second


def _add_all(buffer: SynchronizedArray[int], seed: int, results: list[int]) -> None:
    """Add many digests, in the order of a seed; note how many were new."""
    digests = [random.Random(i).randbytes(16) for i in range(5000)]
    random.Random(seed).shuffle(digests)
    table = PageTable(memoryview(buffer.get_obj()).cast("B"))
    results[seed] = sum(table.add(digest) for digest in digests)


def test_each_page_is_new_to_one_process() -> None:
    """Processes that race for the same pages are told "new" once for each, in sum."""
    context = multiprocessing.get_context("fork")
    buffer = context.Array("B", 1 << 20)
    results = context.Array("i", 2)
    children = [context.Process(target=_add_all, args=(buffer, i, results)) for i in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE_S)
    assert results[0] + results[1] == 5000


@pytest.mark.parametrize(
    "make",
    [
        lambda: PageTable(bytearray(8), 0),
        lambda: PageTable(bytearray(8), 9),
        lambda: PageTable(bytearray(0)),
        lambda: PageTable(bytearray(12)),
        lambda: PageTable(memoryview(bytearray(17))[1:]),
        lambda: PageTable(bytearray(8)).add(b"short"),
        lambda: PageTable(bytearray(8)).add_code(64),
    ],
)
def test_bad_arguments_are_refused(make: Callable[[], object]) -> None:
    """Sizes, bits and digests out of range raise."""
    with pytest.raises(ValueError, match=r"page|digest|code"):
        make()
