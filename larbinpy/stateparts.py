"""What a state directory consists of, by the names of its files and directories."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX_LIST: Final = "public_suffix_list.dat"
PROMISES: Final = "promises.log"
IMPORTING: Final = "importing"
_FILES: Final = (
    "MANIFEST",
    "LOCK",
    "crawl.log",
    "crawl.index",
    "report.json",
    "control.json",
    "sites",
    IMPORTING,
    PROMISES,
    SUFFIX_LIST,
)
STORED: Final = "stored"
"""Directory of what the outputs note of the pages that they store."""
RESHARD: Final = "reshard-"
"""Begin of the name of a directory with new shards: ``reshard-N``, or ``reshard-N.tmp`` before it
is whole."""
SHARDS: Final = ("shard-[0-9][0-9]", "shard-[0-9][0-9][0-9]")
_DIRECTORIES: Final = (*SHARDS, f"{RESHARD}[0-9]*", "inbox", STORED)


def is_state(path: Path) -> bool:
    """Whether a crawl was begun in a directory."""
    return (path / "MANIFEST").exists() or any(path.glob("shard-*"))


def parts_of(path: Path) -> list[Path]:
    """All files and directories of a state, but for its lock."""
    found = [one for pattern in _DIRECTORIES for one in sorted(path.glob(pattern))]
    names = (*_FILES, *(f"{name}.tmp" for name in _FILES))
    return found + [path / name for name in names if name != "LOCK" and (path / name).exists()]


def delete_parts(path: Path) -> list[Path]:
    """Delete all files and directories of a state, but for its lock; returns them."""
    deleted = parts_of(path)
    for found in deleted:
        if found.is_dir():
            shutil.rmtree(found)
        else:
            found.unlink()
    return deleted
