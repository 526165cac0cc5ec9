"""Pages on their way from a shard to the parsers; runs in the shard.

A page is held until its parser has answered PARSED, so that it can be sent again when the parser
dies. Pages go to the parser with the fewest bytes unanswered.  Nothing here blocks: what a socket
does not take stays queued, and the credit (``held``) keeps the shard from starting more.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Final

from larbinpy.entries import ATTEMPT_OFFSET, OUTCOME_OFFSET, encode_result
from larbinpy.frames import MAX_PAYLOAD, FrameType
from larbinpy.records import ID_WITHOUT_ENQ, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frames import Channel
    from larbinpy.records import FetchJob, FetchResult

BATCH_BYTES: Final = 1 << 16
PARSER_BYTES: Final = 8 << 20
"""Unanswered bytes that one parser may have."""
_INLINE_BYTES: Final = MAX_PAYLOAD - (1 << 17)
"""Longer entries send their body as a file: headers and URLs always fit beside it."""
_OVERHEAD_BYTES: Final = 256
"""What a held page costs beside its body and headers, about."""
MAX_CRASHES: Final = 3


class _Held:
    """A page that no parser has answered for."""

    __slots__ = ("crashes", "entry", "fd", "job", "parser", "size")

    def __init__(self, job: FetchJob, entry: bytes, fd: int, size: int) -> None:
        self.job = job
        self.entry = entry
        self.fd = fd
        self.size = size
        self.parser = -1
        self.crashes = 0


class _Peer:
    """A parser, as the shard sees it."""

    __slots__ = ("batch", "batch_bytes", "channel", "unanswered_bytes")

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.batch: list[bytes] = []
        self.batch_bytes = 0
        self.unanswered_bytes = 0


class Handover:
    """Holds pages and hands them to parsers.

    Invariant: every page given is in ``_held`` until ``answered``; ``bytes`` is their size.
    """

    __slots__ = ("_directory", "_epoch", "_held", "_peers", "_unsent", "bytes", "pages")

    def __init__(self, directory: Path, epoch: int) -> None:
        """``directory``: where large bodies wait as unnamed files."""
        self._directory = directory
        self._epoch = epoch
        self._held: dict[int, _Held] = {}
        self._peers: dict[int, _Peer] = {}
        self._unsent: list[int] = []
        self.bytes = 0
        self.pages = 0
        """Held results of queued URLs: those that are not requests for robots.txt."""

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._held

    def join(self, index: int, channel: Channel) -> None:
        """A parser, or the successor of one, is there."""
        self._peers[index] = _Peer(channel)

    def leave(self, index: int) -> None:
        """A parser is gone: what it had is sent again, its attempt counted up."""
        self._peers.pop(index, None)
        for page_id, held in self._held.items():
            if held.parser == index:
                attempt = min(held.entry[ATTEMPT_OFFSET] + 1, 255)
                held.entry = _patch(held.entry, ATTEMPT_OFFSET, attempt)
                held.parser = -1
                self._unsent.append(page_id)

    def give(self, result: FetchResult) -> None:
        """Take a result and send it with the next ``flush``.

        Raises:
            StorageError: a large body could not be put aside; the result was not taken.
        """
        page_id = result.job.id
        size = len(result.body) + len(result.headers) + _OVERHEAD_BYTES
        fd = -1
        if size > _INLINE_BYTES:
            fd = _spool(result.body, self._directory)
        entry = encode_result(result, self._epoch, is_body_in_file=fd >= 0)
        self._held[page_id] = _Held(result.job, entry, fd, size)
        self.bytes += size
        self.pages += not page_id & ID_WITHOUT_ENQ
        self._unsent.append(page_id)

    def charge(self, page_id: int) -> None:
        """A parser died with this page in hand; after three times it is sent as poison, unread."""
        held = self._held.get(page_id)
        if held is None:
            return
        held.crashes += 1
        if held.crashes >= MAX_CRASHES:
            held.entry = _patch(held.entry, OUTCOME_OFFSET, Outcome.POISON)

    def answered(self, page_id: int) -> FetchJob | None:
        """A parser has answered: the page is forgotten; None when it was not held."""
        held = self._held.pop(page_id, None)
        if held is None:
            return None
        self.bytes -= held.size
        self.pages -= not page_id & ID_WITHOUT_ENQ
        peer = self._peers.get(held.parser)
        if peer:
            peer.unanswered_bytes -= held.size
        if held.fd >= 0:
            os.close(held.fd)
        return held.job

    def flush(self) -> None:
        """Send what may be sent; call it at the end of every turn."""
        if self._unsent:
            self._assign()
        for peer in self._peers.values():
            if peer.batch:
                _send_batch(peer)
            if peer.channel.pending_bytes:
                peer.channel.flush()

    def _assign(self) -> None:
        waiting, self._unsent = self._unsent, []
        for at, page_id in enumerate(waiting):
            held = self._held.get(page_id)
            if held is None or held.parser >= 0:
                continue
            index = self._least_loaded()
            if index < 0:
                self._unsent = waiting[at:]
                return
            held.parser = index
            self._put(self._peers[index], held)

    def _least_loaded(self) -> int:
        best, best_bytes = -1, PARSER_BYTES
        for index, peer in self._peers.items():
            if peer.unanswered_bytes < best_bytes and not peer.channel.is_closed:
                best, best_bytes = index, peer.unanswered_bytes
        return best

    def _put(self, peer: _Peer, held: _Held) -> None:
        peer.unanswered_bytes += held.size
        if held.fd >= 0:
            _send_batch(peer)
            peer.channel.send(FrameType.PAGE, held.entry, count=1, descriptors=(held.fd,))
            return
        if peer.batch_bytes + len(held.entry) > MAX_PAYLOAD:
            _send_batch(peer)
        peer.batch.append(held.entry)
        peer.batch_bytes += len(held.entry)
        if peer.batch_bytes >= BATCH_BYTES:
            _send_batch(peer)


def _send_batch(peer: _Peer) -> None:
    if peer.batch:
        peer.channel.send(FrameType.PAGE, b"".join(peer.batch), count=len(peer.batch))
        peer.batch.clear()
        peer.batch_bytes = 0


def _patch(entry: bytes, offset: int, value: int) -> bytes:
    return b"%b%c%b" % (entry[:offset], value, entry[offset + 1 :])


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
