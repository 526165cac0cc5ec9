"""What all outputs share, so that no kill leaves half a record, or a page twice.

A page is stored before its links are queued, and its DONE is written last. Whoever dies in between
makes the page be fetched again, and any parser may get it. So the way of a page in an output is:

1. ``StoredPages.find``: where it may lie already. The output looks whether it does, and then
   replaces that copy.
2. Else ``StoredPages.note``: the page is about to be stored at this place.
3. The output stores it: as a file that no index names yet, or by ``AppendFile.append``.
4. ``StoredPages.answered``, when PARSED was sent.

After a kill the successor asks ``StoredPages.opened`` what was being filled, cuts what is not whole
and goes on there. Notes are hints: a place may be empty, or another page's by now, for a kill may
fall between 2 and 3. Only the output can tell, from what lies there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError
from larbinpy.store.notes import BEGUN_BYTES, Note, Notes, pack, pack_answered, pack_stored
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

COMPACT_BYTES: Final = 1 << 20
SUFFIX: Final = ".notes"


class AppendFile:
    """A file that grows by whole records: what the disk refuses leaves it as it was.

    Process/thread: one writer.
    """

    __slots__ = ("_fd", "end", "path")

    def __init__(self, path: Path) -> None:
        """Open, or create, the file.

        Raises:
            OSError: it cannot be opened.
        """
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.end = os.fstat(self._fd).st_size
        """Bytes of the file."""

    def read(self) -> bytes:
        """All bytes of the file."""
        return os.pread(self._fd, self.end, 0)

    def append(self, data: bytes) -> int:
        """Append a record; returns its offset.

        Raises:
            StorageError: the disk refused; nothing was appended.
        """
        offset, reason = self.end, ""
        try:
            taken = os.write(self._fd, data)
            if taken < len(data):
                reason = f"only {taken} of {len(data)} bytes were written"
        except OSError as error:
            reason = error.strerror or str(error)
        if reason:
            self.cut(offset)
            raise StorageError(f"{self.path}: {reason}")
        self.end += len(data)
        return offset

    def cut(self, end: int) -> None:
        """Remove everything behind ``end``.

        Raises:
            StorageError: the disk refused.
        """
        try:
            os.ftruncate(self._fd, end)
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}") from error
        self.end = end

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


class _Others:
    """The notes of another parser, dead or alive, read as far as they are written."""

    __slots__ = ("_begun", "_offset", "_path", "_window", "notes")

    def __init__(self, path: Path, window: int) -> None:
        self._path = path
        self._window = window
        self._begun = b""
        self._offset = 0
        self.notes = Notes(window)

    def refresh(self) -> None:
        """Read what was added, or all of it when it was written anew."""
        try:
            with self._path.open("rb") as file:
                begun = file.read(BEGUN_BYTES)
                if begun != self._begun:
                    self._begun, self._offset, self.notes = begun, 0, Notes(self._window)
                file.seek(self._offset)
                self._offset += self.notes.apply(file.read())
        except OSError as error:
            raise StorageError(f"{self._path}: {error.strerror}") from error


class StoredPages:
    """Which pages were stored lately, and where; kept in the state, a file a parser.

    Args of ``__init__``:
        directory: of the state; made when it is missing.
        index: of this parser.
        window: more pages than a shard can have without their DONEs.

    Cost: one write of about 40 bytes a page; ``find`` is a few look-ups.
    """

    __slots__ = ("_directory", "_file", "_is_stale", "_least", "_notes", "_others", "_window")

    def __init__(self, directory: Path, index: int, window: int) -> None:
        """Read what an earlier process left, whatever it was doing.

        Raises:
            StorageError: the disk refused.
        """
        self._directory = directory
        self._window = window
        self._notes = Notes(window)
        self._others: dict[Path, _Others] = {}
        self._is_stale = True
        path = directory / f"{index:03d}{SUFFIX}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._notes.apply(path.read_bytes() if path.exists() else b"")
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
        self._notes.apply(pack(Note.LEFT, b""))
        self._file = self._compact(path)

    @property
    def opened(self) -> bytes:
        """What this parser was filling last; empty at first."""
        return self._notes.opened

    def opened_by_others(self) -> list[bytes]:
        """What the other parsers, of this run and of earlier ones, were filling last."""
        self._refresh()
        return [other.notes.opened for other in self._others.values() if other.notes.opened]

    def open(self, name: bytes) -> None:
        """Note what is being filled from now on; call it before anything is stored there.

        Raises:
            StorageError: the disk refused; nothing was noted.
        """
        self._add(pack(Note.OPENED, name))

    def find(self, page_id: int, *, is_again: bool) -> list[bytes]:
        """Places where a page may have been stored, this parser's own first.

        Args:
            is_again: the page was sent to another parser before.

        Raises:
            StorageError: the notes of another parser cannot be read.
        """
        if is_again or self._is_stale:
            self._refresh()
        found = [self._notes.places.get(page_id)]
        found += [other.notes.places.get(page_id) for other in self._others.values()]
        return [place for place in found if place is not None]

    def note(self, page_id: int, place: bytes) -> None:
        """Note that a page is about to be stored.

        Raises:
            StorageError: the disk refused; nothing was noted.
        """
        self._add(pack_stored(page_id, place))

    def answered(self, page_ids: Iterable[int]) -> None:
        """PARSED was sent for these pages; those that were not stored do not matter."""
        stored = [page_id for page_id in page_ids if page_id in self._notes.places]
        with suppress(StorageError):  # their places are only kept for longer
            self._add(pack_answered(stored))

    def left(self, shard: int) -> None:
        """A shard has died: its pages may come again, to any parser."""
        self._is_stale = True
        note = pack(Note.LEFT, bytes((shard,)))
        self._notes.apply(note)
        with suppress(StorageError):  # matters only if this parser dies as well, soon
            self._file.append(note)

    def close(self) -> None:
        """Close the notes."""
        self._file.close()

    def _add(self, notes: bytes) -> None:
        if self._file.end + len(notes) > max(COMPACT_BYTES, 2 * self._least):
            old, self._file = self._file, self._compact(self._file.path)
            old.close()
        self._file.append(notes)
        self._notes.apply(notes)

    def _compact(self, path: Path) -> AppendFile:
        """Replace the notes by as few as say the same."""
        write_whole(path, pack(Note.BEGUN, os.urandom(8)) + self._notes.packed())
        try:
            file = AppendFile(path)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
        self._least = file.end
        return file

    def _refresh(self) -> None:
        for path in self._directory.glob(f"*{SUFFIX}"):
            if path != self._file.path:
                self._others.setdefault(path, _Others(path, self._window)).refresh()
        self._is_stale = False
