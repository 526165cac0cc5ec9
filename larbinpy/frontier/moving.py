"""Which URLs are written again elsewhere: survivors of old segments, and what failed to be synced.

The log gives up its oldest segment first, so one URL that waits for long keeps everything behind
it.  When little of that segment is live, or the log is mostly dead, its survivors are moved.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from larbinpy._native.logcodec import Codec
from larbinpy.frontier.payloads import RecordType, pack_move, unpack_move
from larbinpy.frontier.segment import HEADER_BYTES, SEGMENT_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from larbinpy.frontier.shelf import Shelf
    from larbinpy.frontier.tail import Tail
    from larbinpy.frontier.writer import Chunk

MOVES: Final = 1000
"""URLs moved by one call of ``compact``: 10 to 20 ms."""
SPARSE: Final = 0.05
"""An oldest segment of which less is live is given up."""
DEAD: Final = 2
"""So is the oldest one of a log that is so many times larger than what is live in it,"""
SPARE_SEGMENTS: Final = 2
"""and by so many segments."""
GUESSED_BYTES: Final = 160
HEAD_BYTES: Final = 24
"""Of a record beside its payload, padding included."""
SAMPLE: Final = 64
"""Waiting records that are looked at to learn their size."""


@dataclass(slots=True)
class RecordSize:
    """Mean size of the records of URLs, as far as this process has written or sampled them."""

    _bytes: int = 0
    _count: int = 0

    def add(self, size: int, count: int) -> None:
        """Take more records into account."""
        self._bytes += size
        self._count += count

    @property
    def mean(self) -> float:
        """Bytes of one."""
        return self._bytes / self._count if self._count else GUESSED_BYTES


def is_worth_moving(
    *, segment_bytes: int, segment_live: float, log_bytes: int, log_live: float
) -> bool:
    """Whether the survivors of a log's oldest segment should be moved; all in bytes."""
    if segment_live < SPARSE * segment_bytes:
        return True
    return log_bytes > DEAD * log_live + SPARE_SEGMENTS * segment_bytes


@dataclass(slots=True)
class Salvage:
    """What must be written again of records that may have been lost."""

    urls: list[tuple[int, int, bytes]] = field(default_factory=list)
    """Position, id and ENQ payload of URLs, in their order; some may be done."""
    others: list[tuple[RecordType, bytes]] = field(default_factory=list)
    """RETRY and HOST records."""


def salvage(chunks: Iterable[Chunk], uuid: bytes) -> Salvage:
    """Go through written bytes. DONEs are left out: in doubt a page is fetched again."""
    found = Salvage()
    for chunk in chunks:
        codec = Codec(uuid, chunk.segment)
        run = codec.scan(chunk.data, 0 if chunk.offset else HEADER_BYTES, 0)
        base = chunk.segment << SEGMENT_SHIFT | chunk.offset
        for at in memoryview(run.offsets).cast("I"):
            kind, lsn, payload = codec.record(chunk.data, at)
            if kind == RecordType.ENQ:
                found.urls.append((base + at, lsn, payload))
            elif kind == RecordType.MOVE:
                found.urls.append((base + at, *unpack_move(payload)))
            elif kind in (RecordType.RETRY, RecordType.HOST):
                found.others.append((RecordType(kind), payload))
    return found


class Mover:
    """Writes waiting URLs again at the end of the log; their positions stay good."""

    __slots__ = ("_shelf", "_tail", "record")

    def __init__(self, tail: Tail, shelf: Shelf) -> None:
        self._tail = tail
        self._shelf = shelf
        self.record = RecordSize()

    def sample(self, waiting: bytes) -> None:
        """Learn the size of records from a few of those at these positions (u64 each).

        Raises:
            StorageError, FormatError: one cannot be read.
        """
        places = memoryview(waiting).cast("Q")
        for place in places[:: max(len(places) // SAMPLE, 1)]:
            self.record.add(len(self._tail.lookup.record(place)[2]) + HEAD_BYTES, 1)

    def move(self, place: int, attempts: int | None = None) -> None:
        """Move the URL of a position.

        Args:
            attempts: requests so far; None = as many as its record says.

        Raises:
            StorageError: no URL is there, or the disk refused; it was not moved.
            FormatError: its record has become damaged.
        """
        ordered = array("Q", (place,))
        self._shelf.check(ordered)
        now = int.from_bytes(self._shelf.places.where(ordered), "little")
        kind, id_lsn, enq = self._tail.lookup.record(now)
        if kind == RecordType.MOVE:
            id_lsn, enq = unpack_move(enq)
        self.write(now, pack_move(id_lsn, enq, attempts))

    def write(self, place: int, payload: bytes) -> None:
        """Write the MOVE of a URL that lies at ``place``."""
        writer, offset = self._tail.append(RecordType.MOVE, payload)
        self._shelf.places.move(place, writer.number << SEGMENT_SHIFT | offset)
        self.record.add(writer.end - offset, 1)

    def rescue(self, place: int, payload: bytes) -> None:
        """Write the MOVE of a URL whose record may have been lost, unless it is done."""
        if not self._shelf.places.check(array("Q", (place,))):
            self.write(place, payload)

    def compact(self, limit: int, *, live: int) -> int:
        """Move survivors of the oldest segment when it is worth it; returns their number.

        Args:
            limit: how many at most.
            live: URLs in the whole log.

        Raises:
            StorageError, FormatError: as ``move``; those before have been moved.
        """
        oldest, mean = self._shelf.oldest, self.record.mean
        if oldest is None or not (left := self._shelf.places.live(oldest.number)):
            return 0
        if not is_worth_moving(
            segment_bytes=oldest.size,
            segment_live=left * mean,
            log_bytes=self._shelf.size + self._tail.writer.end,
            log_live=live * mean,
        ):
            return 0
        places = memoryview(self._shelf.places.survivors(oldest.number, limit)).cast("Q")
        for place in places:
            self.move(place)
        return len(places)
