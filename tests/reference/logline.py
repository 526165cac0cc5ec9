"""Specification of ``larbinpy._native.logline``: a line of ``crawl.log`` as one template."""

from __future__ import annotations

import json
import re
import socket
import time
from typing import TYPE_CHECKING, Final

from larbinpy.records import Directive, Kind, Outcome

if TYPE_CHECKING:
    from larbinpy.records import Reading

_LINE: Final = (
    '{"ts":"%s.%06dZ","kind":"%s","id":%d,"attempt":%d,"url":%s,"outcome":"%s","status":%s,'
    '"bytes":%d,"mime":%s,"depth":%d,"via":%s,"ip":%s,"duration_ms":%d,"digest":%s,'
    '%s,"robots":%s,"canonical":%s,"etag":%s,"modified":%s,"reason":%s}\n'
)
_ETAG: Final = re.compile(rb"[ \t]*([!-~][ -~]{0,199}?)[ \t]*\r?\n")
_MODIFIED: Final = re.compile(rb"[ \t]*([A-Z][a-z]{2}, [ -~]{21}GMT)[ \t]*\r?\n")


def line(reading: Reading, algorithm: str) -> bytes:
    """The line of one page."""
    page, parsed = reading.page, reading.parsed
    second, micros = divmod(page.start_us, 1_000_000)
    is_good = parsed.outcome == Outcome.SUCCESS and page.kind == Kind.PAGE
    etag, modified = version(page.headers) if is_good else (b"", b"")
    fields = (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)),
        micros,
        Kind(page.kind).name.lower(),
        page.id,
        page.attempt,
        quoted(page.url),
        Outcome(parsed.outcome).label,
        page.status or "null",
        parsed.body_bytes,
        quoted(reading.mime),
        page.depth,
        quoted(page.via),
        _address(page.ip),
        (page.duration_us + 500) // 1000,
        f'"{algorithm}:{parsed.digest.hex()}"' if any(parsed.digest) else "null",
        f'"simhash":"{parsed.simhash:016x}","near":{parsed.near or "null"}'
        if parsed.simhash
        else '"simhash":null,"near":null',
        _directives(parsed.directives),
        quoted(parsed.canonical),
        quoted(etag),
        quoted(modified),
        quoted(b"; ".join(filter(None, [page.reason, parsed.reason]))),
    )
    return (_LINE % fields).encode("ascii")


def quoted(text: bytes) -> str:
    """A JSON string; null for an empty text."""
    if not text:
        return "null"
    return json.dumps(text.decode("utf-8", "backslashreplace")).replace("\x7f", "\\u007f")


def version(headers: bytes) -> tuple[bytes, bytes]:
    """ETag and Last-Modified: of equal fields the first counts."""
    return _value(headers, b"\netag:", _ETAG), _value(headers, b"\nlast-modified:", _MODIFIED)


def _value(headers: bytes, name: bytes, pattern: re.Pattern[bytes]) -> bytes:
    at = headers.lower().find(name)
    match = pattern.match(headers, at + len(name)) if at >= 0 else None
    return match[1] if match else b""


def _address(ip: bytes) -> str:
    if not ip:
        return "null"
    return f'"{socket.inet_ntop(socket.AF_INET if len(ip) == 4 else socket.AF_INET6, ip)}"'


def _directives(asked: Directive) -> str:
    names = ",".join(str(one.name).lower() for one in Directive(asked))
    return f'"{names}"' if names else "null"
