"""ETag and Last-Modified: from a response to the log, and from there to a later request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy._native.logline import MAX_ETAG_BYTES, LineMaker, version
from larbinpy.records import Kind, Outcome, ParsedPage, Reading
from larbinpy.store.crawllog import CrawlLog
from larbinpy.store.validators import Validators, latest
from tests.records import page

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(16)
DATE = b"Sun, 06 Nov 1994 08:49:37 GMT"
HEADERS = b'HTTP/1.1 200 OK\r\nETag: W/"a b"\r\nLast-Modified: %b\r\n' % DATE


@pytest.mark.parametrize(
    ("fields", "etag", "modified"),
    [
        (b'ETag: "x"\r\n', b'"x"', b""),
        (b'etag:"x"  \r\nLAST-MODIFIED:' + DATE + b"\r\n", b'"x"', DATE),
        (b'ETag: "1"\r\nETag: "2"\r\n', b'"1"', b""),
        (b"ETag: bare\n", b"bare", b""),
        (b'ETag: "%b"\r\n' % (b"x" * (MAX_ETAG_BYTES - 2)), b'"%b"' % (b"x" * 198), b""),
        (b'ETag: "%b"\r\n' % (b"x" * MAX_ETAG_BYTES), b"", b""),
        (b'ETag: "\xff"\r\nETag: "\x01"\r\n', b"", b""),
        (b"ETag:\r\nETag: \r\nX-ETag: y\r\n", b"", b""),
        (b"Last-Modified: yesterday\r\nLast-Modified: 0\r\n", b"", b""),
        (b"X: ETag: z\r\n", b"", b""),
    ],
)
def test_what_is_kept_of_a_response(fields: bytes, etag: bytes, modified: bytes) -> None:
    """What could be sent back: of bounded length, in visible ASCII."""
    assert version(b"HTTP/1.1 200 OK\r\n" + fields) == (etag, modified)


def append(path: Path, url: bytes, headers: bytes, outcome: Outcome = Outcome.SUCCESS,
           kind: Kind = Kind.PAGE) -> None:  # fmt: skip
    log = CrawlLog(path, KEY)
    parsed = ParsedPage(1, 1, outcome)
    got = page(url, headers=headers, kind=kind)
    log.append(LineMaker().lines([Reading(got, parsed, b"text/html")]))
    log.close()


def test_the_latest_good_answer_counts(tmp_path: Path) -> None:
    """Of this URL; a failure, or a request that is no page, says nothing of its version."""
    path = tmp_path / "crawl.log"
    append(path, b"http://a/", HEADERS.replace(b"a b", b"old"))
    append(path, b"http://a/", HEADERS)
    append(path, b"http://a/", HEADERS.replace(b"a b", b"bad"), Outcome.TRUNCATED)
    append(path, b"http://a/", HEADERS.replace(b"a b", b"try"), kind=Kind.RETRY)
    append(path, b"http://b/", b"HTTP/1.1 200 OK\r\n")
    assert latest(path, KEY, b"http://a/") == Validators(b'W/"a b"', DATE)
    assert latest(path, KEY, b"http://b/") == latest(path, KEY, b"http://c/") == Validators()


def test_a_log_that_was_moved_away_can_be_asked(tmp_path: Path) -> None:
    """The index beside it is that of the log that took its place."""
    path = tmp_path / "crawl.log"
    append(path, b"http://a/", HEADERS)
    old = path.rename(tmp_path / "crawl.log.1")
    append(path, b"http://longer.example/", HEADERS.replace(b"a b", b"new"))
    append(path, b"http://a/", HEADERS.replace(b"a b", b"new"))
    assert latest(old, KEY, b"http://a/") == Validators(b'W/"a b"', DATE)
    assert latest(path, KEY, b"http://a/") == Validators(b'W/"new"', DATE)


def test_the_conditions_of_a_later_request() -> None:
    """RFC 9110, section 13.1: both, where there are both."""
    assert Validators(b'W/"a"', DATE).conditions() == [
        b'If-None-Match: W/"a"', b"If-Modified-Since: " + DATE,
    ]  # fmt: skip
    assert Validators().conditions() == []
