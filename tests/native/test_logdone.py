"""DONE records add up, and give their digests, as those of the reference."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import logcodec, logdone
from tests.reference import logdone as reference
from tests.reference.logcodec import DONE

UUID = bytes(range(16))

u64 = st.integers(0, 2**64 - 1)
u16 = st.integers(0, 2**16 - 1)
u8 = st.integers(0, 255)


def segment_of(codec: logcodec.Codec, payloads: list[tuple[int, bytes]]) -> bytes:
    """64 bytes of header, then records from lsn 7 on."""
    return bytes(64) + b"".join(
        codec.encode(kind, payload, 7 + i) for i, (kind, payload) in enumerate(payloads)
    )


entry = st.builds(
    lambda fixed, filters: (
        DONE.pack(fixed[0], fixed[1], len(filters), *fixed[2:])
        + b"".join(struct.pack("<BI", *pair) for pair in filters)
    ),
    st.tuples(u64, u8, u16, u16, u16, u16, st.sampled_from([bytes(16), b"d" * 16, b"e" * 16])),
    st.lists(st.tuples(u8, u16), max_size=3),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(entry, max_size=5), st.integers(0, 3))
def test_totals_of_done_entries(entries: list[bytes], cut: int) -> None:
    """Sums as the reference's; entries that do not fill the bytes are refused."""
    data = b"".join(entries)
    data = data[: len(data) - cut]
    try:
        expected = reference.done_totals(data)
    except ValueError:
        with pytest.raises(ValueError, match="malformed"):
            logdone.done_totals(data)
    else:
        assert expected == logdone.done_totals(data)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 6]), st.lists(entry, max_size=3)), max_size=5),
    st.integers(0, 60),
    st.integers(0, 600),
)
def test_digests_of_done_records(
    made: list[tuple[int, list[bytes]]], cut: int, before: int
) -> None:
    """Those of whole entries in DONE records before an offset, without zeros."""
    payloads = [(kind, b"".join(parts)) for kind, parts in made]
    payloads = [(kind, payload[: len(payload) - cut]) for kind, payload in payloads]
    data = segment_of(logcodec.Codec(UUID, 3), payloads)
    found = logcodec.Codec(UUID, 3).scan(data, 64, 7)
    arguments = (data, found.types, found.offsets, before)
    assert reference.digests(*arguments) == logdone.digests(*arguments)


def test_digests_stay_inside_their_data() -> None:
    """Offsets that lead outside raise."""
    data = segment_of(logcodec.Codec(UUID, 3), [(2, bytes(40))])
    with pytest.raises(ValueError, match="outside"):
        logdone.digests(data[:-5], b"\2", struct.pack("<I", 64), 1 << 32)
    with pytest.raises(ValueError, match="one offset"):
        logdone.digests(data, b"\2\2", struct.pack("<I", 64), 1 << 32)
