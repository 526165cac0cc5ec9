"""What the peers of a shard send it: links to queue, answers to pages, rules of origins."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from larbinpy import entries
from larbinpy.errors import FormatError
from larbinpy.frames import Frame, FrameType
from larbinpy.shard.answers import Answers

if TYPE_CHECKING:
    from larbinpy.shard.flow import Flow
    from larbinpy.shard.parts import ShardParts
    from larbinpy.shard.peers import Peer
    from larbinpy.shard.rules import Rules


class Inbox:
    """Takes the frames of parsers and of the seeder, in order, as far as the disk takes them.

    A peer that sends what no peer sends is cut, and stands in ``bad`` for the supervisor to know.
    """

    __slots__ = (
        "_addresses", "_answers", "_flow", "_frames", "_frontier", "_handover", "_ledger", "_peers",
        "_rules", "bad",
    )  # fmt: skip

    def __init__(self, parts: ShardParts, flow: Flow, rules: Rules) -> None:
        self._flow = flow
        self._rules = rules
        self._answers = Answers(parts, flow)
        self._frames: deque[tuple[Peer, Frame]] = deque()
        self._addresses = parts.addresses
        self._frontier = parts.frontier
        self._handover = parts.handover
        self._ledger = parts.ledger
        self._peers = parts.peers
        self.bad: list[Peer] = []

    def join(self, role: str, index: int, fd: int) -> None:
        """A peer, or the successor of one, is there."""
        self._leave(role, index)
        peer = self._peers.join(role, index, fd)
        if role == "parser":
            self._handover.join(index, peer.channel)

    def _leave(self, role: str, index: int) -> None:
        """A peer is gone; what a parser has sent and nobody has taken counts no more.

        Its pages are sent again, and no answer but that of who has them now may free them.
        """
        if role == "parser":
            self._frames = deque(
                (peer, frame)
                for peer, frame in self._frames
                if (peer.role, peer.index) != (role, index)
            )
            self._handover.leave(index)
        self._peers.leave(role, index)

    def hear(self, now: int) -> None:
        """Take what has come."""
        for peer, frames in self._peers.received():
            self._flow.is_flushed = False
            self._frames.extend((peer, frame) for frame in frames)
            self.work_off(now)
            if peer.fault:
                self._cut(peer)
            elif peer.channel.is_closed:
                self._leave(peer.role, peer.index)

    def _cut(self, peer: Peer) -> None:
        self.bad.append(peer)
        self._frames = deque(entry for entry in self._frames if entry[0] is not peer)
        self._leave(peer.role, peer.index)

    def work_off(self, now: int) -> None:
        """Take the frames that have come; one that the disk refuses stays, and those behind it."""
        while self._frames and not self._flow.refusal:
            peer, frame = self._frames[0]
            if self._flow.attempt(partial(self._judge, peer, frame, now)):
                self._frames.popleft()

    def _judge(self, peer: Peer, frame: Frame, now: int) -> None:
        """Take a frame, unless its peer is not to be trusted; nothing of a bad frame is taken."""
        if peer.fault:
            return
        try:
            self._take(peer, frame, now)
        except FormatError as error:
            peer.fault = f"a frame of type {frame.type}: {error}"

    def _take(self, peer: Peer, frame: Frame, now: int) -> None:
        if frame.type == FrameType.LINKS:
            try:
                added = self._frontier.put(frame.payload)
            except ValueError as error:
                raise FormatError(str(error)) from error
            self._ledger.added(added)
            if peer.role == "seeder":
                self._addresses.name_all(entries.hosts_of_links(frame.payload))
            peer.taken_seq = frame.seq
        elif frame.type == FrameType.PARSED:
            self._answers.take(frame)
        elif frame.type == FrameType.ROBOTS:
            self._rules.learn(*entries.decode_robots(frame.payload), now)
        else:
            raise FormatError("no peer sends that")
