"""What names a server or is for one: URLs, a proxy, credentials, headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from larbinpy.config.values.words import printable, to_bytes, to_text
from larbinpy.proxy import Proxy

if TYPE_CHECKING:
    from larbinpy.config.values.kind import Kind


@dataclass(frozen=True, slots=True)
class HttpUrl:
    """An absolute http or https URL, as the user wrote it; normalised when it is queued."""

    START: ClassVar = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)
    form: ClassVar[str] = "a URL"

    def read(self, text: str) -> bytes:
        if not self.START.match(text):
            raise ValueError(f"{text!r} is not a URL that begins with http:// or https://")
        return to_bytes(printable(text))

    def write(self, value: bytes) -> str:
        return to_text(value)


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """A proxy (``larbinpy.proxy``), kept as it is written; the empty string means none."""

    form: ClassVar[str] = "HOST PORT or http|socks5://[USER:PASSWORD@]HOST:PORT"

    def read(self, text: str) -> str:
        if text:
            Proxy.parse(text)
        return printable(text)

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password of Basic authentication; the message of an error does not repeat them."""

    form: ClassVar[str] = "USER:PASSWORD"

    def read(self, text: str) -> bytes:
        if ":" not in text or text.startswith(":"):
            raise ValueError(f"must be {self.form}")
        return to_bytes(printable(text))

    def write(self, value: bytes) -> str:
        return to_text(value)


@dataclass(frozen=True, slots=True)
class HeaderLine:
    """A header of one's own."""

    LINE: ClassVar = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+): *(\S(?:.*\S)?)")
    OURS: ClassVar = frozenset(
        ["host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "expect"]
    )
    form: ClassVar[str] = '"Name: value"'

    def read(self, text: str) -> bytes:
        match = self.LINE.fullmatch(text)
        if match is None or not text.isascii():
            raise ValueError(f"must be {self.form}, in ASCII")
        if match[1].lower() in self.OURS:
            raise ValueError(f"{match[1]} is set by larbinpy itself")
        return to_bytes(printable(f"{match[1]}: {match[2]}"))

    def write(self, value: bytes) -> str:
        return value.decode("ascii")


@dataclass(frozen=True, slots=True)
class ForOrigin:
    """An origin and what holds for it; read as ``(origin with its port, value)``."""

    what: Kind[bytes]
    ORIGIN: ClassVar = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[^/?#@:\s]+)(?::([0-9]{1,5}))?/?")
    PORTS: ClassVar = {"http": 80, "https": 443}

    @property
    def form(self) -> str:
        return f"http[s]://HOST[:PORT] {self.what.form}"

    def read(self, text: str) -> tuple[bytes, bytes]:
        origin, _, value = text.partition(" ")
        match = self.ORIGIN.fullmatch(origin.lower())
        if match is None or not origin.isascii():
            raise ValueError(f"{origin!r} is not an origin such as https://www.example.com")
        port = int(match[3] or self.PORTS[match[1]])
        return f"{match[1]}://{match[2]}:{port}".encode(), self.what.read(value)

    def write(self, value: tuple[bytes, bytes]) -> str:
        origin, what = value
        return f"{origin.decode('ascii')} {self.what.write(what)}"
