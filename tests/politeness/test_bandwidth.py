"""How many requests may begin, so that the bytes of all shards fit the line."""

from __future__ import annotations

from random import Random

import pytest

from larbinpy._native.shared import Words
from larbinpy.politeness.bandwidth import BURST_NS, FIRST_MEAN_BYTES, UNLIMITED, Bandwidth

SECOND = 10**9
NOW = 1000 * SECOND
RATE = 1_000_000


def crawl(shards: list[Bandwidth], sizes: Random, *, low: int, high: int, seconds: int) -> int:
    """Ask as fast as the bucket lets us, each request lasting 100 ms; returns bytes."""
    running: list[tuple[int, Bandwidth, int, int]] = []
    total = number = 0
    for now in range(NOW, NOW + seconds * SECOND, SECOND // 1000):
        while running and running[0][0] <= now:
            _, shard, request, size = running.pop(0)
            shard.settle(request, size, now)
            total += size
        for shard in shards:
            for _ in range(shard.room(now)):
                number += 1
                shard.take(number, now)
                size = sizes.randint(low, high)
                running.append((now + SECOND // 10, shard, number, size))
    return total


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize(("low", "high"), [(500, 1500), (1000, 100_000)])
def test_all_shards_together_keep_to_the_width(shards: int, low: int, high: int) -> None:
    """Over ten seconds, within 10 %."""
    words = Words(bytearray(8))
    ours = [Bandwidth(words, 0, RATE) for _ in range(shards)]
    total = crawl(ours, Random(1), low=low, high=high, seconds=10)
    assert 0.85 * RATE * 10 < total < 1.1 * RATE * 10


def test_no_width_is_no_limit() -> None:
    """And nothing is counted."""
    words = Words(bytearray(8))
    band = Bandwidth(words, 0, 0)
    band.take(1, NOW)
    band.settle(1, 10**9, NOW)
    assert (band.room(NOW), words.load(0)) == (UNLIMITED, 0)


def test_a_large_page_is_paid_for_afterwards() -> None:
    """No request begins until it has gone through."""
    band = Bandwidth(Words(bytearray(8)), 0, RATE)
    band.take(1, NOW)
    band.settle(1, 10 * RATE, NOW)
    assert band.room(NOW + 10 * SECOND - 2 * BURST_NS) == 0
    assert band.next_ns() <= NOW + 10 * SECOND
    assert band.room(band.next_ns()) == 1


def test_idle_time_is_not_saved_up() -> None:
    """After an hour no more begin than after a second."""
    band = Bandwidth(Words(bytearray(8)), 0, RATE)
    band.take(1, NOW)
    expected = 1 + int(BURST_NS / 1e9 * RATE / FIRST_MEAN_BYTES)
    assert [band.room(NOW + SECOND), band.room(NOW + 3600 * SECOND)] == [expected, expected]
