"""Files that are replaced as a whole, and files that lock."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

LOCK_WAIT_S: Final = 5.0


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by write, fdatasync, rename and fsync of its directory.

    Raises:
        StorageError: the disk refused; the old file is as it was.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fdatasync(file.fileno())
        temporary.rename(path)
        sync_directory(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: {error.strerror}") from error


def make_directory(path: Path) -> None:
    """Make a directory, and those above it, where they are missing; a power failure keeps it."""
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Bring the names in a directory onto the medium."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def lock_file(fd: int, path: Path, *, wait_s: float = LOCK_WAIT_S) -> None:
    """Take an exclusive flock, waiting for a crawl that is just ending.

    Raises:
        StorageError: somebody holds it after ``wait_s``; the text names the process.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(fd, 64, 0).decode("ascii", "replace").strip() or "unknown"
                raise StorageError(f"{path}: in use by another crawl (process {holder})") from None
            time.sleep(0.05)
        else:
            with suppress(OSError):  # a full disk: the lock is ours, only our name is not in it
                os.ftruncate(fd, 0)
                os.pwrite(fd, b"%d\n" % os.getpid(), 0)
            return
