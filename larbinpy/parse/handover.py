"""Pages on their way from a shard to the parsers; runs in the shard.

A page is held until its parser has answered PARSED, so that it can be sent again when the parser
dies.  A body that lies in the memory that parsers see is not sent: they are told where.  Pages go
to the parser with the fewest bytes unanswered.  Nothing here blocks: what a socket does not take
stays queued, and the credit (``held``) keeps the shard from starting more.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Final

from larbinpy._native.heldpages import PARSER_BYTES, HeldPages
from larbinpy.frames import MAX_PAYLOAD, FrameType

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy._native.bodymemory import BodyMemory
    from larbinpy._native.contents import HostContents
    from larbinpy.frames import Channel
    from larbinpy.records import FetchJob, FetchResult

__all__ = ["INLINE_BYTES", "MAX_CRASHES", "PARSER_BYTES", "Handover"]

INLINE_BYTES: Final = MAX_PAYLOAD - (1 << 17)
"""Longer headers and bodies do not go into a frame, where URLs always fit beside: such a body is
seen where it lies, or sent as a file."""
MAX_CRASHES: Final = 3


class Handover:
    """Holds pages and hands them to parsers.

    Invariant: every page given is held until it is answered; ``nbytes`` is the size of all of them.
    """

    __slots__ = ("_channels", "_directory", "_held", "_memory")

    def __init__(self, directory: Path, epoch: int, memory: BodyMemory | None = None) -> None:
        """Begin without parsers.

        Args:
            directory: where large bodies wait as unnamed files.
            memory: what parsers are to see; None: all bodies are sent.
        """
        self._directory = directory
        self._memory = memory
        self._held = HeldPages(epoch, memory)
        self._channels: dict[int, Channel] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._held

    @property
    def nbytes(self) -> int:
        """Size of all that is held."""
        return self._held.nbytes

    @property
    def pages(self) -> int:
        """Held results of queued URLs: those that are not requests for robots.txt."""
        return self._held.pages

    @property
    def near(self) -> int:
        """Pages so far that are near-duplicates."""
        return self._held.near

    def join(self, index: int, channel: Channel) -> None:
        """A parser, or the successor of one, is there."""
        self._held.join(index)
        self._channels[index] = channel
        if self._memory:
            channel.send(FrameType.MEMORY, descriptors=(self._memory.fd,))

    def leave(self, index: int) -> None:
        """A parser is gone: what it had is sent again, its attempt counted up."""
        self._channels.pop(index, None)
        self._held.leave(index)

    def give(self, result: FetchResult) -> None:
        """Take a result and send it with the next ``flush``.

        Raises:
            StorageError: a large body could not be put aside; the result was not taken.
        """
        fd = -1
        if len(result.body) + len(result.headers) > INLINE_BYTES and not self._is_seen(result):
            fd = _spool(result.body, self._directory)
        self._held.give(result, fd)

    def _is_seen(self, result: FetchResult) -> bool:
        """Whether parsers see the body where it lies."""
        return self._memory is not None and self._memory.offset_of(result.body) >= 0

    def give_all(self, results: list[FetchResult]) -> None:
        """``give`` results of at most ``INLINE_BYTES`` each, by one call."""
        self._held.give_all(results)

    def charge(self, page_id: int) -> None:
        """A parser died with this page in hand; after three times it is sent as poison, unread."""
        self._held.charge(page_id, MAX_CRASHES)

    def answered(self, page_id: int) -> FetchJob | None:
        """A parser has answered: the page is forgotten; None when it was not held."""
        found = self._held.answered(page_id)
        if found is None:
            return None
        job, fd = found
        if fd >= 0:
            os.close(fd)
        return job

    def finish(
        self, payload: bytes, count: int, *, is_plain: bool, same: HostContents | None
    ) -> tuple[list[tuple[bytes, bytes]], list[tuple[int, FetchJob]]]:
        """Take the answers of a PARSED frame: their pages are forgotten.

        Args:
            is_plain: nothing else has to be settled for pages that are done.
            same: latest contents of each host, which good pages that are plain are added to.

        Returns:
            For pages that are done, and need no more: DONE entries with the places of their URLs
            (u64 each).  For all others that were held: where their answer begins, and their job.

        Raises:
            FormatError: the entries do not fill the payload; nothing was taken.
        """
        done, others = self._held.finish(payload, count, is_plain, same)
        for _, _, fd in others:
            if fd >= 0:
                os.close(fd)
        return done, [(at, job) for at, job, _ in others]

    def flush(self) -> None:
        """Send what may be sent; call it at the end of every turn."""
        open_ = [index for index, channel in self._channels.items() if not channel.is_closed]
        for index, pieces, count, fd in self._held.frames(open_):
            descriptors = (fd,) if fd >= 0 else ()
            self._channels[index].send(
                FrameType.PAGE, *pieces, count=count, descriptors=descriptors
            )
        for channel in self._channels.values():
            if channel.pending_bytes:
                channel.flush()


def _spool(body: bytes, directory: Path) -> int:
    """Write a body to an unnamed file, in memory when the disk is full; returns its descriptor."""
    try:
        with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
            return os.dup(_written(file.fileno(), body))
    except OSError:
        return _written(os.memfd_create("body"), body)


def _written(fd: int, body: bytes) -> int:
    view = memoryview(body)
    while view:
        view = view[os.write(fd, view) :]
    return fd
