"""The record codec follows its reference, and its bytes never change."""

from __future__ import annotations

import hashlib
import os
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import logcodec
from tests.native.linkpayloads import groups
from tests.reference import logcodec as reference
from tests.reference.linkbuffers import Link, group_of
from tests.reference.linkframe import fingerprints

if TYPE_CHECKING:
    from pathlib import Path

UUID = bytes(range(16))
GOLDEN_HEAD = "0a0625ef50000000"
GOLDEN = "18a2baa801572f8965ccb56a95529483c810475d62d45fe3af6456e14573ba91"

u64 = st.integers(0, 2**64 - 1)
u8 = st.integers(0, 255)


def mask_of(payload: bytes, seed: int) -> bytes:
    """A mask with ones and zeros for the links of a payload."""
    count = len(fingerprints(payload)) // 8
    return bytes(seed >> (i % 60) & 1 for i in range(count))


def segment_of(codec: logcodec.Codec, payloads: list[tuple[int, bytes]]) -> bytes:
    """64 bytes of header, then records from lsn 7 on."""
    return bytes(64) + b"".join(
        codec.encode(kind, payload, 7 + i) for i, (kind, payload) in enumerate(payloads)
    )


records = st.lists(st.tuples(st.integers(1, 7), st.binary(max_size=60)), max_size=8)


@settings(max_examples=30, deadline=None)
@given(groups(), u64)
def test_links_are_encoded_as_the_reference_does(payload: bytes, seed: int) -> None:
    """Bytes, offsets, number and chain of crcs are the same, and the URLs come back."""
    codec, oracle = logcodec.Codec(UUID, 5), reference.Codec(UUID, 5)
    mask = mask_of(payload, seed)
    encoded = codec.encode_links(payload, mask, 9)
    assert encoded == oracle.encode_links(payload, mask, 9)
    assert (codec.records, codec.chain) == (oracle.records, oracle.chain)
    assert codec.decode_urls(*encoded) == oracle.decode_urls(*encoded)


def test_the_mask_covers_all_links() -> None:
    """A mask of another length is refused and nothing counts as encoded."""
    codec = logcodec.Codec(UUID, 1)
    link = reference.LINK.pack(1, 1, 0, 0, 80, 0, 1, 0, 0, 0, 0, 0, 0.0, 0.0) + b"u"
    payload = reference.GROUP.pack(0, 0, 1, len(link)) + link
    with pytest.raises(ValueError, match="mask"):
        codec.encode_links(payload, b"\1\1", 1)
    assert codec.records == 0


@pytest.mark.parametrize("method", ["encode_links", "scan"])
def test_what_finds_no_memory_counts_nothing(method: str) -> None:
    """Whichever allocation fails: number and chain of crcs stay, so that it may be called again."""
    memory = pytest.importorskip("_testcapi")
    payload = group_of(*[Link(b"http://a.org/")] * 3, via=b"http://a.org/b")
    links = (payload, b"\1\1\0", 1)
    records = (logcodec.Codec(UUID, 1).encode_links(*links)[0], 0, 1)
    refused = 0
    for failing in range(20):
        codec = logcodec.Codec(UUID, 1)
        call, given = getattr(codec, method), links if method == "encode_links" else records
        chain, expected = codec.chain, 2
        memory.set_nomemory(failing, failing + 1)
        try:
            call(*given)
        except MemoryError:
            refused, expected = refused + 1, 0
        finally:
            memory.remove_mem_hooks()
        assert (codec.records, codec.chain == chain) == (expected, not expected)
    assert refused >= 4


@settings(max_examples=30, deadline=None)
@given(records, st.data())
def test_damage_stops_scan_and_resync_where_the_reference_does(
    payloads: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    """After any change of one byte and any cut."""
    segment = bytearray(segment_of(logcodec.Codec(UUID, 3), payloads))
    at = data.draw(st.integers(0, len(segment) - 1))
    segment[at] ^= 1 << data.draw(st.integers(0, 7))
    damaged = bytes(segment[: data.draw(st.integers(64, len(segment)))])
    expected = data.draw(st.sampled_from([0, 7, 8]))
    codec, oracle = logcodec.Codec(UUID, 3), reference.Codec(UUID, 3)
    run = codec.scan(damaged, 64, expected)
    offsets = list(memoryview(run.offsets).cast("I"))
    assert (run.stop, run.reason, run.next_lsn, offsets) == oracle.scan(damaged, 64, expected)
    assert len(run) == len(offsets)
    start = data.draw(st.integers(64, len(damaged)))
    assert codec.resync(damaged, start, 9) == oracle.resync(damaged, start, 9)


def test_a_scan_ends_behind_seal() -> None:
    """SEAL is the last record, and does not count itself."""
    codec = logcodec.Codec(UUID, 3)
    segment = segment_of(codec, [(5, b"x"), (8, bytes(24)), (1, b"y")])
    run = logcodec.Codec(UUID, 3).scan(segment, 64, 7)
    assert (run.reason, run.stop, run.types) == (logcodec.SCAN_SEALED, 64 + 24 + 48, b"\5\x08")


def test_a_record_of_another_segment_never_validates() -> None:
    """The segment number and the uuid are in every checksum."""
    segment = segment_of(logcodec.Codec(UUID, 3), [(5, b"x")])
    for other in (logcodec.Codec(UUID, 4), logcodec.Codec(bytes(16), 3)):
        assert other.scan(segment, 64, 7).reason == logcodec.SCAN_CRC


@pytest.mark.parametrize("length", [65537, 2**31, 2**32 - 1])
def test_a_garbage_length_is_refused_before_it_is_used(length: int) -> None:
    """nsqio/nsq#471: the record is refused, the rest is found again."""
    segment = bytearray(segment_of(logcodec.Codec(UUID, 3), [(1, b"a" * 50), (1, b"b" * 50)]))
    segment[68:72] = length.to_bytes(4, "little")
    codec = logcodec.Codec(UUID, 3)
    assert codec.scan(segment, 64, 7).reason == logcodec.SCAN_LENGTH
    assert codec.resync(segment, 64, 8) == 64 + 72


def test_records_are_read_from_a_file(tmp_path: Path) -> None:
    """In any order, long ones too; a place without a record raises."""
    codec = logcodec.Codec(UUID, 3)
    long = bytes(range(1, 250)) * 8
    found = [
        reference.LINK.pack(i, len(url), 1, 2, 80, 0, 3, 4, 0, 0, 1, 0, 0.5, 0.25) + url
        for i, url in enumerate([b"http://a/", long, b"http://b/"])
    ]
    payload = reference.GROUP.pack(4, 2, 3, sum(map(len, found))) + b"via!tg" + b"".join(found)
    data, offsets = codec.encode_links(payload, b"\1\1\1", 1)
    path = tmp_path / "records"
    path.write_bytes(data)
    a, b, c = struct.unpack("<3I", offsets)
    order = struct.pack("<4I", c, b, a, b)
    fd = os.open(path, os.O_RDONLY)
    try:
        assert codec.read_urls(fd, order) == codec.decode_urls(data, order)
        for bad in (8, len(data), len(data) - 8):
            with pytest.raises(ValueError, match=r"record|URL"):
                codec.read_urls(fd, struct.pack("<I", bad))
    finally:
        os.close(fd)


@settings(max_examples=40, deadline=None)
@given(records, st.data())
def test_window_takes_whole_records_in_order(
    payloads: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    """As the reference does, for any cut and any order of places."""
    segment = segment_of(logcodec.Codec(UUID, 3), payloads)
    offsets = list(memoryview(logcodec.Codec(UUID, 3).scan(segment, 64, 7).offsets).cast("I"))
    chosen = data.draw(st.lists(st.sampled_from(offsets), max_size=6)) if offsets else []
    places = [3 << 32 | offset for offset in chosen]
    piece = segment[64 : data.draw(st.integers(64, len(segment)))]
    packed = memoryview(struct.pack(f"<{len(places)}Q", *places)).cast("Q")
    got = logcodec.window(piece, 3 << 32 | 64, packed, 0)
    assert list(memoryview(got).cast("I")) == reference.window(piece, 3 << 32 | 64, places, 0)
    assert logcodec.positions(got, 9 << 32) == reference.positions(got, 9 << 32)


def test_bytes_on_disk_never_change() -> None:
    """Golden value: segments written by any version must stay readable, so never change this."""
    codec = logcodec.Codec(UUID, 1)
    url = b"http://example.com/a?b=c"
    link = reference.LINK.pack(
        0x0123456789ABCDEF, len(url), 1, 4, 80, 7, 11, 2, 0, 1, 2, 0, 0.5, 0.25
    )
    payload = reference.GROUP.pack(23, 3, 1, len(link + url)) + b"http://example.com/a/xytag"
    payload += link + url
    records = codec.encode(5, bytes(80), 1) + codec.encode_links(payload, b"\1", 2)[0]
    assert records[:8].hex() == GOLDEN_HEAD
    assert hashlib.sha256(records).hexdigest() == GOLDEN


@pytest.mark.slow
def test_every_cut_and_flipped_bit_of_64_kib() -> None:
    """A cut leaves the whole records before it; a flipped bit costs at most its own record."""
    writer = logcodec.Codec(UUID, 3)
    data = bytes(64)
    while len(data) < 1 << 16:
        data += writer.encode(1, bytes(range(1, 1 + writer.records % 200)), writer.records + 1)
    codec = logcodec.Codec(UUID, 3)
    whole = memoryview(codec.scan(data, 64, 1).offsets).cast("I").tolist()
    ends = [*whole[1:], len(data)]
    for size in range(64, len(data)):
        run = codec.scan(memoryview(data)[:size], 64, 1)
        assert len(run) == sum(1 for end in ends if end <= size)
    damaged = bytearray(data)
    for at in range(64, len(data)):
        for bit in range(8):
            damaged[at] ^= 1 << bit
            assert readable(codec, damaged) >= len(whole) - 1
            damaged[at] ^= 1 << bit


def readable(codec: logcodec.Codec, data: bytearray) -> int:
    """Records that are found around at most one bad range."""
    first = codec.scan(data, 64, 1)
    if first.stop == len(data):
        return len(first)
    behind = codec.resync(data, first.stop, first.next_lsn)
    return len(first) + (len(codec.scan(data, behind, 0)) if behind >= 0 else 0)
