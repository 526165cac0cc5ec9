"""Header fields against their plain twin."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import headerfield
from tests.reference import headerfield as reference

pieces = st.sampled_from(
    [b"x-a", b"X-A", b"x-ab", b"x-", b":", b" ", b"\t", b"\r\n", b"\n", b"\r", b"v", b"\x0b"]
)


@settings(max_examples=500)
@given(st.lists(pieces, max_size=25).map(b"".join), st.sampled_from([b"x-a", b"v", b"a"]))
def test_fields_are_those_of_the_reference(headers: bytes, name: bytes) -> None:
    """Whatever a server sends."""
    assert reference.fields(headers, name) == headerfield.fields(headers, name)


def test_a_name_is_not_a_letter_with_another_bit() -> None:
    """Only letters have two cases: ``[`` is not ``{``."""
    assert headerfield.fields(b"x\x0da: 1\nX-A: 2\nx\x2da:3", b"x-a") == [b"2", b"3"]


def test_an_empty_block_has_no_fields() -> None:
    """Nothing is read."""
    assert headerfield.fields(b"", b"x-a") == []
