"""What a crawl is doing, seen from outside: the files of its shards, as inotify tells them.

Each shard is down, recovering (it has taken its lock) or up (it has begun a segment).
A segment that is begun while it is up is a rotation, which lasts until the seen file of the one
before has its name; a segment that goes is a deletion.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PHASES: Final = ("start", "recovery", "crawl", "rotation", "deletion", "drain")

_MODIFY, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x80, 0x100, 0x200
_EVENT: Final = struct.Struct("iIII")
_SEGMENT: Final = re.compile(r"q-[0-9a-f]{8}-([0-9a-f]{16})\.seg")
_SEEN: Final = re.compile(r"seen-([0-9a-f]{16})\.fp")
_INSTANT_NS: Final = 3_000_000
"""A deletion, and the first part of a rotation, is said to last this long."""
_ROTATION_NS: Final = 100_000_000
"""A rotation whose seen file does not come (a segment without URLs has none) ends after this."""


@dataclass(slots=True)
class ShardView:
    """What is known of one shard."""

    state: str = "down"
    rotating: dict[int, int] = field(default_factory=dict)
    """Segment that was sealed -> when (monotonic ns)."""
    rotated_ns: int = 0
    deleted_ns: int = 0
    rotations: int = 0
    deletions: int = 0


class Watch:
    """Follows the state directory of one crawl over all its lives."""

    def __init__(self, state: Path, shards: int) -> None:
        self.shards = [ShardView() for _ in range(shards)]
        self._state = state
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._where: dict[int, int] = {}
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)

    def close(self) -> None:
        """Stop watching."""
        os.close(self._fd)

    def began(self) -> None:
        """A new supervisor: all shards are down."""
        self.hear(0)
        for view in self.shards:
            view.state = "down"
            view.rotating.clear()

    def died(self, shard: int) -> None:
        """One shard was killed."""
        self.shards[shard].state = "down"

    def hear(self, timeout_s: float) -> None:
        """Take in what has happened, waiting for something at most so long."""
        self._look_for_directories()
        if not self._poll.poll(max(timeout_s, 0) * 1000):
            return
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            watch, mask, _, size = _EVENT.unpack_from(data, at)
            at += _EVENT.size + size
            name = data[at - size : at].rstrip(b"\0").decode()
            if watch in self._where:
                self._note(self.shards[self._where[watch]], mask, name)

    def wait(self, is_there: Callable[[], bool], timeout_s: float) -> bool:
        """Listen until ``is_there``; false when it was not in time."""
        end = time.monotonic() + timeout_s
        while not is_there():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.hear(min(left, 0.01))
        return True

    def _look_for_directories(self) -> None:
        for shard in range(len(self.shards)):
            path = self._state / f"shard-{shard:02d}"
            if shard not in self._where.values() and path.exists():
                mask = _MODIFY | _MOVED_TO | _CREATE | _DELETE
                watch = self._libc.inotify_add_watch(self._fd, os.fsencode(path), mask)
                self._where[watch] = shard
                for file in sorted(path.iterdir()):  # what came before the watch
                    self._note(self.shards[shard], _CREATE | _MODIFY, file.name)

    def _note(self, view: ShardView, mask: int, name: str) -> None:
        now_ns = time.monotonic_ns()
        if name == "LOCK" and mask & _MODIFY:
            if view.state == "down":
                view.state = "recovering"
        elif (segment := _SEGMENT.fullmatch(name)) is not None:
            if mask & _DELETE:
                view.deleted_ns = now_ns
                view.deletions += view.state == "up"
            elif mask & _CREATE and view.state == "up":
                view.rotating[int(segment[1], 16) - 1] = view.rotated_ns = now_ns
                view.rotations += 1
            elif mask & _CREATE:
                view.state = "up"
        elif (seen := _SEEN.fullmatch(name)) is not None and mask & _MOVED_TO:
            view.rotating.pop(int(seen[1], 16), None)

    @property
    def are_up(self) -> bool:
        """Whether every shard has begun its segment."""
        return all(view.state == "up" for view in self.shards)

    def phase(self) -> str:
        """What the crawl is doing now, but for ``drain``."""
        now_ns = time.monotonic_ns()
        states = {view.state for view in self.shards}
        if "recovering" in states:
            return "recovery"
        if "down" in states:
            return "start"
        if any(now_ns - view.deleted_ns < _INSTANT_NS for view in self.shards):
            return "deletion"
        if any(self._is_rotating(view, now_ns) for view in self.shards):
            return "rotation"
        return "crawl"

    def _is_rotating(self, view: ShardView, now_ns: int) -> bool:
        return now_ns - view.rotated_ns < _INSTANT_NS or any(
            now_ns - began_ns < _ROTATION_NS for began_ns in view.rotating.values()
        )
