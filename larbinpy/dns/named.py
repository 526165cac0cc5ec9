"""Hosts that the operator named: start URLs, seed files, the command line.

They alone may have private addresses, without leave for everybody's links.  A name is known by the
number of its host, a bit each, for there may be millions; those that did have a private address,
few, also stand in a file, so that a crawl that goes on without its seeds still knows them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


class NamedHosts:
    """The named hosts of a shard.

    Args of ``__init__``:
        path: the file, one host a line; it need not be there.

    Raises:
        StorageError: the file is there and cannot be read.
    """

    __slots__ = ("_bits", "_path", "_private")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bits = bytearray()
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
        """Keep a named host that has a private address for later runs.

        Raises:
            StorageError: the disk refused.
        """
        if host in self._private:
            return
        self._private.add(host)
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.write(fd, host + b"\n")
            finally:
                os.close(fd)
        except OSError as error:
            raise StorageError(f"{self._path}: {error.strerror}") from error
