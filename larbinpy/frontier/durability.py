"""When a log is brought to the medium, and what waits for that.

The syncs run in the background (``syncer``); here is what the log does about them: marks, DONEs
that wait for their children, segments that wait for what replaces them, and the way out when the
disk fails to sync: never again the same file, but everything once more into a new segment.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError
from larbinpy.frontier.held import Held
from larbinpy.frontier.moving import salvage
from larbinpy.frontier.payloads import RecordType, pack_mark, pack_move
from larbinpy.frontier.synctimes import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.frontier.held import Done
    from larbinpy.frontier.moving import Mover
    from larbinpy.frontier.notes import Notes
    from larbinpy.frontier.syncer import Syncer
    from larbinpy.frontier.synctimes import SyncTimes
    from larbinpy.frontier.tail import Tail

CHILDREN_WAIT_S: Final = 5.0
"""How long ``close`` waits for other shards to sync the links of pages that are done here."""
_POLL_S: Final = 0.01


class Durability:
    """The log's side of its syncs."""

    __slots__ = ("_finish", "_mover", "_notes", "_syncer", "_tail", "_times", "_uuid", "held")

    def __init__(
        self, tail: Tail, syncer: Syncer, mover: Mover, notes: Notes, *, uuid: bytes,
        times: SyncTimes, finish: Callable[[Done], None],
    ) -> None:  # fmt: skip
        """``finish`` writes a DONE whose children are safe."""
        self._tail = tail
        self._syncer = syncer
        self._mover = mover
        self._notes = notes
        self._uuid = uuid
        self._times = times
        self._finish = finish
        self.held = Held()

    @property
    def synced_lsn(self) -> int:
        """Everything up to here is on the medium."""
        return self._syncer.synced_lsn

    def turn(self, *, wait: bool = False) -> None:
        """Take up what a sync has brought, and begin the next one when it is due.

        Args:
            wait: for the sync that runs; then the next one begins at once.

        Raises:
            StorageError: the log could not be written, or a sync failed for the second time.
        """
        now_ns = time.monotonic_ns()
        mark = self._syncer.settle(wait=wait or self._syncer.is_behind(self._tail.writer))
        if self._syncer.is_broken:
            self._rescue()
        if mark is not None:
            payload = pack_mark(mark.lsn, mark.began_us)
            writer, _ = self._tail.append(RecordType.SYNCMARK, payload)
            self._syncer.marked(mark, writer.next_lsn - 1)
        self._release()
        self._tail.writer.flush()
        self._syncer.begin(self._tail.writer, now_ns, must=wait, has_held=self.held.count > 0)

    def hurry(self) -> None:
        """Sync in all shards without waiting for the time: too much is held."""
        self._times.want(time.monotonic_ns())

    def _release(self) -> None:
        """Write the DONEs whose children are on the medium, in all shards, and their pages."""
        if self.held.count:
            safe_ns = min(self._times.common_ns(), self._syncer.outputs_ns)
            for done in self.held.release(safe_ns):
                self._finish(done)

    def _rescue(self) -> None:
        """Write all that no sync covers again, into a new segment; may be called again."""
        if self._syncer.outputs_fault:
            raise StorageError(self._syncer.outputs_fault)
        if self._syncer.failures > 1:
            path = self._tail.writer.path
            raise StorageError(f"{path}: the disk failed to sync for the second time")
        self._tail.rotate()
        found = salvage(self._syncer.abandon(), self._uuid)
        for place, id_lsn, enq in found.urls:
            self._mover.rescue(place, pack_move(id_lsn, enq))
        for kind, payload in found.others:
            self._notes.again(kind, payload)
        self._tail.writer.flush()
        self._syncer.rescued()

    def is_safe(self, lsn: int, *, wait: bool) -> bool:
        """Whether everything up to ``lsn`` counts after any fall of the machine.

        Args:
            wait: bring that about.
        """
        while wait and self._syncer.safe_lsn < lsn:
            self.turn(wait=True)
        return self._syncer.safe_lsn >= lsn

    def sync_now(self) -> None:
        """Return when all that was appended so far is on the medium, and marked."""
        self._tail.writer.flush()
        goal = self._tail.writer.written_lsn
        while self._syncer.synced_lsn < goal:
            self.turn(wait=True)
        self._tail.writer.flush()

    def finish(self) -> None:
        """Sync everything; DONEs whose children others do not sync in time are left out."""
        self.sync_now()
        self._times.publish(FOREVER)
        self._release()
        end = time.monotonic() + CHILDREN_WAIT_S
        while self.held.count and time.monotonic() < end:
            self.turn(wait=True)
            if self.held.count:
                time.sleep(_POLL_S)
        self.sync_now()

    def close(self) -> None:
        """End the helper thread."""
        self._syncer.close()


class NoDurability:
    """In place of ``Durability`` with ``off``: what is written is as safe as it gets."""

    __slots__ = ("_tail", "held")

    synced_lsn = 0

    def __init__(self, tail: Tail) -> None:
        self._tail = tail
        self.held = Held()
        """Nothing is."""

    def turn(self, *, wait: bool = False) -> None:
        """There is nothing to begin."""

    def hurry(self) -> None:
        """There is nothing to wait for."""

    def is_safe(self, lsn: int, *, wait: bool) -> bool:
        """It is, once it is written."""
        return True

    def sync_now(self) -> None:
        """Write all that was appended so far."""
        self._tail.writer.flush()

    finish = sync_now

    def close(self) -> None:
        """There is no helper thread."""
