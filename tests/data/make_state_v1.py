"""Makes ``tests/data/state-v1``: a small state of format version 1, for all later versions to open.

It was run once, by the version that introduced the format. Never run it again for the committed
state: a state that a newer version writes proves nothing about the older one.

Command: python -m tests.data.make_state_v1 DIR

Two shards in segments of 4 KiB, every record type:

- URLs 0 to 179, divided by their fingerprints; of each shard the first 40 are done;
- the survivor of the oldest segment of shard 0, its first URL, was moved, and the segment deleted;
- URL ids of shard 0: the last one has a RETRY (attempt 2, not before 77 us);
- host www.h3.example has a HOST (until 5 us, level 2, 1 failure) in the shard that owns it;
- the measured counter ``hosts`` is 11 in shard 0;
- each log was synced and marked, closed in order, opened a second time, and then left as a kill
  leaves it: URL 200 (in shard 1: 201) was put behind the last mark, and the last 5 bytes are torn
  off a COUNTS record.
"""

from __future__ import annotations

import sys
from pathlib import Path

from larbinpy._native.linkentry import shard
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.stats import HOSTS
from tests import states

SHARDS = 2
COUNT = 180
DONE = 40


def make(path: Path) -> None:
    """Write the state."""
    states.make_state(path, SHARDS)
    for index in range(SHARDS):
        numbers = [n for n in range(COUNT) if shard(states.fingerprint(n), SHARDS) == index]
        begin(path, index, numbers)
        leave(path, index)
        (path / f"shard-{index:02d}" / "LOCK").unlink()
    (path / "LOCK").unlink()


def begin(path: Path, index: int, numbers: list[int]) -> None:
    """The first life of a shard."""
    fifo = states.open_shard(path, index)
    places = [p for at in range(0, len(numbers), 9) for p in states.put(fifo, numbers[at : at + 9])]
    first = 1 if index == 0 else 0
    states.finish(fifo, places[first:DONE])
    if index == 0:
        fifo.retry(Retry(fifo.read(places[-1:])[0][0], 2, 77))
        fifo.counters[HOSTS] = 11
        fifo.counts()
    if index == shard(states.fingerprint(3), SHARDS):
        fifo.host(HostState(b"www.h3.example", 5, 2, 1))
    fifo.collect(wait=True)
    fifo.compact()
    fifo.collect(wait=True)
    fifo.close()


def leave(path: Path, index: int) -> None:
    """The second one, and its end."""
    fifo = states.open_shard(path, index)
    fifo.sync()
    states.put(fifo, [200 + index])
    fifo.counts()
    tail = fifo._tail.writer
    tail.flush()
    data = tail.path.read_bytes()[:-5]
    fifo.close()
    tail.path.write_bytes(data)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
