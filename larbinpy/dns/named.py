"""Hosts that the operator named: start URLs, seed files, the command line.

They alone may have private addresses, without leave for everybody's links.  A name is known by the
number of its host, a bit each, for there may be millions; those that did have a private address,
few, also stand in a file, so that a crawl that goes on without its seeds still knows them.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


FILE_NAME: Final = "named"
"""In a shard's directory."""


class NamedHosts:
    """The named hosts of a shard.

    Args of ``__init__``:
        path: the file, one host a line; it need not be there.

    Raises:
        StorageError: the file is there and cannot be read.
    """

    __slots__ = ("_bits", "_path", "_private", "_unwritten")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bits = bytearray()
        self._unwritten: list[bytes] = []
        try:
            self._private = set(path.read_bytes().split()) if path.exists() else set()
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error

    def add(self, host_id: int) -> None:
        """Note that the operator named this host."""
        at = host_id >> 3
        if at >= len(self._bits):
            self._bits.extend(bytes(at + 1024 - len(self._bits)))
        self._bits[at] |= 1 << (host_id & 7)

    def has(self, host_id: int, host: bytes) -> bool:
        """Whether the operator named this host, now or in an earlier run."""
        at = host_id >> 3
        if at < len(self._bits) and self._bits[at] >> (host_id & 7) & 1:
            return True
        return host in self._private

    def remember(self, host: bytes) -> None:
        """Keep a named host that has a private address for later runs, from ``commit`` on."""
        if host not in self._private:
            self._private.add(host)
            self._unwritten.append(host)

    def commit(self) -> None:
        """Write what is to be kept.

        Raises:
            StorageError: the disk refused; all of it is written by a later call.
        """
        if not self._unwritten:
            return
        lines = b"".join(host + b"\n" for host in self._unwritten)
        try:
            _append(self._path, lines)
        except OSError as error:
            raise StorageError(f"{self._path}: {error.strerror}") from error
        self._unwritten.clear()


def _append(path: Path, data: bytes) -> None:
    """Append all of the data or nothing: a host name cut short is another host's."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(fd).st_size
        if os.write(fd, data) != len(data):
            os.ftruncate(fd, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(fd)
