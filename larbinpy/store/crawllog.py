"""``crawl.log``: one JSON line for every URL that got its Outcome, and for every other request.

Several parsers write the same file: each takes its lock, cuts a line that a dead writer left torn,
and appends whole lines by one ``write()`` a batch.  Lines are made by ``ext/logline.pyx``.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from larbinpy._native.logline import quoted
from larbinpy.errors import StorageError
from larbinpy.store.crawlindex import NAME as INDEX
from larbinpy.store.crawlindex import CrawlIndex

if TYPE_CHECKING:
    from pathlib import Path

_TAIL_BYTES: Final = 1 << 16


def escaped(text: bytes) -> bytes:
    """The inside of a JSON string; remote bytes can never end it or break the line."""
    return quoted(text)[1:-1] if text else b""


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

    def append(self, lines: bytes) -> None:
        """Append whole lines; all of them or none.

        Raises:
            StorageError: the disk refused, and the log is as it was.

        Cost: four system calls a batch, and four more for the index every 128 KiB.
        """
        if not lines:
            return
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            end = self._cut_torn_line()
            self._write(lines, end)
            self._index.appended(self._fd, end + len(lines), len(lines))
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
