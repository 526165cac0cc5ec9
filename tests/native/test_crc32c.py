"""The checksum is what its definition says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.crc32c import crc32c
from tests.reference import crc32c as reference


@settings(max_examples=40)
@given(st.binary(max_size=70), st.integers(0, 2**32 - 1))
def test_both_ways_to_sum_agree_with_the_bits(data: bytes, value: int) -> None:
    """The instruction, the tables and the definition give one crc."""
    expected = reference.crc32c(data, value)
    assert expected == crc32c(data, value)
    assert expected == crc32c(data, value, portable=True)


def test_crc_of_the_published_vector() -> None:
    """The check value of CRC-32C."""
    assert crc32c(b"123456789") == 0xE3069283
