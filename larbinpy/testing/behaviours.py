"""The ways in which a server can mean no good, and how a URL of each has to end."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.records import Outcome
from larbinpy.testing.attacks import (
    CHUNKED,
    HTML,
    PAGE,
    REDIRECTS,
    bombing,
    encoded,
    flood,
    gzip_page,
    moved,
    raw_deflate,
    redirect_chain,
    six_times,
    slow_header,
    slowly,
    smuggled_location,
)
from larbinpy.testing.scripts import (
    answer,
    answer_and_close,
    answer_and_reset,
    answer_and_stall,
    answer_for_ever,
    response,
)

if TYPE_CHECKING:
    from larbinpy.testing.servers import Script

HTTP: Final = "http"
TLS: Final = "tls"
TLS_SILENT: Final = "tls-silent"
NOBODY: Final = "nobody"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One way of being hostile."""

    name: str
    """Also the first label of its host."""
    script: Script
    outcome: Outcome
    """What its last URL ends with."""
    status: int = 200
    """As the log has it; 0 = none."""
    body_bytes: int = -1
    """Decoded, when that says something; -1 = not looked at."""
    port: str = HTTP
    """``HTTP``, or a server of its own, where the request for robots.txt ends so already."""
    pages: int = 1
    """URLs of it that are fetched."""


_COOKIES: Final = b"".join(b"Set-Cookie: c%d=%b\r\n" % (n, b"x" * 4090) for n in range(50))
_PART: Final = b"Content-Type: text/html\r\nContent-Range: bytes 5-9/10\r\n"

_FRAMING: Final = (
    Behaviour(
        "chunked-and-length",
        answer(
            HTML + b"Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
        ),
        Outcome.SUCCESS,
        body_bytes=1,
    ),
    Behaviour(
        "two-lengths",
        answer(HTML + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour(
        "length-twice",
        answer(HTML + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
        Outcome.SUCCESS,
        body_bytes=5,
    ),
    Behaviour("length-list", answer(HTML + b"Content-Length: 5, 5\r\n\r\nhello"), Outcome.SUCCESS),
    Behaviour(
        "length-minus", answer(HTML + b"Content-Length: -5\r\n\r\nhello"), Outcome.PROTOCOL_ERROR
    ),
    Behaviour(
        "length-plus", answer(HTML + b"Content-Length: +5\r\n\r\nhello"), Outcome.PROTOCOL_ERROR
    ),
    Behaviour(
        "length-over-63-bits", answer(HTML + b"Content-Length: 9223372036854775808\r\n\r\n"),
        Outcome.TOO_BIG,
    ),
    Behaviour("length-too-big", answer_and_stall(response(length=1 << 40)), Outcome.TOO_BIG),
    Behaviour(
        "body-cut", answer_and_close(HTML + b"Content-Length: 50\r\n\r\nhello"), Outcome.TRUNCATED,
        body_bytes=5,
    ),
    Behaviour(
        "body-longer", answer(HTML + b"Content-Length: 3\r\n\r\nhello"), Outcome.SUCCESS,
        body_bytes=3,
    ),
    Behaviour(
        "chunks-cut", answer_and_close(CHUNKED + b"5\r\nhello\r\n"), Outcome.TRUNCATED,
        body_bytes=5,
    ),
    Behaviour(
        "chunk-size-bad", answer_and_close(CHUNKED + b"zz\r\nhello\r\n"), Outcome.PROTOCOL_ERROR
    ),
    Behaviour(
        "chunk-size-long", answer_and_close(CHUNKED + b"1" * 17 + b"\r\nhello\r\n"),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour("chunk-extension-endless", flood, Outcome.PROTOCOL_ERROR),
    Behaviour(
        "trailers-endless",
        answer_for_ever(CHUNKED + b"1\r\na\r\n0\r\n", b"X-Late: 1\r\n" * 100),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour(
        "transfer-coding-unasked",
        answer_and_close(
            HTML + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        ),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour("body-endless", answer_for_ever(HTML + b"\r\n", b"x" * 50_000), Outcome.TOO_BIG),
    Behaviour("chunks-endless", answer_for_ever(CHUNKED, b"1\r\nx\r\n" * 5000), Outcome.TOO_BIG),
)  # fmt: skip

_HEADERS: Final = (
    Behaviour(
        "interim-endless",
        answer_for_ever(b"", b"HTTP/1.1 103 Wait\r\nX: 1\r\n\r\n" * 50),
        Outcome.PROTOCOL_ERROR,
        status=103,
    ),
    Behaviour("headers-endless", answer_for_ever(HTML, b"X: 1\r\n" * 100), Outcome.PROTOCOL_ERROR),
    Behaviour(
        "headers-large",
        answer_for_ever(HTML, b"X-%b: 1\r\n" % (b"y" * 5000)),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour(
        "header-line-endless", answer_for_ever(HTML + b"X: ", b"y" * 50_000), Outcome.PROTOCOL_ERROR
    ),
    Behaviour(
        "header-nul", answer_and_close(HTML + b"X: a\0b\r\n\r\nhello"), Outcome.PROTOCOL_ERROR
    ),
    Behaviour(
        "header-cr", answer_and_close(HTML + b"X: a\rb\r\n\r\nhello"), Outcome.PROTOCOL_ERROR
    ),
    Behaviour(
        "cookies-large",
        answer(response(PAGE, fields=b"Content-Type: text/html\r\n" + _COOKIES)),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour("http-0.9", answer_and_close(b"<p>no header"), Outcome.PROTOCOL_ERROR, status=0),
    Behaviour("garbage", answer_and_close(b"\0\1garbage\n" * 9), Outcome.PROTOCOL_ERROR, status=0),
    Behaviour(
        "status-101", answer_and_close(b"HTTP/1.1 101 Switch\r\n\r\nhello"), Outcome.PROTOCOL_ERROR,
        status=101,
    ),
    Behaviour(
        "status-204-body", answer(b"HTTP/1.1 204 None\r\n\r\nhello"), Outcome.SUCCESS, status=204,
        body_bytes=0,
    ),
    Behaviour(
        "status-206-unasked", answer(response(b"hello", status=b"206 Part", fields=_PART)),
        Outcome.TRUNCATED, status=206,
    ),
    Behaviour(
        "status-304-unasked", answer(b"HTTP/1.1 304 Same\r\n\r\n"), Outcome.ERR_30X, status=304
    ),
    Behaviour(
        "status-999", answer(response(b"hello", status=b"999 No")), Outcome.ERR_40X, status=999
    ),
    Behaviour(
        "type-unwanted",
        answer_for_ever(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n", b"x" * 50_000),
        Outcome.BAD_TYPE,
    ),
)  # fmt: skip

_CODINGS: Final = (
    Behaviour("gzip-bomb", bombing(b"gzip"), Outcome.TOO_BIG),
    Behaviour("br-bomb", bombing(b"br"), Outcome.TOO_BIG),
    Behaviour("zstd-bomb", bombing(b"zstd"), Outcome.TOO_BIG),
    Behaviour(
        "gzip-cut", answer_and_close(HTML + b"Content-Encoding: gzip\r\n\r\n",
                                     gzip.compress(PAGE * 100)[:-12]),
        Outcome.TRUNCATED,
    ),
    Behaviour(
        "gzip-wrong-sum", gzip_page(gzip.compress(PAGE)[:-8] + bytes(8)), Outcome.TRUNCATED,
        body_bytes=len(PAGE),
    ),
    Behaviour(
        "gzip-two-members", gzip_page(gzip.compress(PAGE) * 2), Outcome.SUCCESS,
        body_bytes=2 * len(PAGE),
    ),
    Behaviour(
        "gzip-and-garbage", gzip_page(gzip.compress(PAGE) + b"garbage" * 9), Outcome.SUCCESS,
        body_bytes=len(PAGE),
    ),
    Behaviour("gzip-not", gzip_page(PAGE), Outcome.SUCCESS, body_bytes=len(PAGE)),
    Behaviour(
        "gzip-twice",
        answer(response(gzip.compress(gzip.compress(PAGE)), fields=encoded(b"gzip, gzip"))),
        Outcome.SUCCESS,
        body_bytes=len(PAGE),
    ),
    Behaviour(
        "gzip-six-times",
        answer(response(six_times(PAGE), fields=encoded(b", ".join([b"gzip"] * 6)))),
        Outcome.BAD_TYPE,
    ),
    Behaviour("coding-unknown", answer(response(PAGE, fields=encoded(b"rot13"))),
              Outcome.BAD_TYPE),
    Behaviour(
        "deflate-raw", answer(response(raw_deflate(PAGE), fields=encoded(b"deflate"))),
        Outcome.SUCCESS, body_bytes=len(PAGE),
    ),
)  # fmt: skip

_MANNERS: Final = (
    Behaviour("answer-none", answer_and_stall(), Outcome.TIMEOUT, status=0),
    Behaviour("closed-at-once", answer_and_close(), Outcome.PROTOCOL_ERROR, status=0),
    Behaviour("reset-at-once", answer_and_reset(), Outcome.PROTOCOL_ERROR, status=0),
    Behaviour(
        "reset-after-headers", answer_and_reset(HTML + b"Content-Length: 100\r\n\r\nabc"),
        Outcome.PROTOCOL_ERROR,
    ),
    Behaviour("stalled", answer_and_stall(HTML + b"Content-Length: 9\r\n\r\nabc"), Outcome.TIMEOUT),
    Behaviour(
        "slow-body", slowly(HTML + b"Content-Length: 99\r\n\r\n", b"x"), Outcome.TIMEOUT
    ),
    Behaviour("slow-header", slow_header, Outcome.TIMEOUT, status=0),
    Behaviour("tls-stalled", answer_and_stall(), Outcome.TIMEOUT, status=0, port=TLS_SILENT),
    Behaviour("tls-other-name", answer(response(PAGE)), Outcome.TLS_ERROR, status=0, port=TLS),
    Behaviour("refused", answer(), Outcome.NO_CONNECTION, status=0, port=NOBODY),
)  # fmt: skip

_REDIRECTIONS: Final = (
    Behaviour("redirect-to-itself", answer(moved(b"/")), Outcome.ERR_30X, status=302),
    Behaviour(
        "redirect-to-itself-with-cookies", answer(moved(b"/", b"Set-Cookie: a=b\r\n")),
        Outcome.ERR_30X, status=302, pages=2,
    ),
    Behaviour("redirect-chain", redirect_chain, Outcome.ERR_30X, status=302, pages=REDIRECTS),
    Behaviour("redirect-to-file", answer(moved(b"file:///etc/passwd")), Outcome.ERR_30X,
              status=302),
    Behaviour("redirect-smuggled", smuggled_location, Outcome.SUCCESS, pages=2),
    Behaviour("redirect-nowhere", answer(response(status=b"302 Found")), Outcome.ERR_30X,
              status=302),
    Behaviour(
        "redirect-endless-body",
        answer_for_ever(b"HTTP/1.1 301 Go\r\nLocation: /\r\n\r\n", b"x" * 50_000),
        Outcome.ERR_30X,
        status=301,
    ),
)  # fmt: skip

BEHAVIOURS: Final = (*_FRAMING, *_HEADERS, *_CODINGS, *_MANNERS, *_REDIRECTIONS)
