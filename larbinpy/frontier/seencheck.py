"""Seen files are derived: here they are held to their segments when a log is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.frontier import quarantine, seenfile
from larbinpy.frontier.quarantine import Damage

if TYPE_CHECKING:
    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.recovered import Recovered


class SeenCheck:
    """Mends the seen files whose segments are there, and reports faults of all others."""

    __slots__ = ("_damage", "_directory", "_disk", "_is_synced", "_uuid")

    def __init__(self, disk: Disk, found: Recovered, *, is_synced: bool) -> None:
        self._disk = disk
        self._directory = found.directory
        self._uuid = found.uuid
        self._damage = found.damage
        self._is_synced = is_synced

    def mend(self, number: int, kind: seenfile.Kind, entries: bytes) -> None:
        """Make the seen file of a segment if it does not hold exactly these entries.

        Raises:
            StorageError: the disk refused.
        """
        seen = seenfile.read(self._directory, self._uuid, number, kind)
        if seen.bad_blocks:
            self._report(number, kind)
        if seen.entries != entries:
            seenfile.write(
                self._disk, self._directory, self._uuid, number, entries,
                is_synced=self._is_synced, kind=kind,
            )  # fmt: skip

    def check_orphans(self, kind: seenfile.Kind, segments: set[int], oldest: int) -> None:
        """Report faults of the seen files whose segments are gone.

        Segments are deleted oldest first.  One that is gone behind the oldest was lost, with URLs
        that nobody would find again if they counted as seen: its seen file is put aside.

        Args:
            segments: numbers of those that are there.
            oldest: the first of them, or of the one that is to be.

        Raises:
            StorageError: the disk refused.
        """
        for number in seenfile.numbers(self._directory, kind):
            if number in segments:
                continue
            if number > oldest:
                path = self._directory / seenfile.name_of(number, kind)
                self._damage.append(
                    quarantine.keep_file(self._disk, self._directory, path, "segment missing")
                )
                continue
            seen = seenfile.read(self._directory, self._uuid, number, kind)
            if seen.bad_blocks or not seen.is_valid:
                self._report(number, kind)

    def _report(self, number: int, kind: seenfile.Kind) -> None:
        path = self._directory / seenfile.name_of(number, kind)
        self._damage.append(Damage(path.name, 0, path.stat().st_size, "seen file"))
