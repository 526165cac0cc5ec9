"""A parser process: pages in, links and log lines out.

It keeps nothing but its open outputs and a cache; it may die at any moment.
The way of a page here: read, store, send its links, wait until every shard has written them, write
its line in ``crawl.log``, answer PARSED.  Pages are taken in batches, and a batch waits as a whole;
other batches go on meanwhile.
"""

from __future__ import annotations

import os
import resource
import select
import socket
import sys
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from larbinpy import child, entries, streams, wiring
from larbinpy.config import from_json
from larbinpy.errors import FormatError, StorageError
from larbinpy.frames import Channel, Frame, FrameType
from larbinpy.links.sender import LinkSender
from larbinpy.parse.page import unread
from larbinpy.politeness.gate import answer_status
from larbinpy.records import ID_SHARD_SHIFT, PAGE_BODY_IN_FILE, Kind, Outcome
from larbinpy.shared import CrawlMemory, ParserWord
from larbinpy.store.crawllog import CrawlLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from larbinpy.children import Control
    from larbinpy.records import Page, Reading
    from larbinpy.wiring import Start

BATCH_PAGES: Final = 64
RETRY_S: Final = 1.0
"""When what the disk has refused is tried again."""
MAX_UNANSWERED_BYTES: Final = 4 << 20
"""With more than this on its way to the shards, no page is read: parsers wait for shards."""


@dataclass(slots=True, eq=False)
class Batch:
    """Pages that wait for the same answers."""

    readings: list[Reading] = field(default_factory=list)
    needs: dict[int, int] = field(default_factory=dict)
    """Shard -> seq of the LINKS frame that it must have written."""
    fingerprints: bytes = b""
    """Of its links."""
    robots: list[Reading] = field(default_factory=list)
    """Those that are answers to requests for robots.txt."""
    unstored: Reading | None = None
    """The last page, while the disk refuses it."""


class Parser:
    """The loop of a parser process and what it holds together."""

    def __init__(self, control: Control, start: Start, memory_fd: int) -> None:
        self._control = control
        self._start = start
        self._config = start.config
        limit_memory(start.config.parser_memory_bytes)
        memory = CrawlMemory.attach(memory_fd, start.shards, start.parsers)
        self._slot = memory.parser[start.index]
        self._poll = select.poll()
        self._poll.register(control.channel, select.POLLIN)
        self._senders = {shard: LinkSender() for shard in range(start.shards)}
        self._over = dict.fromkeys(range(start.shards), 0)
        """The last epoch of a shard that has ended with pages in work here."""
        self._backlog: list[Page] = []
        self._batches: list[Batch] = []
        self._refused: Batch | None = None
        """What was read; its last page is not stored yet, its links are not sent."""
        self._refusal = ""
        """What the disk said when it refused; while it stands, no page is read."""
        self._retry_s = 0.0
        self._links = wiring.make_links(start)
        self._pages = wiring.make_pages(start.config, memory)
        self._near = wiring.make_near(start, memory)
        self._acceptance = wiring.make_acceptance(
            start.config, lambda text: control.tell("notice", text=text)
        )
        self._make_readers()
        self._specific = wiring.specific_types(start.config)
        self._store = wiring.make_store(start)
        self._refused_directives = wiring.obeyed(start.config) & self._store.refuses
        self._log = CrawlLog(start.state / "crawl.log", start.uuid, is_trusted=start.is_trusted)
        self._lines = wiring.make_lines(start.config)
        self._is_stopping = False

    def run(self) -> None:
        """Work until told to stop, and then until nothing is left to finish."""
        self._control.tell("ready")
        while not self._has_ended():
            self.turn()
        self._store.close()
        self._log.close()

    def turn(self) -> None:
        """Wait until something can be done, and do it."""
        self._wait()
        self._hear_control()
        for shard, sender in self._senders.items():
            self._receive(shard, sender)
        self._store_refused()
        if self._backlog and self._may_read():
            self._work()
        self._complete()
        self._flush()

    def _make_readers(self) -> None:
        """Make the readers of pages, with the filter of now."""
        parts = self._links, self._pages, self._near, self._acceptance
        self._reader = wiring.make_reader(self._start, *parts)
        self._plain = wiring.make_plain(self._start, *parts)

    def _has_ended(self) -> bool:
        """Nothing is left that can be finished.

        The supervisor stops shards first: what waits for an answer of theirs waits in vain, and so
        does what a disk refuses to take.
        """
        if not self._is_stopping or self._backlog:
            return False
        return bool(self._refusal) or not (
            any(map(self._may_finish, self._batches)) or self._refused
        )

    def _may_finish(self, batch: Batch) -> bool:
        return self._is_written(batch) or all(self._senders[shard].channel for shard in batch.needs)

    # --- sockets ---------------------------------------------------------------------------

    def _channels(self) -> list[Channel]:
        return [sender.channel for sender in self._senders.values() if sender.channel]

    def _may_read(self) -> bool:
        senders = self._senders.values()
        return not self._refusal and all(
            sender.unanswered_bytes < MAX_UNANSWERED_BYTES for sender in senders
        )

    def _wait(self) -> None:
        """Sleep until something can be done."""
        full = [channel for channel in self._channels() if channel.pending_bytes]
        for channel in full:
            self._poll.modify(channel, select.POLLIN | select.POLLOUT)
        is_busy = self._control.is_heard or (self._backlog and self._may_read())
        idle_ms = RETRY_S * 1000 if self._refusal else None
        for fd, events in self._poll.poll(0 if is_busy else idle_ms):
            if fd == self._control.channel.fileno():
                self._control.heard(events)
        for channel in full:
            self._poll.modify(channel, select.POLLIN)

    def _hear_control(self) -> None:
        if not self._control.is_heard:
            return
        for message, descriptors in self._control.messages():
            match message["verb"]:
                case "peer":
                    self._join(message["index"], descriptors[0])
                case "sites":
                    self._make_filter()
                case "config":
                    self._config = from_json(message["config"])
                    self._start = replace(self._start, config=self._config)
                    self._make_filter()
                case "stop":
                    self._is_stopping = True

    def _make_filter(self) -> None:
        """Begin to judge links by other sites, or by another configuration."""
        self._links = wiring.make_links(self._start)
        self._make_readers()

    def _join(self, shard: int, fd: int) -> None:
        """A shard, or the successor of one, is there."""
        if self._senders[shard].channel:
            self._leave(shard)
        channel = Channel(socket.socket(fileno=fd))
        self._senders[shard].join(channel)
        self._poll.register(channel, select.POLLIN)

    def _leave(self, shard: int) -> None:
        """A shard is gone: its successor has written nothing yet, and its pages are not wanted."""
        channel = self._senders[shard].channel
        if channel:
            self._poll.unregister(channel)
        self._senders[shard].leave()
        self._links.forget(shard)
        self._store.left(shard)
        batch = self._refused
        for one in (*self._batches, *([batch] if batch else [])):
            epochs = [
                reading.page.epoch
                for reading in one.readings
                if reading.page.id >> ID_SHARD_SHIFT == shard
            ]
            self._over[shard] = max(self._over[shard], *epochs, 0)
        if batch and batch.unstored and batch.unstored.page.id >> ID_SHARD_SHIFT == shard:
            batch.unstored = None
            batch.readings.pop()
        self._backlog = [p for p in self._backlog if p.id >> ID_SHARD_SHIFT != shard]

    def _receive(self, shard: int, sender: LinkSender) -> None:
        if sender.channel is None:
            return
        for frame in sender.channel.receive():
            if frame.type == FrameType.PAGE:
                self._backlog.extend(_pages_of(frame))
            elif frame.type == FrameType.WRITTEN:
                sender.answered(frame.seq)
            else:
                raise FormatError(f"shard {shard} sent a frame of type {frame.type}")
        if sender.channel.is_closed:
            self._leave(shard)

    def _flush(self) -> None:
        for channel in self._channels():
            if channel.pending_bytes:
                channel.flush()

    # --- pages -----------------------------------------------------------------------------

    def _work(self) -> None:
        """Read a batch of pages, store them, send their links."""
        batch = Batch()
        pages = self._backlog[:BATCH_PAGES]
        self._read_all(pages, batch)
        del self._backlog[: len(batch.readings)]
        self._slot.end()
        self._slot.words.add(ParserWord.PAGES, len(batch.readings))
        if batch.unstored:
            self._refused = batch
        else:
            self._send(batch)

    def _read_all(self, pages: list[Page], batch: Batch) -> None:
        """Read pages until one cannot be stored.

        Where pages are stored, that is done before the next one is in hand; where none are, no
        Python runs between those that are plain.
        """
        put = partial(self._put, batch)
        readings = batch.readings
        keeps = self._store.keeps
        most = 1 if keeps else BATCH_PAGES
        while len(readings) < len(pages):
            if not (self._plain and self._plain.read_run(pages, readings, self._slot, most)):
                self._read(pages[len(readings)], batch)
            if keeps and self._is_wanted(readings[-1]):
                batch.unstored = readings[-1]
                if not self._attempt(put):
                    return

    def _store_refused(self) -> None:
        """Try again to store the page that the disk refused; then its batch goes on."""
        batch = self._refused
        if batch and self._attempt(partial(self._put, batch)):
            self._refused = None
            self._send(batch)

    def _put(self, batch: Batch) -> None:
        """Store the last page of a batch, if that has not been done."""
        reading = batch.unstored
        if reading:
            self._slot.store()
            self._store.put(reading.page, reading.body, reading.mime)
        batch.unstored = None

    def _send(self, batch: Batch) -> None:
        """Send the links of all pages of a batch."""
        groups, batch.fingerprints = entries.groups_of(batch.readings, self._start.shards)
        batch.needs = {
            shard: self._senders[shard].send(part) for shard, part in enumerate(groups) if part
        }
        self._batches.append(batch)

    def _attempt(self, work: Callable[[], None]) -> bool:
        """Do what the disk may refuse, but only once a second while it does."""
        now_s = time.monotonic()
        if self._refusal and now_s < self._retry_s:
            return False
        text = ""
        try:
            work()
        except StorageError as error:
            self._retry_s = now_s + RETRY_S
            text = str(error)
        if text != self._refusal:
            self._refusal = text
            self._control.tell("refused", text=text)
        return not text

    def _read(self, page: Page, batch: Batch) -> None:
        """Read a page that is not plain."""
        self._slot.begin(page.id, time.monotonic_ns())
        if page.kind == Kind.RETRY:
            reading = unread(page)
        elif page.kind == Kind.ROBOTS:
            reading = self._reader.read_robots(page)
            batch.robots.append(reading)
        else:
            reading = self._reader.read(page)
        batch.readings.append(reading)

    def _is_wanted(self, reading: Reading) -> bool:
        """Whether a page goes to the output: by its type (``specificSearch``), if it allows it."""
        if not reading.is_good or reading.page.kind in (Kind.ROBOTS, Kind.RETRY):
            return False
        asked = reading.parsed.directives
        if asked and asked & self._refused_directives:
            return False
        return not self._specific or reading.mime in self._specific

    def _answer_robots(self, reading: Reading) -> None:
        page = reading.page
        channel = self._senders[page.id >> ID_SHARD_SHIFT].channel
        if channel and page.outcome != Outcome.ERR_30X:
            status = answer_status(reading.parsed.outcome, page.status)
            answer = entries.encode_robots(page.tag, status, reading.body)
            channel.send(FrameType.ROBOTS, answer, count=1)

    # --- completion ------------------------------------------------------------------------

    def _complete(self) -> None:
        """Finish the batches whose links are all written: log, then answer."""
        finished = [batch for batch in self._batches if self._is_written(batch)]
        if not finished:
            return
        readings = [entry for batch in finished for entry in batch.readings]
        lines = self._lines.lines(readings)
        if not self._attempt(partial(self._log.append, lines)):
            return
        self._batches = [batch for batch in self._batches if batch not in finished]
        if self._config.fetch_info:
            _show(readings)
        for batch in finished:
            self._links.written(batch.fingerprints)
            for reading in batch.robots:
                self._answer_robots(reading)
        self._answer(readings)

    def _is_written(self, batch: Batch) -> bool:
        return all(self._senders[shard].written >= seq for shard, seq in batch.needs.items())

    def _answer(self, readings: list[Reading]) -> None:
        for shard, (payload, count) in entries.answers_of(readings).items():
            channel = self._senders[shard].channel
            if channel:
                channel.send(FrameType.PARSED, payload, count=count)
        self._store.answered(r.page.id for r in readings if self._is_heard(r.page))

    def _is_heard(self, page: Page) -> bool:
        """Whether the shard that has sent a page is there: a successor wants it again."""
        shard = page.id >> ID_SHARD_SHIFT
        return bool(self._senders[shard].channel) and page.epoch > self._over[shard]


def limit_memory(size: int) -> None:
    """Let this process have so much memory of its own; what asks for more gets MemoryError.

    The limit is that of data (brk and private mappings): code and shared memory do not count.
    A page that needs more brings the parser down, and is blamed for it like for any other death.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _pages_of(frame: Frame) -> list[Page]:
    pages = entries.decode_pages(frame.payload, frame.count)
    for page, fd in zip(pages, frame.descriptors, strict=False):
        if page.flags & PAGE_BODY_IN_FILE:
            page.body = os.pread(fd, os.fstat(fd).st_size, 0)
        os.close(fd)
    return pages


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


if __name__ == "__main__":
    child.main(Parser)
