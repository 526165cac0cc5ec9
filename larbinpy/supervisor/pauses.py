"""Why a crawl waits: a disk that is short of room, or one that refuses what a child writes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from larbinpy.supervisor.freedisk import FreeDisk

LOOK_S: Final = 1.0
"""Time between two looks at the disks."""


class Pauses:
    """The reasons to pause, as they come and go."""

    __slots__ = ("_disk", "_next_s", "_refusals")

    def __init__(self, disk: FreeDisk) -> None:
        self._disk = disk
        self._next_s = 0.0
        self._refusals: dict[str, str] = {}
        """Child -> what the disk said when it refused."""

    def set_min_free(self, size: int) -> None:
        """Another number of bytes that stay free; it counts from the next look on."""
        self._disk.min_bytes = size
        self._next_s = 0.0

    def look(self, now_s: float) -> None:
        """Look at the disks, when it is time to."""
        if now_s < self._next_s:
            return
        self._next_s = now_s + LOOK_S
        with contextlib.suppress(OSError):  # a disk that does not answer will refuse writes
            self._disk.look()

    def refused(self, child: str, text: str) -> None:
        """A child cannot write, or (without a text) can again, or is gone."""
        self._refusals.pop(child, None)
        if text:
            self._refusals[child] = text

    @property
    def is_refused(self) -> bool:
        """Whether a child cannot write what it must."""
        return bool(self._refusals)

    @property
    def reason(self) -> str | None:
        """Why the crawl must wait now; None when it may go on."""
        return self._disk.reason or next(iter(self._refusals.values()), None)
