"""A parser's loop: frames come in, batches go their way, frames go out."""

from __future__ import annotations

import resource
import select
from dataclasses import replace
from typing import TYPE_CHECKING

from larbinpy import wiring
from larbinpy.config import from_json
from larbinpy.errors import FormatError
from larbinpy.frames import FrameType
from larbinpy.parser.backlog import Backlog
from larbinpy.parser.disk import RETRY_S, Disk
from larbinpy.parser.readers import Readers
from larbinpy.parser.shards import Shards
from larbinpy.parser.unfinished import Unfinished
from larbinpy.shared import CrawlMemory

if TYPE_CHECKING:
    from larbinpy.children import Control
    from larbinpy.wiring import Start


class Parser:
    """The loop of a parser process and what it holds together."""

    def __init__(self, control: Control, start: Start, memory_fd: int) -> None:
        self._control = control
        self._start = start
        limit_memory(start.config.parser_memory_bytes)
        memory = CrawlMemory.attach(memory_fd, start.shards, start.parsers)
        slot = memory.parser[start.index]
        self._poll = select.poll()
        self._poll.register(control.channel, select.POLLIN)
        self._shards = Shards(start.shards, self._poll)
        self._store = wiring.make_store(start)
        self._disk = Disk(lambda text: control.tell("refused", text=text))
        self._readers = Readers(start, memory, slot, lambda text: control.tell("notice", text=text))
        self._backlog = Backlog(start, slot, self._readers, self._store, self._disk)
        self._unfinished = Unfinished(start, self._shards, self._readers, self._store, self._disk)
        self._is_stopping = False

    def run(self) -> None:
        """Work until told to stop, and then until nothing is left to finish."""
        self._control.tell("ready")
        while not self._has_ended():
            self.turn()
        self._store.close()
        self._unfinished.close()

    def turn(self) -> None:
        """Wait until something can be done, and do it."""
        self._wait()
        self._hear_control()
        for shard in self._shards:
            self._receive(shard)
        if batch := self._backlog.stored():
            self._unfinished.add(batch)
        if self._may_read() and (batch := self._backlog.read()):
            self._unfinished.add(batch)
        self._unfinished.complete()
        self._shards.flush()

    def _may_read(self) -> bool:
        return bool(len(self._backlog)) and not self._disk.refusal and self._shards.may_send()

    def _has_ended(self) -> bool:
        """Nothing is left that can be finished.

        The supervisor stops shards first: what waits for an answer of theirs waits in vain, and so
        does what a disk refuses to take.
        """
        if not self._is_stopping or len(self._backlog):
            return False
        return bool(self._disk.refusal) or not (
            self._unfinished.may_finish() or self._backlog.refused
        )

    def _wait(self) -> None:
        """Sleep until something can be done."""
        full = [channel for channel in self._shards.channels() if channel.pending_bytes]
        for channel in full:
            self._poll.modify(channel, select.POLLIN | select.POLLOUT)
        is_busy = self._control.is_heard or self._may_read()
        idle_ms = RETRY_S * 1000 if self._disk.refusal else None
        for fd, events in self._poll.poll(0 if is_busy else idle_ms):
            if fd == self._control.channel.fileno():
                self._control.heard(events)
        for channel in full:
            self._poll.modify(channel, select.POLLIN)

    # --- the supervisor ----------------------------------------------------------------------

    def _hear_control(self) -> None:
        if not self._control.is_heard:
            return
        for message, descriptors in self._control.messages():
            match message["verb"]:
                case "peer":
                    self._join(message["index"], descriptors[0])
                case "sites":
                    self._readers.make(self._start)
                case "config":
                    self._start = replace(self._start, config=from_json(message["config"]))
                    self._readers.make(self._start)
                    self._unfinished.change(self._start)
                case "stop":
                    self._is_stopping = True

    # --- the shards --------------------------------------------------------------------------

    def _join(self, shard: int, fd: int) -> None:
        """A shard, or the successor of one, is there."""
        if self._shards.channel(shard):
            self._leave(shard)
        self._shards.join(shard, fd)

    def _leave(self, shard: int) -> None:
        """A shard is gone: its successor has written nothing yet, and its pages are not wanted."""
        self._shards.leave(shard)
        self._readers.links.forget(shard)
        self._store.left(shard)
        self._unfinished.left(shard, self._backlog.refused)
        self._backlog.left(shard)

    def _receive(self, shard: int) -> None:
        channel = self._shards.channel(shard)
        if channel is None:
            return
        for frame in self._shards.received(shard):
            if frame.type != FrameType.PAGE:
                raise FormatError(f"shard {shard} sent a frame of type {frame.type}")
            self._backlog.add(frame, self._shards.memory(shard))
        if channel.is_closed:
            self._leave(shard)


def limit_memory(size: int) -> None:
    """Let this process have so much memory of its own; what asks for more gets MemoryError.

    The limit is that of data (brk and private mappings): code and shared memory do not count.
    A page that needs more brings the parser down, and is blamed for it like for any other death.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
