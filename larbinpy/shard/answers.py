"""What the answers of parsers (PARSED) end: pages are done, and what they had taken is settled.

Most pages are plain: nobody counts them, and an answer becomes an entry of a DONE record without
being read here.  Only pages that somebody has a say in are looked at one by one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from larbinpy import entries
from larbinpy.frontier.payloads import MAX_DONE_BYTES, MAX_DONE_ENTRY, done_entry
from larbinpy.records import ID_WITHOUT_ENQ, Kind, Outcome

if TYPE_CHECKING:
    from larbinpy.frames import Frame
    from larbinpy.records import FetchJob, ParsedPage
    from larbinpy.shard.flow import Flow
    from larbinpy.shard.parts import ShardParts

PLACE_BYTES: Final = 8
PAGES_A_RECORD: Final = MAX_DONE_BYTES // MAX_DONE_ENTRY


class Answers:
    """Takes the answers to pages that were handed over."""

    __slots__ = (
        "_budgets", "_clock", "_flow", "_frontier", "_handover", "_is_plain", "_ledger",
        "_manners", "_novelty", "_same", "_tickets",
    )  # fmt: skip

    def __init__(self, parts: ShardParts, flow: Flow) -> None:
        self._flow = flow
        self._budgets = parts.budgets
        self._clock = parts.clock
        self._frontier = parts.frontier
        self._handover = parts.handover
        self._ledger = parts.ledger
        self._manners = parts.manners
        self._novelty = parts.novelty
        self._tickets = parts.tickets
        self._same = parts.novelty.hosts if parts.novelty.most_same else None
        # Then a page that is done is a record in the log and nothing else.
        self._is_plain = not (
            parts.budgets.is_limited or parts.tickets.is_limited or parts.waits_for_links
        )

    def take(self, frame: Frame) -> None:
        """Pages that a parser has finished: their URLs are done, or wait for another try.

        Raises:
            FormatError: it answers what was not asked; nothing of it is taken.
        """
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
                    leads_on=leads_on(parsed), watched=job.watch,
                )  # fmt: skip
            if job.kind is Kind.RETRY:
                self._tickets.settle(parsed.id, is_spent=False)
                self._manners.retry(job, self._clock.now_ns())
                continue
            self._tickets.settle(parsed.id, is_spent=parsed.outcome == Outcome.SUCCESS)
            done.append((done_entry(parsed), job.position.to_bytes(PLACE_BYTES, sys.byteorder)))
        return packed(done)


def leads_on(parsed: ParsedPage) -> bool:
    """Whether a page has links that went to the shards: neither filtered nor dropped as known."""
    return parsed.links > parsed.duplicates + sum(parsed.filtered.values())


def packed(done: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The same pages in as few pairs as hold them."""
    pairs = []
    for start in range(0, len(done), PAGES_A_RECORD):
        part = done[start : start + PAGES_A_RECORD]
        pairs.append((b"".join(e for e, _ in part), b"".join(place for _, place in part)))
    return pairs
