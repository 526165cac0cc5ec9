"""Lines of ``crawl.log``: byte for byte those of their specification."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larbinpy._native import logline
from larbinpy.records import Directive, Kind, Outcome, Page, ParsedPage, Reading
from tests.records import page
from tests.reference import logline as reference

U8, U16, U32, U64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64))
PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)).map(str.encode)
HOSTILE = st.text(alphabet='"\\\n\r\t\x00\x1b\x7f\x85\u2028\ud7ff\U0001f600a\xe9').map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
TEXT = st.one_of(PRINTABLE, HOSTILE, st.binary(), st.just(b""))
DATE = b"Sun, 06 Nov 1994 08:49:37 GMT"
PIECES = [
    b"ETag:", b"etag:", b"X-ETag:", b"Last-Modified:", b"LAST-MODIFIED:", b'W/"x"', b'"x"', b" ",
    b"\t", b"\r\n", b"\n", b"\r", DATE, b"GMT", b"\x00", b"\xff", b"x" * 199, b"HTTP/1.1 200 OK",
]  # fmt: skip
HEADERS = st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join)
TIMES = st.integers(0, 253_402_300_799_999_999)
PAGES = st.builds(
    page, id=U64, attempt=U8, kind=st.sampled_from(Kind), status=U16, depth=U16, start_us=TIMES,
    duration_us=U32, url=TEXT, via=TEXT, reason=TEXT, headers=HEADERS,
    ip=st.sampled_from([b"", b"\x7f\0\0\1", bytes(range(246, 250)), bytes(16), b"\xfe" * 16]),
)  # fmt: skip
ANSWERS = st.builds(
    ParsedPage, id=U64, epoch=U32, outcome=st.sampled_from(Outcome), body_bytes=U32, near=U64,
    digest=st.sampled_from([bytes(16), bytes(range(16)), b"\xff" * 16]),
    simhash=st.sampled_from([0, 1, 1 << 63]), canonical=TEXT, reason=TEXT,
    directives=st.sampled_from([Directive(bits) for bits in range(8)]),
)  # fmt: skip
READINGS = st.builds(Reading, PAGES, ANSWERS, mime=TEXT)


@settings(max_examples=300)
@given(st.lists(READINGS, max_size=4), st.sampled_from(["xxh3-128", "larbin"]))
def test_lines_are_those_of_the_specification(readings: list[Reading], algorithm: str) -> None:
    """Whatever the pages are, one behind the other."""
    expected = b"".join(reference.line(reading, algorithm) for reading in readings)
    assert expected == logline.LineMaker(algorithm).lines(readings)


def test_one_maker_for_many_batches() -> None:
    """Nothing is left of an earlier one, nor of its second."""
    maker = logline.LineMaker()
    for us in (0, 999_999, 1_000_000, 5, 1_700_000_000_000_123):
        readings = [Reading(page(start_us=us), ParsedPage(1, 1, Outcome.SUCCESS))] * 2
        assert maker.lines(readings) == 2 * reference.line(readings[0], "xxh3-128")
    assert maker.lines([]) == b""


@pytest.mark.parametrize("byte", [b'"', b"\0", b"\xff", b"\x7f", b"a"])
def test_the_longest_texts_fit(byte: bytes) -> None:
    """All that an entry of a frame can hold, when every byte grows."""
    text = byte * 65_535
    longest = page(url=text, via=text, reason=text)
    parsed = ParsedPage(1, 1, Outcome.SUCCESS, canonical=text, reason=text)
    reading = Reading(longest, parsed, mime=text)
    assert logline.LineMaker().lines([reading] * 2) == 2 * reference.line(reading, "xxh3-128")


@settings(max_examples=300)
@given(HEADERS)
@example(b"x\nETag: %b\r\n" % (b"x" * 200))
@example(b"x\nETag: %b\r\n" % (b"x" * 201))
@example(b"x\nLast-Modified:\t%b \t\r\n" % DATE)
@example(b"x\nETag: x")
@example(b"ETag: first\n")
def test_versions_are_those_of_the_specification(headers: bytes) -> None:
    """Of any header block."""
    assert reference.version(headers) == logline.version(headers)


@given(TEXT)
def test_strings_are_those_of_the_specification(text: bytes) -> None:
    """Of any bytes."""
    assert reference.quoted(text).encode() == logline.quoted(text)


@pytest.mark.parametrize(
    ("page_", "parsed"),
    [
        (page(kind=4), ParsedPage(1, 1, Outcome.SUCCESS)),
        (page(), ParsedPage(1, 1, Outcome.SUCCESS, digest=b"x" * 17)),
        (page(ip=b"\0" * 5), ParsedPage(1, 1, Outcome.SUCCESS)),
    ],
)
def test_what_no_page_can_be(page_: Page, parsed: ParsedPage) -> None:
    """An error, and nothing is read or written where it does not belong."""
    with pytest.raises(ValueError, match=r"name|16 bytes"):
        logline.LineMaker().lines([Reading(page_, parsed)])
