"""The layout of a crawl's shared memory: every process sees the same words under the same names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.shared import STORING
from larbinpy.errors import FormatError
from larbinpy.shared import COUNTER_WORDS, CrawlMemory, Global, ParserWord, ShardWord

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARDS, PARSERS = 3, 2
IP = bytes([10, 0, 0, 1])


@pytest.fixture
def memory() -> Iterator[CrawlMemory]:
    """The memory of a small crawl."""
    made = CrawlMemory.create(SHARDS, PARSERS)
    yield made
    os.close(made.fd)


def test_all_words_are_apart(memory: CrawlMemory) -> None:
    """What is written under one name is read under that name only, by whoever attaches."""
    parts = [memory.globals, *(s.words for s in memory.shard), *(p.words for p in memory.parser)]
    number = 0
    for words in parts:
        for i in range(len(words)):
            number += 1
            words.store(i, number)
    for i, shard in enumerate(memory.shard):
        shard.counters.publish([i] * COUNTER_WORDS)
    assert memory.ips.claim(IP, 1, 10) == 0

    other = CrawlMemory.attach(memory.fd, SHARDS, PARSERS)
    parts = [other.globals, *(s.words for s in other.shard), *(p.words for p in other.parser)]
    assert [word for words in parts for word in words.snapshot()] == list(range(1, number + 1))
    assert [shard.counters.read() for shard in other.shard] == [
        [i] * COUNTER_WORDS for i in range(SHARDS)
    ]
    assert other.ips.claim(IP, 2, 10) == 11


@pytest.mark.parametrize(("shards", "parsers"), [(SHARDS + 1, PARSERS), (PARSERS, SHARDS)])
def test_foreign_memory_is_refused(memory: CrawlMemory, shards: int, parsers: int) -> None:
    """Another number of processes means another layout."""
    with pytest.raises(FormatError, match="not the memory"):
        CrawlMemory.attach(memory.fd, shards, parsers)


def test_pages_are_shared_where_they_are_asked_for() -> None:
    """Behind everything else, as many bytes as were asked for."""
    made = CrawlMemory.create(SHARDS, PARSERS, page_bytes=4096)
    made.pages[4095] = 7
    made.ips.claim(IP, 1, 10)
    other = CrawlMemory.attach(made.fd, SHARDS, PARSERS)
    assert (len(other.pages), sum(other.pages), other.pages[4095]) == (4096, 7, 7)
    os.close(made.fd)


def test_tickets_are_neither_made_nor_lost(memory: CrawlMemory) -> None:
    """All or none are taken; what is not used comes back."""
    memory.globals.store(Global.TICKETS, 5)
    assert memory.take_tickets(1, 4)
    assert not memory.take_tickets(2, 2)
    memory.use_tickets(1, 3)
    memory.return_tickets(1, 1)
    assert memory.globals.load(Global.TICKETS) == 2
    assert memory.shard[1].words.load(ShardWord.TICKETS_HELD) == 0


def test_outstanding_is_accepted_less_done_over_all_shards(memory: CrawlMemory) -> None:
    """Equal sums: nothing is left to do."""
    memory.shard[0].words.add(ShardWord.ACCEPTED, 3)
    memory.shard[2].words.add(ShardWord.DONE, 1)
    assert memory.outstanding() == 2
    memory.shard[1].words.add(ShardWord.DONE, 2)
    assert memory.outstanding() == 0


def test_only_the_page_being_parsed_is_blamed(memory: CrawlMemory) -> None:
    """Between begin and end, also page 0."""
    parser = memory.parser[1]
    assert parser.blamed() is None
    parser.begin(0, now_ns=7)
    assert parser.blamed() == (0, 7)
    assert memory.parser[0].blamed() is None
    parser.end()
    assert parser.blamed() is None
    assert parser.words.load(ParserWord.PAGES) == 0


def test_a_page_is_overdue_while_it_is_read_alone(memory: CrawlMemory) -> None:
    """Storing it may take long; it is still the one to blame."""
    parser = memory.parser[1]
    assert parser.overdue(10**9, 10) is None
    parser.begin(5, now_ns=100)
    assert parser.overdue(109, 10) is None
    assert parser.overdue(110, 10) == 5
    parser.store()
    assert parser.overdue(10**9, 10) is None
    assert parser.blamed() == (5, STORING)
