"""The memory that supervisor, shards and parsers of one crawl share: its layout, by names.

One anonymous file, made by the supervisor and mapped by every process.
Nothing in it is locked; see ``ext/shared.pyx``.
It does not outlive the crawl and is no file format.

    header   MAGIC, number of shards, number of parsers, bytes
    globals  one word each, see ``Global``
    shards   a ``ShardMemory`` each
    parsers  a ``ParserMemory`` each
    ips      the table of next allowed times
    pages    pages seen, and what near-duplicates are told by, where the crawl wants to know

Each part begins on a cache line of its own, so that processes do not slow each other down.
"""

from __future__ import annotations

import mmap
import os
from enum import IntEnum
from typing import Final

from larbinpy._native.shared import SLOT_BYTES, STORING, Blame, IpTable, SeqBlock, Words, create
from larbinpy._native.slots import Slots
from larbinpy.errors import FormatError
from larbinpy.stats import COUNTERS, IDENTITY

MAGIC: Final = 0x6D656D2D72626C31
WORD_BYTES: Final = 8
LINE_WORDS: Final = 8
"""Words of a cache line."""
COUNTER_WORDS: Final = len(COUNTERS) + len(IDENTITY)
IP_SLOTS: Final = 65536
PAGES_BYTES: Final = (64 << 20) + (512 << 10)
"""For the pages seen: the table, and the ids of the newest ones."""
NEAR_BYTES: Final = 64 << 20
"""For near-duplicates: 63 pages of each of 65,536 hosts."""


def bytes_of_pages(*, keeps_seen: bool, keeps_near: bool) -> int:
    """What a crawl needs for the pages seen and, behind them, for near-duplicates."""
    return keeps_seen * PAGES_BYTES + keeps_near * NEAR_BYTES


def owner_of(shard: int) -> int:
    """The number under which a shard claims addresses in the table."""
    return shard + 1


class Global(IntEnum):
    """Words of the whole crawl."""

    TICKETS = 0
    """Pages that may still succeed, over all shards; a shard takes some in advance."""
    BAND_NS = 1
    """When what was asked for will have gone through a line of ``bondWidth``."""


class ShardWord(IntEnum):
    """Words of one shard; only this shard writes them, but for what is taken back of a dead one."""

    DONE = 0
    ACCEPTED = 1
    IN_FLIGHT = 2
    """Transfers that are going on; as many of them as have a place stand in the slots."""
    TICKETS_HELD = 3
    SYNCED_NS = 4
    """What its log had written before this time (monotonic) is on the medium."""
    WANTED_NS = 5
    """It wants all logs to be synced up to this time as soon as may be."""


class ParserWord(IntEnum):
    """Words of one parser; only this parser writes them, but for the blame that others clear."""

    PAGE_ID = 0
    BEGAN_NS = 1
    """When the parsing of that page began (monotonic); 0 = no page is in hand, ``STORING`` = it
    has been parsed."""
    PAGES = 2


def _lines(words: int) -> int:
    """Words of whole cache lines that hold ``words``."""
    return -(-words // LINE_WORDS) * LINE_WORDS


HEADER_WORDS: Final = LINE_WORDS
GLOBAL_WORDS: Final = _lines(len(Global))
TRANSFER_SLOTS: Final = 4096
"""Transfers of a shard that can be read when it is dead."""
COUNTER_LINES: Final = _lines(COUNTER_WORDS + 1)
SHARD_WORDS: Final = LINE_WORDS + COUNTER_LINES + TRANSFER_SLOTS
PARSER_WORDS: Final = LINE_WORDS


class ShardMemory:
    """What one shard shows: ``words`` (see ``ShardWord``), its counters as of one moment, and in
    ``slots`` the ids of the URLs that its transfers are for, 0 where there is none."""

    __slots__ = ("counters", "slots", "words")

    def __init__(self, memory: mmap.mmap, offset: int) -> None:
        self.words = Words(memory, offset, len(ShardWord))
        offset += LINE_WORDS * WORD_BYTES
        self.counters = SeqBlock(memory, offset, COUNTER_WORDS)
        self.slots = Words(memory, offset + COUNTER_LINES * WORD_BYTES, TRANSFER_SLOTS)

    def transfers(self) -> list[int]:
        """Ids of the URLs in flight; exact for a shard that is dead, up to ``TRANSFER_SLOTS``."""
        return [page_id for page_id in self.slots.snapshot() if page_id]

    def forget_transfers(self) -> Slots:
        """Nothing is in flight any more; returns where its next transfers are shown."""
        return Slots(self.slots, self.words, ShardWord.IN_FLIGHT)


class ParserMemory(Blame):
    """What one parser shows: ``words`` (see ``ParserWord``) and the page it is to blame for."""

    __slots__ = ("words",)

    def __init__(self, memory: mmap.mmap, offset: int) -> None:
        self.words = Words(memory, offset, len(ParserWord))

    def overdue(self, now_ns: int, deadline_ns: int) -> int | None:
        """The id of a page whose parsing takes longer than ``deadline_ns``, if there is one."""
        blamed = self.blamed()
        if blamed is None or blamed[1] == STORING or now_ns - blamed[1] < deadline_ns:
            return None
        return blamed[0]

    def blamed(self) -> tuple[int, int] | None:
        """Return id and begin (or ``STORING``) of the page in hand, ``None`` if there is none.

        Exact for a parser that is dead; of a living one the id belongs to the begin.
        """
        while began_ns := self.words.load(ParserWord.BEGAN_NS):
            page_id = self.words.load(ParserWord.PAGE_ID)
            if self.words.load(ParserWord.BEGAN_NS) == began_ns:
                return page_id, began_ns
        return None


class CrawlMemory:
    """The shared memory of a crawl of ``shards`` shards and ``parsers`` parsers.

    ``fd`` is the descriptor to pass on; ``globals`` the words of ``Global``; ``shard`` and
    ``parser`` one entry per process; ``ips`` the table for ``HostTable(ip_table=...)``; ``pages``
    the bytes of the pages seen and of near-duplicates, none when nobody asked for them.

    Process/thread: any; each word says who may write it.
    """

    __slots__ = ("fd", "globals", "ips", "pages", "parser", "shard")

    def __init__(self, fd: int, memory: mmap.mmap, shards: int, parsers: int) -> None:
        """Private: use ``create`` or ``attach``."""
        at = HEADER_WORDS
        self.fd = fd
        self.globals = Words(memory, at * WORD_BYTES, len(Global))
        at += GLOBAL_WORDS
        self.shard = [
            ShardMemory(memory, (at + i * SHARD_WORDS) * WORD_BYTES) for i in range(shards)
        ]
        at += shards * SHARD_WORDS
        self.parser = [
            ParserMemory(memory, (at + i * PARSER_WORDS) * WORD_BYTES) for i in range(parsers)
        ]
        at += parsers * PARSER_WORDS
        self.ips = IpTable(memory, at * WORD_BYTES, IP_SLOTS)
        self.pages = memoryview(memory)[_bytes(shards, parsers) :]

    @classmethod
    def create(cls, shards: int, parsers: int, *, page_bytes: int = 0) -> CrawlMemory:
        """Make the memory, all zeros; the descriptor belongs to the caller.

        Args:
            page_bytes: of ``pages``, a multiple of 8; they take room as they are written.
        """
        size = _bytes(shards, parsers) + page_bytes
        fd = create(size)
        memory = mmap.mmap(fd, size)
        header = Words(memory, 0, HEADER_WORDS)
        for i, value in enumerate(_header(shards, parsers, size)):
            header.store(i, value)
        return cls(fd, memory, shards, parsers)

    @classmethod
    def attach(cls, fd: int, shards: int, parsers: int) -> CrawlMemory:
        """Map memory that another process made.

        Raises:
            FormatError: it was made for other numbers, or is something else.
        """
        size = os.fstat(fd).st_size
        if size >= _bytes(shards, parsers):
            memory = mmap.mmap(fd, size)
            expected = _header(shards, parsers, size)
            if Words(memory, 0, len(expected)).snapshot() == expected:
                return cls(fd, memory, shards, parsers)
        raise FormatError(
            f"descriptor {fd} is not the memory of {shards} shards, {parsers} parsers"
        )

    def take_tickets(self, shard: int, n: int) -> bool:
        """Move ``n`` tickets to a shard, all or none; only that shard may call this.

        A kill in the middle loses tickets and never makes any: the limit is not passed.
        """
        if not self.globals.take(Global.TICKETS, n):
            return False
        self.shard[shard].words.add(ShardWord.TICKETS_HELD, n)
        return True

    def use_tickets(self, shard: int, n: int) -> None:
        """Note that ``n`` of a shard's tickets became successes."""
        self.shard[shard].words.add(ShardWord.TICKETS_HELD, -n)

    def return_tickets(self, shard: int, n: int) -> None:
        """Give back ``n`` tickets that a shard holds and will not use."""
        self.shard[shard].words.add(ShardWord.TICKETS_HELD, -n)
        self.globals.add(Global.TICKETS, n)

    def change_tickets(self, delta: int) -> None:
        """Wish for so many good pages more, or fewer: those that shards hold are not taken back."""
        if delta >= 0:
            self.globals.add(Global.TICKETS, delta)
            return
        wanted = -delta
        while (n := min(wanted, self.globals.load(Global.TICKETS))) > 0:
            if self.globals.take(Global.TICKETS, n):
                return

    def outstanding(self) -> int:
        """Return how many URLs were accepted and not done; 0 proves that there were none.

        All ``DONE`` are read before any ``ACCEPTED``; both only grow and children are accepted
        before their parent is done.  So equal sums mean that nothing was outstanding in between.
        Open sources and shards that are down are for the caller to rule out.
        """
        done = sum([shard.words.load(ShardWord.DONE) for shard in self.shard])
        return sum([shard.words.load(ShardWord.ACCEPTED) for shard in self.shard]) - done


def _bytes(shards: int, parsers: int) -> int:
    words = HEADER_WORDS + GLOBAL_WORDS + shards * SHARD_WORDS + parsers * PARSER_WORDS
    return words * WORD_BYTES + IP_SLOTS * SLOT_BYTES


def _header(shards: int, parsers: int, size: int) -> list[int]:
    return [MAGIC, shards, parsers, size]
