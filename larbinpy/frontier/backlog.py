"""Ends of URLs, and notes on URLs and hosts, while the disk refuses them."""

from __future__ import annotations

from array import array
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from larbinpy.errors import StorageError
from larbinpy.frontier.payloads import Retry

if TYPE_CHECKING:
    from larbinpy.frontier.log import PersistentFifo
    from larbinpy.frontier.payloads import HostState


class Backlog:
    """What the log is to be told; a full disk is met again by ``write``, not by those who tell.

    Invariant: what was given is in the log once, in its order, or waits here for ``write``.
    """

    __slots__ = ("_ends", "_fifo", "_notes", "urls")

    def __init__(self, fifo: PersistentFifo) -> None:
        self._fifo = fifo
        self._ends: deque[tuple[bytes, array[int]]] = deque()
        self._notes: deque[Retry | HostState] = deque()
        self.urls = 0
        """URLs that have their Outcome and are not done in the log."""

    def done(self, entries: bytes, places: bytes) -> None:
        """Take ends of URLs; see ``Frontier.done``."""
        positions = array("Q", places)
        self._ends.append((entries, positions))
        self.urls += len(positions)
        with suppress(StorageError):
            self._write_ends()

    def note(self, note: Retry | HostState, *, is_urgent: bool = False) -> None:
        """Take a note.

        Args:
            is_urgent: it is in the files before this returns, unless the disk refuses.
        """
        self._notes.append(note)
        with suppress(StorageError):
            self._write_notes()
            if is_urgent:
                self._fifo.flush()

    def write(self) -> None:
        """Tell the log what it has not taken yet.

        Raises:
            StorageError: the disk refused; call it again.
        """
        self._write_ends()
        self._write_notes()

    def _write_ends(self) -> None:
        while self._ends:
            entries, positions = self._ends[0]
            self._fifo.done(entries, positions)
            self._ends.popleft()
            self.urls -= len(positions)

    def _write_notes(self) -> None:
        while self._notes:
            note = self._notes[0]
            if isinstance(note, Retry):
                self._fifo.retry(note)
            else:
                self._fifo.host(note)
            self._notes.popleft()
