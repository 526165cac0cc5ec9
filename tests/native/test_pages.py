"""Pages and answers of frames: the same as by their specification, whatever the bytes are."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import pages
from larbinpy._native.heldpages import encode
from larbinpy.errors import FormatError
from larbinpy.records import Filtered, Outcome, ParsedPage, Reading
from tests.records import page, result
from tests.reference import pages as reference

if TYPE_CHECKING:
    from larbinpy.records import Page

U8, U16, U32, U64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32, 64))
SHORT = st.binary(max_size=12)
MEMORY = bytes(range(32))
PLACES = st.one_of(st.integers(0, 40), U64)


@st.composite
def entry(draw: st.DrawFn) -> bytes:
    """An entry with any numbers; now and then its lengths say something else."""
    numbers = draw(
        st.tuples(U64, U32, U8, U8, U8, U8, U16, U16, U16, U8, U8, st.just(0.5), st.just(-1.0))
    )
    address = draw(st.sampled_from([0, 4, 6, 9])), draw(st.binary(min_size=16, max_size=16))
    texts = draw(st.tuples(*[SHORT] * 6))
    lengths = [len(text) for text in texts]
    if numbers[5] & reference.BODY_IN_MEMORY:
        texts = *texts[:5], draw(PLACES).to_bytes(8, "little")
        lengths[5] = draw(st.integers(0, 32))
    if not draw(st.integers(0, 9)):
        lengths[draw(st.integers(0, 5))] = draw(U16)
    fields = (*numbers, draw(U64), draw(U32), *address, *lengths)
    fixed = struct.pack("<QIBBBBHHHBBffQIB16sHHHHII", *fields) + b"".join(texts)
    return len(fixed).to_bytes(4, "little") + fixed


def decoded(by: object, payload: bytes, count: int) -> list[Page] | str:
    """The pages, or what is said of the payload; bodies may lie in the memory."""
    try:
        return by.decode_pages(payload, count, MEMORY)  # type: ignore[attr-defined, no-any-return]
    except FormatError as error:
        return str(error)


@settings(max_examples=300)
@given(st.lists(entry(), max_size=3), st.data())
def test_any_frame_is_read_as_specified(parts: list[bytes], data: st.DataObject) -> None:
    """Whole, cut, or with a changed byte; with a count that is right or not."""
    payload = b"".join(parts)
    if payload and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(payload) - 1))
        payload = data.draw(
            st.sampled_from([payload[:at], payload[:at] + b"\x7f" + payload[at + 1 :]])
        )
    count = data.draw(st.sampled_from([len(parts), len(parts) + 1]))
    got = decoded(pages, payload, count)
    expected = decoded(reference, payload, count)
    assert isinstance(expected, str) == isinstance(got, str)
    if not isinstance(got, str):
        assert expected == got


def test_bodies_stay_where_they_lie() -> None:
    """They are views of the frame, and keep it."""
    payload = encode(result(body=b"one"), 1) + encode(result(body=b""), 1)
    first, second = pages.decode_pages(payload, 2)
    assert isinstance(first.body, memoryview)
    assert first.body.obj is payload
    assert [bytes(page.body) for page in (first, second)] == [b"one", b""]


def in_memory(place: int, length: int) -> bytes:
    """An entry whose body lies in the memory of its shard."""
    entry = bytearray(encode(result(body=b"x" * length), 1)[:-length])
    entry[:4] = (len(entry) + 8 - 4).to_bytes(4, "little")
    entry[4 + 8 + 4 + 3] |= reference.BODY_IN_MEMORY
    return bytes(entry) + place.to_bytes(8, "little")


def test_bodies_in_the_memory_of_their_shard_stay_there() -> None:
    """They are views of it, and a page looks like any other."""
    memory = memoryview(MEMORY)
    payload = in_memory(0, 32) + in_memory(31, 1)
    first, second = pages.decode_pages(payload, 2, memory)
    assert first.body.obj is MEMORY  # type: ignore[union-attr]
    assert [bytes(page.body) for page in (first, second)] == [MEMORY, MEMORY[31:]]
    assert first.flags == page().flags


@pytest.mark.parametrize(
    ("place", "length"), [(1, 32), (32, 1), (33, 1), ((1 << 64) - 1, 1), ((1 << 64) - 16, 32)]
)
def test_bodies_outside_the_memory_are_refused(place: int, length: int) -> None:
    """Also where place and length together are a small number modulo 2**64."""
    with pytest.raises(FormatError, match="outside the memory"):
        pages.decode_pages(in_memory(place, length), 1, memoryview(MEMORY))
    with pytest.raises(FormatError, match="outside the memory"):
        pages.decode_pages(in_memory(place, length), 1)


def test_lengths_beyond_32_bits_are_wrong() -> None:
    """Their sum is not that of the entry, though it would be modulo 2**32."""
    good = bytearray(encode(result(body=b"body"), 1))
    at = len(good) - len(b"body") - len(result().headers) - len(result().job.url) - 8
    assert good[at : at + 4] == len(result().headers).to_bytes(4, "little")
    good[at : at + 8] = struct.pack("<II", 0xFFFFFFF0, len(result().headers) + 4 + 16)
    with pytest.raises(FormatError, match="lengths"):
        pages.decode_pages(bytes(good), 1)


ANSWERS = st.builds(
    ParsedPage, id=U64, epoch=U32, outcome=st.sampled_from(Outcome), status=U16, body_bytes=U32,
    links=U32, duplicates=U32, digest=st.binary(min_size=16, max_size=16), near=U64,
    filtered=st.dictionaries(st.sampled_from(Filtered), U32),
)  # fmt: skip


@given(ANSWERS)
def test_any_answer_is_written_as_specified(answer: ParsedPage) -> None:
    """All fields at their limits."""
    assert reference.encode_parsed(answer) == pages.encode_parsed(answer)


def test_a_digest_has_16_bytes() -> None:
    """Nothing is read behind a shorter one."""
    with pytest.raises(ValueError, match="16 bytes"):
        pages.encode_parsed(ParsedPage(1, 1, Outcome.SUCCESS, digest=b"short"))


@given(st.lists(ANSWERS, max_size=8))
def test_answers_go_to_the_shards_of_their_pages(answers: list[ParsedPage]) -> None:
    """All of a shard in one payload, in their order."""
    readings = [Reading(page(id=one.id), one) for one in answers]
    expected: dict[int, list[bytes]] = {}
    for one in answers:
        expected.setdefault(one.id >> 56, []).append(reference.encode_parsed(one))
    got = pages.answers_of(readings)
    assert {shard: (b"".join(parts), len(parts)) for shard, parts in expected.items()} == got
