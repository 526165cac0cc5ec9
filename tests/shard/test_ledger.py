"""What a shard shows of itself: two words that prove the end, and a block that adds up."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

from larbinpy import stats
from larbinpy.frontier.frontier import Added
from larbinpy.shard.ledger import Ledger
from larbinpy.shared import CrawlMemory, ShardWord
from larbinpy.stats import COUNTERS, IDENTITY, Counters


def words(memory: CrawlMemory) -> tuple[int, int]:
    shard = memory.shard[1].words
    return shard.load(ShardWord.ACCEPTED), shard.load(ShardWord.DONE)


def published(memory: CrawlMemory) -> dict[str, int]:
    block = memory.shard[1].counters.read()
    assert block is not None
    return dict(zip((*COUNTERS, *(f"is_{name}" for name in IDENTITY)), block, strict=True))


def test_a_shard_that_starts_shows_what_it_has_recovered(memory: CrawlMemory) -> None:
    """At once: the supervisor must not see its words as zero while it is up."""
    counters = Counters()
    counters.add(stats.ACCEPTED, 10)
    counters.add(stats.DONE, 4)
    Ledger(counters, memory, 1)
    assert words(memory) == (10, 4)
    assert memory.outstanding() == 6


def test_words_follow_the_log(memory: CrawlMemory) -> None:
    """Accepted as soon as links are taken, done as soon as it is told; neither goes back."""
    counters = Counters()
    ledger = Ledger(counters, memory, 1)
    seen = [words(memory)]
    for step in range(5):
        counters.add(stats.ACCEPTED, 3)  # as the log does
        ledger.added(Added(new=3, seen=2, hosts=1))
        seen.append(words(memory))
        counters.add(stats.DONE, 2)
        ledger.tell()
        seen.append(words(memory))
        assert words(memory) == (3 * step + 3, 2 * step + 2)
    assert all(a <= b and c <= d for (a, c), (b, d) in itertools.pairwise(seen))
    assert (counters[stats.URL_SEEN], counters[stats.HOSTS]) == (10, 5)


def test_the_published_block_adds_up(memory: CrawlMemory) -> None:
    """accepted = done + waiting + ready + in flight + parsing, with the counters of one moment."""
    counters = Counters()
    ledger = Ledger(counters, memory, 1)
    counters.add(stats.ACCEPTED, 20)
    counters.add(stats.DONE, 5)
    ledger.traffic(1000, 100)
    ledger.publish(waiting=8, in_flight=4, parsing=3)
    got = published(memory)
    assert got["is_accepted"] == sum(got[f"is_{name}"] for name in IDENTITY[1:])
    assert (got["accepted"], got["done"], got["is_ready"]) == (20, 5, 0)
    assert (got["bytes_read"], got["bytes_written"]) == (1000, 100)


def test_measured_counters_grow_by_what_is_new(memory: CrawlMemory) -> None:
    """The stages count from 0 at each start, the log from the beginning of the crawl."""
    counters = Counters()
    counters.add(stats.ROBOTS_SEEN, 100)
    ledger = Ledger(counters, memory, 1)
    stages: Any = SimpleNamespace(  # Any: stands for all stages
        seen=3, good=2, answered=5, retries=1, line=SimpleNamespace(outages=0), near=7
    )
    ledger.measured(stages, stages, stages, stages)
    ledger.measured(stages, stages, stages, stages)
    stages.seen = 4
    ledger.measured(stages, stages, stages, stages)
    assert counters[stats.ROBOTS_SEEN] == 104
    assert counters[stats.ROBOTS_GOOD] == 2
    assert counters[stats.HOSTS_WITH_DNS] == 5
    assert (counters[stats.RETRIES], counters[stats.OUTAGES]) == (1, 0)
    assert counters[stats.NEAR] == 7
