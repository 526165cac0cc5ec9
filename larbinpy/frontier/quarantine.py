"""What was found damaged, kept for people to look at, and the doubt that it casts on the log.

A DONE behind a gap is in doubt: links of its page may have been lost in the gap.
A shard that starts with the gap known fetches such pages again, so its own DONEs are sound.
Hence a range's name tells the epoch that first knew it, and it is kept when the log moves on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.frontier.disk import storage_errors, write_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from larbinpy.frontier.disk import Disk

NAME: Final = "quarantine"


@dataclass(frozen=True, slots=True)
class Damage:
    """One fault that was found and passed over."""

    file: str
    offset: int
    length: int
    kind: str
    """``range``, ``tail``, ``gap``, ``header``, ``foreign``, ``version``, ``unreadable``,
    ``seen file``, ``segment missing`` or ``URLs missing``."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A gap: DONEs behind it count only from epoch ``known_since`` on."""

    segment: int
    offset: int
    known_since: int


def load(directory: Path) -> list[Doubt]:
    """All doubts of a log, from the names of the ranges kept."""
    doubts = []
    for path in sorted((directory / NAME).glob("*.bad")):
        try:
            segment, offset, _, epoch = (int(part, 16) for part in path.stem.split("-"))
        except ValueError:
            continue  # a file that somebody put there
        doubts.append(Doubt(segment, offset, epoch))
    return doubts


def keep_range(
    disk: Disk, directory: Path, doubt: Doubt, data: bytes | memoryview, *, is_synced: bool
) -> None:
    """Keep the bytes of a damaged range; none when records are missing there."""
    with storage_errors(directory / NAME):
        (directory / NAME).mkdir(exist_ok=True)
    name = f"{doubt.segment:016x}-{doubt.offset:08x}-{len(data):08x}-{doubt.known_since:08x}.bad"
    write_file(disk, directory / NAME / name, bytes(data), is_synced=is_synced)


def keep_file(disk: Disk, directory: Path, path: Path, kind: str) -> Damage:
    """Move a whole file out of the log; never over one that was moved before."""
    with storage_errors(path):
        damage = Damage(path.name, 0, path.stat().st_size, kind)
        (directory / NAME).mkdir(exist_ok=True)
        target = directory / NAME / path.name
        copies = 0
        while target.exists():
            copies += 1
            target = directory / NAME / f"{path.name}.{copies}"
        disk.replace(path, target)
    return damage


def dones_before(doubts: Iterable[Doubt], *, segment: int, epoch: int) -> int:
    """Offset in a segment of that epoch from which on DONE records are ignored."""
    limit = 1 << 32
    for doubt in doubts:
        if epoch >= doubt.known_since or doubt.segment > segment:
            continue
        limit = min(limit, doubt.offset if doubt.segment == segment else 0)
    return limit
