"""Open a log after any exit; see ``docs/format-queue.md`` 6.

One pass over the segments in the order of their numbers; the same path after a clean stop.
Everything here may itself be killed at any point: each step is either repeated or already done.

1. Files that are not of this crawl or version go to the quarantine.
2. Each segment is checked record by record; behind a bad range the scan goes on at the next good
   record. Where lsns are missing there is a *gap*, and DONEs behind it are in doubt.
3. The last segment is cut behind its last good record, sealed, and every seen file is made that
   is missing or does not agree with its segment.
"""

from __future__ import annotations

import time
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from larbinpy._native.livetable import LiveTable
from larbinpy._native.logcodec import SCAN_SEALED, Codec
from larbinpy._native.logdone import digests
from larbinpy.frontier import quarantine, seenfile
from larbinpy.frontier.disk import storage_errors, sync_directory, write_at
from larbinpy.frontier.payloads import (
    RecordType,
    pack_seal,
    unpack_host,
    unpack_mark,
    unpack_retry,
)
from larbinpy.frontier.recovered import Damage, Recovered, SegmentState
from larbinpy.frontier.segment import HEADER_BYTES, VERSION, Header, parse_name
from larbinpy.frontier.unsynced import first_unsynced
from larbinpy.frontier.walk import walk
from larbinpy.stats import ACCEPTED, DERIVED, DONE, Counters

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy._native.logcodec import ScanResult
    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.settings import Settings

LOG_GLOB: Final = "q-*.seg"
BEGUN_BYTES: Final = 4096
"""More than header and COUNTS take; a longer file without any good record is damaged, not new."""


class Recovery:
    """One start of one log; call ``run`` once.

    Cost: reads the whole log, one segment in memory at a time; see ``tests/bench``.
    """

    def __init__(
        self, disk: Disk, directory: Path, uuid: bytes, settings: Settings, *,
        is_trusted: bool = True,
    ) -> None:  # fmt: skip
        """Prepare to open a log.

        Args:
            settings: what is mended here, and what was written before, is brought to the medium
                if the log is.
            is_trusted: false when the machine has been down since the log was written, and not
                after a clean stop.
        """
        self.next_lsn = 0
        self.next_number = 1
        self._disk = disk
        self._directory = directory
        self._uuid = uuid
        self._is_synced = settings.is_synced
        self._is_trusted = is_trusted
        self._found = Recovered(directory, uuid)
        self._table = LiveTable()
        self._doubts = quarantine.load(directory)
        self._visible = Counters()
        self._skipped = Counters()
        self._base: Counters | None = None
        self._measured = Counters()
        self._kinds = (seenfile.URLS, seenfile.PAGES) if settings.keeps_pages else (seenfile.URLS,)

    def run(self) -> Recovered:
        """Read and mend the log.

        Raises:
            StorageError: the disk refused a read, or a write that mends.
        """
        started = time.monotonic()
        segments = self._inventory()
        if not self._is_trusted:
            self._doubt_unsynced(segments)
        for index, segment in enumerate(segments):
            self._read(segment, is_last=index == len(segments) - 1)
        self._check_seen_of_missing()
        if self._is_synced:
            self._sync_unmarked()
        self._sum_up()
        self.next_lsn = max(self.next_lsn, 1)
        self._found.seconds = time.monotonic() - started
        return self._found

    # --- which files there are --------------------------------------------------------------

    def _inventory(self) -> list[SegmentState]:
        """The segments of this crawl by number; sets epoch and next number above all found."""
        for leftover in self._directory.rglob("*.tmp"):
            with storage_errors(leftover):
                leftover.unlink(missing_ok=True)
        names = [(parse_name(path.name), path) for path in self._directory.glob(LOG_GLOB)]
        segments: dict[int, SegmentState] = {}
        epochs = [doubt.known_since for doubt in self._doubts]
        highest = [n for kind in self._kinds for n in seenfile.numbers(self._directory, kind)]
        for name, path in sorted((name, path) for name, path in names if name is not None):
            epochs.append(name[0])
            highest.append(name[1])
            state = self._admit(path, *name)
            if state is None:
                continue
            epochs.append(state.epoch)
            highest.append(state.number)
            if state.number in segments:
                self._refuse(path, "foreign")
            else:
                segments[state.number] = state
        self._found.epoch = max(epochs, default=0) + 1
        self.next_number = max(highest, default=0) + 1
        return [segments[number] for number in sorted(segments)]

    def _admit(self, path: Path, epoch: int, number: int) -> SegmentState | None:
        """Judge a file by its header; a damaged header leaves it to the name and the crcs."""
        with storage_errors(path), path.open("rb") as file:
            header = Header.unpack(file.read(HEADER_BYTES))
        if header is None:
            return SegmentState(number, epoch, path)
        if header.uuid != self._uuid:
            self._refuse(path, "foreign")
            return None
        if header.version > VERSION:
            self._refuse(path, "version")
            return None
        return SegmentState(header.number, header.epoch, path, first_lsn=header.first_lsn)

    def _refuse(self, path: Path, kind: str) -> None:
        with storage_errors(path):
            size = path.stat().st_size
        self._found.damage.append(Damage(path.name, 0, size, kind))
        quarantine.keep_file(self._disk, self._directory, path)

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
            self._check_seen(segment, kind, b"".join(kept[kind]))
        segment.has_seen = True

    def _drop_empty(self, segment: SegmentState, data: bytes) -> None:
        """Put away a segment without any record: what a kill leaves of one just begun, or worse."""
        if len(data) < HEADER_BYTES or (segment.first_lsn and len(data) <= BEGUN_BYTES):
            self._found.torn_bytes += len(data)
            with storage_errors(segment.path):
                segment.path.unlink()
        else:
            self._refuse(segment.path, "unreadable")

    def _read_runs(
        self, segment: SegmentState, data: bytes, codec: Codec
    ) -> tuple[dict[seenfile.Kind, list[bytes]], int]:
        """Take all good records; returns what seen files keep, and where the last one ends."""
        kept: dict[seenfile.Kind, list[bytes]] = {kind: [] for kind in self._kinds}
        end = HEADER_BYTES
        for run, after in walk(codec, data, self.next_lsn or segment.first_lsn):
            if len(run):
                if self.next_lsn:
                    self._found.lost_records += run.first_lsn - self.next_lsn
                self._take(segment, data, codec, run, kept)
                self.next_lsn = run.next_lsn
            end = run.stop
            segment.is_sealed = run.reason == SCAN_SEALED
            if after >= 0:
                self._gap(segment, data, end, after, "range" if after > end else "gap")
        return kept, end

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

    def _take(
        self,
        segment: SegmentState,
        data: bytes,
        codec: Codec,
        run: ScanResult,
        kept: dict[seenfile.Kind, list[bytes]],
    ) -> None:
        """Apply the records of a run, and add to what is kept of it."""
        limit = quarantine.dones_before(self._doubts, segment=segment.number, epoch=segment.epoch)
        self._counts_at_head(data, codec, run)
        prints, counted, ignored, others = self._table.add(
            segment.number, data, run.types, run.offsets, run.first_lsn, limit
        )
        self._visible.add(ACCEPTED, len(prints) // 8)
        self._visible.add_done(counted)
        self._skipped.add_done(ignored)
        for offset in memoryview(others).cast("I"):
            self._apply(segment, *codec.record(data, offset))
        kept[seenfile.URLS].append(prints)
        if seenfile.PAGES in kept:
            kept[seenfile.PAGES].append(digests(data, run.types, run.offsets, limit))

    def _counts_at_head(self, data: bytes, codec: Codec, run: ScanResult) -> None:
        """Find what was counted before the oldest segment, from the first COUNTS there is."""
        if self._base is not None or run.types[0] != RecordType.COUNTS:
            return
        _, _, payload = codec.record(data, memoryview(run.offsets).cast("I")[0])
        totals = Counters.from_bytes(payload)
        self._base = Counters()
        for index in DERIVED:
            seen = self._visible[index] + self._skipped[index]
            self._base[index] = max(totals[index] - seen, 0)

    def _apply(self, segment: SegmentState, kind: int, _lsn: int, payload: bytes) -> None:
        """Note a record of a kind that is not for the table."""
        if kind == RecordType.COUNTS:
            self._measured = Counters.from_bytes(payload)
        elif kind == RecordType.RETRY:
            segment.retries += 1
            retry = unpack_retry(payload)
            self._found.retries[retry.id_lsn] = retry
        elif kind == RecordType.HOST:
            segment.hosts += 1
            host = unpack_host(payload)
            self._found.hosts[host.host] = host
        elif kind == RecordType.SYNCMARK:
            lsn, began_us = unpack_mark(payload)
            if lsn >= self._found.synced_lsn:
                self._found.synced_lsn, self._found.synced_us = lsn, began_us

    # --- mending ----------------------------------------------------------------------------

    def _cut(self, segment: SegmentState, end: int) -> None:
        with storage_errors(segment.path), segment.path.open("r+b") as file:
            self._disk.truncate(file.fileno(), end)
            if self._is_synced:
                self._disk.sync(file.fileno())

    def _seal(self, segment: SegmentState, codec: Codec, end: int) -> None:
        payload = pack_seal(codec.records, end, codec.chain)
        record = codec.encode(RecordType.SEAL, payload, self.next_lsn)
        with storage_errors(segment.path), segment.path.open("r+b") as file:
            write_at(self._disk, file.fileno(), record, end, segment.path)
            if self._is_synced:
                self._disk.sync(file.fileno())
        self.next_lsn += 1
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

    def _check_seen(self, segment: SegmentState, kind: seenfile.Kind, entries: bytes) -> None:
        """Make a seen file of a segment if it does not hold exactly these entries."""
        seen = seenfile.read(self._directory, self._uuid, segment.number, kind)
        if seen.bad_blocks:
            self._seen_damage(segment.number, kind)
        if seen.entries != entries:
            seenfile.write(
                self._disk,
                self._directory,
                self._uuid,
                segment.number,
                entries,
                is_synced=self._is_synced,
                kind=kind,
            )

    def _check_seen_of_missing(self) -> None:
        """Report faults of the seen files whose segments are gone.

        Segments are deleted oldest first. One that is gone behind the oldest was lost, with URLs
        that nobody would find again if they counted as seen: its seen files are put away.
        """
        there = {segment.number for segment in self._found.segments}
        oldest = min(there, default=self.next_number)
        for kind in self._kinds:
            for number in seenfile.numbers(self._directory, kind):
                if number in there:
                    continue
                if number > oldest:
                    path = self._directory / seenfile.name_of(number, kind)
                    self._refuse(path, "segment missing")
                    continue
                seen = seenfile.read(self._directory, self._uuid, number, kind)
                if seen.bad_blocks or not seen.is_valid:
                    self._seen_damage(number, kind)

    def _seen_damage(self, number: int, kind: seenfile.Kind) -> None:
        path = self._directory / seenfile.name_of(number, kind)
        size = path.stat().st_size
        self._found.damage.append(Damage(path.name, 0, size, "seen file"))

    def _sum_up(self) -> None:
        """Counters, waiting URLs and what belongs to them; accepted = done + waiting holds."""
        found = self._found
        found.counters = self._measured
        base = self._base or Counters()
        for index in DERIVED:
            found.counters[index] = base[index] + self._visible[index]
        found.ignored_dones = self._skipped[DONE]
        found.waiting = self._table.live()
        for segment in found.segments:
            segment.size = segment.path.stat().st_size
        found.retries = {
            id_lsn: retry
            for id_lsn, retry in found.retries.items()
            if self._table.is_waiting(id_lsn)
        }
        self._balance()

    def _balance(self) -> None:
        counters = self._found.counters
        lost = counters[ACCEPTED] - counters[DONE] - len(self._found.waiting) // 8
        if lost:
            self._found.lost = max(lost, 0)
            self._found.damage.append(Damage("", 0, max(lost, 0), "URLs missing"))
            counters[ACCEPTED] -= lost
