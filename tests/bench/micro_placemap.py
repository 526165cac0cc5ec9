"""Where the URLs of a log lie: kernel beside the reference.

Workloads: 30 new URLs noted at a time and finished again; 1,000 positions looked up when none, and
when all were moved.

Command: python -m tests.bench.micro_placemap
"""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING

from larbinpy._native.placemap import PlaceMap
from tests.bench.measure import compare
from tests.reference import placemap as plain

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST = 1 << 32 | 64
PAGE = 30
MANY = 1000


def page_of(kind: type[PlaceMap | plain.PlaceMap]) -> Callable[[], object]:
    """Note the URLs of a page and finish them."""
    where = kind()
    offsets = struct.pack(f"<{PAGE}I", *range(0, 128 * PAGE, 128))
    places = array("Q", range(FIRST, FIRST + 128 * PAGE, 128))

    def work() -> None:
        where.add(FIRST, offsets)
        where.finish(places)

    return work


def lookup_of(kind: type[PlaceMap | plain.PlaceMap], *, is_moved: bool) -> Callable[[], object]:
    """Look up many positions."""
    where = kind()
    places = array("Q", range(FIRST, FIRST + 128 * MANY, 128))
    where.load(places)
    if is_moved:
        for place in places:
            where.move(place, place + (9 << 32))
    return lambda: where.where(places)


def main() -> None:
    """All workloads."""
    kinds: dict[str, type[PlaceMap | plain.PlaceMap]]
    kinds = {"kernel": PlaceMap, "reference": plain.PlaceMap}
    compare("add and finish", {n: page_of(k) for n, k in kinds.items()}, items=PAGE)
    for is_moved in (False, True):
        ways = {name: lookup_of(kind, is_moved=is_moved) for name, kind in kinds.items()}
        compare(f"where, all moved: {is_moved}", ways, items=MANY)


if __name__ == "__main__":
    main()
