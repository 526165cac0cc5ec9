"""What ``ext/urlnorm.pyx`` must answer, one URL after the other.

The URL standard stands in ``urlmachine.py``; larbin's mode, below, rewrites the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.reference.linkbuffers import FOUND_HEAD, RESOLVED_HEAD
from tests.reference.urlhost import C0_AND_SPACE, Failure
from tests.reference.urlmachine import Machine, OtherScheme, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OK, INVALID, SCHEME, SLOW, EMPTY, TOO_LONG = range(6)
# OTHER, A, AREA, BASE, META, REDIRECT, SEED, FORM: an empty one is the document itself.
FETCHED_WHEN_EMPTY = {0, 1, 2, 4, 10, 11, 12, 18}

Parsed = tuple[int, bytes, bool, int, int, int]


def failed(status: int, value: bytes = b"") -> Parsed:
    return status, value, False, 0, 0, 0


def parse_as(
    url: bytes, base: Record | None, *, host: bytes | None = None, is_utf8: bool = True
) -> tuple[Parsed, Record]:
    machine = Machine(url.decode("utf-8", "surrogateescape"), base, host, is_utf8)
    try:
        record = machine.run()
    except OtherScheme:
        return failed(SCHEME), machine.url
    except Failure:
        return failed(INVALID), machine.url
    if record.is_slow:
        return failed(SLOW, record.host.encode("utf-8", "surrogateescape")), record
    text = record.serialised().encode("ascii")
    if len(text) > 2083:
        return failed(TOO_LONG), record
    is_https = record.scheme == "https"
    start = len(record.scheme) + 3
    return (OK, text, is_https, start, len(record.host), record.effective_port), record


class Base:
    def __init__(self, url: bytes) -> None:
        found, self.record = parse_as(url, None)
        if found[0] != OK:
            raise ValueError(url)
        self.url = found[1]

    def resolve(self, links: bytes, *, encoding_is_utf8: bool = True) -> bytes:
        return resolve_items(
            links, lambda value: parse_as(value, self.record, is_utf8=encoding_is_utf8)[0]
        )


def parse(url: bytes, base: Base | None = None, host: bytes | None = None) -> Parsed:
    return parse_as(url, base.record if base else None, host=host)[0]


def found_items(links: bytes) -> Iterator[tuple[int, int, bytes]]:
    """``(element, rel, value)`` of each item."""
    at = 0
    while at < len(links):
        if len(links) - at < FOUND_HEAD.size:
            raise ValueError(links)
        element, _, rel, _, size = FOUND_HEAD.unpack_from(links, at)
        at += FOUND_HEAD.size + size
        if at > len(links):
            raise ValueError(links)
        yield element, rel, links[at - size : at]


def resolve_items(links: bytes, read: Callable[[bytes], Parsed]) -> bytes:
    items = []
    for element, rel, value in found_items(links):
        is_empty = value.strip(C0_AND_SPACE.encode()) == b""
        is_unfetched = is_empty and element not in FETCHED_WHEN_EMPTY
        status, url, https, start, size, port = failed(EMPTY) if is_unfetched else read(value)
        text = url if status == OK else b""
        items.append(RESOLVED_HEAD.pack(status, https, element, rel, start, size, port, len(text)))
        items.append(text)
    return b"".join(items)


def slow_links(links: bytes, resolved: bytes) -> list[tuple[bytes, int]]:
    slow = []
    at = 0
    for _, _, value in found_items(links):
        head = RESOLVED_HEAD.unpack_from(resolved, at)
        if head[0] == SLOW:
            slow.append((value, at))
        at += RESOLVED_HEAD.size + head[-1]
    return slow


# --- larbin's mode --------------------------------------------------------------------------------


def larbin_text(url: bytes) -> bytes:
    return url.strip(C0_AND_SPACE.encode()).translate(None, b"\t\n\r")


def larbin_file(clean: bytes, raw: bytes) -> bytes:
    """``clean``, then what becomes of ``raw``, which begins with a slash."""
    raw = raw.partition(b"#")[0]
    while raw:
        if raw.startswith(b"//"):
            raw = raw[1:]
        elif raw.startswith(b"/./"):
            raw = raw[2:]
        elif raw == b"/.":
            raw = b"/"
        elif raw.startswith(b"/../") or raw == b"/..":
            if clean == b"":
                raise Failure
            clean = clean[: clean.rindex(b"/")]
            raw = raw[3:] or b"/"
        else:
            taken, piece = larbin_byte(raw)
            clean += piece
            raw = raw[taken:]
    return clean


def larbin_byte(raw: bytes) -> tuple[int, bytes]:
    """How many bytes of ``raw`` are one, and how larbin writes it."""
    if raw[0] >= 0x80:
        return 1, b"%%%02x" % raw[0]
    if raw[:1] != b"%":
        if raw[0] < 0x20 or raw[0] == 0x7F:
            raise Failure
        return 1, raw[:1]
    if not re.fullmatch(rb"%[0-9A-Fa-f]{2}", raw[:3]):
        raise Failure
    code = int(raw[1:3], 16)
    if code == 0x20:
        return 3, raw[:3]
    if 0x21 <= code <= 0x7E:
        return 3, bytes([code])
    raise Failure


def larbin_absolute(text: bytes) -> tuple[bytes, int, bytes]:
    """Host, port and file of what follows "http://"."""
    match = re.fullmatch(rb"([^/:]+)(?::([0-9]*))?(.*)", text, re.DOTALL)
    if match is None:
        raise Failure
    host, port, rest = match.groups()
    if len(host) >= 256 or any(byte < 0x20 or byte >= 0x7F for byte in host):
        raise Failure
    number = 80 if port is None else int(port or b"0") % 65536
    return host.lower(), number, larbin_file(b"", rest) if rest.startswith(b"/") else b"/"


def larbin_reference(url: bytes, base: LarbinBase | None) -> Parsed:
    text = larbin_text(url)
    head = text[:7].lower()
    try:
        if head == b"http://":
            host, port, file = larbin_absolute(text[7:])
        elif not head.startswith(b"http:") and re.match(rb"[0-9A-Za-z]*:", text):
            return failed(SCHEME)
        elif base is None:
            return failed(INVALID)
        else:
            host, port = base.host, base.port
            relative = text[5:] if head.startswith(b"http:") else text
            directory = b"" if relative.startswith(b"/") else base.file.rpartition(b"/")[0]
            file = larbin_file(directory, b"/" + relative.removeprefix(b"/"))
    except Failure:
        return failed(INVALID)
    if len(host) + len(file) + 18 >= 1024:
        return failed(INVALID)
    shown_port = b"" if port == 80 else b":%d" % port
    return OK, b"http://%b%b%b" % (host, shown_port, file), False, 7, len(host), port


def larbin_parse(url: bytes) -> tuple[bytes, int, bytes] | None:
    status, text, _, start, size, port = larbin_reference(url, None)
    if status != OK:
        return None
    return text[start : start + size], port, text[text.index(b"/", start + size) :]


class LarbinBase:
    def __init__(self, url: bytes) -> None:
        parts = larbin_parse(url)
        if parts is None:
            raise ValueError(url)
        self.host, self.port, self.file = parts

    def resolve(self, links: bytes, *, encoding_is_utf8: bool = True) -> bytes:
        return resolve_items(links, lambda value: larbin_reference(value, self))
