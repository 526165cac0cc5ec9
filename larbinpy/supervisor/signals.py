"""Signals as something that can be polled: their arrival makes a socket readable."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Signals:
    """Hears signals inside ``poll``, while it is entered; afterwards they are ignored.

    For with what hears them the process ends, and its exit code is to say how the crawl ended: a
    signal of the last moment would take its place.

    Args of ``__init__``:
        heard: number of a signal -> what is called for each, between two instructions of the main
            thread.
    """

    def __init__(self, heard: Mapping[int, Callable[[], None]]) -> None:
        self._heard = heard
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._reader.setblocking(False)

    def fileno(self) -> int:
        """Readable once a signal has come."""
        return self._reader.fileno()

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno())
        for number in self._heard:
            signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._heard:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(self._wakeup)
        self._reader.close()
        self._writer.close()

    def _on_signal(self, number: int, _frame: object) -> None:
        with contextlib.suppress(BlockingIOError):
            self._reader.recv(64)
        self._heard[number]()
