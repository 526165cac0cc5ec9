"""Where seeds come from, streamed: memory does not grow with their number."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from larbinpy.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MAX_LINE_BYTES: Final = 1 << 16
STANDARD_INPUT: Final = "-"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_USER: Final = re.compile(rb"https?:[/\\]*[^/\\?#]+@", re.IGNORECASE)
_SECRET: Final = re.compile(rb"^([a-z]+:[/\\]+)?.*@", re.IGNORECASE | re.DOTALL)
_SHOWN_BYTES: Final = 80


@dataclass(slots=True)
class Seed:
    """A URL as it was given."""

    text: bytes
    place: str
    """For humans: ``startUrl`` or ``FILE:LINE``."""

    @property
    def has_user(self) -> bool:
        """Whether there is a user or a password in it, if it is a URL; they are never sent."""
        return _USER.match(self.text) is not None

    @property
    def shown(self) -> str:
        """Its beginning, for humans: ASCII, without what may be a password."""
        text = _SECRET.sub(rb"\1...@", self.text)
        return text[:_SHOWN_BYTES].decode("ascii", "backslashreplace")


def given(urls: Iterable[bytes]) -> Iterator[Seed]:
    """Seeds of the configuration and of the command line."""
    for url in urls:
        yield Seed(url, "startUrl")


def from_file(path: Path) -> Iterator[Seed]:
    """Seeds of a file, one a line; blank lines and lines that begin with ``#`` are passed over.

    Args:
        path: ``-`` is the standard input.

    Raises:
        ConfigError: the file cannot be read.
    """
    if str(path) == STANDARD_INPUT:
        yield from _lines(sys.stdin.buffer, "standard input")
        return
    try:
        with path.open("rb") as file:
            yield from _lines(file, str(path))
    except OSError as error:
        raise ConfigError(f"seedFile: {path}: {error.strerror}") from error


def is_read_once(path: Path | None) -> bool:
    """Whether what was read of a file of seeds cannot be read again: standard input and pipes."""
    return path is not None and (str(path) == STANDARD_INPUT or not path.is_file())


def _lines(file: BinaryIO, name: str) -> Iterator[Seed]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES):
        number += 1
        text = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            _pass_over_rest(file)
        if text and not text.startswith(b"#"):
            yield Seed(text, f"{name}:{number}")


def _pass_over_rest(file: BinaryIO) -> None:
    while rest := file.readline(MAX_LINE_BYTES):
        if rest.endswith(b"\n"):
            return
