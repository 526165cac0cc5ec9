"""Which files of a directory are a log's, judged by their names and headers alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from larbinpy.frontier import quarantine, seenfile
from larbinpy.frontier.disk import storage_errors
from larbinpy.frontier.segment import HEADER_BYTES, VERSION, Header, SegmentState, parse_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.quarantine import Damage

LOG_GLOB: Final = "q-*.seg"


@dataclass(slots=True)
class Inventory:
    """The segments that are there, and numbers that nobody may use again."""

    segments: list[SegmentState] = field(default_factory=list)
    """By rising number."""
    epoch: int = 0
    """The highest of all files, of those put aside too; 0 = there is none."""
    number: int = 0
    """Likewise; a seen file counts as its segment."""
    damage: list[Damage] = field(default_factory=list)
    """Files that are not of this crawl or version: they are in the quarantine now."""

    def note(self, epoch: int, number: int) -> None:
        """These are used."""
        self.epoch = max(self.epoch, epoch)
        self.number = max(self.number, number)


def take_inventory(
    disk: Disk, directory: Path, uuid: bytes, kinds: Iterable[seenfile.Kind]
) -> Inventory:
    """Look at all files of a log; what a killed process left half written is removed.

    Args:
        uuid: 16 bytes of the crawl.
        kinds: of its seen files.

    Raises:
        StorageError: the disk refused.
    """
    _sweep(directory)
    found = Inventory()
    for kind in kinds:
        found.note(0, max(seenfile.numbers(directory, kind), default=0))
    segments: dict[int, SegmentState] = {}
    for (epoch, number), path in _named(directory):
        found.note(epoch, number)
        state, fault = _judge(path, uuid, epoch, number)
        found.note(state.epoch, state.number)
        if fault or state.number in segments:
            found.damage.append(quarantine.keep_file(disk, directory, path, fault or "foreign"))
        else:
            segments[state.number] = state
    found.segments = [segments[number] for number in sorted(segments)]
    return found


def _sweep(directory: Path) -> None:
    for leftover in directory.rglob("*.tmp"):
        with storage_errors(leftover):
            leftover.unlink(missing_ok=True)


def _named(directory: Path) -> list[tuple[tuple[int, int], Path]]:
    """All files with the name of a segment, by epoch and number."""
    names = [(parse_name(path.name), path) for path in directory.glob(LOG_GLOB)]
    return sorted((name, path) for name, path in names if name is not None)


def _judge(path: Path, uuid: bytes, epoch: int, number: int) -> tuple[SegmentState, str]:
    """A file by its header, and why it is none of ours.

    A damaged header leaves it to the name and the checksums of the records.
    """
    with storage_errors(path), path.open("rb") as file:
        header = Header.unpack(file.read(HEADER_BYTES))
    if header is None:
        return SegmentState(number, epoch, path), ""
    if header.uuid != uuid:
        return SegmentState(number, epoch, path), "foreign"
    if header.version > VERSION:
        return SegmentState(number, epoch, path), "version"
    return SegmentState(header.number, header.epoch, path, first_lsn=header.first_lsn), ""
