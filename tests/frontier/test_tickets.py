"""``limitPage`` is kept exactly: as many good pages as there were tickets, over all shards."""

from __future__ import annotations

import random

from larbinpy.frontier.tickets import NO_LIMIT, Tickets
from larbinpy.shared import CrawlMemory, Global, ShardWord


def held(memory: CrawlMemory, shard: int) -> int:
    return memory.shard[shard].words.load(ShardWord.TICKETS_HELD)


def test_without_a_limit_there_are_always_tickets(memory: CrawlMemory) -> None:
    """And the shared counter is not touched."""
    tickets = Tickets(memory, 0, is_limited=False)
    assert tickets.left() == NO_LIMIT
    assert tickets.take(1)
    tickets.settle(1, is_spent=True)
    assert memory.globals.load(Global.TICKETS) == 0
    assert held(memory, 0) == 0


def test_a_ticket_is_spent_or_given_back(memory: CrawlMemory) -> None:
    """By its own page, once."""
    memory.globals.store(Global.TICKETS, 2)
    tickets = Tickets(memory, 0, is_limited=True)
    assert [tickets.take(1), tickets.take(2), tickets.take(3)] == [True, True, False]
    assert (tickets.left(), held(memory, 0)) == (0, 2)
    tickets.settle(1, is_spent=True)
    assert (tickets.left(), held(memory, 0)) == (0, 1)
    tickets.settle(2, is_spent=False)
    tickets.settle(2, is_spent=False)
    assert (tickets.left(), held(memory, 0)) == (1, 0)


def test_pages_without_a_ticket_settle_nothing(memory: CrawlMemory) -> None:
    """Refused URLs, robots.txt, pages of an earlier run."""
    memory.globals.store(Global.TICKETS, 1)
    tickets = Tickets(memory, 0, is_limited=True)
    tickets.settle(7, is_spent=True)
    assert (tickets.left(), held(memory, 0)) == (1, 0)


def test_two_shards_never_spend_more_than_there_are(memory: CrawlMemory) -> None:
    """Under random outcomes; at the end every ticket is spent, held or back."""
    memory.globals.store(Global.TICKETS, 50)
    chance = random.Random(3)
    shards = [Tickets(memory, index, is_limited=True) for index in (0, 1)]
    open_pages: list[tuple[Tickets, int]] = []
    spent = 0
    for number in range(500):
        tickets = chance.choice(shards)
        if tickets.take(number):
            open_pages.append((tickets, number))
        if open_pages and chance.random() < 0.5:
            owner, page_id = open_pages.pop(chance.randrange(len(open_pages)))
            is_spent = chance.random() < 0.4
            spent += is_spent
            owner.settle(page_id, is_spent=is_spent)
        total = spent + held(memory, 0) + held(memory, 1) + memory.globals.load(Global.TICKETS)
        assert total == 50
    assert held(memory, 0) + held(memory, 1) == len(open_pages)
