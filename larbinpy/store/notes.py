"""Where pages were stored that may come again: a function of the notes that a parser has written.

A note is a record: crc32c u32 (over all that follows), type u8, reserved u8, payload bytes u16,
then the payload; little endian.

| type | payload |
|---|---|
| 1 STORED | page id u64, place: the page is about to be stored there |
| 2 ANSWERED | page ids, u64 each: PARSED was sent for them |
| 3 LEFT | shard u8, or nothing for all: answers to it may be lost, its pages may come again |
| 4 OPENED | name of the file or directory that is being filled |
| 5 BEGUN | 8 bytes, others in each file: stands first, so that readers see when it was replaced |

A place is forgotten when its page cannot come again: a shard has less than ``window`` pages whose
answers it has not written, and takes answers in order, so an answer with ``window`` later ones to
the same shard has become a DONE, unless the shard has died in between.
"""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Final

from larbinpy._native.crc32c import crc32c
from larbinpy.records import ID_SHARD_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_PLACES: Final = 1 << 17
"""Kept in one parser; crashes must leave more pages than this before one is forgotten too early."""
MAX_IDS: Final = 8000
"""In one note."""

_HEAD: Final = Struct("<IBBH")
_ID: Final = Struct("<Q")
BEGUN_BYTES: Final = _HEAD.size + 8


class Note(IntEnum):
    """Types of notes; never renumbered."""

    STORED = 1
    ANSWERED = 2
    LEFT = 3
    OPENED = 4
    BEGUN = 5


def pack(kind: Note, payload: bytes) -> bytes:
    """The bytes of a note."""
    tail = _HEAD.pack(0, kind, 0, len(payload))[4:] + payload
    return crc32c(tail).to_bytes(4, "little") + tail


def pack_stored(page_id: int, place: bytes) -> bytes:
    """A STORED note."""
    return pack(Note.STORED, _ID.pack(page_id) + place)


def pack_answered(page_ids: Iterable[int]) -> bytes:
    """ANSWERED notes."""
    ids = b"".join(map(_ID.pack, page_ids))
    size = MAX_IDS * _ID.size
    return b"".join(pack(Note.ANSWERED, ids[at : at + size]) for at in range(0, len(ids), size))


def unpack(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Type, payload and end of each note, up to the first that is not whole."""
    at = 0
    while at + _HEAD.size <= len(data):
        crc, kind, _, size = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + size
        if end > len(data) or crc != crc32c(data[at + 4 : end]):
            return
        yield kind, data[at + _HEAD.size : end], end
        at = end


class Notes:
    """What the notes of one parser say; ``places`` and ``opened`` are for reading."""

    __slots__ = ("_answered", "_window", "opened", "places")

    def __init__(self, window: int) -> None:
        self._window = window
        self._answered: dict[int, deque[int]] = {}
        self.places: dict[int, bytes] = {}
        """Page id -> where it lies, if it was stored after all."""
        self.opened = b""

    def apply(self, data: bytes) -> int:
        """Take the whole notes at the start of ``data``; returns where they end."""
        end = 0
        for kind, payload, end in unpack(data):  # noqa: B007  (its last value is the result)
            if kind == Note.STORED:
                self._stored(_ID.unpack_from(payload)[0], payload[_ID.size :])
            elif kind == Note.ANSWERED:
                for (page_id,) in _ID.iter_unpack(payload):
                    self._answer(page_id)
            elif kind == Note.LEFT and payload:
                self._answered.pop(payload[0], None)
            elif kind == Note.LEFT:
                self._answered.clear()
            elif kind == Note.OPENED:
                self.opened = payload
        return end

    def packed(self) -> bytes:
        """Notes that say the same in few bytes."""
        stored = [pack_stored(page_id, place) for page_id, place in self.places.items()]
        answered = [pack_answered(ids) for ids in self._answered.values()]
        return b"".join((pack(Note.OPENED, self.opened), *stored, *answered))

    def _stored(self, page_id: int, place: bytes) -> None:
        self.places.pop(page_id, None)
        self.places[page_id] = place
        if len(self.places) > MAX_PLACES:
            del self.places[next(iter(self.places))]

    def _answer(self, page_id: int) -> None:
        if page_id not in self.places:
            return
        answered = self._answered.setdefault(page_id >> ID_SHARD_SHIFT, deque())
        answered.append(page_id)
        if len(answered) > self._window:
            self.places.pop(answered.popleft(), None)
