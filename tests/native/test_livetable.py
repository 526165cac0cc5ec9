"""The table of waiting URLs follows its reference."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.livetable import LiveTable
from larbinpy._native.logcodec import Codec
from tests.reference import livetable as reference
from tests.reference.logcodec import DONE

UUID = bytes(16)


def done(*ids: int) -> bytes:
    """A DONE payload."""
    return b"".join(DONE.pack(i, i % 5, 0, 200, 10, 2, 1, bytes(16)) for i in ids)


ids = st.integers(0, 40)
record = st.one_of(
    st.builds(lambda n: (1, n.to_bytes(8, "little") + bytes(32)), ids),
    st.builds(lambda n: (1, n.to_bytes(8, "little") + bytes(32)), ids),
    st.builds(lambda ns: (2, done(*ns)), st.lists(ids, max_size=3)),
    st.builds(lambda n: (4, n.to_bytes(8, "little") + bytes(40)), ids),
    st.just((6, b"host")),
)
runs = st.lists(
    st.tuples(st.booleans(), st.lists(record, max_size=12), st.integers(0, 900)), max_size=5
)


@settings(max_examples=80, deadline=None)
@given(runs)
def test_random_logs(parts: list[tuple[bool, list[tuple[int, bytes]], int]]) -> None:
    """Segments with ENQ, DONE, MOVE in any order, in one run or several."""
    table, oracle = LiveTable(), reference.LiveTable()
    segment, lsn, data = 1, 1, bytes(64)
    for is_new, payloads, limit in parts:
        if is_new:
            segment, data = segment + 1, bytes(64)
        codec = Codec(UUID, segment)
        start = len(data)
        for i, (kind, drawn) in enumerate(payloads):
            payload = drawn
            if kind == 4:  # a MOVE names an older id
                payload = struct.pack("<Q", drawn[0] % (lsn + i)) + bytes(40)
            data += codec.encode(kind, payload, lsn + i)
        run = codec.scan(data, start, lsn)
        lsn = run.next_lsn
        arguments = (segment, data, run.types, run.offsets, run.first_lsn, limit)
        assert table.add(*arguments) == oracle.add(*arguments)
        assert len(table) == len(oracle)
    assert table.live() == oracle.live()
    assert table.live_by_segment() == oracle.live_by_segment()
    assert [table.is_waiting(i) for i in range(60)] == [oracle.is_waiting(i) for i in range(60)]


def test_moved_urls_come_in_the_order_in_which_they_were_accepted() -> None:
    """Many moves, so that the table grows; ids order them, not places."""
    table, codec = LiveTable(), Codec(UUID, 1)
    places = list(range(500, 0, -1))
    data = b"".join(codec.encode(4, struct.pack("<Q", i) + bytes(40), 1000 - i) for i in places)
    offsets = [72 * i for i in range(500)]
    table.add(1, data, b"\4" * 500, struct.pack("<500I", *offsets), 501, 1 << 32)
    live = list(memoryview(table.live()).cast("Q"))
    assert [1 << 32 | offset for offset in reversed(offsets)] == live


def test_offsets_outside_of_the_data_are_refused() -> None:
    """Nothing is read behind the end."""
    data = Codec(UUID, 1).encode(1, bytes(40), 1)
    with pytest.raises(ValueError, match="outside"):
        LiveTable().add(1, data, b"\1", struct.pack("<I", 56), 1, 0)
    with pytest.raises(ValueError, match="one offset"):
        LiveTable().add(1, data, b"\1\1", struct.pack("<I", 0), 1, 0)


def test_segments_come_in_order() -> None:
    """An older segment is refused: its ids would not rise."""
    table = LiveTable()
    table.add(2, b"", b"", b"", 1, 0)
    with pytest.raises(ValueError, match="order"):
        table.add(1, b"", b"", b"", 1, 0)
