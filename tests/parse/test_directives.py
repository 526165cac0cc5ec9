"""What pages ask of robots, as metas and header fields write it."""

from __future__ import annotations

import pytest

from larbinpy.parse.directives import of_headers, of_meta
from larbinpy.records import NO_DIRECTIVES, Directive

NOTHING = NO_DIRECTIVES
FOLLOW, INDEX, ARCHIVE = Directive.NOFOLLOW, Directive.NOINDEX, Directive.NOARCHIVE


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (b"", NOTHING),
        (b"index, follow, all, nosnippet, max-snippet:-1", NOTHING),
        (b"NOFOLLOW", FOLLOW),
        (b"x, NoIndex ", INDEX),
        (b"none", FOLLOW | INDEX),
        (b"noarchive,nofollow", ARCHIVE | FOLLOW),
        (b"noindex nofollow;noarchive", INDEX | FOLLOW | ARCHIVE),
        (b"nofollowed", NOTHING),
        (b"unavailable_after: Wed, 25 Jun 2025 15:00:00 GMT, noindex", INDEX),
    ],
)
def test_metas(contents: bytes, expected: Directive) -> None:
    """Words in any case, between commas or spaces; none means two; the rest is passed over."""
    assert of_meta(contents) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], NOTHING),
        ([b"noindex"], INDEX),
        ([b" NoIndex , nofollow "], INDEX | FOLLOW),
        ([b"noindex", b"noarchive"], INDEX | ARCHIVE),
        ([b"larbin: noindex, nofollow"], INDEX | FOLLOW),
        ([b"LarBin : noindex"], INDEX),
        ([b"otherbot: noindex, nofollow"], NOTHING),
        ([b"otherbot: noindex", b"nofollow"], FOLLOW),
        ([b"otherbot: noindex, larbin: nofollow"], FOLLOW),
        ([b"nofollow, otherbot: noindex"], FOLLOW),
        ([b"*: noindex"], INDEX),
        ([b"unavailable_after: 25 Jun 2025 15:00:00 PST"], NOTHING),
        ([b"unavailable_after: Wed, 25 Jun 2025 15:00:00 GMT, noindex"], INDEX),
        ([b"max-snippet: 5, nofollow"], FOLLOW),
        ([b":::, \xff: , noindex"], INDEX),
    ],
)
def test_header_fields(lines: list[bytes], expected: Directive) -> None:
    """All lines count; the name of a robot says for whom the rest of its line is."""
    block = b"Server: x\r\n" + b"".join(b"X-Robots-Tag:%b\r\n" % line for line in lines) + b"\r\n"
    assert of_headers(block, b"larbin") == expected
