"""Signals as something that can be polled: their arrival makes a socket readable."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Signals:
    """Hears signals inside ``poll``, while it is entered.

    Args of ``__init__``:
        heard: number of a signal -> what is called for each, between two instructions of the main
            thread.
    """

    def __init__(self, heard: Mapping[int, Callable[[], None]]) -> None:
        self._heard = heard
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._reader.setblocking(False)
        self._before: list[tuple[int, Any]] = []  # Any: handlers are of several kinds

    def fileno(self) -> int:
        """Readable once a signal has come."""
        return self._reader.fileno()

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno())
        for number in self._heard:
            self._before.append((number, signal.signal(number, self._on_signal)))
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._reader.close()
        self._writer.close()

    def _on_signal(self, number: int, _frame: object) -> None:
        with contextlib.suppress(BlockingIOError):
            self._reader.recv(64)
        self._heard[number]()
