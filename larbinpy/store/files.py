"""larbin's ``outputMode 1``: 2,000 pages a directory, with an index.

``outputDir/d00000/f00000`` ... with lines ``%4u URL`` in ``d00000/index``.
Each parser fills directories of its own: making one is the lock, so that no two ever meet. After a
restart it goes on in the one it was filling; a number is never used twice in a crawl, so that full
directories may be moved away.

A page is a file first and a line of the index then. A file without a line is what a kill has left:
it is removed when the directory is opened again. A page that comes again replaces its file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError
from larbinpy.records import Directive
from larbinpy.store.transaction import AppendFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from larbinpy.records import Page
    from larbinpy.store.transaction import StoredPages

PAGES_PER_DIRECTORY: Final = 2000

_PLACE: Final = Struct("<II")
"""Numbers of a directory and of a file in it."""


class Files:
    """Saves bodies as numbered files.

    Invariant: a line stands in the index only when its file is complete.
    Cost: one file per page; the index is appended to by one ``write()`` a page.
    """

    __slots__ = ("_directory", "_index", "_next_page", "_number", "_root", "_stored")

    keeps: Final = True
    refuses: Final = Directive.NOARCHIVE

    def __init__(self, root: Path, stored: StoredPages) -> None:
        """Fill directories of ``root``, which is made if it is missing.

        Raises:
            StorageError: it cannot be made, or the disk refuses to go on where an earlier process
                was.
        """
        self._root = root
        self._stored = stored
        self._index: AppendFile | None = None
        self._directory = root
        self._number = -1
        self._next_page = 0
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._resume()
        except OSError as error:
            raise self._failed(error) from error

    def put(self, page: Page, body: bytes, mime: bytes) -> None:
        """See ``Store``."""
        try:
            for place in self._stored.find(page.id, is_again=page.attempt > 0):
                if self._replace(place, page, body):
                    return
            try:
                self._put(page, body)
            except FileNotFoundError:
                self._leave()  # somebody took the directory away
                self._put(page, body)
        except OSError as error:
            raise self._failed(error) from error

    def answered(self, page_ids: Iterable[int]) -> None:
        """See ``Store``."""
        self._stored.answered(page_ids)

    def left(self, shard: int) -> None:
        """See ``Store``."""
        self._stored.left(shard)

    def close(self) -> None:
        """See ``Store``."""
        self._leave()
        self._stored.close()

    def _failed(self, error: OSError) -> StorageError:
        return StorageError(f"{error.filename or self._root}: {error.strerror}")

    # --- pages -----------------------------------------------------------------------------

    def _put(self, page: Page, body: bytes) -> None:
        index = self._current()
        path = self._directory / _name(self._next_page)
        self._stored.note(page.id, _PLACE.pack(self._number, self._next_page))
        _write_new(path, body)
        try:
            index.append(_line(self._next_page, page))
        except StorageError:
            path.unlink(missing_ok=True)
            raise
        self._next_page += 1

    def _replace(self, place: bytes, page: Page, body: bytes) -> bool:
        """Replace an earlier copy of a page; false when none lies at this place."""
        number, at = _PLACE.unpack(place)
        directory = self._path(number)
        try:
            lines = (directory / "index").read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return False
        path = directory / _name(at)
        if lines[at : at + 1] != [_line(at, page)] or not path.exists():
            return False
        temporary = directory / f".{path.name}.tmp"
        temporary.unlink(missing_ok=True)
        _write_new(temporary, body)
        temporary.rename(path)
        self._stored.note(page.id, place)
        return True

    # --- directories -----------------------------------------------------------------------

    def _path(self, number: int) -> Path:
        return self._root / f"d{number:05d}"

    def _current(self) -> AppendFile:
        if self._index is None or self._next_page >= PAGES_PER_DIRECTORY:
            self._leave()
            self._open(self._claim())
        assert self._index is not None  # opened just now
        return self._index

    def _claim(self) -> int:
        """Make a directory with a number above all that were ever used here.

        It is noted when it is there, for only who made it may fill it. So a kill in between leaves
        an empty one.
        """
        self._root.mkdir(parents=True, exist_ok=True)
        names = [*self._stored.opened_by_others(), self._stored.opened]
        names += [os.fsencode(path.name) for path in self._root.glob("d*")]
        number = max((_number(name) for name in names), default=-1)
        while True:
            number += 1
            with suppress(FileExistsError):
                self._path(number).mkdir()
                break
        try:
            self._stored.open(b"d%05d" % number)
        except StorageError:
            self._path(number).rmdir()
            raise
        return number

    def _resume(self) -> None:
        """Go on in the directory that was being filled, if it is still there."""
        number = _number(self._stored.opened)
        if number < 0 or not self._path(number).is_dir():
            return
        self._open(number)
        for path in self._directory.iterdir():
            is_file = path.name[:1] == "f" and path.name[1:].isdecimal()
            if path.suffix == ".tmp" or (is_file and int(path.name[1:]) >= self._next_page):
                path.unlink()

    def _open(self, number: int) -> None:
        """Open a directory; its next page has the number of the lines in its index."""
        self._number = number
        self._directory = self._path(number)
        self._index = AppendFile(self._directory / "index")
        data = self._index.read()
        self._index.cut(data.rfind(b"\n") + 1)
        self._next_page = data.count(b"\n")

    def _leave(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None


def _name(number: int) -> str:
    return f"f{number:05d}"


def _number(name: bytes) -> int:
    """Of a directory, -1 for another name."""
    return int(name[1:]) if name[:1] == b"d" and name[1:].isdigit() else -1


def _line(number: int, page: Page) -> bytes:
    return b"%4d %b\n" % (number, page.url)


def _write_new(path: Path, body: bytes) -> None:
    """Write a file that is not there; when the disk refuses, none is left."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        view = memoryview(body)
        while view:
            view = view[os.write(fd, view) :]
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        os.close(fd)
