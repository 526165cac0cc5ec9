"""Frames between the processes: the bytes of ``docs/protocol.md``.

A ``Channel`` is one end of a socket: frames in, frames out, never blocking.
What the frames hold is in ``entries``; LINKS entries belong to the kernels.
"""

from __future__ import annotations

import os
import select
import socket
import struct
from array import array
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from larbinpy.errors import FormatError

MAX_PAYLOAD: Final = 1 << 20
FLAG_DESCRIPTOR: Final = 1

_HEAD: Final = struct.Struct("<IBBHI")
_MAX_DESCRIPTORS: Final = 64
_MAX_PIECES: Final = 512
"""Given to the kernel by one call; it takes 1,024 at most."""


class FrameType(IntEnum):
    """Never renumbered."""

    PAGE = 1
    WRITTEN = 2
    LINKS = 4
    PARSED = 5
    ROBOTS = 7
    MEMORY = 8
    CONTROL = 16


_ANCILLARY_BYTES: Final = socket.CMSG_SPACE(_MAX_DESCRIPTORS * 4)
_KNOWN_TYPES: Final = frozenset(FrameType)


@dataclass(slots=True)
class Frame:
    """One frame as received."""

    type: int
    count: int
    seq: int
    payload: bytes
    descriptors: list[int]
    """Owned by whoever takes the frame."""


class _Outgoing:
    """What is still to be written of a frame; its descriptors go with the first byte."""

    __slots__ = ("descriptors", "pieces", "size")

    def __init__(self, pieces: list[bytes | memoryview], size: int, fds: tuple[int, ...]) -> None:
        self.pieces = pieces
        self.size = size
        self.descriptors = fds

    def cut(self, sent: int) -> bool:
        """Forget so many bytes, fewer than there are; false when that tore a piece."""
        self.size -= sent
        at = 0
        while sent >= len(self.pieces[at]):
            sent -= len(self.pieces[at])
            at += 1
        self.pieces = [memoryview(self.pieces[at])[sent:], *self.pieces[at + 1 :]]
        return not sent


class _Begun:
    """A frame that is being received: a piece is what one call has read."""

    __slots__ = ("_head", "_pieces", "has_head", "missing")

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[bytes] = []
        self.missing = _HEAD.size
        """Bytes that the frame lacks, or its head while that is not whole."""
        self.has_head = False

    def add(self, piece: bytes) -> None:
        """Take what was read.

        Raises:
            FormatError: that is no frame.
        """
        self._pieces.append(piece)
        self.missing -= len(piece)
        if not self.missing and not self.has_head:
            self._head = _HEAD.unpack(self._whole())
            length, kind, *_ = self._head
            if length > MAX_PAYLOAD or kind not in _KNOWN_TYPES:
                raise FormatError(f"not a frame: type {kind}, {length} bytes")
            self._pieces, self.missing, self.has_head = [], length, True

    def _whole(self) -> bytes:
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def taken(self, descriptors: deque[int]) -> Frame:
        """The frame, of which nothing is missing; the next one begins."""
        _, kind, flags, count, seq = self._head
        if flags >> 1 > len(descriptors):
            raise FormatError(f"a frame of type {kind} came without its descriptors")
        payload = self._whole()
        self._begin()
        return Frame(kind, count, seq, payload, [descriptors.popleft() for _ in range(flags >> 1)])


class Channel:
    """One end of a stream socket between two processes.

    ``send`` queues, ``flush`` writes what the socket takes, ``receive`` reads what is there: none
    of them blocks.  The owner watches ``fileno()`` for reading, and for writing while
    ``pending_bytes`` is not 0.  ``is_closed`` turns true at end of file or on a broken pipe, and
    stays true.
    """

    __slots__ = ("_begun", "_descriptors", "_outbox", "_seq", "_sock", "is_closed", "pending_bytes")

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._begun = _Begun()
        self._outbox: deque[_Outgoing] = deque()
        self._descriptors: deque[int] = deque()
        self._seq = 0
        self.pending_bytes = 0
        self.is_closed = False

    def fileno(self) -> int:
        """Descriptor to watch; -1 after ``close``."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close the socket and every descriptor that nobody took."""
        self.is_closed = True
        self._sock.close()
        unsent = [fd for frame in self._outbox for fd in frame.descriptors]
        for fd in (*self._descriptors, *unsent):
            os.close(fd)
        self._descriptors.clear()
        self._outbox.clear()

    def send(
        self,
        kind: FrameType,
        *payload: bytes,
        count: int = 0,
        seq: int = 0,
        descriptors: tuple[int, ...] = (),
    ) -> int:
        """Queue a frame and return its seq.

        Args:
            payload: its pieces, which are written from where they lie.
            seq: the seq to answer (WRITTEN) or to repeat (LINKS); 0 = number the frame.
            descriptors: sent along, as duplicates: the caller may close its own at once.

        Raises:
            FormatError: the payload is over ``MAX_PAYLOAD``.
        """
        size = sum(map(len, payload))
        if size > MAX_PAYLOAD:
            raise FormatError(f"a {kind.name} frame of {size} bytes is over the limit")
        if not seq:
            self._seq += 1
            seq = self._seq
        flags = FLAG_DESCRIPTOR if descriptors else 0
        head = _HEAD.pack(size, kind, flags | len(descriptors) << 1, count, seq)
        size += len(head)
        fds = tuple(os.dup(fd) for fd in descriptors)
        self._outbox.append(_Outgoing([head, *payload], size, fds))
        self.pending_bytes += size
        return seq

    def flush(self) -> bool:
        """Write what the socket takes; true when nothing is left."""
        while self._outbox and not self.is_closed:
            try:
                sent = self._write()
            except BlockingIOError:
                return False
            except OSError:
                self.is_closed = True
                return False
            self.pending_bytes -= sent
            if not self._drop(sent):
                return False
        return not self._outbox

    def _write(self) -> int:
        """Write many frames by one call; descriptors go with the first byte of theirs."""
        data: list[bytes | memoryview] = []
        descriptors = self._outbox[0].descriptors
        for frame in self._outbox:
            if len(data) >= _MAX_PIECES or (data and frame.descriptors):
                break
            data += frame.pieces
        del data[_MAX_PIECES:]
        if not descriptors:
            return self._sock.sendmsg(data)
        sent = socket.send_fds(self._sock, data, list(descriptors))
        self._outbox[0].descriptors = ()
        for fd in descriptors:
            os.close(fd)
        return sent

    def _drop(self, sent: int) -> bool:
        """Forget what was written; false when the socket is full."""
        while sent:
            frame = self._outbox[0]
            if sent < frame.size:
                return frame.cut(sent)
            sent -= frame.size
            self._outbox.popleft()
        return True

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until something can be read; false when ``timeout_s`` ran out."""
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000))

    def receive(self) -> list[Frame]:
        """Whole frames that have arrived, in order.

        Raises:
            FormatError: the peer sent something that is not a frame; the channel is of no use.

        Cost: two system calls a frame, and no copy beside the kernel's, unless it came in pieces.
        """
        frames: list[Frame] = []
        while not self.is_closed and (frame := self._next()):
            frames.append(frame)
        return frames

    def _next(self) -> Frame | None:
        """The next frame, when all of it has arrived."""
        try:
            while self._begun.missing:
                self._read(self._begun.missing)
        except BlockingIOError:
            return None
        except OSError:
            self.is_closed = True
            return None
        return self._begun.taken(self._descriptors)

    def _read(self, size: int) -> None:
        """Read at most so many bytes of a frame; descriptors come with the first one."""
        if self._begun.has_head:
            data = self._sock.recv(size)
        else:
            data, ancillary, _, _ = self._sock.recvmsg(size, _ANCILLARY_BYTES)
            for level, kind, numbers in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self._descriptors.extend(array("i", numbers))
        if not data:
            raise ConnectionResetError
        self._begun.add(data)
