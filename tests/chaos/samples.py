"""The identity of a crawl, looked at all the time from outside: accepted = done + waiting + ready +
in flight + parsing, for each shard, in every state of the counters that it publishes."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from larbinpy.errors import FormatError
from larbinpy.shared import CrawlMemory
from larbinpy.stats import COUNTERS, IDENTITY

EVERY_S: Final = 0.002
MOST_FAULTS: Final = 5


class Samples:
    """A thread that reads the counters of one crawl's shards over all its lives."""

    def __init__(self, shards: int, parsers: int) -> None:
        self._shards = shards
        self._parsers = parsers
        self._pid = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="samples")
        self.count = 0
        """Blocks of counters that were read and not the same as the one before."""
        self.faults: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def follow(self, pid: int) -> None:
        """Look at the memory of this supervisor from now on."""
        self._pid = pid

    def _run(self) -> None:
        memory, attached = None, 0
        last: list[list[int]] = []
        while not self._is_over.wait(EVERY_S):
            if attached != self._pid:
                memory = self._attach(self._pid)
                attached = self._pid if memory else 0
            if memory is not None:
                last = self._look(memory, last)

    def _attach(self, pid: int) -> CrawlMemory | None:
        """The memory of a crawl, once its supervisor has made it; kept when that is killed."""
        with suppress(OSError):
            for link in Path(f"/proc/{pid}/fd").iterdir():
                if "memfd:larbinpy" in str(link.readlink()):
                    fd = os.open(link, os.O_RDWR | os.O_CLOEXEC)
                    try:
                        return CrawlMemory.attach(fd, self._shards, self._parsers)
                    except FormatError:
                        continue  # it has others, and this one may not be written yet
                    finally:
                        os.close(fd)
        return None

    def _look(self, memory: CrawlMemory, last: list[list[int]]) -> list[list[int]]:
        blocks = [shard.counters.read() or [] for shard in memory.shard]
        for index, block in enumerate(blocks):
            if not block or (last and block == last[index]):
                continue
            self.count += 1
            accepted, *rest = block[len(COUNTERS) :]
            if accepted != sum(rest) and len(self.faults) < MOST_FAULTS:
                names = dict(zip(IDENTITY, block[len(COUNTERS) :], strict=True))
                self.faults.append(f"shard {index} published {names}")
        return blocks
