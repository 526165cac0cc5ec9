"""Queries in legacy encodings."""

from __future__ import annotations

import pytest

from larbinpy.query import _CODECS, encode_query, is_utf8


@pytest.mark.parametrize("encoding", sorted(_CODECS.keys() - {"gb18030"}))  # it lacks nothing
def test_every_encoding_has_a_codec(encoding: str) -> None:
    """ASCII stays, the special-query set is escaped, what is lacking becomes a reference."""
    assert encode_query("a= 1&b'\u27c2", encoding) == b"a=%201&b%27%26%2310178%3B"


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ("é€", "windows-1252", b"%E9%80"),
        ("é", "KOI8-R", b"%26%23233%3B"),
        ("日本", "Shift_JIS", b"%93%FA%96{"),
        ("日本", "EUC-JP", b"%C6%FC%CB%DC"),
        ("日#", "ISO-2022-JP", b"%1B$BF|%1B(B%23"),
        ("ｱﾞ", "ISO-2022-JP", b"%1B$B%%22!+%1B(B"),
        ("\uff5e\uff0d", "EUC-JP", b"%A1%C1%A1%DD"),
        ("¥‾\u2212", "Shift_JIS", b"\\~%81|"),
        ("€中", "GBK", b"%80%D6%D0"),
        ("\ue5e5", "gb18030", b"%26%2358853%3B"),
        ("똠", "EUC-KR", b"%8Cc"),
        ("\u202f", "UTF-8", b"%E2%80%AF"),
    ],
)
def test_encode_query(text: str, encoding: str, expected: bytes) -> None:
    """As the encoding standard's encoders write it."""
    assert expected == encode_query(text, encoding)


def test_is_utf8() -> None:
    """Names are those of the standard, in any case."""
    assert [is_utf8(name) for name in ("UTF-8", "UTF-16BE", "GBK")] == [True, True, False]
