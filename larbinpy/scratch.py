"""``--scratch``: the files of a state are deleted, and nothing else is."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from larbinpy.errors import ConfigError, FormatError, StorageError
from larbinpy.manifest import parse_manifest
from larbinpy.state import StateDirectory
from larbinpy.stateparts import IMPORTING, SHARDS, SUFFIX_LIST, delete_parts, parts_of

if TYPE_CHECKING:
    from pathlib import Path


def delete_state(path: Path, *, keep: Path | None = None) -> list[Path]:
    """Delete the files of a state, and nothing else; returns what was deleted.

    Args:
        keep: nothing is deleted when this would be.

    Raises:
        ConfigError: the directory holds something, and it is not a state; or what is to be kept.
        StorageError: another crawl uses it, or the disk refuses.
    """
    if path.exists() and not path.is_dir():
        raise ConfigError(f"--scratch: {path} is not a directory; nothing was deleted")
    if not path.exists() or not any(path.iterdir()):
        return []
    if not _is_ours(path):
        raise ConfigError(f"--scratch: {path} is not a larbinpy state; nothing was deleted")
    directory = StateDirectory(path)
    try:
        for found in parts_of(directory.path):
            if keep is not None and found.resolve() in (keep.resolve(), *keep.resolve().parents):
                raise ConfigError(
                    f"--scratch: {keep} lies in {found}, a part of the state; nothing was deleted"
                )
        return delete_parts(directory.path)
    except OSError as error:
        raise StorageError(f"--scratch: {error.filename}: {error.strerror}") from error
    finally:
        directory.close()


def _is_ours(path: Path) -> bool:
    """Whether a crawl was begun here, or has failed to begin and left nothing else.

    Others too have files by the name of MANIFEST, and directories by that of shard-01: the first
    must be ours, or damaged beside our suffix list; one of the others must have our lock.
    """
    names = {entry.name for entry in path.iterdir()}
    if names <= {"LOCK", IMPORTING, SUFFIX_LIST}:
        return True
    manifest = path / "MANIFEST"
    if manifest.is_file():
        with suppress(FormatError):
            parse_manifest(manifest.read_bytes(), manifest)
            return True
        if SUFFIX_LIST in names:
            return True
    return any(found.is_file() for name in SHARDS for found in path.glob(f"{name}/LOCK"))
