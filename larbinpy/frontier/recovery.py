"""Open a log after any exit; see ``docs/format-queue.md`` 6.

One pass over the segments in the order of their numbers; the same path after a clean stop.
Everything here may itself be killed at any point: each step is either repeated or already done.

1. Files that are not of this crawl or version go to the quarantine (``inventory``).
2. Each segment is checked record by record, and what the records say is applied (``replay``);
   behind a bad range the scan goes on at the next good record. Where lsns are missing there is a
   *gap*, and DONEs behind it are in doubt.
3. The last segment is cut behind its last good record, sealed, and every seen file is made that
   is missing or does not agree with its segment (``seencheck``).
"""

from __future__ import annotations

import time
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import SCAN_SEALED, Codec
from larbinpy._native.logdone import digests
from larbinpy.frontier import quarantine, seenfile
from larbinpy.frontier.disk import storage_errors, sync_directory, write_at
from larbinpy.frontier.inventory import take_inventory
from larbinpy.frontier.payloads import RecordType, pack_seal
from larbinpy.frontier.quarantine import Damage
from larbinpy.frontier.recovered import Recovered
from larbinpy.frontier.replay import Replay
from larbinpy.frontier.seencheck import SeenCheck
from larbinpy.frontier.segment import HEADER_BYTES
from larbinpy.frontier.unsynced import first_unsynced
from larbinpy.frontier.walk import walk

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy._native.logcodec import ScanResult
    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.segment import SegmentState
    from larbinpy.frontier.settings import Settings

BEGUN_BYTES: Final = 4096
"""More than header and COUNTS take; a longer file without any good record is damaged, not new."""

_Kept = dict[seenfile.Kind, list[bytes]]


def recover(
    disk: Disk, directory: Path, uuid: bytes, settings: Settings, *, is_trusted: bool = True
) -> Recovered:
    """Read and mend a log.

    Args:
        uuid: 16 bytes of the crawl.
        settings: what is mended here, and what was written before, is brought to the medium if the
            log is.
        is_trusted: false when the machine has been down since the log was written, and not after a
            clean stop.

    Raises:
        StorageError: the disk refused a read, or a write that mends.

    Cost: reads the whole log, one segment in memory at a time; see ``tests/bench``.
    """
    started = time.monotonic()
    found = Recovered(directory, uuid)
    _Recovery(disk, found, settings).run(is_trusted=is_trusted)
    found.seconds = time.monotonic() - started
    return found


class _Recovery:
    """One start of one log."""

    def __init__(self, disk: Disk, found: Recovered, settings: Settings) -> None:
        self._disk = disk
        self._directory = found.directory
        self._uuid = found.uuid
        self._is_synced = settings.is_synced
        self._kinds = (seenfile.URLS, seenfile.PAGES) if settings.keeps_pages else (seenfile.URLS,)
        self._found = found
        self._next_lsn = 0
        """0 before the first record."""
        self._doubts = quarantine.load(found.directory)
        self._replay = Replay(found)
        self._seen = SeenCheck(disk, found, is_synced=settings.is_synced)

    def run(self, *, is_trusted: bool) -> None:
        """See ``recover``."""
        segments = self._take_inventory()
        if not is_trusted:
            self._doubt_unsynced(segments)
        for index, segment in enumerate(segments):
            self._read(segment, is_last=index == len(segments) - 1)
        self._check_orphans()
        if self._is_synced:
            self._sync_unmarked()
        for segment in self._found.segments:
            segment.size = segment.path.stat().st_size
        self._replay.finish()
        self._found.next_lsn = max(self._next_lsn, 1)

    def _take_inventory(self) -> list[SegmentState]:
        """The segments of this crawl; epoch and next number are above all that there are."""
        files = take_inventory(self._disk, self._directory, self._uuid, self._kinds)
        epochs = (files.epoch, *(doubt.known_since for doubt in self._doubts))
        self._found.epoch = max(epochs) + 1
        self._found.next_number = files.number + 1
        self._found.damage += files.damage
        return files.segments

    def _doubt_unsynced(self, segments: list[SegmentState]) -> None:
        """Doubt the DONEs that may have reached the medium before their children did.

        The doubt is kept with those that damage casts, before anybody may call this start one
        without a fall of the machine.
        """
        place = first_unsynced(segments, self._uuid)
        if place is None:
            return
        doubt = quarantine.Doubt(*place, self._found.epoch)
        self._doubts.append(doubt)
        quarantine.keep_range(self._disk, self._directory, doubt, b"", is_synced=True)

    # --- one segment ------------------------------------------------------------------------

    def _read(self, segment: SegmentState, *, is_last: bool) -> None:
        with storage_errors(segment.path):
            data = segment.path.read_bytes()
        codec = Codec(self._uuid, segment.number)
        if codec.resync(data, HEADER_BYTES, 0) < 0:
            self._drop_empty(segment, data)
            return
        if segment.first_lsn == 0:
            self._damage(segment, 0, HEADER_BYTES, "header")
        kept, end = self._read_runs(segment, data, codec)
        self._found.segments.append(segment)
        if is_last and end < len(data):
            self._found.torn_bytes += len(data) - end
            self._cut(segment, end)
        elif end < len(data):
            self._gap(segment, data, end, len(data), "tail")
        if is_last and not segment.is_sealed:
            self._seal(segment, codec, end)
        for kind in self._kinds:
            self._seen.mend(segment.number, kind, b"".join(kept[kind]))
        segment.has_seen = True

    def _drop_empty(self, segment: SegmentState, data: bytes) -> None:
        """Put away a segment without any record: what a kill leaves of one just begun, or worse."""
        if len(data) < HEADER_BYTES or (segment.first_lsn and len(data) <= BEGUN_BYTES):
            self._found.torn_bytes += len(data)
            with storage_errors(segment.path):
                segment.path.unlink()
        else:
            self._found.damage.append(
                quarantine.keep_file(self._disk, self._directory, segment.path, "unreadable")
            )

    def _read_runs(self, segment: SegmentState, data: bytes, codec: Codec) -> tuple[_Kept, int]:
        """Take all good records; returns what seen files keep, and where the last one ends."""
        kept: _Kept = {kind: [] for kind in self._kinds}
        end = HEADER_BYTES
        for run, after in walk(codec, data, self._next_lsn or segment.first_lsn):
            if len(run):
                if self._next_lsn:
                    self._found.lost_records += run.first_lsn - self._next_lsn
                self._take(segment, data, codec, run, kept)
                self._next_lsn = run.next_lsn
            end = run.stop
            segment.is_sealed = run.reason == SCAN_SEALED
            if after >= 0:
                self._gap(segment, data, end, after, "range" if after > end else "gap")
        return kept, end

    def _take(
        self, segment: SegmentState, data: bytes, codec: Codec, run: ScanResult, kept: _Kept
    ) -> None:
        """Apply the records of a run, and add to what is kept of it."""
        limit = quarantine.dones_before(self._doubts, segment=segment.number, epoch=segment.epoch)
        kept[seenfile.URLS].append(self._replay.take(segment, data, codec, run, dones_before=limit))
        if seenfile.PAGES in kept:
            kept[seenfile.PAGES].append(digests(data, run.types, run.offsets, limit))

    def _gap(self, segment: SegmentState, data: bytes, start: int, end: int, kind: str) -> None:
        """Keep a bad range and doubt the DONEs behind it, unless an earlier start did."""
        self._damage(segment, start, end - start, kind)
        if any((d.segment, d.offset) == (segment.number, start) for d in self._doubts):
            return
        doubt = quarantine.Doubt(segment.number, start, self._found.epoch)
        self._doubts.append(doubt)
        quarantine.keep_range(
            self._disk, self._directory, doubt, data[start:end], is_synced=self._is_synced
        )

    def _damage(self, segment: SegmentState, offset: int, length: int, kind: str) -> None:
        self._found.damage.append(Damage(segment.path.name, offset, length, kind))

    # --- mending ----------------------------------------------------------------------------

    def _cut(self, segment: SegmentState, end: int) -> None:
        with storage_errors(segment.path), segment.path.open("r+b") as file:
            self._disk.truncate(file.fileno(), end)
            if self._is_synced:
                self._disk.sync(file.fileno())

    def _seal(self, segment: SegmentState, codec: Codec, end: int) -> None:
        payload = pack_seal(codec.records, end, codec.chain)
        record = codec.encode(RecordType.SEAL, payload, self._next_lsn)
        with storage_errors(segment.path), segment.path.open("r+b") as file:
            write_at(self._disk, file.fileno(), record, end, segment.path)
            if self._is_synced:
                self._disk.sync(file.fileno())
        self._next_lsn += 1
        segment.is_sealed = True

    def _sync_unmarked(self) -> None:
        """Bring to the medium what no SYNCMARK covers: marks to come speak for it too."""
        segments = self._found.segments
        marked = range(1, self._found.synced_lsn + 2)
        for segment, following in zip_longest(segments, segments[1:]):
            if following is None or following.first_lsn not in marked:
                with storage_errors(segment.path), segment.path.open("rb") as file:
                    self._disk.sync_data(file.fileno())
        if segments:
            with storage_errors(self._directory):
                sync_directory(self._disk, self._directory)

    def _check_orphans(self) -> None:
        there = {segment.number for segment in self._found.segments}
        oldest = min(there, default=self._found.next_number)
        for kind in self._kinds:
            self._seen.check_orphans(kind, there, oldest)
