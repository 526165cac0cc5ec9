"""What a disk refuses is tried again; nothing of it is lost meanwhile."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from larbinpy.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

RETRY_S: Final = 1.0
"""When what the disk has refused is tried again."""


class Disk:
    """The disk of a parser's outputs.

    Args of ``__init__``:
        tell: told what it says when it refuses, and the empty text when it takes something again.
        now_s: a clock.
    """

    __slots__ = ("_now_s", "_retry_s", "_tell", "refusal")

    def __init__(
        self, tell: Callable[[str], None], now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._now_s = now_s
        self._retry_s = 0.0
        self.refusal = ""
        """What it said when it refused; while it stands, no page is read."""

    def attempt(self, work: Callable[[], None]) -> bool:
        """Do what the disk may refuse, but only once a second while it does."""
        now_s = self._now_s()
        if self.refusal and now_s < self._retry_s:
            return False
        text = ""
        try:
            work()
        except StorageError as error:
            self._retry_s = now_s + RETRY_S
            text = str(error)
        if text != self.refusal:
            self.refusal = text
            self._tell(text)
        return not text
