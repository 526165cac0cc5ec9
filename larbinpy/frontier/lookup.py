"""URLs and records by their positions, written or still in the buffer of the newest segment."""

from __future__ import annotations

import os
from array import array
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import Codec, window
from larbinpy.errors import FormatError
from larbinpy.frontier.disk import storage_errors
from larbinpy.frontier.segment import OFFSET_MASK, SEGMENT_SHIFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from larbinpy.frontier.payloads import LoggedUrl
    from larbinpy.frontier.shelf import Shelf
    from larbinpy.frontier.writer import SegmentWriter

RECORD_BYTES: Final = 65_560
"""The largest record, padding included."""
SPARSE_BYTES: Final = 2048
"""Records that lie nearer to each other than this are read by one call."""


class Lookup:
    """Reads the log at any place; ``writer`` is the newest segment, set by the log."""

    __slots__ = ("_shelf", "_uuid", "writer")

    def __init__(self, uuid: bytes, shelf: Shelf, writer: SegmentWriter) -> None:
        self._uuid = uuid
        self._shelf = shelf
        self.writer = writer

    def urls(self, places: Sequence[int]) -> list[LoggedUrl]:
        """The URLs whose records lie at these positions, in this order.

        Raises:
            StorageError: a position is not in the log, or the disk refused.
            FormatError: a record has become damaged.
        """
        found: list[LoggedUrl] = []
        ordered = memoryview(array("Q", places))
        start = 0
        while start < len(ordered):
            number, end = ordered[start] >> SEGMENT_SHIFT, start + 1
            while end < len(ordered) and ordered[end] >> SEGMENT_SHIFT == number:
                end += 1
            found += self._run(number, ordered[start:end])
            start = end
        return found

    def _run(self, number: int, places: memoryview) -> list[LoggedUrl]:
        """URLs of one segment; the places may jump back and forth."""
        codec = Codec(self._uuid, number)
        urls: list[LoggedUrl] = []
        writer = self.writer
        try:
            if number == writer.number and max(places) & OFFSET_MASK >= writer.written_end:
                return [self._one(codec, place) for place in places]
            fd = self._shelf.descriptor(number)
            span = places[-1] - places[0]
            if len(places) > 1 and 0 < span <= SPARSE_BYTES * len(places):
                data = self.raw(number, places[0] & OFFSET_MASK, span + SPARSE_BYTES)
                offsets = window(data, places[0], places, 0)
                urls = codec.decode_urls(data, offsets)
            rest = array("I", (place & OFFSET_MASK for place in places[len(urls) :]))
            return urls + codec.read_urls(fd, rest.tobytes())
        except ValueError as error:
            raise FormatError(f"{self._shelf.segments[number].path}: {error}") from error

    def _one(self, codec: Codec, place: int) -> LoggedUrl:
        data = self.raw(place >> SEGMENT_SHIFT, place & OFFSET_MASK, RECORD_BYTES)
        return codec.decode_urls(data, bytes(4))[0]

    def record(self, place: int) -> tuple[int, int, bytes]:
        """Type, lsn and payload of the record at a position; raises as ``urls`` does."""
        number = place >> SEGMENT_SHIFT
        data = self.raw(number, place & OFFSET_MASK, RECORD_BYTES)
        try:
            return Codec(self._uuid, number).record(data, 0)
        except ValueError as error:
            raise FormatError(f"{self._shelf.segments[number].path}: {error}") from error

    def raw(self, number: int, offset: int, size: int) -> bytes:
        """At most ``size`` bytes of a segment from ``offset`` on, written or not."""
        writer = self.writer
        if number == writer.number and offset >= writer.written_end:
            start = offset - writer.written_end
            return bytes(writer.buffer[start : start + size])
        fd = self._shelf.descriptor(number)
        with storage_errors(self._shelf.segments[number].path):
            return os.pread(fd, size, offset)
