"""The state directory: its lock, its MANIFEST, and what ``--scratch`` may delete.

The MANIFEST holds what may not change while a state lives: the crawl's uuid (the key of all
fingerprints), the number of shards, the kind of seen set, the URL mode, and the digest of the
public suffix list that decided whose URL is whose.  It is replaced as a whole (write, fdatasync,
rename, fsync of the directory), and a checksum tells a damaged one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
import uuid
import zlib
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from larbinpy.config import processes
from larbinpy.domain import psl_bytes
from larbinpy.errors import ConfigError, FormatError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.config import Config

VERSION: Final = 1
SUFFIX_LIST: Final = "public_suffix_list.dat"
IMPORTING: Final = "importing"
_LOCK_WAIT_S: Final = 5.0
_FILES: Final = (
    "MANIFEST",
    "LOCK",
    "crawl.log",
    "report.json",
    "control.json",
    "sites",
    IMPORTING,
    SUFFIX_LIST,
)
STORED: Final = "stored"
"""Directory of what the outputs note of the pages that they store."""
RESHARD: Final = "reshard-"
"""Begin of the name of a directory with new shards: ``reshard-N``, or ``reshard-N.tmp`` before it
is whole."""
_DIRECTORIES: Final = ("shard-*", f"{RESHARD}*", "inbox", STORED)
_OLD: Final = "old-"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a state was begun with; ``fetch_processes`` and the rest are part of its layout."""

    uuid: str
    fetch_processes: int
    seen_set: str
    url_mode: str
    suffix_list: str
    """SHA-256 of the state's copy of the public suffix list."""
    boot_id: str = ""
    clean: bool = False
    """True when the last run ended by an orderly stop."""
    version: int = VERSION

    @classmethod
    def new(cls, *, fetch_processes: int, seen_set: str, url_mode: str, suffix_list: str) -> Self:
        """A manifest of a new crawl."""
        return cls(
            uuid.uuid4().hex, fetch_processes, seen_set, url_mode, suffix_list, boot_id=boot_id()
        )

    def opened(self) -> Self:
        """The manifest while a crawl runs whose logs are all open."""
        return replace(self, boot_id=boot_id(), clean=False)

    @property
    def is_trusted(self) -> bool:
        """Whether all that was written is there: the last run was stopped, or only killed.

        When not, the logs put in doubt what was not synced.  The boot id may be replaced only
        after all of them have noted that.
        """
        return self.clean or self.boot_id == boot_id()

    @property
    def key(self) -> bytes:
        """The 16 bytes that key the crawl's hashes."""
        return bytes.fromhex(self.uuid)


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
        _delete_state(directory.path)
    elif directory.exists:
        raise ConfigError(
            f"{directory.path} holds a crawl already; give another stateDir, or delete it first"
        )
    write_whole(marker, b"")
    yield
    marker.unlink()


def boot_id() -> str:
    """Identity of this start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class StateDirectory:
    """A locked state directory; one crawl at a time."""

    __slots__ = ("_lock_fd", "path")

    def __init__(self, path: Path, *, wait_s: float = _LOCK_WAIT_S) -> None:
        """Create the directory when it is missing, and take its lock.

        Raises:
            StorageError: it cannot be created, or another crawl holds it after ``wait_s``.
        """
        self.path = path.absolute()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
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
        body = json.dumps(asdict(manifest), indent=1).encode()
        write_whole(self.path / "MANIFEST", body + b"\n%08x\n" % zlib.crc32(body))

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
        _sync_directory(new)
        directory.save(replace(manifest, fetch_processes=shards, boot_id=boot_id()))
    for shard in sorted(new.glob("shard-*")):
        shard.rename(directory.path / shard.name)
    _sync_directory(directory.path)


def is_state(path: Path) -> bool:
    """Whether a crawl was begun in a directory."""
    return (path / "MANIFEST").exists() or any(path.glob("shard-*"))


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


def parse_manifest(data: bytes, path: Path) -> Manifest:
    """Read the bytes of a MANIFEST.

    Raises:
        FormatError: they are damaged, or of a newer version.
    """
    body, _, tail = data.rstrip(b"\n").rpartition(b"\n")
    if tail != b"%08x" % zlib.crc32(body):
        raise FormatError(
            f"{path}: damaged; restore it from a copy, or start afresh with --scratch"
        )
    fields = json.loads(body)
    if fields["version"] > VERSION:
        raise FormatError(f"{path}: written by a newer larbinpy (version {fields['version']})")
    return Manifest(**fields)


def check_manifest(manifest: Manifest, config: Config) -> None:
    """Refuse a configuration that does not fit the state.

    Raises:
        ConfigError: it asks for something that is part of the state.
    """
    fetch_processes = config.fetch_processes
    if fetch_processes not in (0, manifest.fetch_processes):
        raise ConfigError(
            f"fetchProcesses: the state has {manifest.fetch_processes} shards, not"
            f" {fetch_processes}; leave the key out, or change the state by:"
            f" larbinpy state DIR --reshard {fetch_processes}"
        )
    if config.url_mode != manifest.url_mode:
        raise ConfigError(f"urlMode: the state was begun with {manifest.url_mode}")
    if config.seen_set != manifest.seen_set and "bits" in (config.seen_set, manifest.seen_set):
        raise ConfigError(
            f"seenSet: the state was begun with {manifest.seen_set}, and bits are made of the URLs"
            " themselves, not of their fingerprints; neither can become the other"
        )


def lock_file(fd: int, path: Path, *, wait_s: float = _LOCK_WAIT_S) -> None:
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
        _sync_directory(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: {error.strerror}") from error


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def scratch(path: Path) -> list[Path]:
    """Delete the files of a state, and nothing else; returns what was deleted.

    Raises:
        ConfigError: the directory holds something, and it is not a state.
        StorageError: another crawl uses it, or the disk refuses.
    """
    if path.exists() and not path.is_dir():
        raise ConfigError(f"--scratch: {path} is not a directory; nothing was deleted")
    if not path.exists() or not any(path.iterdir()):
        return []
    if not _is_state(path):
        raise ConfigError(f"--scratch: {path} is not a larbinpy state; nothing was deleted")
    directory = StateDirectory(path)
    try:
        return _delete_state(directory.path)
    except OSError as error:
        raise StorageError(f"--scratch: {error.filename}: {error.strerror}") from error
    finally:
        directory.close()


def _is_state(path: Path) -> bool:
    """Whether a crawl was begun here, or has failed to begin and left nothing else."""
    names = {entry.name for entry in path.iterdir()}
    is_begun = "MANIFEST" in names or any(path.glob("shard-*"))
    return is_begun or names <= {"LOCK", SUFFIX_LIST}


def _delete_state(path: Path) -> list[Path]:
    deleted = []
    for pattern in _DIRECTORIES:
        for found in sorted(path.glob(pattern)):
            shutil.rmtree(found)
            deleted.append(found)
    for name in (*_FILES, *(f"{name}.tmp" for name in _FILES)):
        found = path / name
        if found.exists() and name != "LOCK":
            found.unlink()
            deleted.append(found)
    return deleted
