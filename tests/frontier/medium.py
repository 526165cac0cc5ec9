"""A disk whose medium is known: what would be there if the power failed now."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path

from larbinpy.frontier.disk import Disk


class Medium(Disk):
    """Writes as usual, and remembers what was synced; ``is_slow`` syncs wait for ``go``."""

    __slots__ = ("bytes", "fails", "go", "names", "syncs", "systems")

    def __init__(self) -> None:
        self.bytes: dict[Path, bytes] = {}
        self.names: dict[Path, set[str]] = {}
        self.fails = 0
        self.syncs = 0
        self.systems = 0
        self.go = threading.Event()
        self.go.set()

    def sync_data(self, fd: int) -> None:
        """Fails as often as ``fails`` says; the file is then as it was at its last sync."""
        self.go.wait()
        if self.fails:
            self.fails -= 1
            raise OSError(errno.EIO, "Input/output error")
        self.syncs += 1
        self.bytes[path_of(fd)] = os.pread(fd, 1 << 30, 0)

    def sync(self, fd: int) -> None:
        """Both kinds: a file, or the names of a directory."""
        path = path_of(fd)
        if path.is_dir():
            self.names[path] = {entry.name for entry in path.iterdir()}
        else:
            self.bytes[path] = os.pread(fd, 1 << 30, 0)

    def sync_all(self, fd: int) -> None:
        """Count how often a whole file system was synced."""
        self.go.wait()
        self.systems += 1
        super().sync_all(fd)

    def replace(self, source: Path, target: Path) -> None:
        """The bytes go with the name."""
        super().replace(source, target)
        self.bytes[target] = self.bytes.get(source, b"")

    def after_power_loss(self, directory: Path, copy: Path, *, torn: int = 0) -> Path:
        """What is left of a directory, as ``copy``; of segments also ``torn`` bytes more."""
        copy.mkdir()
        for path in directory.iterdir():
            if path.is_dir():
                shutil.copytree(path, copy / path.name)
            elif path.name in self.names.get(directory, ()):
                synced = self.bytes.get(path, b"")
                more = b""
                with suppress(FileNotFoundError):  # a helper thread has renamed it meanwhile
                    more = path.read_bytes()[len(synced) : len(synced) + torn]
                (copy / path.name).write_bytes(synced + more)
        return copy


def path_of(fd: int) -> Path:
    """What a descriptor is open on."""
    return Path(f"/proc/self/fd/{fd}").readlink()
