"""``crawl.log``: one JSON line for every URL that got its Outcome, and for every other request.

Several parsers write the same file: each takes its lock, cuts a line that a dead writer left torn,
and appends whole lines by one ``write()`` a batch.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from larbinpy._native.jsontext import quoted
from larbinpy.errors import StorageError
from larbinpy.records import Directive, Kind, Outcome
from larbinpy.store.crawlindex import NAME as INDEX
from larbinpy.store.crawlindex import CrawlIndex
from larbinpy.store.validators import NONE, Validators

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from larbinpy.records import Page, ParsedPage

_TAIL_BYTES: Final = 1 << 16
_LINE: Final = (
    '{"ts":"%s.%06dZ","kind":"%s","id":%d,"attempt":%d,"url":%s,"outcome":"%s","status":%s,'
    '"bytes":%d,"mime":%s,"depth":%d,"via":%s,"ip":%s,"duration_ms":%d,"digest":%s,'
    '%s,"robots":%s,"canonical":%s,"etag":%s,"modified":%s,"reason":%s}\n'
)
_NO_NEAR: Final = '"simhash":null,"near":null'
_KINDS: Final = {kind: kind.name.lower() for kind in Kind}
_DIRECTIVES: Final = {
    Directive(bits): f'"{",".join(str(one.name).lower() for one in Directive(bits))}"'
    if bits
    else "null"
    for bits in range(1 << len(Directive))
}
_OUTCOMES: Final = {outcome: outcome.label for outcome in Outcome}
NO_DIGEST: Final = bytes(16)


class LineMaker:
    """Formats log lines; keeps the last second it has spelt out, for most lines share it."""

    __slots__ = ("_digest", "_second", "_second_text")

    def __init__(self, digest: str = "xxh3-128") -> None:
        """``digest``: name of the algorithm of all digests."""
        self._digest = digest
        self._second = -1
        self._second_text = ""

    def line(self, page: Page, parsed: ParsedPage, mime: bytes) -> bytes:
        """The line of a page, fields as ``docs/crawl-log.md`` lists them.

        Cost: about 2 us.
        """
        second, micros = divmod(page.start_us, 1_000_000)
        if second != self._second:
            self._second = second
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        is_good = parsed.outcome == Outcome.SUCCESS and page.kind == Kind.PAGE
        version = Validators.of(page.headers) if is_good else NONE
        digest = f'"{self._digest}:{parsed.digest.hex()}"' if parsed.digest != NO_DIGEST else "null"
        return (
            _LINE
            % (
                self._second_text,
                micros,
                _KINDS[page.kind],  # type: ignore[index]  # an int of the same value
                page.id,
                page.attempt,
                _quote(page.url),
                _OUTCOMES[parsed.outcome],
                page.status or "null",
                parsed.body_bytes,
                _quote(mime),
                page.depth,
                _quote(page.via),
                _address(page.ip),
                (page.duration_us + 500) // 1000,
                digest,
                _near(parsed) if parsed.simhash else _NO_NEAR,
                _DIRECTIVES[parsed.directives],
                _quote(parsed.canonical),
                _quote(version.etag),
                _quote(version.modified),
                _quote(page.reason),
            )
        ).encode("ascii")


def _near(parsed: ParsedPage) -> str:
    return f'"simhash":"{parsed.simhash:016x}","near":{parsed.near or "null"}'


def escaped(text: bytes) -> str:
    """The inside of a JSON string; remote bytes can never end it or break the line."""
    return _quote(text)[1:-1] if text else ""


def _quote(text: bytes) -> str:
    """A JSON string; null for an empty text."""
    return quoted(text) or _spelt_out(text)


def _spelt_out(text: bytes) -> str:
    return json.dumps(text.decode("utf-8", "backslashreplace")).replace("\x7f", "\\u007f")


@lru_cache(maxsize=4096)
def _address(ip: bytes) -> str:
    if not ip:
        return "null"
    return f'"{socket.inet_ntop(socket.AF_INET if len(ip) == 4 else socket.AF_INET6, ip)}"'


class CrawlLog:
    """Appends to the log that all parsers share, and to its index."""

    __slots__ = ("_fd", "_index", "_path")

    def __init__(self, path: Path, key: bytes, *, is_trusted: bool = True) -> None:
        """Open, or create, the log and its index.

        Args:
            key, is_trusted: those of ``CrawlIndex``.

        Raises:
            StorageError: it cannot be opened.
        """
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
        self._index = CrawlIndex(path.with_name(INDEX), key, is_trusted=is_trusted)

    def append(self, lines: Sequence[bytes]) -> None:
        """Append whole lines; all of them or none.

        Raises:
            StorageError: the disk refused, and the log is as it was.

        Cost: four system calls a batch, and four more for the index every 128 KiB.
        """
        if not lines:
            return
        data = b"".join(lines)
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            end = self._cut_torn_line()
            self._write(data, end)
            self._index.appended(self._fd, end + len(data), len(data))
        except OSError as error:
            raise StorageError(f"{self._path}: {error.strerror}") from error
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _write(self, data: bytes, end: int) -> None:
        """Write all or, as far as the file goes, nothing: a full disk takes a part at first."""
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError:
            os.ftruncate(self._fd, end)
            raise

    def close(self) -> None:
        """Close the log; its index is then complete."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        with suppress(OSError):
            self._index.catch_up(self._fd, self._cut_torn_line())
        self._index.close()
        os.close(self._fd)

    def _cut_torn_line(self) -> int:
        """Cut what a dead writer left behind its last line end; returns the file's size."""
        end = os.fstat(self._fd).st_size
        while end and os.pread(self._fd, 1, end - 1) != b"\n":
            start = max(0, end - _TAIL_BYTES)
            end = start + os.pread(self._fd, end - start, start).rfind(b"\n") + 1
            os.ftruncate(self._fd, end)
        return end
