"""What ``ext/urlnorm.pyx`` must answer: the URL standard's state machine, letter by letter.

The states and their names are those of https://url.spec.whatwg.org; only http and https go past
the scheme. Bytes that are not UTF-8 travel as lone surrogates and are escaped as they stood.
larbin's mode follows below it, written as rewriting of the text.
"""

from __future__ import annotations

import re
import string
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OK, INVALID, SCHEME, SLOW, EMPTY = range(5)
FOUND = struct.Struct("<BBBBI")
RESOLVED = struct.Struct("<BBBBBBHI")
SPECIAL_PORTS = {"http": 80, "https": 443}
# OTHER, A, AREA, BASE, META, REDIRECT, SEED, FORM: an empty one is the document itself.
FETCHED_WHEN_EMPTY = {0, 1, 2, 4, 10, 11, 12, 18}

C0_AND_SPACE = "".join(map(chr, range(0x21)))
QUERY_SET = set(C0_AND_SPACE + "\"#<>'\x7f")
PATH_SET = set(C0_AND_SPACE + '"#<>?^`{}\x7f')
FORBIDDEN_DOMAIN = set(C0_AND_SPACE + "#/:<>?@[\\]^|%\x7f")
EOF = ""

Parsed = tuple[int, bytes, bool, int, int, int]


class Failure(Exception):
    """The URL does not parse."""


class OtherScheme(Exception):
    """The URL is neither http nor https."""


@dataclass
class Record:
    scheme: str = ""
    host: str = ""
    port: int | None = None
    path: list[str] = field(default_factory=list)
    query: str | None = None
    is_slow: bool = False

    @property
    def effective_port(self) -> int:
        return SPECIAL_PORTS[self.scheme] if self.port is None else self.port

    def serialised(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        query = "" if self.query is None else f"?{self.query}"
        return f"{self.scheme}://{self.host}{port}/{'/'.join(self.path)}{query}"


def percent_encode(text: str, escaped: set[str]) -> str:
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
        if char in escaped or char > "\x7e"
        else char
        for char in text
    )


# --- hosts ------------------------------------------------------------------------------------------


def percent_decode(data: bytes) -> bytes:
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), data)


def parse_host(text: str, mapped: bytes | None) -> tuple[str, bool]:
    """The host and whether it is left to the caller, then percent-decoded."""
    if mapped is not None:
        text = mapped.decode("utf-8", "surrogateescape")
    if text.startswith("["):
        if not text.endswith("]"):
            raise Failure
        return f"[{serialise_ipv6(parse_ipv6(text[1:-1]))}]", False
    decoded = percent_decode(text.encode("utf-8", "surrogateescape"))
    if not decoded.isascii():
        return decoded.lower().decode("utf-8", "surrogateescape"), True
    domain = decoded.decode("ascii").lower()
    if domain == "" or set(domain) & FORBIDDEN_DOMAIN:
        raise Failure
    if len(domain) > 253 or any(len(label) > 63 for label in domain.split(".")):
        raise Failure
    if ends_in_a_number(domain):
        return serialise_ipv4(parse_ipv4(domain)), False
    return domain, False


def parse_ipv4_number(text: str) -> int:
    radix, digits = 10, text
    if text[:2] in ("0x", "0X"):
        radix, digits = 16, text[2:]
    elif len(text) > 1 and text[0] == "0":
        radix, digits = 8, text[1:]
    if text == "" or set(digits) - set(string.hexdigits):
        raise Failure
    try:
        return int(digits or "0", radix)
    except ValueError:
        raise Failure from None


def ends_in_a_number(domain: str) -> bool:
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    if parts[-1].isdigit():
        return True
    try:
        parse_ipv4_number(parts[-1])
    except Failure:
        return False
    return True


def parse_ipv4(domain: str) -> int:
    parts = domain.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if len(parts) > 4:
        raise Failure
    numbers = [parse_ipv4_number(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        raise Failure
    return numbers[-1] + sum(number * 256 ** (3 - i) for i, number in enumerate(numbers[:-1]))


def serialise_ipv4(address: int) -> str:
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def parse_ipv6(text: str) -> list[int]:
    """By the grammar: at most one "::", pieces of hex digits, perhaps a dotted quad at the end."""
    head, gap, tail = text.partition("::")
    left = ipv6_pieces(head, may_end_in_quad=not gap)
    if not gap:
        if len(left) != 8:
            raise Failure
        return left
    right = ipv6_pieces(tail, may_end_in_quad=True)
    if len(left) + len(right) > 7:
        raise Failure
    return left + [0] * (8 - len(left) - len(right)) + right


def ipv6_pieces(text: str, *, may_end_in_quad: bool) -> list[int]:
    if text == "":
        return []
    *pieces, last = text.split(":")
    if may_end_in_quad and "." in last:
        byte = r"(0|[1-9][0-9]{0,2})"
        quad = re.fullmatch(rf"{byte}\.{byte}\.{byte}\.{byte}", last, re.ASCII)
        if quad is None or any(int(part) > 255 for part in quad.groups()):
            raise Failure
        a, b, c, d = map(int, quad.groups())
        pieces += [f"{a << 8 | b:x}", f"{c << 8 | d:x}"]
    else:
        pieces.append(last)
    if not all(re.fullmatch("[0-9A-Fa-f]{1,4}", piece) for piece in pieces):
        raise Failure
    return [int(piece, 16) for piece in pieces]


def serialise_ipv6(pieces: list[int]) -> str:
    texts = [f"{piece:x}" for piece in pieces]
    for size in range(8, 1, -1):
        for start in range(9 - size):
            if not any(pieces[start : start + size]):
                return ":".join(texts[:start]) + "::" + ":".join(texts[start + size :])
    return ":".join(texts)


# --- the state machine ------------------------------------------------------------------------------


class Machine:
    """One run of the basic URL parser. A state answers the next one's name, None to stay.

    The machine goes on by one code point after each state, so "decrease pointer by 1" reads as in
    the standard, and the start is at -1.
    """

    def __init__(self, text: str, base: Record | None, host: bytes | None, is_utf8: bool) -> None:
        text = text.strip(C0_AND_SPACE)
        self.text = "".join(char for char in text if char not in "\t\n\r")
        self.base = base
        self.mapped_host = host
        self.is_utf8 = is_utf8
        self.url = Record()
        self.pointer = 0
        self.buffer = ""
        self.at_sign_seen = self.inside_brackets = False

    def run(self) -> Record:
        state = "scheme_start"
        while True:
            c = self.text[self.pointer] if self.pointer < len(self.text) else EOF
            step: Callable[[str], str | None] = getattr(self, state)
            state = step(c) or state
            if self.pointer >= len(self.text):
                return self.url
            self.pointer += 1

    def next_is(self, char: str) -> bool:
        return self.text[self.pointer + 1 : self.pointer + 2] == char

    def scheme_start(self, c: str) -> str | None:
        if is_in(c, string.ascii_letters):
            self.buffer += c.lower()
            return "scheme"
        self.pointer -= 1
        return "no_scheme"

    def scheme(self, c: str) -> str | None:
        if is_in(c, string.ascii_letters + string.digits + "+-."):
            self.buffer += c.lower()
            return None
        if c != ":":
            self.buffer = ""
            self.pointer = -1
            return "no_scheme"
        self.url.scheme, self.buffer = self.buffer, ""
        if self.url.scheme not in SPECIAL_PORTS:
            raise OtherScheme
        if self.base is not None and self.base.scheme == self.url.scheme:
            return "special_relative_or_authority"
        return "special_authority_slashes"

    def no_scheme(self, c: str) -> str | None:
        if self.base is None:
            raise Failure
        self.pointer -= 1
        return "relative"

    def special_relative_or_authority(self, c: str) -> str | None:
        if c == "/" and self.next_is("/"):
            self.pointer += 1
            return "special_authority_ignore_slashes"
        self.pointer -= 1
        return "relative"

    def relative(self, c: str) -> str | None:
        assert self.base is not None
        self.url.scheme = self.base.scheme
        if is_in(c, "/\\"):
            return "relative_slash"
        self.url.host, self.url.port = self.base.host, self.base.port
        self.url.path, self.url.query = self.base.path.copy(), self.base.query
        if c == "?":
            self.url.query = ""
            return "query"
        if c == "#":
            return "fragment"
        if c != EOF:
            self.url.query = None
            self.shorten_path()
            self.pointer -= 1
            return "path"
        return None

    def relative_slash(self, c: str) -> str | None:
        if is_in(c, "/\\"):
            return "special_authority_ignore_slashes"
        assert self.base is not None
        self.url.host, self.url.port = self.base.host, self.base.port
        self.pointer -= 1
        return "path"

    def special_authority_slashes(self, c: str) -> str | None:
        if c == "/" and self.next_is("/"):
            self.pointer += 1
        else:
            self.pointer -= 1
        return "special_authority_ignore_slashes"

    def special_authority_ignore_slashes(self, c: str) -> str | None:
        if is_in(c, "/\\"):
            return None
        self.pointer -= 1
        return "authority"

    def authority(self, c: str) -> str | None:
        if c == "@":
            self.at_sign_seen = True
            self.buffer = ""
        elif c == EOF or c in "/?#\\":
            if self.at_sign_seen and self.buffer == "":
                raise Failure
            self.pointer -= len(self.buffer) + 1
            self.buffer = ""
            return "host"
        else:
            self.buffer += c
        return None

    def host(self, c: str) -> str | None:
        if c == ":" and not self.inside_brackets:
            self.take_host()
            return "port"
        if c == EOF or c in "/?#\\":
            self.pointer -= 1
            self.take_host()
            return "path_start"
        if c in "[]":
            self.inside_brackets = c == "["
        self.buffer += c
        return None

    def take_host(self) -> None:
        if self.buffer == "":
            raise Failure
        self.url.host, self.url.is_slow = parse_host(self.buffer, self.mapped_host)
        self.buffer = ""

    def port(self, c: str) -> str | None:
        if is_in(c, string.digits):
            self.buffer += c
            return None
        if c != EOF and c not in "/?#\\":
            raise Failure
        if self.buffer != "":
            number = int(self.buffer)
            if number > 65535:
                raise Failure
            self.url.port = None if number == SPECIAL_PORTS[self.url.scheme] else number
            self.buffer = ""
        self.pointer -= 1
        return "path_start"

    def path_start(self, c: str) -> str | None:
        if not is_in(c, "/\\"):
            self.pointer -= 1
        return "path"

    def path(self, c: str) -> str | None:
        is_slash = is_in(c, "/\\")
        if c != EOF and not is_slash and c not in "?#":
            self.buffer += percent_encode(c, PATH_SET)
            return None
        dots = self.buffer.lower().replace("%2e", ".")
        if dots == "..":
            self.shorten_path()
        if dots in (".", ".."):
            if not is_slash:
                self.url.path.append("")
        else:
            self.url.path.append(self.buffer)
        self.buffer = ""
        if c == "?":
            self.url.query = ""
            return "query"
        return "fragment" if c == "#" else None

    def shorten_path(self) -> None:
        if self.url.path:
            self.url.path.pop()

    def query(self, c: str) -> str | None:
        if c != EOF and c != "#":
            self.buffer += c
            return None
        needs_encoder = any(char < " " or char > "\x7f" for char in self.buffer)
        self.url.is_slow |= needs_encoder and not self.is_utf8
        self.url.query = percent_encode(self.buffer, QUERY_SET)
        self.buffer = ""
        return "fragment"

    def fragment(self, c: str) -> str | None:
        return None


def is_in(c: str, chars: str) -> bool:
    return c != EOF and c in chars


# --- the kernel's own interface ---------------------------------------------------------------------


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
        return failed(INVALID), record
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
        if len(links) - at < FOUND.size:
            raise ValueError(links)
        element, _, rel, _, size = FOUND.unpack_from(links, at)
        at += FOUND.size + size
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
        items.append(RESOLVED.pack(status, https, element, rel, start, size, port, len(text)))
        items.append(text)
    return b"".join(items)


def slow_links(links: bytes, resolved: bytes) -> list[tuple[bytes, int]]:
    slow = []
    at = 0
    for _, _, value in found_items(links):
        head = RESOLVED.unpack_from(resolved, at)
        if head[0] == SLOW:
            slow.append((value, at))
        at += RESOLVED.size + head[-1]
    return slow


# --- larbin's mode ----------------------------------------------------------------------------------


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
