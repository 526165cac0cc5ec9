"""How a log is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from larbinpy.frontier.payloads import HostState

POWER_SYNCS: Final = 4
"""Syncs in a ``syncTime`` with ``durability power``, so that nothing older than it can be lost."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a log is to survive, and the sizes that go with it."""

    segment_bytes: int
    """A segment that has reached this size is sealed; at most 2 GiB."""
    durability: str = "process"
    """``process`` syncs behind the writes; ``power`` also holds a DONE until its children, and what
    was stored of its page, are synced; ``off`` never waits for the medium."""
    sync_s: float = 1.0
    """``syncTime``."""
    keeps_pages: bool = False
    """Whether digests of pages outlive their segments."""
    outputs: tuple[Path, ...] = ()
    """Where pages are stored and logged, by others: absolute paths."""
    host_state: Callable[[bytes], HostState | None] | None = None
    """What is to be kept of a host when the segment of its HOST is deleted."""

    @property
    def is_synced(self) -> bool:
        """Whether the log is brought to the medium at all."""
        return self.durability != "off"

    @property
    def holds_dones(self) -> bool:
        """Whether a DONE waits for its children."""
        return self.durability == "power"

    @property
    def period_ns(self) -> int:
        """Time between two syncs."""
        return int(self.sync_s * 1e9) // (POWER_SYNCS if self.holds_dones else 1)
