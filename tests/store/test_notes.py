"""Notes of stored pages: which places are kept, whatever happened in between."""

from __future__ import annotations

from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native.crc32c import crc32c
from larbinpy.store import notes as module
from larbinpy.store.notes import Note, Notes, pack, pack_answered, pack_stored, unpack

WINDOW = 3
SHARD = 1 << 56

ids = st.builds(lambda shard, number: shard * SHARD + number, st.integers(0, 1), st.integers(1, 9))
events = st.lists(
    st.one_of(
        st.tuples(st.just("stored"), ids),
        st.tuples(st.just("answered"), ids),
        st.tuples(st.just("left"), st.integers(0, 1)),
    ),
    max_size=40,
)


def note(kind: str, value: int) -> bytes:
    """The note of an event."""
    if kind == "stored":
        return pack_stored(value, b"place %d" % value)
    if kind == "answered":
        return pack_answered([value])
    return pack(Note.LEFT, bytes((value,)))


def kept(history: list[tuple[str, int]]) -> set[int]:
    """The rule: a place goes when ``WINDOW`` later answers follow its own to the same shard."""
    places: set[int] = set()
    answers: dict[int, deque[int]] = {0: deque(), 1: deque()}
    for kind, value in history:
        if kind == "stored":
            places.add(value)
        elif kind == "left":
            answers[value].clear()
        elif value in places:
            answers[value // SHARD].append(value)
            if len(answers[value // SHARD]) > WINDOW:
                places.discard(answers[value // SHARD].popleft())
    return places


@settings(max_examples=100, deadline=None)
@given(events, st.integers(0, 40))
def test_places_follow_the_rule(history: list[tuple[str, int]], compacted_at: int) -> None:
    """Also when the notes were compacted in between: then no more is forgotten than before."""
    notes = Notes(WINDOW)
    for at, event in enumerate(history):
        if at == compacted_at:
            data, notes = notes.packed(), Notes(WINDOW)
            assert notes.apply(data) == len(data)
        data = note(*event)
        assert notes.apply(data) == len(data)
    expected = {page_id: b"place %d" % page_id for page_id in kept(history)}
    assert expected == notes.places


def test_torn_and_damaged_notes_end_the_reading() -> None:
    """A kill, or a writer that is just writing."""
    whole = pack(Note.OPENED, b"d00001") + pack_stored(7, b"x")
    data = whole + pack_stored(8, b"y")
    for cut in range(len(whole), len(data)):
        assert Notes(WINDOW).apply(data[:cut]) == len(whole)
    for at in range(len(whole), len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        assert Notes(WINDOW).apply(bytes(damaged)) == len(whole)


def test_many_answers_are_several_notes() -> None:
    """Each fits its length."""
    data = pack_answered(range(module.MAX_IDS + 1))
    assert [len(payload) // 8 for _, payload, _ in unpack(data)] == [module.MAX_IDS, 1]
    assert pack_answered([]) == b""


def test_unknown_notes_are_passed_over() -> None:
    """A later version's."""
    notes = Notes(WINDOW)
    notes.apply(b"".join((pack_stored(1, b"a"), _unknown(), pack(Note.OPENED, b"b"))))
    assert (notes.places, notes.opened) == ({1: b"a"}, b"b")


def _unknown() -> bytes:
    tail = bytes((99, 0, 1, 0)) + b"?"
    return crc32c(tail).to_bytes(4, "little") + tail


def test_places_are_bounded() -> None:
    """The oldest goes first."""
    notes = Notes(WINDOW)
    data = b"".join(pack_stored(number, b"") for number in range(100))
    most, module.MAX_PLACES = module.MAX_PLACES, 10  # type: ignore[misc]
    try:
        notes.apply(data)
    finally:
        module.MAX_PLACES = most  # type: ignore[misc]
    assert list(notes.places) == list(range(90, 100))


def test_notes_on_disk_never_change() -> None:
    """Golden value: states of any version are gone on with."""
    assert pack_stored(1 << 56 | 2, b"ab").hex() == "87502feb01000a0002000000000000016162"
