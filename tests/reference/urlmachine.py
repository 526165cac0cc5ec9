"""The URL standard's state machine, letter by letter, for the reference of ``ext/urlnorm.pyx``.

The states and their names are those of https://url.spec.whatwg.org; only http and https go past
the scheme. Bytes that are not UTF-8 travel as lone surrogates and are escaped as they stood.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.reference.urlhost import C0_AND_SPACE, Failure, parse_host

if TYPE_CHECKING:
    from collections.abc import Callable

SPECIAL_PORTS = {"http": 80, "https": 443}
QUERY_SET = set(C0_AND_SPACE + "\"#<>'\x7f")
PATH_SET = set(C0_AND_SPACE + '"#<>?^`{}\x7f')
EOF = ""


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
