"""The html5lib cases of encodings without an HTTP charset."""

from __future__ import annotations

import pytest

from larbinpy.parse.charset import encoding_of_label, find_encoding
from tests.conformance.shared import data


def cases(name: str) -> list[tuple[bytes, bytes]]:
    """The (page, label) of each case of a file."""
    found = []
    for block in data(f"html/encoding/{name}.dat").read_bytes().split(b"#data\n")[1:]:
        page, _, label = block.partition(b"\n#encoding\n")
        found.append((page, label.split(b"\n")[0]))
    return found


@pytest.mark.parametrize("name", ["tests1", "tests2", "test-yahoo-jp"])
def test_the_encoding_is_found(name: str) -> None:
    """Every page of the file has the encoding of the given label."""
    wrong = [
        (page, label, find_encoding(b"", page))
        for page, label in cases(name)
        if find_encoding(b"", page)[0] != encoding_of_label(label)
    ]
    assert wrong == []


def test_there_are_82_cases() -> None:
    """The files are read whole."""
    assert sum(len(cases(name)) for name in ["tests1", "tests2", "test-yahoo-jp"]) == 82
