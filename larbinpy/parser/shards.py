"""The sockets of a parser to the shards: pages come, links and answers go."""

from __future__ import annotations

import mmap
import os
import select
import socket
from typing import TYPE_CHECKING, Final

from larbinpy.errors import FormatError, StorageError
from larbinpy.frames import Channel, Frame, FrameType
from larbinpy.links.sender import LinkSender

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_UNANSWERED_BYTES: Final = 4 << 20
"""With more than this on its way to a shard, no page is read: parsers wait for shards."""
NO_MEMORY: Final = memoryview(b"")


class Shards:
    """The shards that are there, and what each has written of the links sent to it.

    Args of ``__init__``:
        count: shards of the crawl.
        poll: gets the sockets, for reading.
    """

    __slots__ = ("_memories", "_poll", "_senders")

    def __init__(self, count: int, poll: select.poll) -> None:
        self._poll = poll
        self._memories: dict[int, memoryview] = {}
        self._senders = {shard: LinkSender() for shard in range(count)}

    def __len__(self) -> int:
        return len(self._senders)

    def __iter__(self) -> Iterator[int]:
        return iter(self._senders)

    def join(self, shard: int, fd: int) -> None:
        """A shard is there."""
        channel = Channel(socket.socket(fileno=fd))
        self._senders[shard].join(channel)
        self._poll.register(channel, select.POLLIN)

    def leave(self, shard: int) -> None:
        """A shard is gone."""
        channel = self._senders[shard].channel
        if channel:
            self._poll.unregister(channel)
        self._senders[shard].leave()
        self._memories.pop(shard, None)

    def channel(self, shard: int) -> Channel | None:
        """The socket to a shard that is there."""
        return self._senders[shard].channel

    def channels(self) -> list[Channel]:
        """The sockets to all that are there."""
        return [sender.channel for sender in self._senders.values() if sender.channel]

    def memory(self, shard: int) -> memoryview:
        """Where a shard keeps the bodies that it does not send; empty when it sends all."""
        return self._memories.get(shard, NO_MEMORY)

    def received(self, shard: int) -> list[Frame]:
        """Frames that a shard has sent, but for those that answer links or bring its memory."""
        frames = []
        sender = self._senders[shard]
        for frame in sender.channel.receive() if sender.channel else ():
            if frame.type == FrameType.WRITTEN:
                sender.answered(frame.seq)
            elif frame.type == FrameType.MEMORY:
                self._memories[shard] = _mapped(frame)
            else:
                frames.append(frame)
        return frames

    def flush(self) -> None:
        """Write what the sockets take."""
        for channel in self.channels():
            if channel.pending_bytes:
                channel.flush()

    # --- links -------------------------------------------------------------------------------

    def may_send(self) -> bool:
        """Whether no shard has too much to answer."""
        return all(s.unanswered_bytes < MAX_UNANSWERED_BYTES for s in self._senders.values())

    def send(self, groups: Iterable[list[bytes]]) -> dict[int, int]:
        """Send groups of links, a list for each shard; returns what ``are_written`` needs."""
        return {shard: self._senders[shard].send(part) for shard, part in enumerate(groups) if part}

    def are_written(self, needs: dict[int, int]) -> bool:
        """Whether links stand in the logs of their shards."""
        return all(self._senders[shard].written >= seq for shard, seq in needs.items())

    def may_be_written(self, needs: dict[int, int]) -> bool:
        """Whether they do, or their shards are there to write them."""
        return self.are_written(needs) or all(self._senders[shard].channel for shard in needs)


def _mapped(frame: Frame) -> memoryview:
    """The memory whose descriptor a frame brings, for reading; mapped while a view of it lives.

    Raises:
        StorageError: the system maps no more.
    """
    if len(frame.descriptors) != 1:
        raise FormatError("a MEMORY frame has one descriptor")
    fd = frame.descriptors.pop()
    try:
        return memoryview(mmap.mmap(fd, 0, prot=mmap.PROT_READ))
    except OSError as error:
        raise StorageError(f"the memory of a shard cannot be mapped: {error.strerror}") from error
    finally:
        os.close(fd)
