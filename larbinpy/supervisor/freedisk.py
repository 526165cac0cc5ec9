"""Whether the disks have room left: a crawl pauses before one is full, not after.

With hysteresis: it pauses below ``minFreeDisk`` and goes on at 1.25 times that.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

RESUME: Final = 1.25
MIB: Final = 1 << 20


def free_bytes(path: Path) -> int:
    """What an ordinary user may still write there; a path that is not there yet counts as its
    nearest parent that is.

    Raises:
        OSError: the system does not say.
    """
    while not path.exists() and path != path.parent:
        path = path.parent
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


class FreeDisk:
    """Watches the disks of some directories; 0 bytes = they are not watched."""

    __slots__ = ("_free", "_paths", "min_bytes", "reason")

    def __init__(
        self,
        paths: Iterable[Path],
        min_bytes: int,
        *,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._paths = tuple(paths)
        self.min_bytes = min_bytes
        self._free = free
        self.reason: str | None = None
        """Why the crawl must pause, as of the last ``look``."""

    def look(self) -> str | None:
        """Look at the disks; returns ``reason``.

        Raises:
            OSError: the system does not say how much is free.
        """
        least = self.min_bytes * (RESUME if self.reason else 1)
        paths = self._paths if self.min_bytes else ()
        short = [path for path in paths if self._free(path) < least]
        if not short:
            self.reason = None
        elif self.reason is None:
            self.reason = (
                f"the disk of {short[0]} has less than minFreeDisk"
                f" ({self.min_bytes / MIB:.4g} MiB) left"
            )
        return self.reason
