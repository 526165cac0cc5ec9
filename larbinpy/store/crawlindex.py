"""``crawl.index``: where in ``crawl.log`` the lines of a URL, or of a page's digest, are.

``docs/format-index.md`` is the contract.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from larbinpy._native import logindex
from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX: Final = ".index"
NAME: Final = f"crawl{SUFFIX}"
ENTRY_BYTES: Final = 16
STEP_BYTES: Final = 128 << 10
"""Bytes of lines that a writer appends before it sees to the index."""
MAX_CATCH_UP: Final = 16 << 20
"""Bytes of lines that are indexed at once: 15 ms."""
WINDOW_BYTES: Final = 4 << 20
GOOD: Final = b',"outcome":"success",'
"""Stands in the line of a page that was fetched well, and in no other."""
_UNINDEXED: Final = bytes(8)


class CrawlIndex:
    """Writes the entries of lines; every call is made under the lock of the log.

    Invariant: nothing that happens to the index is the log's fault or the crawl's.
    """

    __slots__ = ("_behind", "_fd", "_key")

    def __init__(self, path: Path, key: bytes, *, is_trusted: bool = True) -> None:
        """Open, or create, the index.

        Args:
            key: 16 bytes of the crawl.
            is_trusted: false after the machine went down: an index with holes is deleted.

        Raises:
            StorageError: it cannot be opened.
        """
        self._key = key
        self._behind = 0
        try:
            if not is_trusted and path.exists() and not _is_sound(path):
                path.unlink(missing_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the index."""
        os.close(self._fd)

    def appended(self, log: int, end: int, size: int) -> None:
        """Note that lines were appended; now and then, index all that are not.

        Args:
            log: descriptor of the log.
            end: of the log.
            size: bytes of the lines.

        Cost: 0.1 us a line.
        """
        self._behind += size
        if self._behind >= STEP_BYTES:
            self._behind = 0
            self.catch_up(log, end)

    def catch_up(self, log: int, size: int) -> None:
        """Bring the index to where the log ends."""
        with suppress(OSError):
            self._mend(log, size)

    def _mend(self, log: int, size: int) -> None:
        entries, torn = divmod(os.fstat(self._fd).st_size, ENTRY_BYTES)
        end = self._end_of(entries - 1)
        if torn or end > size:
            entries = bisect_right(range(entries), size, key=self._end_of)
            os.ftruncate(self._fd, entries * ENTRY_BYTES)
            end = self._end_of(entries - 1)
        if end < size:
            os.write(self._fd, self._entries(log, end, size))

    def _end_of(self, entry: int) -> int:
        if entry < 0:
            return 0
        return int.from_bytes(os.pread(self._fd, 8, entry * ENTRY_BYTES + 8), "little")

    def _entries(self, log: int, start: int, size: int) -> bytes:
        """The entries of the lines from ``start`` on."""
        if size - start > MAX_CATCH_UP:
            return _UNINDEXED + size.to_bytes(8, "little")
        return logindex.entries(self._key, os.pread(log, size - start, start), start)


def lines_of(log: Path, key: bytes, url: bytes) -> list[tuple[int, bytes]]:
    """The lines of a URL in a log, with their offsets, in their order; no log has none.

    Args:
        url: as a line spells it (``crawllog.escaped``).

    Raises:
        StorageError: the log cannot be read.

    Cost: O(entries), 10 ns each; O(bytes) of those lines that are not indexed.
    """
    return list(_lines(log, logindex.hash_of(key, url), b'"url":"%b"' % url))


def first_page(log: Path, key: bytes, digest: bytes) -> tuple[int, bytes] | None:
    """The line, with its offset, of the first page that was fetched well with a digest.

    Args:
        digest: as a line spells it.

    Raises:
        StorageError: the log cannot be read.

    Cost: that of ``lines_of``.
    """
    wanted = logindex.hash_of(key, digest)
    lines = _lines(log, wanted, b'"digest":"%b"' % digest, by_digest=True)
    return next((found for found in lines if GOOD in found[1]), None)


def _lines(
    log: Path, wanted: int, needle: bytes, *, by_digest: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Lines that have a hash and hold a text, with their offsets."""
    try:
        with log.open("rb") as file:
            # Of a log that was moved away, the index beside it is not.
            index = log.with_suffix(SUFFIX)
            for start, end in _places(index, wanted, by_digest=by_digest):
                yield from _in_range(file.fileno(), start, end, needle)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{log}: {error.strerror}") from error


def _places(index: Path, wanted: int, *, by_digest: bool) -> list[tuple[int, int]]:
    """Ranges of the log that may hold lines with a hash, in order; the last one has no end."""
    places: list[tuple[int, int]] = []
    end = 0
    with suppress(FileNotFoundError):
        for found, gaps, end in _finds(index, wanted, by_digest=by_digest):
            if end < 0:
                return [(0, 0)]
            places += sorted(found + gaps)
    return [*places, (end, 0)]


def _finds(
    index: Path, wanted: int, *, by_digest: bool = False
) -> Iterator[tuple[list[tuple[int, int]], list[tuple[int, int]], int]]:
    """What each window of an index tells."""
    window = bytearray(WINDOW_BYTES)
    end = 0
    with index.open("rb", buffering=0) as file:
        while end >= 0:
            size = file.readinto(window) // ENTRY_BYTES * ENTRY_BYTES
            if not size:
                return
            found, gaps, end = logindex.find(memoryview(window)[:size], wanted, end, by_digest)
            yield found, gaps, end


def _is_sound(index: Path) -> bool:
    return all(end >= 0 for _, _, end in _finds(index, 1))


def _in_range(log: int, start: int, end: int, needle: bytes) -> list[tuple[int, bytes]]:
    """Lines that hold a text in a part of the log; an end of 0 is that of the log."""
    size = os.fstat(log).st_size
    end = min(end or size, size)
    if end - start <= 2 * MAX_CATCH_UP:
        return _lines_with(os.pread(log, end - start, start), needle, start)
    base = start - start % mmap.ALLOCATIONGRANULARITY
    with mmap.mmap(log, end - base, offset=base, access=mmap.ACCESS_READ) as data:
        return _lines_with(data, needle, base, start - base)


def _lines_with(
    data: bytes | mmap.mmap, needle: bytes, base: int, at: int = 0
) -> list[tuple[int, bytes]]:
    """Whole lines that hold a text, with their offsets."""
    found = []
    while (at := data.find(needle, at)) >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at) + 1
        if not end:
            break
        found.append((base + start, bytes(data[start:end])))
        at = end
    return found
