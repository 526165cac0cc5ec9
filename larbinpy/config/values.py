"""How one value is written in a configuration file: numbers with units, words, paths, URLs.

A kind reads the text of a value and writes it back; ``read(write(value)) == value`` for every
value that ``read`` can return. What is wrong with a text is the message of a ``ValueError``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Final, Protocol, TypeVar

from larbinpy.proxy import Proxy

T = TypeVar("T")

NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*([a-z]*)", re.IGNORECASE)
WHOLE: Final = re.compile(r"[+-]?[0-9]{1,20}")
HIGHEST: Final = 2**63 - 1
"""Counters are signed 64-bit in every file and frame."""

DURATIONS: Final = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
SIZES: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


class Kind(Protocol[T]):
    """How one value is read and written."""

    @property
    def form(self) -> str:
        """What a value looks like, for the user, with its range."""

    def read(self, text: str, /) -> T:
        """Return the value; a ``ValueError`` says what is wrong with the text."""

    def write(self, value: T, /) -> str:
        """Return the text that reads as this value."""


def _in_range(value: float, low: float, high: float, form: str) -> None:
    if not low <= value <= high:
        raise ValueError(f"must be {form}")


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    low: int = 0
    high: int = HIGHEST

    @property
    def form(self) -> str:
        if self.high == HIGHEST:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        if not WHOLE.fullmatch(text):
            raise ValueError(f"{text!r} is not {self.form}")
        value = int(text)
        _in_range(value, self.low, self.high, self.form)
        return value

    def write(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A number with decimals."""

    low: float
    high: float

    @property
    def form(self) -> str:
        return f"a number from {self.low!r} to {self.high!r}"

    def read(self, text: str) -> float:
        match = NUMBER.fullmatch(text)
        if match is None or match[2]:
            raise ValueError(f"{text!r} is not {self.form}")
        value = float(match[1])
        _in_range(value, self.low, self.high, self.form)
        return value

    def write(self, value: float) -> str:
        return repr(value)


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds, written ``250ms 10s 5m 1h 1d``; a bare number has the unit ``bare``."""

    bare: str = "s"
    low: float = 0.0
    high: float = 3650 * 86400.0
    is_optional: bool = False

    @property
    def form(self) -> str:
        return (
            f"a duration from {self.write(self.low)} to {self.write(self.high)}"
            f" (250ms, 10s, 5m, 1h, 1d; a bare number means {self.bare})"
        )

    def read(self, text: str) -> float | None:
        if self.is_optional and not text:
            return None
        match = NUMBER.fullmatch(text)
        unit = DURATIONS.get((match[2] or self.bare).lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{text!r} is not {self.form}")
        value = float(match[1])
        # A float times a power of ten is off by one bit; the fraction rounds once.
        value = value if unit == 1 else float(Fraction(match[1]) * unit)
        _in_range(value, self.low, self.high, self.form)
        return value

    def write(self, value: float | None) -> str:
        if value is None:
            return ""
        for unit in ("d", "h", "m"):
            if value and value % DURATIONS[unit] == 0:
                return f"{int(value / DURATIONS[unit])}{unit}"
        return f"{int(value)}s" if value == int(value) else f"{value!r}s"


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes, written ``64K 1Ki 1M 1Gi``: K, M, G, T are powers of 1000, Ki, Mi, ... of 1024."""

    low: int = 0
    high: int = HIGHEST

    @property
    def form(self) -> str:
        most = f" to {self.write(self.high)}" if self.high < HIGHEST else " up"
        return f"bytes from {self.write(self.low)}{most} (64K, 1Ki, 1M, 1Gi)"

    def read(self, text: str) -> int:
        match = NUMBER.fullmatch(text)
        unit = SIZES.get(match[2].lower().removesuffix("b")) if match else None
        if match is None or unit is None:
            raise ValueError(f"{text!r} is not {self.form}")
        value = Fraction(match[1]) * unit
        if value.denominator != 1:
            raise ValueError(f"{text!r} is not a whole number of bytes")
        _in_range(int(value), self.low, self.high, self.form)
        return int(value)

    def write(self, value: int) -> str:
        for unit in ("Ti", "Gi", "Mi", "Ki"):
            if value and value % SIZES[unit.lower()] == 0:
                return f"{value // SIZES[unit.lower()]}{unit}"
        return str(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words; their case does not matter."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        return "one of " + ", ".join(self.words)

    def read(self, text: str) -> str:
        for word in self.words:
            if word.lower() == text.lower():
                return word
        raise ValueError(f"{text!r} is not {self.form}")

    def write(self, value: str) -> str:
        return value


def _printable(text: str) -> str:
    """Refuse what a quoted string of the file cannot hold."""
    if '"' in text or any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise ValueError(f"{text!r} holds quotes or control characters")
    return text


@dataclass(frozen=True, slots=True)
class Text:
    """A string; ``header`` asks for what may stand in a header line."""

    header: bool = False
    form: ClassVar[str] = "a string"

    def read(self, text: str) -> str:
        if self.header and not (text.isascii() and text.strip()):
            raise ValueError(f"{text!r} must be ASCII text, since it is sent as a header")
        return _printable(text)

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path, relative to the current directory; the empty string means none if optional."""

    is_optional: bool = False
    form: ClassVar[str] = "a path"

    def read(self, text: str) -> Path | None:
        if not text:
            if self.is_optional:
                return None
            raise ValueError("a path is needed")
        return Path(_printable(text))

    def write(self, value: Path | None) -> str:
        return "" if value is None else str(value)


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Word:
    """A string kept as bytes, to be compared with what comes from the web."""

    is_lower: bool = False
    """Case does not matter; kept in lower case."""
    is_ascii: bool = True
    form: ClassVar[str] = "a word"

    def read(self, text: str) -> bytes:
        if not text:
            raise ValueError("an empty string is of no use here")
        if self.is_ascii and not text.isascii():
            raise ValueError(f"{text!r} must be ASCII (a host name: its xn-- form)")
        return _to_bytes(_printable(text.lower() if self.is_lower else text))

    def write(self, value: bytes) -> str:
        return value.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression of RE2, matched anywhere in a URL."""

    form: ClassVar[str] = "a regular expression"

    def read(self, text: str) -> bytes:
        from larbinpy.patterns import Patterns  # noqa: PLC0415 - only who uses it pays for it

        pattern = _to_bytes(_printable(text))
        Patterns([pattern])
        return pattern

    def write(self, value: bytes) -> str:
        return value.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class HttpUrl:
    """An absolute http or https URL, as the user wrote it; normalised when it is queued."""

    START: ClassVar = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)
    form: ClassVar[str] = "a URL"

    def read(self, text: str) -> bytes:
        if not self.START.match(text):
            raise ValueError(f"{text!r} is not a URL that begins with http:// or https://")
        return _to_bytes(_printable(text))

    def write(self, value: bytes) -> str:
        return value.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """A proxy (``larbinpy.proxy``), kept as it is written; the empty string means none."""

    form: ClassVar[str] = "HOST PORT or http|socks5://[USER:PASSWORD@]HOST:PORT"

    def read(self, text: str) -> str:
        if text:
            Proxy.parse(text)
        return _printable(text)

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password of Basic authentication; the message of an error does not repeat them."""

    form: ClassVar[str] = "USER:PASSWORD"

    def read(self, text: str) -> bytes:
        if ":" not in text or text.startswith(":"):
            raise ValueError(f"must be {self.form}")
        return _to_bytes(_printable(text))

    def write(self, value: bytes) -> str:
        return value.decode("utf-8", "surrogateescape")


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
        return _to_bytes(_printable(f"{match[1]}: {match[2]}"))

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
