"""Brings a log to the medium: fdatasync in a helper thread, never in the loop.

At most one sync runs at a time; it covers all that was written before it began: sealed segments
that were not synced yet, the newest one, and their names in the directory.  Until it has returned,
what it covers is kept in memory: after an error the system may have forgotten the pages and will
call a second sync of the same file good, so they are written again elsewhere (``Durability``).
"""

from __future__ import annotations

import errno
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError
from larbinpy.frontier.disk import storage_errors, sync_around, sync_directory
from larbinpy.frontier.synctimes import FOREVER

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from larbinpy.frontier.disk import Disk
    from larbinpy.frontier.synctimes import SyncTimes
    from larbinpy.frontier.writer import Chunk, SegmentWriter

BATCH_BYTES: Final = 4 << 20
"""A sync begins when so much was written."""
BACKLOG_BYTES: Final = 64 << 20
"""A log that is so far ahead of its sync waits for it."""


class _OutputsError(StorageError):
    """What parsers have stored was not synced."""


@dataclass(slots=True)
class _Job:
    """A sync that runs."""

    future: Future[None]
    lsn: int
    """The last record that it covers."""
    began_ns: int
    began_us: int
    full: list[SegmentWriter]
    """Sealed segments, to be closed afterwards."""
    chunks: list[Chunk]
    has_outputs: bool
    """Whether it covers what parsers have stored."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a SYNCMARK is to say."""

    lsn: int
    began_us: int


class Syncer:
    """The helper thread and what it has done.

    Invariant: everything up to ``synced_lsn`` has returned from fdatasync.
    """

    __slots__ = ("_began_ns", "_chunks", "_directory", "_disk", "_failed", "_full", "_job", "_mark",
                 "_marked", "_named", "_outputs", "_period_ns", "_pool", "_times", "_waiting_bytes",
                 "failures", "is_broken", "outputs_fault", "outputs_ns", "safe_lsn",
                 "synced_lsn")  # fmt: skip

    def __init__(
        self, disk: Disk, directory: Path, *, period_ns: int, times: SyncTimes, synced_lsn: int,
        marked_lsn: int, outputs: tuple[Path, ...] = (),
    ) -> None:  # fmt: skip
        """Begin behind a log of which everything up to ``synced_lsn`` is on the medium.

        Args:
            marked_lsn: its last SYNCMARK.
            outputs: where pages are stored, for pages that wait for it.
        """
        self._disk = disk
        self._directory = directory
        self._period_ns = period_ns
        self._times = times
        self.synced_lsn = synced_lsn
        self.safe_lsn = marked_lsn
        """The last SYNCMARK that is itself on the medium: what it covers survives anything."""
        self._outputs = outputs
        self.outputs_ns = 0 if outputs else FOREVER
        """What was stored before this time is on the medium."""
        self.outputs_fault = ""
        """Why what was stored could not be synced: it cannot be stored again from here."""
        self.failures = 0
        self.is_broken = False
        """A sync has failed, and what it covered was not yet written elsewhere."""
        self._marked = self._mark = 0
        self._named = -1
        self._began_ns = 0
        self._waiting_bytes = 0
        self._failed: list[Chunk] = []
        self._full: list[SegmentWriter] = []
        self._chunks: list[Chunk] = []
        self._job: _Job | None = None
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sync")

    def retire(self, full: SegmentWriter) -> None:
        """Take a segment that was sealed: it is synced and closed by the next sync."""
        self._full.append(full)
        self._waiting_bytes += full.unsynced_bytes
        self._chunks += full.take_unsynced()

    def begin(
        self, writer: SegmentWriter, now_ns: int, *, must: bool = False, has_held: bool = False
    ) -> None:
        """Start a sync of all that is written, if it is time for one and none runs.

        Args:
            must: it is time.
            has_held: pages wait for what was stored of them; it is synced too.
        """
        if self._job is not None or self.is_broken:
            return
        has_outputs = has_held and bool(self._outputs)
        if writer.written_lsn == self.synced_lsn:
            self._times.publish(now_ns)
            if not has_outputs:
                return
        if not (must or self._full or self._is_due(writer, now_ns)):
            return
        full, self._full = self._full, []
        chunks, self._chunks = self._chunks + writer.take_unsynced(), []
        self._waiting_bytes = 0
        outputs = self._outputs if has_outputs else ()
        is_named = writer.number != self._named
        future = self._pool.submit(self._sync, [*full, writer], is_named, outputs)
        began_us = time.time_ns() // 1000
        self._job = _Job(future, writer.written_lsn, now_ns, began_us, full, chunks, has_outputs)
        self._named, self._began_ns = writer.number, now_ns

    def _is_due(self, writer: SegmentWriter, now_ns: int) -> bool:
        if now_ns - self._began_ns >= self._period_ns or writer.unsynced_bytes >= BATCH_BYTES:
            return True
        return self._times.wanted_ns() > self._began_ns

    def is_behind(self, writer: SegmentWriter) -> bool:
        """Whether the log should wait for the sync that runs."""
        waiting = self._waiting_bytes + writer.unsynced_bytes
        return self._job is not None and waiting >= BACKLOG_BYTES

    def _sync(
        self, writers: list[SegmentWriter], is_named: bool, outputs: tuple[Path, ...]
    ) -> None:
        for writer in writers:
            with storage_errors(writer.path):
                self._disk.sync_data(writer.fd)
        if is_named:
            with storage_errors(self._directory):
                sync_directory(self._disk, self._directory)
        try:
            sync_around(self._disk, outputs)
        except StorageError as error:
            raise _OutputsError(f"{error}; what was stored there may be gone") from error

    def settle(self, *, wait: bool = False) -> Mark | None:
        """See to a sync that has ended; returns what is to be marked, if anything.

        A sync that failed breaks the syncer: ``abandon`` has what must be written elsewhere.
        One that found no descriptor for a directory has not failed: it is made again.
        """
        job = self._job
        if job is None or not (wait or job.future.done()):
            return None
        fault = job.future.exception()
        self._job = None
        if fault is not None:
            self._take_fault(job, fault)
            return None
        for full in job.full:
            full.close()
        return self._take_end(job)

    def _take_fault(self, job: _Job, fault: BaseException) -> None:
        """A sync has failed: what it was to cover is covered by none."""
        self._chunks = job.chunks + self._chunks
        self._full = job.full + self._full
        self._named = -1
        if _has_no_descriptor(fault):
            return
        self.failures += 1
        if isinstance(fault, _OutputsError):
            self.outputs_fault = str(fault)
        self.is_broken = True

    def _take_end(self, job: _Job) -> Mark | None:
        """A sync has gone well: tell everybody, and what is to be marked."""
        # A sync that covers nothing but the last mark is not marked: an idle log comes to rest.
        is_new = not self._mark or (self.synced_lsn, job.lsn) != (self._mark - 1, self._mark)
        is_new = is_new and job.lsn > self.synced_lsn
        if self._mark and self._mark <= job.lsn:
            self.safe_lsn = self._mark if self._mark == self._marked + 1 else self._marked
        self.synced_lsn = job.lsn
        self._times.publish(job.began_ns)
        if job.has_outputs:
            self.outputs_ns = job.began_ns
        return Mark(job.lsn, job.began_us) if is_new else None

    def marked(self, mark: Mark, lsn: int) -> None:
        """A mark was appended with this lsn."""
        self._mark, self._marked = lsn, mark.lsn

    def abandon(self) -> list[Chunk]:
        """Give up all segments that were retired; returns what is not synced of them.

        Until ``rescued`` a further call returns the same, whatever was retired meanwhile.
        """
        if not self._failed:
            self._failed, self._chunks = self._chunks, []
            for full in self._full:
                full.close()
            self._full, self._waiting_bytes = [], 0
        return self._failed

    def rescued(self) -> None:
        """What was abandoned was written elsewhere."""
        self._failed = []
        self.is_broken = False
        self._mark = 0  # the last mark may stand in one of them

    def close(self) -> None:
        """Wait for the helper thread and close what it was to sync."""
        self._pool.shutdown(wait=True)
        for full in (*self._full, *(self._job.full if self._job else ())):
            full.close()


def _has_no_descriptor(fault: BaseException | None) -> bool:
    """Whether something could not be opened for that: no file has failed to sync."""
    while fault is not None and not isinstance(fault, OSError):
        fault = fault.__cause__
    return fault is not None and fault.errno in (errno.EMFILE, errno.ENFILE)
