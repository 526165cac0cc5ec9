"""Live records and moved ones: the kernel held to a dict."""

from __future__ import annotations

import struct
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.placemap import PlaceMap
from tests.reference import placemap as reference

FIRST = 1 << 32 | 64


def places(*numbers: int) -> array[int]:
    """Positions as the map takes them."""
    return array("Q", numbers)


def offsets(*numbers: int) -> bytes:
    """Offsets as a codec gives them."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "move", "move", "finish", "finish", "drop"]),
        st.integers(0, 400),
        st.integers(1, 40),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(steps)
def test_any_life(life: list[tuple[str, int, int]]) -> None:
    """Added, moved again and again, finished in any order by any of its good positions."""
    kernel, plain = PlaceMap(), reference.PlaceMap()
    known, end = [FIRST], FIRST
    for verb, number, count in life:
        place = known[number % len(known)]
        if verb == "add":
            at = offsets(*range(0, 24 * count, 24))
            kernel.add(end, at)
            plain.add(end, at)
            known += range(end, end + 24 * count, 24)
            end += 24 * count + (1 << 32 if count % 3 == 0 else 0)
        elif verb == "move" and not plain.check(places(place)):
            kernel.move(place, end)
            plain.move(place, end)
            end += 24
        elif verb == "finish":
            now = array("Q", plain.where(places(*known[number % 7 :: count])))
            kernel.finish(now if number % 2 else places(*known[number % 7 :: count]))
            plain.finish(now if number % 2 else places(*known[number % 7 :: count]))
        else:
            kernel.drop(1 + number % 4)
        agree(kernel, plain, places(*known), end >> 32)


def agree(kernel: PlaceMap, plain: reference.PlaceMap, known: array[int], segments: int) -> None:
    """Both answer everything alike."""
    assert plain.moved == kernel.moved
    assert plain.check(known) == kernel.check(known)
    alive = array("Q", [place for place in known if not plain.check(places(place))])
    assert plain.where(alive) == kernel.where(alive)
    for segment in range(segments + 2):
        assert plain.live(segment) == kernel.live(segment)
        assert plain.survivors(segment, 3) == kernel.survivors(segment, 3)


def test_load_takes_positions_in_any_order() -> None:
    """As recovery finds them; a second time changes nothing."""
    kernel = PlaceMap()
    for _ in range(2):
        kernel.load(places(9 << 32 | 64, 2 << 32 | 1 << 20, 9 << 32 | 72))
    assert [kernel.live(i) for i in (2, 9, 5)] == [1, 2, 0]
    assert kernel.survivors(9, 10) == struct.pack("<2Q", 9 << 32 | 64, 9 << 32 | 72)


def test_memory_is_a_64th_of_the_log() -> None:
    """And nothing for URLs that are finished."""
    kernel = PlaceMap()
    size = 8 << 20
    kernel.add(FIRST, offsets(*range(0, size, 128)))
    assert kernel.nbytes < size / 64 * 1.3 + 1024
    assert kernel.moved == 0
    for place in range(FIRST, FIRST + 1000 * 128, 128):
        kernel.move(place, place + (1 << 32))
    kernel.finish(places(*range(FIRST, FIRST + size, 128)))
    assert (kernel.moved, kernel.live(1), kernel.live(2)) == (0, 0, 0)
    before = kernel.nbytes
    kernel.drop(1)
    assert kernel.nbytes < before - size // 64


def test_a_segment_with_live_urls_is_not_dropped() -> None:
    """Its positions would be lost."""
    kernel = PlaceMap()
    kernel.add(FIRST, offsets(0))
    kernel.drop(1)
    assert kernel.live(1) == 1


def test_wrong_positions() -> None:
    """Nothing is changed by them."""
    kernel = PlaceMap()
    kernel.add(FIRST, offsets(0, 24))
    for base, at in ((FIRST + 4, 0), (FIRST, 4), (2 << 32, 0), (FIRST, 0xFFFFFFF8)):
        with pytest.raises(ValueError, match="positions"):
            kernel.add(base, offsets(at))
    with pytest.raises(ValueError, match="position 3"):
        kernel.load(places(3))
    targets = [(FIRST + 8, FIRST + 48), (FIRST, FIRST + 24), (FIRST, 2 << 32), (FIRST, 99)]
    for place, target in targets:
        with pytest.raises(ValueError, match="no move"):
            kernel.move(place, target)
    assert kernel.check(places(FIRST, 77, 78)) == 77
    kernel.finish(places(77, 5 << 32))
    assert (kernel.live(1), kernel.moved) == (2, 0)


def test_many_moved_urls_with_keys_that_collide() -> None:
    """Holes in the tables are closed: what is left is found."""
    kernel, plain = PlaceMap(), reference.PlaceMap()
    at = offsets(*range(0, 8 * 700, 8))
    kernel.add(FIRST, at)
    plain.add(FIRST, at)
    for i in range(700):
        kernel.move(FIRST + 8 * i, 5 << 32 | 64 + 8 * i)
        plain.move(FIRST + 8 * i, 5 << 32 | 64 + 8 * i)
    order = sorted(range(700), key=lambda i: i * 7919 % 701)
    for start in range(0, 700, 100):
        gone = places(*(FIRST + 8 * i for i in order[start : start + 100]))
        kernel.finish(gone)
        plain.finish(gone)
        agree(kernel, plain, places(*range(FIRST, FIRST + 8 * 700, 8)), 6)
