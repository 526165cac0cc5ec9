"""LINKS on their way to the shards, kept until they are written; runs in parsers and in the seeder.

Frames of a shard are numbered on, whatever becomes of its socket: a shard that was started again
gets the unanswered ones once more, under their old numbers.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from larbinpy.frames import MAX_PAYLOAD, FrameType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from larbinpy.frames import Channel


class LinkSender:
    """The links for one shard.

    Invariant: what ``written`` has not reached is in ``_unanswered``.
    """

    __slots__ = ("_seq", "_unanswered", "channel", "unanswered_bytes", "written")

    def __init__(self) -> None:
        self.channel: Channel | None = None
        self.written = 0
        """Every frame up to this seq is in the shard's log."""
        self.unanswered_bytes = 0
        self._seq = 0
        self._unanswered: deque[tuple[int, bytes, int]] = deque()

    def __len__(self) -> int:
        """Frames without an answer."""
        return len(self._unanswered)

    def join(self, channel: Channel) -> None:
        """The shard, or its successor, is there: send what it may not have written."""
        self.channel = channel
        for seq, payload, count in self._unanswered:
            channel.send(FrameType.LINKS, payload, count=count, seq=seq)

    def leave(self) -> None:
        """The shard is gone."""
        if self.channel:
            self.channel.close()
            self.channel = None

    def send(self, groups: Iterable[bytes]) -> int:
        """Send groups of links in as few frames as fit; returns the seq of the last frame.

        Args:
            groups: encoded by ``entries.link_groups``, each small enough for a frame.
        """
        groups = list(groups)
        if groups and sum(map(len, groups)) <= MAX_PAYLOAD:
            self._send(b"".join(groups), len(groups))
            return self._seq
        parts: list[bytes] = []
        size = 0
        for group in groups:
            if size + len(group) > MAX_PAYLOAD:
                self._send(b"".join(parts), len(parts))
                parts, size = [], 0
            parts.append(group)
            size += len(group)
        if parts:
            self._send(b"".join(parts), len(parts))
        return self._seq

    def answered(self, seq: int) -> None:
        """The shard has written every frame up to ``seq``."""
        self.written = max(self.written, seq)
        while self._unanswered and self._unanswered[0][0] <= seq:
            self.unanswered_bytes -= len(self._unanswered.popleft()[1])

    def _send(self, payload: bytes, count: int) -> None:
        self._seq += 1
        self._unanswered.append((self._seq, payload, count))
        self.unanswered_bytes += len(payload)
        if self.channel:
            self.channel.send(FrameType.LINKS, payload, count=count, seq=self._seq)
