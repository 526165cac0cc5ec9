"""What a state holds beside its logs, for another number of shards.

larbin's bit tables hold bits, not URLs, so they cannot be divided: every new shard gets the bits of
all old ones together.  That is the table that one larbin would have that had crawled all of it: it
takes as few URLs for seen ones.  Digests of pages may lie anywhere, for all shards load theirs into
one table.  Notes of stored pages name them by ids, which change.
"""

from __future__ import annotations

from os import urandom
from typing import TYPE_CHECKING, Final

from larbinpy.dedup.bitsfile import LARBIN_NAME, NAME, BitsFile
from larbinpy.dedup.seen import BitsSeen
from larbinpy.dns import named
from larbinpy.frontier import seenfile
from larbinpy.frontier.disk import Disk
from larbinpy.store.notes import BEGUN_BYTES, Note, Notes, pack, pack_stored
from larbinpy.wholefile import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.recovered import Recovered

PAGE_DIGESTS: Final = 1 << 19
"""Of a seen file of pages."""
_DIGEST: Final = seenfile.PAGES.size
_ALL_PAGES: Final = 1 << 62


def write_pages(path: Path, key: bytes, found: list[Recovered]) -> int:
    """Write the digests of all pages into one shard; returns the first number that is free."""
    number = 1
    for digests in (part for one in found for part in one.digests()):
        for at in range(0, len(digests), PAGE_DIGESTS * _DIGEST):
            part = digests[at : at + PAGE_DIGESTS * _DIGEST]
            seenfile.write(
                Disk(), path, key, number, part, is_synced=True, kind=seenfile.PAGES
            )  # fmt: skip
            number += 1
    return number


def bits_of(old: list[Path], found: list[Recovered], key: bytes) -> bytes:
    """The table of ``seenSet bits`` that has the bits of all shards, saved or not."""
    raws = []
    for path, one in zip(old, found, strict=True):
        seen = BitsSeen(BitsFile(path, key))
        seen.restore(one)
        raws.append(seen.to_bytes())
    return _united(raws)


def larbin_bits_of(old: list[Path], key: bytes) -> bytes:
    """The table of the larbin whose crawl is continued; empty when there is none."""
    return _united([raw for path in old if (raw := BitsFile(path, key, name=LARBIN_NAME).load())])


def write_bits(
    paths: list[Path], numbers: list[int], key: bytes, raw: bytes, *, is_larbins: bool
) -> None:
    """Give a table to all new shards, as of the segments with these numbers."""
    for path, number in zip(paths, numbers, strict=True):
        file = BitsFile(path, key, name=LARBIN_NAME if is_larbins else NAME)
        file.save(raw, number)
        file.settle(wait=True)


def _united(raws: list[bytes]) -> bytes:
    bits = 0
    for raw in raws:
        bits |= int.from_bytes(raw, "little")
    return bits.to_bytes(len(raws[0]), "little") if raws else b""


def named_hosts(old: list[Path]) -> list[bytes]:
    """Hosts that the operator named and that have private addresses."""
    files = [path / named.FILE_NAME for path in old]
    return sorted({host for file in files if file.exists() for host in file.read_bytes().split()})


class StoredPlaces:
    """Where pages that may come again were stored, by the notes of the outputs.

    The new ids are noted beside the old ones: whichever state a kill leaves finds its own.  A note
    is a hint, and the output looks what lies at its place.
    """

    def __init__(self, directory: Path) -> None:
        self._notes: dict[Path, Notes] = {}
        self._ids: dict[int, int] = {}
        for path in sorted(directory.glob("*.notes")):
            notes = self._notes[path] = Notes(_ALL_PAGES)
            notes.apply(path.read_bytes())

    def moved(self, old_id: int, new_id: int) -> None:
        """A URL that waits has a new id."""
        self._ids[old_id] = new_id

    def write(self) -> None:
        """Add the new ids to the notes.

        Raises:
            StorageError: the disk refused.
        """
        for path, notes in self._notes.items():
            more = [
                pack_stored(self._ids[old_id], place)
                for old_id, place in notes.places.items()
                if old_id in self._ids
            ]
            if more:
                begun = pack(Note.BEGUN, urandom(BEGUN_BYTES - len(pack(Note.BEGUN, b""))))
                write_whole(path, b"".join((begun, notes.packed(), *more)))
