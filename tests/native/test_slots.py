"""What is in flight can be read when the process that fetched it is dead."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from larbinpy.records import FetchJob
from larbinpy.shared import TRANSFER_SLOTS, CrawlMemory, ShardWord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from larbinpy.shared import ShardMemory


@pytest.fixture
def memory() -> Iterator[ShardMemory]:
    """The part of the second of two shards."""
    made = CrawlMemory.create(2, 1)
    yield made.shard[1]
    os.close(made.fd)


def test_transfers_are_seen_while_they_go_on(memory: ShardMemory) -> None:
    """Under the URL that they are for."""
    slots = memory.forget_transfers()
    slots.begin(7, 7)
    slots.begin(9, 4)
    assert sorted(memory.transfers()) == [4, 7]
    slots.end(7)
    assert (memory.transfers(), memory.words.load(ShardWord.IN_FLIGHT), len(slots)) == ([4], 1, 1)
    slots.end(9)
    assert (memory.transfers(), memory.words.load(ShardWord.IN_FLIGHT)) == ([], 0)


def test_a_request_that_is_not_known_ends(memory: ShardMemory) -> None:
    """Nothing follows."""
    slots = memory.forget_transfers()
    slots.end(7)
    assert memory.words.load(ShardWord.IN_FLIGHT) == 0


def test_transfers_without_a_place_are_counted(memory: ShardMemory) -> None:
    """So nobody is taken for the only one."""
    slots = memory.forget_transfers()
    for number in range(1, TRANSFER_SLOTS + 3):
        slots.begin(number, number)
    assert len(memory.transfers()) == TRANSFER_SLOTS
    assert memory.words.load(ShardWord.IN_FLIGHT) == TRANSFER_SLOTS + 2
    for number in range(1, TRANSFER_SLOTS + 2):
        slots.end(number)
    assert memory.words.load(ShardWord.IN_FLIGHT) == 1
    assert memory.transfers() == []  # the last one never had a place


def test_pages_begin_and_end_together(memory: ShardMemory) -> None:
    """A batch is as many single ones."""
    slots = memory.forget_transfers()
    jobs = [FetchJob(n, b"", b"", 80, https=False) for n in range(1, 6)]
    slots.begin_all(jobs)
    assert sorted(memory.transfers()) == [1, 2, 3, 4, 5]
    slots.end_all(jobs[1:])
    assert (memory.transfers(), memory.words.load(ShardWord.IN_FLIGHT)) == ([1], 1)


def test_a_successor_begins_with_nothing(memory: ShardMemory) -> None:
    """What its predecessor had in flight is gone."""
    memory.forget_transfers().begin(7, 7)
    memory.forget_transfers()
    assert (memory.transfers(), memory.words.load(ShardWord.IN_FLIGHT)) == ([], 0)


def test_the_slots_of_one_shard_are_not_those_of_another() -> None:
    """Nor its words or counters."""
    made = CrawlMemory.create(2, 1)
    made.shard[0].forget_transfers().begin(5, 5)
    assert made.shard[1].transfers() == []
    assert made.shard[0].words.load(ShardWord.DONE) == 0
    assert made.parser[0].blamed() is None
    os.close(made.fd)
