"""What the peers of a shard send it: links to queue, answers to pages, rules of origins."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from larbinpy import entries
from larbinpy.errors import FormatError
from larbinpy.frames import Frame, FrameType
from larbinpy.records import ID_WITHOUT_ENQ, Kind, Outcome

if TYPE_CHECKING:
    from larbinpy.peers import Peer
    from larbinpy.shard_flow import Flow
    from larbinpy.shard_parts import ShardParts
    from larbinpy.shard_rules import Rules


class Inbox:
    """Takes the frames of parsers and of the seeder, in order, as far as the disk takes them.

    A peer that sends what no peer sends is cut, and stands in ``bad`` for the supervisor to know.
    """

    __slots__ = (
        "_addresses", "_budgets", "_clock", "_epoch", "_flow", "_frames", "_frontier", "_handover",
        "_ledger", "_manners", "_peers", "_rules", "_tickets", "bad",
    )  # fmt: skip

    def __init__(self, parts: ShardParts, flow: Flow, rules: Rules) -> None:
        self._flow = flow
        self._rules = rules
        self._frames: deque[tuple[Peer, Frame]] = deque()
        self._addresses = parts.addresses
        self._budgets = parts.budgets
        self._clock = parts.clock
        self._epoch = parts.epoch
        self._frontier = parts.frontier
        self._handover = parts.handover
        self._ledger = parts.ledger
        self._manners = parts.manners
        self._peers = parts.peers
        self._tickets = parts.tickets
        self.bad: list[Peer] = []

    def join(self, role: str, index: int, fd: int) -> None:
        """A peer, or the successor of one, is there."""
        self._leave(role, index)
        peer = self._peers.join(role, index, fd)
        if role == "parser":
            self._handover.join(index, peer.channel)

    def _leave(self, role: str, index: int) -> None:
        if role == "parser":
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
            self._finish(frame)
        elif frame.type == FrameType.ROBOTS:
            self._rules.learn(*entries.decode_robots(frame.payload), now)
        else:
            raise FormatError("no peer sends that")

    def _finish(self, frame: Frame) -> None:
        """Pages that a parser has finished: their URLs are done."""
        done, positions = [], []
        unread = self._flow.unread
        for parsed in entries.decode_parsed(frame.payload, frame.count):
            if parsed.epoch != self._epoch:
                continue
            job = self._handover.answered(parsed.id)
            if job is None or job.id & ID_WITHOUT_ENQ:
                continue
            if parsed.id in unread:
                self._frontier.release(*unread.pop(parsed.id))
            is_good = parsed.outcome == Outcome.SUCCESS and job.kind is not Kind.RETRY
            self._budgets.settle(
                parsed.id, job.host, parsed.digest, is_good=is_good, is_near=parsed.near != 0
            )
            if job.kind is Kind.RETRY:
                self._tickets.settle(parsed.id, is_spent=False)
                self._manners.retry(job, self._clock.now_ns())
                continue
            self._tickets.settle(parsed.id, is_spent=parsed.outcome == Outcome.SUCCESS)
            done.append(parsed)
            positions.append(job.position)
        self._flow.unwritten += len(done)
        if done:
            self._frontier.done(done, positions)
            self._ledger.tell()
