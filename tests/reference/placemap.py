"""Where the URLs of a log lie, with a dict from first position to present one."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array


class PlaceMap:
    """Know which positions of a log hold live URLs."""

    def __init__(self) -> None:
        self.here: dict[int, int] = {}

    @property
    def moved(self) -> int:
        """Live URLs that lie elsewhere than at first."""
        return sum(first != now for first, now in self.here.items())

    @property
    def nbytes(self) -> int:
        """Bytes of memory; not counted here."""
        return 0

    def live(self, segment: int) -> int:
        """Live URLs in a segment."""
        return sum(now >> 32 == segment for now in self.here.values())

    def add(self, base: int, offsets: bytes) -> None:
        """Note new URLs."""
        self.here |= {base + at: base + at for (at,) in struct.iter_unpack("<I", offsets)}

    def load(self, places: memoryview | array[int]) -> None:
        """Note URLs that wait."""
        self.here |= {place: place for place in places}

    def first(self, place: int) -> int:
        """Where the URL lay first that lies, or lay first, at ``place``; 0 when none does."""
        if place in self.here:
            return place
        return next((first for first, now in self.here.items() if now == place), 0)

    def where(self, places: memoryview | array[int]) -> bytes:
        """Where they lie now; unknown ones where they are said to lie."""
        return struct.pack(f"<{len(places)}Q", *(self.here.get(place, place) for place in places))

    def check(self, places: memoryview | array[int]) -> int:
        """The first one without a live URL."""
        return next((place for place in places if not self.first(place)), 0)

    def finish(self, places: memoryview | array[int]) -> None:
        """Forget them."""
        for place in places:
            self.here.pop(self.first(place), None)

    def survivors(self, segment: int, limit: int) -> bytes:
        """The first live ones of a segment."""
        found = sorted(now for now in self.here.values() if now >> 32 == segment)[:limit]
        return struct.pack(f"<{len(found)}Q", *found)

    def move(self, place: int, target: int) -> None:
        """Note where a URL lies from now on."""
        first = self.first(place)
        if not first or target & 7 or not target & 0xFFFFFFFF or target in self.here.values():
            raise ValueError(f"no move from {place} to {target}")
        self.here[first] = target

    def drop(self, segment: int) -> None:
        """Nothing is kept for a segment here."""
