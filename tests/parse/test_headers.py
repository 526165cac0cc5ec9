"""Fields of header blocks."""

from __future__ import annotations

import pytest

from larbinpy.parse.headers import content_type, field

HEADERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nno colon here\r\n"
    b"content-TYPE :  text/html \r\n"
    b"Content-Encoding: gzip\r\nX-Location: no\r\nLocation:/x y:z\r\n"
    b"Content-Encoding:br\r\nEmpty:\r\n\r\n"
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"content-type", b"text/html"),
        (b"content-encoding", b"gzip, br"),
        (b"location", b"/x y:z"),
        (b"empty", b""),
        (b"missing", b""),
        (b"no colon here", b""),
    ],
)
def test_a_field_is_found(name: bytes, value: bytes) -> None:
    """In any case; of repetitions the last counts, but lists are joined."""
    assert value == field(HEADERS, name)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"Text/HTML", (b"text/html", {})),
        (b" text/html ; Charset=UTF-8 ;a=b", (b"text/html", {b"charset": b"UTF-8", b"a": b"b"})),
        (b'text/html;charset="x\\-1";charset=y', (b"text/html", {b"charset": b"x-1"})),
        (b'text/html;charset="a;b" junk;c=d', (b"text/html", {b"charset": b"a;b", b"c": b"d"})),
        (b"text/html;charset =a;charset=;charset=b", (b"text/html", {b"charset": b"b"})),
        (b"text/html;;=x;charset=b", (b"text/html", {b"charset": b"b"})),
        (b'text/html;charset="open', (b"text/html", {b"charset": b"open"})),
        (b"html; charset=x", (b"", {b"charset": b"x"})),
        (b"", (b"", {})),
    ],
)
def test_a_content_type_is_split(value: bytes, expected: tuple[bytes, dict[bytes, bytes]]) -> None:
    """By the MIME standard's rules, without ever failing."""
    assert expected == content_type(value)
