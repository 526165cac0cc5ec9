"""The second half of a batch's way: its links and lines are written, its shards get answers."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from larbinpy import entries, streams, wiring
from larbinpy.frames import FrameType
from larbinpy.parser.batch import Batch, shard_of
from larbinpy.politeness.gate import answer_status
from larbinpy.records import Outcome
from larbinpy.store.crawllog import CrawlLog

if TYPE_CHECKING:
    from larbinpy.parser.disk import Disk
    from larbinpy.parser.readers import Readers
    from larbinpy.parser.shards import Shards
    from larbinpy.records import Page, Reading
    from larbinpy.store.base import Store
    from larbinpy.wiring import Start


class Unfinished:
    """Batches that have been read, until they are answered for."""

    __slots__ = (
        "_batches", "_disk", "_lines", "_log", "_over", "_readers", "_shards", "_shows", "_store",
    )  # fmt: skip

    def __init__(
        self, start: Start, shards: Shards, readers: Readers, store: Store, disk: Disk
    ) -> None:
        self._shards = shards
        self._readers = readers
        self._store = store
        self._disk = disk
        self._log = CrawlLog(start.state / "crawl.log", start.uuid, is_trusted=start.is_trusted)
        self._lines = wiring.make_lines(start.config)
        self._batches: list[Batch] = []
        self._over = dict.fromkeys(range(len(shards)), 0)
        """The last epoch of a shard that has ended with pages in work here."""
        self.change(start)

    def change(self, start: Start) -> None:
        """Go on by this configuration."""
        self._shows = start.config.fetch_info

    def add(self, batch: Batch) -> None:
        """Send the links of a batch; it waits until they are written."""
        groups, batch.fingerprints = entries.groups_of(batch.readings, len(self._shards))
        batch.needs = self._shards.send(groups)
        self._batches.append(batch)

    def left(self, shard: int, refused: Batch | None) -> None:
        """A shard is gone: a successor wants its pages again.

        Args:
            refused: a batch that has been read but is not here yet.
        """
        for batch in (*self._batches, *([refused] if refused else [])):
            epochs = [r.page.epoch for r in batch.readings if shard_of(r.page) == shard]
            self._over[shard] = max(self._over[shard], *epochs, 0)

    def may_finish(self) -> bool:
        """Whether the links of any batch are written, or may be yet."""
        return any(self._shards.may_be_written(batch.needs) for batch in self._batches)

    def complete(self) -> None:
        """Finish the batches whose links are all written: log, then answer."""
        finished = [batch for batch in self._batches if self._shards.are_written(batch.needs)]
        if not finished:
            return
        readings = [entry for batch in finished for entry in batch.readings]
        lines = self._lines.lines(readings)
        if not self._disk.attempt(partial(self._log.append, lines)):
            return
        self._batches = [batch for batch in self._batches if batch not in finished]
        if self._shows:
            _show(readings)
        for batch in finished:
            self._readers.links.written(batch.fingerprints)
            for reading in batch.robots:
                self._answer_robots(reading)
        self._answer(readings)

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def _answer_robots(self, reading: Reading) -> None:
        page = reading.page
        channel = self._shards.channel(shard_of(page))
        if channel and page.outcome != Outcome.ERR_30X:
            status = answer_status(reading.parsed.outcome, page.status)
            answer = entries.encode_robots(page.tag, status, reading.body)
            channel.send(FrameType.ROBOTS, answer, count=1)

    def _answer(self, readings: list[Reading]) -> None:
        for shard, (payload, count) in entries.answers_of(readings).items():
            channel = self._shards.channel(shard)
            if channel:
                channel.send(FrameType.PARSED, payload, count=count)
        self._store.answered(r.page.id for r in readings if self._is_heard(r.page))

    def _is_heard(self, page: Page) -> bool:
        """Whether the shard that has sent a page is there: a successor wants it again."""
        shard = shard_of(page)
        return bool(self._shards.channel(shard)) and page.epoch > self._over[shard]


def _show(readings: list[Reading]) -> None:
    """larbin's ``fetchInfo``: a line per URL."""
    lines = [
        f"{reading.parsed.outcome.label} {reading.page.url.decode('ascii', 'backslashreplace')}\n"
        for reading in readings
    ]
    try:
        sys.stdout.write("".join(lines))
        sys.stdout.flush()
    except OSError:  # hung up, or full: no reason to end a crawl
        streams.drop_output()
