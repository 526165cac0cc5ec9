"""The state directory: its lock, and how a crawl begins in it.

See ``stateparts`` for what a state consists of, and ``manifest`` for what in it may not change; the
MANIFEST is replaced as a whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from larbinpy.config import processes
from larbinpy.domain import psl_bytes
from larbinpy.errors import ConfigError, FormatError, StorageError
from larbinpy.manifest import Manifest, boot_id, check_manifest, parse_manifest
from larbinpy.stateparts import IMPORTING, RESHARD, SUFFIX_LIST, delete_parts, is_state
from larbinpy.wholefile import LOCK_WAIT_S, lock_file, make_directory, sync_directory, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.config import Config

_OLD: Final = "old-"


def begin(directory: StateDirectory, config: Config, *, reload: bool) -> Manifest:
    """Open the state of a crawl, or begin one; returns the manifest as it was left.

    What is saved is not clean, and keeps the boot id: see ``Manifest.is_trusted``.

    Args:
        reload: a crawl must have been begun here.

    Raises:
        ConfigError: there is no crawl to reload, or the configuration does not fit it.
        FormatError: the manifest is damaged.
    """
    finish_reshard(directory)
    manifest = directory.load()
    if manifest is None:
        if reload:
            raise ConfigError(f"--reload: there is no crawl in {directory.path}")
        manifest = new_manifest(directory, config)
    else:
        check_manifest(manifest, config)
        manifest = replace(manifest, seen_set=config.seen_set)
    directory.save(replace(manifest, clean=False))
    return manifest


def new_manifest(directory: StateDirectory, config: Config) -> Manifest:
    """A manifest of a crawl that begins here, not saved yet; its suffix list is."""
    suffix_list = psl_bytes()
    write_whole(directory.path / SUFFIX_LIST, suffix_list)
    return Manifest.new(
        fetch_processes=processes(config).fetch,
        seen_set=config.seen_set,
        url_mode=config.url_mode,
        suffix_list=hashlib.sha256(suffix_list).hexdigest(),
    )


@contextmanager
def importing(directory: StateDirectory) -> Iterator[None]:
    """Mark a state that is being made from another crawler's; the body saves the manifest last.

    What an import left that was broken off is deleted first: it was a copy.

    Raises:
        ConfigError: a crawl was begun here.
    """
    marker = directory.path / IMPORTING
    if directory.is_half_imported:
        delete_parts(directory.path)
    elif directory.exists:
        raise ConfigError(
            f"{directory.path} holds a crawl already; give another stateDir, or delete it first"
        )
    write_whole(marker, b"")
    yield
    marker.unlink()


class StateDirectory:
    """A locked state directory; one crawl at a time."""

    __slots__ = ("_lock_fd", "path")

    def __init__(self, path: Path, *, wait_s: float = LOCK_WAIT_S) -> None:
        """Create the directory when it is missing, and take its lock.

        Raises:
            StorageError: it cannot be created, or another crawl holds it after ``wait_s``.
        """
        self.path = path.absolute()
        try:
            make_directory(self.path)
            self._lock_fd = os.open(
                self.path / "LOCK", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}") from error
        try:
            lock_file(self._lock_fd, self.path / "LOCK", wait_s=wait_s)
        except StorageError:
            self.close()
            raise

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._lock_fd)

    @property
    def exists(self) -> bool:
        """Whether a crawl was begun here."""
        return is_state(self.path)

    @property
    def is_half_imported(self) -> bool:
        """Whether an import was broken off here."""
        return (self.path / IMPORTING).exists() and not (self.path / "MANIFEST").exists()

    def load(self) -> Manifest | None:
        """The manifest, or None for a directory without a crawl.

        Raises:
            FormatError: it is damaged, or of a newer version.
        """
        path = self.path / "MANIFEST"
        if not path.exists():
            if self.is_half_imported:
                raise FormatError(f"{self.path}: an import was broken off here; run it again")
            if self.exists:
                raise FormatError(f"{path}: missing, though the state has shards; restore it")
            return None
        return parse_manifest(path.read_bytes(), path)

    def save(self, manifest: Manifest) -> None:
        """Replace the manifest."""
        write_whole(self.path / "MANIFEST", manifest.as_bytes())

    def shard(self, index: int) -> Path:
        """Directory of a shard."""
        return self.path / f"shard-{index:02d}"


def finish_reshard(directory: StateDirectory) -> None:
    """Put new shards that are whole in the places of the old ones; leftovers are deleted.

    Two steps, with the manifest between them: the old ones go into the directory of the new ones,
    then these come out.  What a kill leaves tells which step it was.

    Raises:
        FormatError: there are new shards, and no good manifest.
        StorageError: the disk refused.
    """
    for found in sorted(directory.path.glob(f"{RESHARD}*")):
        try:
            if found.suffix != ".tmp":
                _take_over(directory, found)
            shutil.rmtree(found)
        except OSError as error:
            raise StorageError(f"{found}: {error.strerror}") from error


def _take_over(directory: StateDirectory, new: Path) -> None:
    shards = int(new.name.removeprefix(RESHARD))
    manifest = directory.load()
    if manifest is None:
        raise FormatError(f"{directory.path / 'MANIFEST'}: missing, though the state has shards")
    if manifest.fetch_processes != shards:
        for old in sorted(directory.path.glob("shard-*")):
            old.rename(new / f"{_OLD}{old.name}")
        sync_directory(new)
        directory.save(replace(manifest, fetch_processes=shards, boot_id=boot_id()))
    for shard in sorted(new.glob("shard-*")):
        shard.rename(directory.path / shard.name)
    sync_directory(directory.path)


def is_locked(path: Path) -> bool:
    """Whether a crawl uses a state now."""
    try:
        fd = os.open(path / "LOCK", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
