"""Reads what a real larbin leaves on disk: its queue of URLs and its table of those it has seen.

larbin runs in one directory and writes there:

- ``fifo000007`` and ``fifowait000002``: the queue, one URL a line, in files numbered on. Files that
  are used up are gone, so the queue is what the files hold, oldest first. larbin reads the waiting
  URLs before the others.
- ``hashtable.bin``: one bit for each code of a URL, saved whenever a file of the queue is full. It
  becomes ``hashtable.old`` for the moment in which a new one is written.

A line is ``depth [tag] host:port/file[ cookie]``; the tag is there when larbin was built with tags.
Without cookies a blank belongs to the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.errors import FormatError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLE_BYTES: Final = 8_000_000
MAX_LINE_BYTES: Final = 8192
"""A line of larbin has at most 1,200 bytes."""
MAX_HOST_BYTES: Final = 253
MAX_PORT: Final = 65_535
TABLE: Final = "hashtable.bin"
OLD_TABLE: Final = "hashtable.old"

_FILES: Final = (re.compile(r"fifowait\d{6}"), re.compile(r"fifo\d{6}"))
"""In the order in which larbin reads them."""
_LINE: Final = re.compile(rb"(\d{1,10}) (?:(\d{1,10}) )?([^\x00-\x20:/]+):(\d{1,5})(/[^\x00\r]*)")


@dataclass(slots=True)
class Queued:
    """A URL as it stands in larbin's queue."""

    left: int
    """Links that may still be followed below it; larbin calls it depth."""
    host: bytes
    port: int
    file: bytes
    """Path and query, as larbin normalised them."""
    tag: bytes = b""
    has_cookie: bool = False
    """A cookie stood behind it."""


@dataclass(slots=True)
class Fault:
    """A line that cannot be used, and why."""

    text: str


def queue_files(directory: Path) -> list[Path]:
    """The files of the queue, in larbin's order.

    Raises:
        StorageError: the directory cannot be read.
    """
    try:
        paths = sorted(directory.iterdir())
    except OSError as error:
        raise StorageError(f"{directory}: {error.strerror}") from error
    return [path for name in _FILES for path in paths if name.fullmatch(path.name)]


def read_queue(path: Path, *, has_cookies: bool) -> Iterator[Queued | Fault]:
    """One item for each line of a file of the queue, streamed; a bad line costs only itself.

    Args:
        has_cookies: larbin ran with ``useCookies``, so a blank ends the file of a URL.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE_BYTES):
                yield _read_line(line, has_cookies=has_cookies)
                while not line.endswith(b"\n") and line:
                    line = file.readline(MAX_LINE_BYTES)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error


def _read_line(line: bytes, *, has_cookies: bool) -> Queued | Fault:
    if len(line) == MAX_LINE_BYTES:
        return Fault("line too long")
    if not line.endswith(b"\n"):
        return Fault("torn line")
    queued = parse_line(line[:-1], has_cookies=has_cookies)
    if queued is None:
        return Fault(f"not a line of larbin's queue: {line[:80]!r}")
    return queued


def parse_line(line: bytes, *, has_cookies: bool) -> Queued | None:
    """Read one line without its end; None when larbin did not write it."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    depth, tag, host, port, file = match.groups()
    blank = b""
    if has_cookies:
        file, blank, _ = file.partition(b" ")
    if len(host) > MAX_HOST_BYTES or not 0 < int(port) <= MAX_PORT:
        return None
    is_tagged = tag is not None and int(tag) > 0
    return Queued(
        int(depth), host, int(port), file, tag if is_tagged else b"", has_cookie=bool(blank)
    )


def read_table(directory: Path) -> tuple[bytes | None, str]:
    """The table of seen URLs, and its name; None when larbin has not saved one yet.

    Raises:
        FormatError: there is one, but none that is whole.
        StorageError: it cannot be read.
    """
    sizes = {}
    for name in (TABLE, OLD_TABLE):
        path = directory / name
        if not path.exists():
            continue
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
        if len(raw) == TABLE_BYTES:
            return raw, name
        sizes[name] = len(raw)
    if sizes:
        found = ", ".join(f"{name} has {size} bytes" for name, size in sizes.items())
        raise FormatError(
            f"{directory}: no whole table of seen URLs ({found}, not {TABLE_BYTES});"
            " move it away to import the queue alone"
        )
    return None, ""
