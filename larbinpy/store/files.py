"""larbin's ``outputMode 1``: 2,000 pages a directory, with an index.

``outputDir/d00000/f00000`` ... with lines ``%4u URL`` in ``d00000/index``.
Each parser fills directories of its own: making one is the lock, so that no two ever meet.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.records import Page

PAGES_PER_DIRECTORY: Final = 2000


class Files:
    """Saves bodies as numbered files.

    Invariant: a line stands in the index only when its file is complete.
    Cost: one file per page; the index is appended to by one ``write()`` a page.
    """

    __slots__ = ("_directory", "_index_fd", "_next_directory", "_next_page", "_root")

    def __init__(self, root: Path) -> None:
        self._root = root
        self._directory: Path | None = None
        self._index_fd = -1
        self._next_directory = 0
        self._next_page = PAGES_PER_DIRECTORY

    def put(self, page: Page, body: bytes, mime: bytes) -> None:
        """See ``Store``."""
        try:
            directory = self._current()
            path = directory / f"f{self._next_page:05d}"
            _write_file(path, body)
            os.write(self._index_fd, b"%4d %b\n" % (self._next_page, page.url))
        except OSError as error:
            raise StorageError(f"{error.filename or self._root}: {error.strerror}") from error
        self._next_page += 1

    def close(self) -> None:
        """See ``Store``."""
        if self._index_fd >= 0:
            os.close(self._index_fd)
            self._index_fd = -1

    def _current(self) -> Path:
        if self._directory is None or self._next_page >= PAGES_PER_DIRECTORY:
            self.close()
            self._directory = self._claim()
            index = self._directory / "index"
            self._index_fd = os.open(index, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self._next_page = 0
        return self._directory

    def _claim(self) -> Path:
        """Make the first directory that nobody has."""
        self._root.mkdir(parents=True, exist_ok=True)
        while True:
            path = self._root / f"d{self._next_directory:05d}"
            self._next_directory += 1
            try:
                path.mkdir()
            except FileExistsError:
                continue
            return path


def _write_file(path: Path, body: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        view = memoryview(body)
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(fd)
