"""What the peers of a shard send it: links to queue, answers to pages, rules of origins."""

from __future__ import annotations

import sys
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from larbinpy import entries
from larbinpy.errors import FormatError
from larbinpy.frames import Frame, FrameType
from larbinpy.frontier.payloads import MAX_DONE_BYTES, MAX_DONE_ENTRY, done_entry
from larbinpy.records import ID_WITHOUT_ENQ, Kind, Outcome

if TYPE_CHECKING:
    from larbinpy.records import FetchJob, ParsedPage
    from larbinpy.shard.flow import Flow
    from larbinpy.shard.parts import ShardParts
    from larbinpy.shard.peers import Peer
    from larbinpy.shard.rules import Rules

PLACE_BYTES: Final = 8
PAGES_A_RECORD: Final = MAX_DONE_BYTES // MAX_DONE_ENTRY


class Inbox:
    """Takes the frames of parsers and of the seeder, in order, as far as the disk takes them.

    A peer that sends what no peer sends is cut, and stands in ``bad`` for the supervisor to know.
    """

    __slots__ = (
        "_addresses", "_budgets", "_clock", "_flow", "_frames", "_frontier", "_handover",
        "_is_plain", "_ledger", "_manners", "_novelty", "_peers", "_rules", "_same", "_tickets",
        "bad",
    )  # fmt: skip

    def __init__(self, parts: ShardParts, flow: Flow, rules: Rules) -> None:
        self._flow = flow
        self._rules = rules
        self._frames: deque[tuple[Peer, Frame]] = deque()
        self._addresses = parts.addresses
        self._budgets = parts.budgets
        self._clock = parts.clock
        self._frontier = parts.frontier
        self._handover = parts.handover
        self._ledger = parts.ledger
        self._manners = parts.manners
        self._novelty = parts.novelty
        self._peers = parts.peers
        self._tickets = parts.tickets
        self.bad: list[Peer] = []
        self._same = parts.novelty.hosts if parts.novelty.most_same else None
        # Then a page that is done is a record in the log and nothing else.
        self._is_plain = not (
            parts.budgets.is_limited or parts.tickets.is_limited or parts.waits_for_links
        )

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
        done, others = self._handover.finish(
            frame.payload, frame.count, is_plain=self._is_plain, same=self._same
        )
        if others:
            done += self._settled(frame.payload, others)
        for entries_, places in done:
            self._flow.unwritten += len(places) // PLACE_BYTES
            self._frontier.done(entries_, places)
        if done:
            self._ledger.tell()

    def _settled(
        self, payload: bytes, others: list[tuple[int, FetchJob]]
    ) -> list[tuple[bytes, bytes]]:
        """Settle what pages had taken; returns those that are done, as ``Handover.finish`` does."""
        done: list[tuple[bytes, bytes]] = []
        unread = self._flow.unread
        for at, job in others:
            if job.id & ID_WITHOUT_ENQ:
                continue
            parsed = entries.parsed_at(payload, at)
            if parsed.id in unread:
                self._frontier.release(*unread.pop(parsed.id))
            is_good = parsed.outcome == Outcome.SUCCESS and job.kind is not Kind.RETRY
            self._budgets.settle(parsed.id, is_good=is_good)
            if is_good:
                self._novelty.add(
                    job.host_id, parsed.digest, is_near=parsed.near != 0,
                    leads_on=_leads_on(parsed), watched=job.watch,
                )  # fmt: skip
            if job.kind is Kind.RETRY:
                self._tickets.settle(parsed.id, is_spent=False)
                self._manners.retry(job, self._clock.now_ns())
                continue
            self._tickets.settle(parsed.id, is_spent=parsed.outcome == Outcome.SUCCESS)
            done.append((done_entry(parsed), job.position.to_bytes(PLACE_BYTES, sys.byteorder)))
        return _packed(done)


def _leads_on(parsed: ParsedPage) -> bool:
    """Whether a page has links that went to the shards: neither filtered nor dropped as known."""
    return parsed.links > parsed.duplicates + sum(parsed.filtered.values())


def _packed(done: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The same pages in as few pairs as hold them."""
    pairs = []
    for start in range(0, len(done), PAGES_A_RECORD):
        part = done[start : start + PAGES_A_RECORD]
        pairs.append((b"".join(e for e, _ in part), b"".join(place for _, place in part)))
    return pairs
