"""``PersistentFifo``: the queue of a shard, on disk; see ``docs/format-queue.md``.

The log is the queue: nothing stands in memory but unwritten and unsynced bytes, a bit for each
eight bytes of the log, and a few numbers for each segment.  A caller keeps the 8-byte positions of
what waits, and says what is done; a position stays good when the log moves its URL.

Every method that appends first makes room: it writes the buffer when it is full and begins a new
segment when the old one is. Only that may fail, so a method that raises has taken nothing and may
be called again; what was taken before stays in the buffer until it is written.
"""

from __future__ import annotations

import os
import time
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import positions
from larbinpy._native.logdone import done_totals
from larbinpy.frontier import disk as rim
from larbinpy.frontier.deletion import Deletion
from larbinpy.frontier.durability import Durability, NoDurability
from larbinpy.frontier.held import Done
from larbinpy.frontier.moving import MOVES, Mover
from larbinpy.frontier.notes import Notes
from larbinpy.frontier.payloads import RecordType
from larbinpy.frontier.reader import Reader
from larbinpy.frontier.recovery import recover
from larbinpy.frontier.segment import SEGMENT_SHIFT
from larbinpy.frontier.shelf import Shelf
from larbinpy.frontier.syncer import Syncer
from larbinpy.frontier.synctimes import OwnSyncTimes
from larbinpy.frontier.tail import Tail
from larbinpy.stats import ACCEPTED, DONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from larbinpy.frontier.payloads import HostState, LoggedUrl, Retry
    from larbinpy.frontier.recovered import Recovered
    from larbinpy.frontier.segment import SegmentState
    from larbinpy.frontier.settings import Settings
    from larbinpy.frontier.synctimes import SyncTimes

LOCK_WAIT_S: Final = 5.0
MAX_PAYLOAD: Final = 65_536
MAX_SEGMENT: Final = 1 << 32
"""Above the number of every segment."""


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

    __slots__ = ("_deletion", "_durability", "_holds_dones", "_lock", "_mover", "_notes", "_shelf",
                 "_tail", "_uuid", "counters", "epoch")  # fmt: skip

    def __init__(
        self, disk: rim.Disk, found: Recovered, settings: Settings, *, lock: int, times: SyncTimes
    ) -> None:  # fmt: skip
        self.counters = found.counters
        self.epoch = found.epoch
        self._uuid = found.uuid
        self._lock = lock
        self._holds_dones = settings.holds_dones
        self._shelf = Shelf(disk, found, settings)
        syncer = _syncer(disk, found, settings, times) if settings.is_synced else None
        self._tail = Tail(disk, found, settings, self._shelf, syncer)
        self._mover = Mover(self._tail, self._shelf)
        self._mover.sample(found.waiting)
        self._notes = Notes(self._tail, self._shelf, found, settings.host_state)
        self._durability: Durability | NoDurability = NoDurability(self._tail)
        if syncer is not None:
            self._durability = Durability(
                self._tail, syncer, self._mover, self._notes,
                uuid=found.uuid, times=times, finish=self._finish,
            )  # fmt: skip
        self._deletion = Deletion(self._tail, self._shelf, self._notes, self._durability)

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        uuid: bytes,
        settings: Settings,
        is_trusted: bool = True,
        times: SyncTimes | None = None,
        lock_wait_s: float = LOCK_WAIT_S,
        disk: rim.Disk | None = None,
    ) -> tuple[PersistentFifo, Recovered]:
        """Lock a directory, mend and read what it holds, and begin a new segment.

        Args:
            directory: of the shard; made when it is missing.
            uuid: 16 bytes of the crawl.
            is_trusted: false when the machine has gone down since the log was written, and not
                after a clean stop: DONEs above the last sync do not count then.
            times: how logs of other shards that this one's pages link to are synced.

        Raises:
            StorageError: another process has the directory, or the disk refused.
        """
        disk = disk or rim.Disk()
        with rim.storage_errors(directory):
            rim.make_directory(disk, directory, is_synced=settings.is_synced)
        lock = rim.lock(directory / "LOCK", wait_s=lock_wait_s)
        try:
            found = recover(disk, directory, uuid, settings, is_trusted=is_trusted)
            fifo = cls(disk, found, settings, lock=lock, times=times or OwnSyncTimes())
        except BaseException:
            os.close(lock)
            raise
        return fifo, found

    # --- writing ----------------------------------------------------------------------------

    @property
    def written_lsn(self) -> int:
        """Everything up to this lsn is in the files."""
        return self._tail.writer.written_lsn

    @property
    def synced_lsn(self) -> int:
        """Everything up to this lsn is on the medium; 0 when nobody sees to that."""
        return self._durability.synced_lsn

    @property
    def next_lsn(self) -> int:
        """The lsn of the next record."""
        return self._tail.writer.next_lsn

    @property
    def held(self) -> int:
        """URLs that are done, and wait for their children to be synced."""
        return self._durability.held.count

    def hurry(self) -> None:
        """Sync as soon as may be, so that what is ``held`` is written."""
        self._durability.hurry()

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
        writer = self._tail.room(len(groups))
        base = writer.number << SEGMENT_SHIFT | writer.end
        first_lsn = writer.next_lsn
        records, offsets = writer.codec.encode_links(groups, mask, first_lsn)
        count = len(offsets) // 4
        self._shelf.places.add(base, offsets)
        writer.append(records, count=count)
        self._mover.record.add(len(records), count)
        self.counters.add(ACCEPTED, count)
        return Put(first_lsn, positions(offsets, base), records, offsets)

    def adopt(self, enq: bytes) -> int:
        """Accept a URL by the payload of an ENQ record; returns its id."""
        writer, offset = self._tail.append(RecordType.ENQ, enq)
        self._shelf.places.add(writer.number << SEGMENT_SHIFT | offset, bytes(4))
        self.counters.add(ACCEPTED)
        return writer.next_lsn - 1

    def done(self, entries: bytes, places: Sequence[int]) -> None:
        """Finish URLs by one DONE record; with ``durability power`` when their children are safe.

        Args:
            entries: DONE entries back to back, at most 65,536 bytes; see ``done_entry``.
            places: where their URLs lie, in the same order.

        Raises:
            StorageError: the log could not be written, or there is no URL at a position.
            ValueError: malformed entries, or another number of positions.
        """
        ordered = array("Q", places)
        totals = done_totals(entries)
        if int.from_bytes(totals[:8], "little") != len(ordered) or len(entries) > MAX_PAYLOAD:
            raise ValueError("one position for each DONE entry, and at most 65,536 bytes")
        self._shelf.check(ordered)
        done = Done(entries, ordered, time.monotonic_ns())
        if self._holds_dones:
            self._durability.held.add(done)
        else:
            self._finish(done)

    def _finish(self, done: Done) -> None:
        self._tail.append(RecordType.DONE, done.entries)
        self._shelf.places.finish(done.places)
        self.counters.add_done(done_totals(done.entries))
        self._notes.forget(done.entries)

    def retry(self, retry: Retry) -> None:
        """Note that a URL was tried and waits for another attempt."""
        self._notes.retry(retry)

    def host(self, state: HostState) -> None:
        """Note what a host's back-off has come to."""
        self._notes.host(state)

    def counts(self) -> None:
        """Note the counters as they are; needed for the measured ones only."""
        self._tail.append(RecordType.COUNTS, self.counters.as_bytes())

    def flush(self) -> int:
        """Write what is buffered, see to the syncs; returns ``written_lsn``.

        Raises:
            StorageError: nothing of the buffer counts as written; it is kept for the next call.
                Or the disk failed to sync for the second time.
        """
        self._tail.writer.flush()
        self._durability.turn()
        return self.written_lsn

    def sync(self) -> None:
        """Return when all that was put is on the medium; with ``off``, when it is written.

        Raises:
            StorageError: as ``flush``.
        """
        self.flush()
        self._durability.sync_now()

    def make_room(self, size: int) -> None:
        """Write what must be written before the next records; only that can fail in appending.

        Args:
            size: of the payload that they are made of.

        Raises:
            StorageError: the disk refused; nothing is lost, call it again.
        """
        self._tail.room(size)

    # --- reading ----------------------------------------------------------------------------

    def read(self, places: Sequence[int]) -> list[LoggedUrl]:
        """The URLs at these positions, in this order; written or not, moved or not.

        Raises:
            StorageError: a position is not in the log, or the disk refused.
            FormatError: a record has become damaged; a new start puts it aside.

        Cost: one system call a record; one a batch where the positions rise and lie close.
        """
        if self._shelf.places.moved:
            places = memoryview(self._shelf.places.where(array("Q", places))).cast("Q")
        return self._tail.lookup.urls(places)

    def raw(self, number: int, offset: int, size: int) -> bytes:
        """At most ``size`` bytes of a segment from ``offset`` on, written or not."""
        return self._tail.lookup.raw(number, offset, size)

    def next_segment(self, number: int) -> int | None:
        """The segment behind ``number``; None behind the newest."""
        return self._shelf.next_number(number)

    def reader(self, found: Recovered) -> Reader:
        """A reader over what waited when the log was opened, and all that is put afterwards."""
        states = self._shelf.segments.values()
        number = min(state.number for state in states if state.epoch == self.epoch)
        return Reader(self, self._uuid, found.waiting, number)

    # --- moving -----------------------------------------------------------------------------

    def move(self, items: Sequence[tuple[int, int | None]]) -> None:
        """Write waiting URLs again at the end, so that their old segment can be deleted.

        Their positions stay good.

        Args:
            items: position and attempts so far of each; None = as many as before.
        """
        for place, attempts in items:
            self._mover.move(place, attempts)

    def compact(self, limit: int = MOVES) -> int:
        """Move survivors of the oldest segment when it is worth it; returns their number.

        Raises:
            StorageError, FormatError: the log could not be read or written; call again later.
        """
        return self._mover.compact(limit, live=self.counters[ACCEPTED] - self.counters[DONE])

    # --- the end of segments and of the log -------------------------------------------------

    @property
    def segment(self) -> int:
        """Number of the segment that is being written."""
        return self._tail.writer.number

    def collect(self, *, below: int = MAX_SEGMENT, wait: bool = False) -> int:
        """Delete the oldest segments as far as all their URLs are done; returns their number.

        Args:
            below: segments from this one on stay.
            wait: also wait for seen files that are being made, and for syncs.

        Raises:
            StorageError: a seen file or the log could not be written; call again later.
        """
        return self._deletion.collect(below=below, wait=wait)

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
            self._tail.writer.flush()
            self._durability.finish()
        finally:
            self._durability.close()
            self._shelf.close()
            self._tail.writer.close()
            os.close(self._lock)


def _syncer(disk: rim.Disk, found: Recovered, settings: Settings, times: SyncTimes) -> Syncer:
    return Syncer(
        disk, found.directory, period_ns=settings.period_ns, times=times,
        synced_lsn=found.next_lsn - 1, marked_lsn=found.synced_lsn, outputs=settings.outputs,
    )  # fmt: skip
