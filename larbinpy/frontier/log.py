"""``PersistentFifo``: the queue of a shard, on disk; see ``docs/format-queue.md``.

The log is the queue: nothing stands in memory but the unwritten buffer and a few numbers for each
segment. A caller keeps the 8-byte positions of what waits, and says what is done.

Every method that appends first makes room: it writes the buffer when it is full and begins a new
segment when the old one is. Only that may fail, so a method that raises has taken nothing and may
be called again; what was taken before stays in the buffer until it is written.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import Codec, done_totals, positions, window
from larbinpy.errors import FormatError
from larbinpy.frontier import disk as rim
from larbinpy.frontier.payloads import (
    ENQ_ATTEMPTS,
    RecordType,
    pack_host,
    pack_lsn,
    pack_retry,
)
from larbinpy.frontier.reader import Reader
from larbinpy.frontier.recovered import Recovered, SegmentState
from larbinpy.frontier.recovery import Recovery
from larbinpy.frontier.segment import (
    OFFSET_MASK,
    SEGMENT_SHIFT,
    Header,
    SegmentWriter,
    hosts_in,
)
from larbinpy.frontier.shelf import Shelf
from larbinpy.stats import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from larbinpy.frontier.payloads import HostState, LoggedUrl, Retry

BUFFER_BYTES: Final = 16 << 10
LOCK_WAIT_S: Final = 5.0
MAX_PAYLOAD: Final = 65_536
RECORD_BYTES: Final = 65_560
"""The largest record, padding included."""
MAX_SEGMENT: Final = 1 << 32
"""Above the number of every segment."""
SPARSE_BYTES: Final = 2048
"""Records that lie nearer to each other than this are read by one call."""


@dataclass(frozen=True, slots=True)
class Put:
    """Where a batch of links went."""

    first_lsn: int
    """Id of the first one; the others follow without a gap."""
    positions: bytes
    """u64 each."""
    records: bytes
    """The ENQ records back to back."""
    offsets: bytes
    """u32 each, in ``records``."""


class PersistentFifo:
    """The URL log of one shard, made by ``open``. Not for threads.

    ``counters`` are the shard's: derived ones are kept here, measured ones by their owners.
    """

    __slots__ = (
        "_directory",
        "_disk",
        "_host_state",
        "_is_synced",
        "_lock",
        "_segment_bytes",
        "_shelf",
        "_uuid",
        "_writer",
        "counters",
        "epoch",
    )

    def __init__(
        self, disk: rim.Disk, found: Recovered, recovery: Recovery, *, segment_bytes: int,
        is_synced: bool, keeps_pages: bool, lock: int,
        host_state: Callable[[bytes], HostState | None] | None,
    ) -> None:  # fmt: skip
        self.counters = found.counters
        self.epoch = found.epoch
        self._disk = disk
        self._directory = found.directory
        self._uuid = found.uuid
        self._segment_bytes = segment_bytes
        self._is_synced = is_synced
        self._lock = lock
        self._host_state = host_state
        self._shelf = Shelf(disk, found, is_synced=is_synced, keeps_pages=keeps_pages)
        self._writer = self._begin(recovery.next_number, recovery.next_lsn)

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        uuid: bytes,
        segment_bytes: int,
        durability: str = "process",
        keeps_pages: bool = False,
        host_state: Callable[[bytes], HostState | None] | None = None,
        lock_wait_s: float = LOCK_WAIT_S,
        disk: rim.Disk | None = None,
    ) -> tuple[PersistentFifo, Recovered]:
        """Lock a directory, mend and read what it holds, and begin a new segment.

        Args:
            directory: of the shard; made when it is missing.
            uuid: 16 bytes of the crawl.
            segment_bytes: a segment that has reached this size is sealed; at most 2 GiB.
            durability: ``process``, ``power`` or ``off``; ``off`` never waits for the medium.
            keeps_pages: digests of pages outlive their segments.
            host_state: what is to be kept of a host when the segment of its HOST is deleted.

        Raises:
            StorageError: another process has the directory, or the disk refused.
        """
        disk = disk or rim.Disk()
        is_synced = durability != "off"
        with rim.storage_errors(directory):
            directory.mkdir(parents=True, exist_ok=True)
        lock = rim.lock(directory / "LOCK", wait_s=lock_wait_s)
        try:
            recovery = Recovery(disk, directory, uuid, is_synced=is_synced, keeps_pages=keeps_pages)
            found = recovery.run()
            fifo = cls(
                disk,
                found,
                recovery,
                segment_bytes=segment_bytes,
                is_synced=is_synced,
                keeps_pages=keeps_pages,
                lock=lock,
                host_state=host_state,
            )
        except BaseException:
            os.close(lock)
            raise
        return fifo, found

    # --- writing ----------------------------------------------------------------------------

    @property
    def written_lsn(self) -> int:
        """Everything up to this lsn is in the files."""
        return self._writer.written_lsn

    @property
    def next_lsn(self) -> int:
        """The lsn of the next record."""
        return self._writer.next_lsn

    def put(self, groups: bytes, mask: bytes) -> Put:
        """Accept links: one ENQ record for each link whose byte in ``mask`` is 1.

        Args:
            groups: payload of a LINKS frame.
            mask: one byte for each link over all groups.

        Raises:
            StorageError: the log could not be written; none of these links is queued.
            ValueError: malformed groups or mask; none is queued.

        Cost: one crossing; one write system call per 16 KiB or ``flush``.
        """
        writer = self._make_room()
        base = writer.number << SEGMENT_SHIFT | writer.end
        first_lsn = writer.next_lsn
        records, offsets = writer.codec.encode_links(groups, mask, first_lsn)
        count = len(offsets) // 4
        writer.append(records, count=count)
        self._shelf.segments[writer.number].live += count
        self.counters.add(ACCEPTED, count)
        return Put(first_lsn, positions(offsets, base), records, offsets)

    def done(self, entries: bytes, places: Sequence[int]) -> None:
        """Finish URLs by one DONE record.

        Args:
            entries: DONE entries back to back, at most 65,536 bytes; see ``done_entry``.
            places: where their URLs lie, in the same order.

        Raises:
            StorageError: the log could not be written, or a position is not in it.
            ValueError: malformed entries, or another number of positions.
        """
        totals = done_totals(entries)
        if int.from_bytes(totals[:8], "little") != len(places) or len(entries) > MAX_PAYLOAD:
            raise ValueError("one position for each DONE entry, and at most 65,536 bytes")
        self._shelf.check(places)
        self._append(RecordType.DONE, entries)
        self._shelf.finish(places)
        self.counters.add_done(totals)

    def retry(self, retry: Retry) -> None:
        """Note that a URL was tried and waits for another attempt."""
        self._append(RecordType.RETRY, pack_retry(retry))

    def host(self, state: HostState) -> None:
        """Note what a host's back-off has come to."""
        writer = self._append(RecordType.HOST, pack_host(state))
        self._shelf.segments[writer.number].hosts += 1

    def counts(self) -> None:
        """Note the counters as they are; needed for the measured ones only."""
        self._append(RecordType.COUNTS, self.counters.as_bytes())

    def move(self, items: Sequence[tuple[int, int]]) -> list[int]:
        """Write waiting URLs again at the end, so that their old segment can be deleted.

        Args:
            items: position and attempts so far of each.

        Returns:
            Their new positions; the old ones are void.
        """
        moved = []
        for place, attempts in items:
            self._shelf.check((place,))
            kind, id_lsn, payload = self._record(place)
            if kind == RecordType.ENQ:
                payload = pack_lsn(id_lsn) + payload
            at = 8 + ENQ_ATTEMPTS
            payload = payload[:at] + bytes((attempts,)) + payload[at + 1 :]
            writer = self._make_room()
            offset = writer.append_one(RecordType.MOVE, payload)
            self._shelf.finish((place,))
            self._shelf.segments[writer.number].live += 1
            moved.append(writer.number << SEGMENT_SHIFT | offset)
        return moved

    def flush(self) -> int:
        """Write what is buffered; returns ``written_lsn``.

        Raises:
            StorageError: nothing of the buffer counts as written; it is kept for the next call.
        """
        self._writer.flush()
        return self._writer.written_lsn

    def make_room(self) -> None:
        """Write what must be written before the next record; only that can fail in appending.

        Raises:
            StorageError: the disk refused; nothing is lost, call it again.
        """
        self._make_room()

    def _append(self, kind: RecordType, payload: bytes) -> SegmentWriter:
        writer = self._make_room()
        writer.append_one(kind, payload)
        return writer

    def _make_room(self) -> SegmentWriter:
        """The writer to append to; all that can fail in appending happens here."""
        writer = self._writer
        if writer.is_sealed or writer.end >= self._segment_bytes:
            self._rotate()
        elif writer.buffered >= BUFFER_BYTES:
            writer.flush()
        return self._writer

    def _rotate(self) -> None:
        full = self._writer
        full.seal()
        self._writer = self._begin(full.number + 1, full.next_lsn)
        self._shelf.sealed(full.number)
        full.close()

    def _begin(self, number: int, first_lsn: int) -> SegmentWriter:
        header = Header(self._uuid, self.epoch, number, first_lsn)
        writer = SegmentWriter(self._disk, self._directory, header, counts=self.counters.as_bytes())
        self._shelf.segments[number] = SegmentState(
            number, self.epoch, writer.path, first_lsn=first_lsn
        )
        return writer

    # --- reading ----------------------------------------------------------------------------

    def read(self, places: Sequence[int]) -> list[LoggedUrl]:
        """The URLs at these positions, in this order; written or not.

        Raises:
            StorageError: a position is not in the log, or the disk refused.
            FormatError: a record has become damaged; a new start puts it aside.

        Cost: one system call a record; one a batch where the positions rise and lie close.
        """
        urls: list[LoggedUrl] = []
        ordered = memoryview(array("Q", places))
        start = 0
        while start < len(ordered):
            number, end = ordered[start] >> SEGMENT_SHIFT, start + 1
            while end < len(ordered) and ordered[end] >> SEGMENT_SHIFT == number:
                end += 1
            urls += self._read_run(number, ordered[start:end])
            start = end
        return urls

    def _read_run(self, number: int, places: memoryview) -> list[LoggedUrl]:
        """URLs of one segment; the places may jump back and forth."""
        codec = Codec(self._uuid, number)
        urls: list[LoggedUrl] = []
        try:
            if number == self._writer.number and max(places) & OFFSET_MASK >= self._unwritten:
                return [self._read_one(codec, place) for place in places]
            fd = self._shelf.descriptor(number)
            span = places[-1] - places[0]
            if len(places) > 1 and 0 < span <= SPARSE_BYTES * len(places):
                data = self.raw(number, places[0] & OFFSET_MASK, span + SPARSE_BYTES)
                offsets = window(data, places[0], places, 0)
                urls = codec.decode_urls(data, offsets)
            rest = array("I", (place & OFFSET_MASK for place in places[len(urls) :]))
            return urls + codec.read_urls(fd, rest.tobytes())
        except ValueError as error:
            raise FormatError(f"{self._shelf.segments[number].path}: {error}") from error

    def _read_one(self, codec: Codec, place: int) -> LoggedUrl:
        data = self.raw(place >> SEGMENT_SHIFT, place & OFFSET_MASK, RECORD_BYTES)
        return codec.decode_urls(data, bytes(4))[0]

    def _record(self, place: int) -> tuple[int, int, bytes]:
        """Type, lsn and payload of a record."""
        number = place >> SEGMENT_SHIFT
        data = self.raw(number, place & OFFSET_MASK, RECORD_BYTES)
        try:
            return Codec(self._uuid, number).record(data, 0)
        except ValueError as error:
            raise FormatError(f"{self._shelf.segments[number].path}: {error}") from error

    @property
    def _unwritten(self) -> int:
        return self._writer.written_end

    def raw(self, number: int, offset: int, size: int) -> bytes:
        """At most ``size`` bytes of a segment from ``offset`` on, written or not."""
        if number == self._writer.number and offset >= self._unwritten:
            start = offset - self._unwritten
            return bytes(self._writer.buffer[start : start + size])
        fd = self._shelf.descriptor(number)
        with rim.storage_errors(self._shelf.segments[number].path):
            return os.pread(fd, size, offset)

    def next_segment(self, number: int) -> int | None:
        """The segment behind ``number``; None behind the newest."""
        return self._shelf.next_number(number)

    def reader(self, found: Recovered) -> Reader:
        """A reader over what waited when the log was opened, and all that is put afterwards."""
        number = self._first_of_epoch()
        return Reader(self, self._uuid, found.waiting, number)

    def _first_of_epoch(self) -> int:
        states = self._shelf.segments.values()
        return min(state.number for state in states if state.epoch == self.epoch)

    # --- the end of segments and of the log -------------------------------------------------

    @property
    def segment(self) -> int:
        """Number of the segment that is being written."""
        return self._writer.number

    def collect(self, *, below: int = MAX_SEGMENT, wait: bool = False) -> int:
        """Delete the oldest segments as far as all their URLs are done; returns their number.

        Args:
            below: segments from this one on stay.
            wait: also wait for seen files that are being made.

        Raises:
            StorageError: a seen file or the log could not be written; call again later.
        """
        self._shelf.settle(wait=wait)
        deleted = 0
        while (state := self._shelf.deletable()) is not None and state.number < below:
            if state.hosts:
                self._keep_hosts(state)
            self.flush()  # the DONEs that allow it are written before the segment goes
            self._shelf.delete(state)
            deleted += 1
        return deleted

    def _keep_hosts(self, state: SegmentState) -> None:
        """Write the HOST records of a segment again, as their hosts are now."""
        for host in hosts_in(state.path, self._uuid, state.number):
            current = self._host_state(host) if self._host_state else None
            if current is not None:
                self.host(current)

    @property
    def segments(self) -> list[SegmentState]:
        """All segments, oldest first."""
        return [self._shelf.segments[number] for number in sorted(self._shelf.segments)]

    def close(self) -> None:
        """Write what is buffered, mark it as synced, give the directory free.

        Nothing is written here that a start needs: a kill in its place loses nothing.

        Raises:
            StorageError: the last records could not be written; the directory is free anyhow.
        """
        try:
            self.flush()
            if self._is_synced:
                with rim.storage_errors(self._writer.path):
                    self._disk.sync(self._writer.fd)
                self._append(RecordType.SYNCMARK, pack_lsn(self.written_lsn))
                self.flush()
        finally:
            self._shelf.close()
            self._writer.close()
            os.close(self._lock)
