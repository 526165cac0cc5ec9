"""The end of segments: the oldest go when no URL of theirs waits, and nothing else is needed.

What is needed of a dead segment (notes on URLs and hosts that live on) is written again first, with
the DONEs that made it dead before it.  All of that must be safe before the file goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from larbinpy.frontier.durability import Durability, NoDurability
    from larbinpy.frontier.notes import Notes
    from larbinpy.frontier.segment import SegmentState
    from larbinpy.frontier.shelf import Shelf
    from larbinpy.frontier.tail import Tail


class Deletion:
    """Deletes the segments of one log, oldest first."""

    __slots__ = ("_durability", "_notes", "_shelf", "_tail")

    def __init__(
        self, tail: Tail, shelf: Shelf, notes: Notes, durability: Durability | NoDurability
    ) -> None:
        self._tail = tail
        self._shelf = shelf
        self._notes = notes
        self._durability = durability

    def collect(self, *, below: int, wait: bool) -> int:
        """See ``PersistentFifo.collect``."""
        self._shelf.settle(wait=wait)
        dead = [state for state in self._shelf.dead() if state.number < below]
        self._clear([state for state in dead if not state.cleared_lsn])
        deleted = 0
        for state in dead:
            if not self._durability.is_safe(state.cleared_lsn, wait=wait):
                break
            self._shelf.delete(state)
            deleted += 1
        return deleted

    def _clear(self, states: list[SegmentState]) -> None:
        """Write again what is still needed of segments, and the DONEs that make them dead."""
        if not states:
            return
        for state in states:
            self._notes.keep(state)
        self._tail.writer.flush()
        self._durability.turn()
        for state in states:
            state.cleared_lsn = self._tail.writer.written_lsn
