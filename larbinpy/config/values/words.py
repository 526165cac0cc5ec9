"""Words and texts: choices, strings, paths, expressions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


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


@dataclass(frozen=True, slots=True)
class Text:
    """A string; ``header`` asks for what may stand in a header line."""

    header: bool = False
    form: ClassVar[str] = "a string"

    def read(self, text: str) -> str:
        if self.header and not (text.isascii() and text.strip()):
            raise ValueError(f"{text!r} must be ASCII text, since it is sent as a header")
        return printable(text)

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
        return Path(printable(text))

    def write(self, value: Path | None) -> str:
        return "" if value is None else str(value)


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
        return to_bytes(printable(text.lower() if self.is_lower else text))

    def write(self, value: bytes) -> str:
        return to_text(value)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression of RE2, matched anywhere in a URL."""

    form: ClassVar[str] = "a regular expression"

    def read(self, text: str) -> bytes:
        from larbinpy.patterns import Patterns  # noqa: PLC0415 - only who uses it pays for it

        pattern = to_bytes(printable(text))
        Patterns([pattern])
        return pattern

    def write(self, value: bytes) -> str:
        return to_text(value)


def printable(text: str) -> str:
    """Return the text, unless a quoted string of the file cannot hold it.

    Raises:
        ValueError: it has quotes or control characters.
    """
    if '"' in text or any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise ValueError(f"{text!r} holds quotes or control characters")
    return text


def to_bytes(text: str) -> bytes:
    """A text of the file as it stands there; what is no UTF-8 keeps its bytes."""
    return text.encode("utf-8", "surrogateescape")


def to_text(value: bytes) -> str:
    """What ``to_bytes`` made bytes of."""
    return value.decode("utf-8", "surrogateescape")
