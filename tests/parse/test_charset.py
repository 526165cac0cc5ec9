"""Encodings of pages: where they are found, and the way to UTF-8."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy.parse.charset import encoding_of_label, find_encoding, to_utf8
from larbinpy.parse.labels import CODECS, LABELS, TABLES

ENCODINGS = sorted({*LABELS.values()})


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        (b"text/html; charset=koi8-r", b"\xef\xbb\xbfx", ("UTF-8", "bom")),
        (b"", b"\xff\xfex\0", ("UTF-16LE", "bom")),
        (b"text/html; charset=Latin1", b"<meta charset=utf-8>", ("windows-1252", "header")),
        (b"text/html; charset=nonsense", b"<meta charset=utf-8>", ("UTF-8", "meta")),
        (b"", b"<meta charset=utf-16>", ("UTF-8", "meta")),
        (b"", b"<meta charset=x-user-defined>", ("windows-1252", "meta")),
        (b"", b" " * 2000 + b"<meta charset=koi8-r>", ("KOI8-R", "meta-late")),
        (b"", b" " * 2000 + b"<meta charset=no><meta charset=gbk>", ("GBK", "meta-late")),
        (b"", b"<?xml version='1.0' encoding='Shift_JIS'?>", ("Shift_JIS", "xml")),
        (b"", b"<\0?\0x\0m\0l\0", ("UTF-16LE", "xml")),
        (b"", b"<!-- <meta charset=koi8-r> --><p>", ("windows-1252", "none")),
        (b"", b"<meta charset=koi8-r", ("windows-1252", "none")),
        (b"", b"", ("windows-1252", "none")),
    ],
)
def test_the_first_place_that_tells_counts(
    content_type: bytes, body: bytes, expected: tuple[str, str]
) -> None:
    """Mark, header, meta, late meta, XML declaration, default: in this order."""
    assert expected == find_encoding(content_type, body)


RUSSIAN = "<p>Съешь же ещё этих мягких французских булок, да выпей чаю.</p>"
JAPANESE = "<p>このページは日本語の文書です。テキストの文字コードを調べます。</p>"


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8_r", "KOI8-U"),  # the same for what is Russian
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (JAPANESE, "utf_8", "UTF-8"),
    ],
)
def test_what_nobody_declares_is_detected(text: str, codec: str, encoding: str) -> None:
    """By its bytes, also behind a lot of ASCII; all that is declared goes before."""
    body = b"<a href=x>" * 10_000 + text.encode(codec) * 20
    assert find_encoding(b"", body) == (encoding, "detected")
    assert find_encoding(b"text/html; charset=koi8-r", body) == ("KOI8-R", "header")


WIDE = "<!doctype html><a href=/x>link</a>"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (WIDE.encode("utf-16-le"), "UTF-16LE"),
        (WIDE.encode("utf-16-be"), "UTF-16BE"),
        ((WIDE * 40 + RUSSIAN).encode("utf-16-be"), "UTF-16BE"),
        (WIDE.encode("utf-16-le")[:28], "windows-1252"),
        (b"\0" * 100, "windows-1252"),
        ((RUSSIAN + WIDE).encode("utf-16-le"), None),
        ((WIDE + "é" + WIDE).encode("utf-16-le"), None),
        (b"<meta charset=koi8-r>" + WIDE.encode("utf-16-be"), "KOI8-R"),
    ],
)
def test_utf16_is_seen_where_it_is_ascii(body: bytes, encoding: str | None) -> None:
    """In the first 1024 bytes, of which there must be some, when nothing is declared."""
    found, _ = find_encoding(b"", body)
    assert not found.startswith("UTF-16") if encoding is None else found == encoding


def test_western_text_is_the_default() -> None:
    """A guess that says no more than the default is none."""
    assert find_encoding(b"", b"<p>caf\xe9 na\xefve \xfcber") == ("windows-1252", "none")


@given(st.binary(max_size=300))
def test_any_bytes_can_be_guessed_at(body: bytes) -> None:
    """Nothing is raised, and the guess is an encoding of the standard."""
    assert find_encoding(b"", b"\xe9" + body)[0] in ENCODINGS


@pytest.mark.parametrize(
    "label", ["utf-7", "idna", "undefined", "zlib", "punycode", "\0", "", "hex"]
)
def test_only_labels_of_the_web_are_known(label: str) -> None:
    """No label reaches Python's codecs but those of the standard."""
    assert encoding_of_label(label.encode()) is None


def test_the_table_of_labels_is_whole() -> None:
    """The standard has 228 labels for 40 encodings, and each of these can be decoded."""
    assert (len(LABELS), len(ENCODINGS)) == (228, 40)
    assert {*ENCODINGS} == {*CODECS} | {*TABLES} | {"replacement"}


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("UTF-8", b"\xef\xbb\xbf\xc3\xa9", "é"),
        ("windows-1252", b"\x80\x81\xe9", "€\x81é"),
        ("windows-1253", b"\xaa", "\ufffd"),
        ("KOI8-U", b"\xae\xbe", "ўЎ"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("UTF-16LE", b"\xff\xfea\0", "a"),
        ("UTF-16BE", b"\0a\0", "a\ufffd"),
        ("GBK", b"\x80\x81\x30!!", "€\ufffd0!!"),
        ("Shift_JIS", b"\xa0\xfd\x82\xa0", "\ufffd\ufffdあ"),
        ("replacement", b"abc", "\ufffd"),
        ("replacement", b"", ""),
        ("no such encoding", b"\xe9", "é"),
    ],
)
def test_pages_become_utf8(encoding: str, body: bytes, text: str) -> None:
    """By the standard's tables; what they do not have becomes U+FFFD."""
    assert text == to_utf8(body, encoding).decode()


def test_utf8_and_ascii_are_given_back() -> None:
    """Nothing is copied where nothing changes."""
    for body, encoding in [(b"\xc3\xa9\xff", "UTF-8"), (b"ascii", "KOI8-R")]:
        assert to_utf8(body, encoding) is body


@given(st.binary(max_size=60), st.sampled_from(ENCODINGS))
def test_any_bytes_become_utf8(body: bytes, encoding: str) -> None:
    """No body of any encoding raises, and all but those in UTF-8 come out valid."""
    found = to_utf8(body, encoding)
    if encoding != "UTF-8":
        found.decode()


MARKUP = [
    b"<meta ",
    b"charset",
    b"=",
    b'"',
    b"'",
    b"utf-8",
    b"<!--",
    b"-->",
    b"<",
    b">",
    b"/",
    b" ",
]
MARKUP += [b"content", b"http-equiv", b"content-type", b"<?xml", b"encoding", b"</a", b"<p", b"\0"]


@given(st.lists(st.sampled_from(MARKUP), max_size=30).map(b"".join), st.binary(max_size=20))
def test_any_page_has_an_encoding(body: bytes, content_type: bytes) -> None:
    """The answer is always an encoding of the standard."""
    assert find_encoding(content_type, body)[0] in ENCODINGS
