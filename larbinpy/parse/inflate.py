"""Decompressors of one kind of interface, and how to feed them what the web sends.

Feeding is linear in input and output: pieces start small and double, so that what a decompressor
hands back as unused is never more than what it has used, and nothing grows past ``room``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import brotli
import zstandard
from isal import igzip_lib, isal_zlib

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_PIECE_BYTES: Final = 4096
CAREFUL_BYTES: Final = 64
"""Pieces of this size are fed where larger ones broke, so that little is lost."""

ZSTD_PIECE_BYTES: Final = 1024
"""A block of 4 bytes may stand for 128 KiB and cannot be stopped: at most 32 MiB a piece."""

ZSTD_WINDOW_BYTES: Final = 1 << 23
"""What a decoder must support, by RFC 9659; more is refused."""

UNBOUNDED: Final = 1 << 30
"""Room for output that is known to be small enough, because it was made before."""

_ISAL_ERROR: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]  # its stub errs
ERRORS: Final = (_ISAL_ERROR, brotli.error, zstandard.ZstdError)


class Stream(Protocol):
    """One compressed stream."""

    def feed(self, piece: bytes, room: int) -> bytes:
        """Decompress more; about ``room`` bytes end it, with ``is_done`` still false.

        Raises one of ``ERRORS``.
        """
        ...

    @property
    def is_done(self) -> bool:
        """Whether the end of the stream was seen."""
        ...

    @property
    def unused(self) -> int:
        """Bytes of the last piece behind the end of the stream."""
        ...


class Inflate:
    """Raw deflate: the caller reads heads and checks sums, so that a wrong sum loses nothing."""

    __slots__ = ("_stream",)

    def __init__(self) -> None:
        self._stream = isal_zlib.decompressobj(-15)

    def feed(self, piece: bytes, room: int) -> bytes:
        """See ``Stream``."""
        return self._stream.decompress(piece, room)

    @property
    def is_done(self) -> bool:
        """See ``Stream``."""
        return self._stream.eof

    @property
    def unused(self) -> int:
        """See ``Stream``."""
        return len(self._stream.unused_data)


class Brotli:
    """Brotli, RFC 7932."""

    __slots__ = ("_stream",)

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, piece: bytes, room: int) -> bytes:
        """See ``Stream``."""
        found: bytes = self._stream.process(piece, output_buffer_limit=room)
        parts = [found]
        room -= len(found)
        while room > 0 and not self._stream.can_accept_more_data():
            found = self._stream.process(b"", output_buffer_limit=room)
            parts.append(found)
            room -= len(found)
        return b"".join(parts)

    @property
    def is_done(self) -> bool:
        """See ``Stream``."""
        return bool(self._stream.is_finished())

    @property
    def unused(self) -> int:
        """See ``Stream``; nobody asks, as only one stream is read."""
        return 0


class Zstd:
    """One frame of Zstandard, RFC 8878."""

    __slots__ = ("_left", "_stream")

    def __init__(self) -> None:
        context = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
        self._stream = context.decompressobj()
        self._left = 0

    def feed(self, piece: bytes, room: int) -> bytes:
        """See ``Stream``."""
        parts = []
        at = 0
        while at < len(piece) and room > 0 and not self._stream.eof:
            found = self._stream.decompress(piece[at : at + ZSTD_PIECE_BYTES])
            parts.append(found)
            room -= len(found)
            at = min(at + ZSTD_PIECE_BYTES, len(piece))
        self._left = len(piece) - at
        return b"".join(parts)

    @property
    def is_done(self) -> bool:
        """See ``Stream``."""
        return self._stream.eof

    @property
    def unused(self) -> int:
        """See ``Stream``."""
        return self._left + len(self._stream.unused_data)


@dataclass(slots=True)
class Run:
    """What one stream gave."""

    body: bytes
    end: int
    """Where the stream ended in the input, if it did."""
    is_done: bool
    is_too_big: bool
    """More than ``room``: the body is cut there."""


def run(make: Callable[[], Stream], data: bytes, at: int, room: int) -> Run:
    """Decompress the stream that begins at ``at``; what a broken one gave is kept.

    Cost: O(input read + output); memory besides the output is a few pieces.
    """
    stream = make()
    parts: list[bytes] = []
    start = at
    size = FIRST_PIECE_BYTES
    total = 0
    is_done = False
    while at < len(data) and total <= room and not is_done:
        piece = data[at : at + size]
        try:
            found = stream.feed(piece, room + 1 - total)
            is_done = stream.is_done
        except ERRORS:
            found = _carefully(make(), data[start:at], piece, room + 1 - total)
            piece = data[at:]  # a broken stream cannot be read on
        parts.append(found)
        total += len(found)
        at += len(piece)
        size *= 2
    end = at - stream.unused if is_done else len(data)
    return Run(b"".join(parts)[:room], end, is_done and total <= room, total > room)


def _carefully(stream: Stream, good: bytes, broken: bytes, room: int) -> bytes:
    """Feed again what went well, then the piece that did not, in small steps up to the error."""
    parts = []
    try:
        for at in range(0, len(good), FIRST_PIECE_BYTES):
            stream.feed(good[at : at + FIRST_PIECE_BYTES], UNBOUNDED)
        for at in range(0, len(broken), CAREFUL_BYTES):
            found = stream.feed(broken[at : at + CAREFUL_BYTES], room)
            parts.append(found)
            room -= len(found)
            if room <= 0:
                break
    except ERRORS:
        pass
    return b"".join(parts)
