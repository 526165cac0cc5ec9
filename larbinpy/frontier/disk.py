"""The rim between the log and the operating system; tests put a failing one in its place."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LOCK_POLL_S: Final = 0.05


class Disk:
    """The calls that change files; they raise ``OSError`` as the system does."""

    __slots__ = ()

    def create(self, path: Path) -> int:
        """Open a file that must not exist yet, for reading and writing."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)

    def pwrite(self, fd: int, data: bytes | bytearray, offset: int) -> int:
        """Write at ``offset``; returns the number of bytes that were taken."""
        return os.pwrite(fd, data, offset)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to ``size`` bytes."""
        os.ftruncate(fd, size)

    def sync_data(self, fd: int) -> None:
        """Wait until the bytes of a file are on the medium, and its size."""
        os.fdatasync(fd)

    def sync(self, fd: int) -> None:
        """Wait until the bytes of the file, or the names of a directory, are on the medium."""
        os.fsync(fd)

    def sync_all(self, fd: int) -> None:
        """Wait until all that was written to the file system of ``fd`` is on the medium."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(fd):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def replace(self, source: Path, target: Path) -> None:
        """Give a file its final name, in place of a file that has it."""
        source.replace(target)


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` into a ``StorageError`` that names the path."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}") from error


def write_at(disk: Disk, fd: int, data: bytes | bytearray, offset: int, path: Path) -> None:
    """Write all of ``data`` at the end of the good part of a file.

    Raises:
        StorageError: error or short write; the file was cut back to ``offset``.
    """
    try:
        taken = disk.pwrite(fd, data, offset)
        if taken == len(data):
            return
        # A file system takes a part of a write when that is all that it has room for.
        full = os.strerror(errno.ENOSPC)
        reason = f"{full} (only {taken} of {len(data)} bytes were written)"
    except OSError as error:
        reason = error.strerror or str(error)
    # When the cut fails too, recovery cuts the same bytes: they do not end in a whole record.
    with storage_errors(path):
        disk.truncate(fd, offset)
    raise StorageError(f"{path}: {reason}")


def write_file(disk: Disk, path: Path, data: bytes, *, is_synced: bool) -> None:
    """Write a whole file so that it is there completely or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    with storage_errors(path):
        temporary.unlink(missing_ok=True)
        fd = disk.create(temporary)
        try:
            if data:
                os.posix_fallocate(fd, 0, len(data))  # a full disk shows here
            write_at(disk, fd, data, 0, temporary)
            if is_synced:
                disk.sync(fd)
            disk.replace(temporary, path)
        finally:
            os.close(fd)
            temporary.unlink(missing_ok=True)
        if is_synced:
            sync_directory(disk, path.parent)


def sync_directory(disk: Disk, directory: Path) -> None:
    """Make the names in a directory durable."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        disk.sync(fd)
    finally:
        os.close(fd)


def make_directory(disk: Disk, path: Path, *, is_synced: bool) -> None:
    """Make a directory, and those above it, where they are missing."""
    if path.is_dir():
        return
    make_directory(disk, path.parent, is_synced=is_synced)
    path.mkdir(exist_ok=True)
    if is_synced:
        sync_directory(disk, path.parent)


def sync_around(disk: Disk, paths: Iterable[Path]) -> None:
    """Bring the file systems of these directories to the medium, each once.

    One that is not there yet will lie on that of its parent.

    Raises:
        StorageError: a disk refused.
    """
    systems = set()
    for path in paths:
        there = next(up for up in (path, *path.parents) if up.is_dir())
        with storage_errors(there):
            fd = os.open(there, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                system = os.fstat(fd).st_dev
                if system not in systems:
                    disk.sync_all(fd)
                systems.add(system)
            finally:
                os.close(fd)


def lock(path: Path, *, wait_s: float) -> int:
    """Take the lock of a directory for the life of the returned descriptor.

    Raises:
        StorageError: another process holds it after ``wait_s`` seconds; the text names it.
    """
    with storage_errors(path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    end = time.monotonic() + wait_s
    while not _try_lock(fd):
        if time.monotonic() >= end:
            holder = os.pread(fd, 200, 0).decode("ascii", "replace").strip() or "another process"
            os.close(fd)
            raise StorageError(f"{path.parent} is in use by {holder}")
        time.sleep(LOCK_POLL_S)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError):  # a full disk: the lock is ours, only our name is not in it
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"pid {os.getpid()} since {started}\n".encode("ascii"), 0)
    return fd


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
