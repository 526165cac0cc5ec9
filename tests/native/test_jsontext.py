"""JSON strings of bytes from the web against their plain twin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy._native import jsontext
from tests.reference import jsontext as reference

printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)).map(str.encode)


@given(printable | st.binary())
def test_strings_are_those_of_the_reference(text: bytes) -> None:
    """Whatever the bytes: the same string, or nobody's."""
    assert reference.quoted(text) == jsontext.quoted(text)


@pytest.mark.parametrize("size", [1, 1999, 2000, 5000])
def test_the_longest_text_fits_when_every_byte_is_escaped(size: int) -> None:
    """Nothing is written behind the room."""
    assert reference.quoted(b'"' * size) == jsontext.quoted(b'"' * size)
