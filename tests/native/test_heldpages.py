"""Entries and answers of held pages, beside the plain version; holding itself: test_handover."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy import entries
from larbinpy._native.contents import HostContents
from larbinpy._native.heldpages import HeldPages, encode
from larbinpy.errors import FormatError
from larbinpy.records import ID_WITHOUT_ENQ, FetchResult, Kind, Outcome, ParsedPage
from tests.records import result
from tests.reference import heldpages as reference
from tests.reference.contents import Contents as Plain
from tests.test_entries import RESULTS, U8, U16, U32, U64

HOST_ID = 3
EPOCH = 5
ANSWERS = st.builds(
    ParsedPage, id=st.integers(0, 40), epoch=st.sampled_from([EPOCH, EPOCH, EPOCH, 4]),
    outcome=st.sampled_from(Outcome), status=U16, body_bytes=U32, links=U32, duplicates=U32,
    digest=st.binary(min_size=16, max_size=16), filtered=st.dictionaries(U8, U32, max_size=3),
    near=U64,
)  # fmt: skip


@settings(max_examples=100)
@given(RESULTS, U32, U8, st.booleans())
def test_entries_are_those_of_the_plain_version(one, epoch, attempt, in_file) -> None:  # type: ignore[no-untyped-def]
    """Byte for byte, whatever is in a result."""
    expected = reference.encode(one, epoch, attempt, is_body_in_file=in_file)
    assert encode(one, epoch, attempt, in_file) == expected


def entry(one: FetchResult) -> bytes:
    return reference.encode(one, EPOCH, 0, is_body_in_file=False)


def test_a_body_is_sent_from_where_it_lies() -> None:
    """Its bytes are a piece of the payload of their own, and the pieces make the entries."""
    pages = HeldPages(EPOCH)
    pages.join(0)
    results = [result(number, bytes([number]) * 7000 * (number != 2)) for number in range(4)]
    pages.give_all(results)
    ((parser, pieces, count, fd),) = pages.frames([0])
    assert (parser, count, fd) == (0, 4, -1)
    bodies = [one.body for one in results if one.body]
    assert [id(piece) for piece in pieces if len(piece) == 7000] == list(map(id, bodies))
    assert b"".join(pieces) == b"".join(entry(one) for one in results)


def held(numbers: range) -> HeldPages:
    """Pages by number: every fifth is a try in vain, every seventh a request for rules."""
    pages = HeldPages(EPOCH)
    for number in numbers:
        one = result(number)
        one.job.position = 1000 + number
        one.job.kind = Kind.RETRY if number % 5 == 4 else Kind.PAGE
        if number % 7 == 6:
            one.job.id |= ID_WITHOUT_ENQ
        pages.give(one)
    return pages


@settings(max_examples=100)
@given(st.lists(ANSWERS, max_size=30), st.booleans())
def test_answers_become_done_entries(answers: list[ParsedPage], is_plain: bool) -> None:
    """Each held page is answered once; what is not plain comes with its job instead."""
    pages = held(range(30))
    before, before_bytes = len(pages), pages.nbytes
    for answer in answers:
        if answer.id % 7 == 6 and answer.id < 30:
            answer.id |= ID_WITHOUT_ENQ
    payload = b"".join(map(entries.encode_parsed, answers))
    done, others = pages.finish(payload, len(answers), is_plain)
    first: dict[int, ParsedPage] = {}
    for answer in answers:
        if answer.epoch == EPOCH and answer.id & ~ID_WITHOUT_ENQ < 30:
            first.setdefault(answer.id, answer)
    plain = [n for n in first if is_plain and n % 5 != 4 and not n & ID_WITHOUT_ENQ]
    expected = b"".join(reference.done_of(entries.encode_parsed(first[n])) for n in plain)
    assert b"".join(entry for entry, _ in done) == expected
    places = b"".join((1000 + number).to_bytes(8, "little") for number in plain)
    assert b"".join(place for _, place in done) == places
    assert [job.id for _, job, _ in others] == [n for n in first if n not in plain]
    assert [entries.parsed_at(payload, at) for at, _, _ in others] == [
        first[job.id] for _, job, _ in others
    ]
    assert pages.near == sum(answer.near != 0 for answer in first.values())
    assert len(pages) == before - len(first)
    assert pages.nbytes == before_bytes // before * len(pages)


@given(st.lists(ANSWERS, max_size=30, unique_by=lambda answer: answer.id), st.integers(0, 2))
def test_good_pages_are_noted_with_their_hosts(answers: list[ParsedPage], watch: int) -> None:
    """As the plain version of what a host has shown would."""
    pages = HeldPages(EPOCH)
    noted = HostContents()
    plain = Plain()
    for answer in answers:
        one = result(answer.id)
        one.job.watch, one.job.host_id = watch, HOST_ID
        pages.give(one)
        if answer.epoch == EPOCH and answer.outcome is Outcome.SUCCESS:
            left_out = answer.duplicates + sum(answer.filtered.values())
            plain.add(
                answer.digest, is_near=answer.near != 0, leads_on=answer.links > left_out,
                watched=watch,
            )  # fmt: skip
    payload = b"".join(map(entries.encode_parsed, answers))
    pages.finish(payload, len(answers), True, noted)
    assert (noted.shown(HOST_ID), noted.in_a_row(HOST_ID)) == (plain.shown, plain.in_a_row)


def test_done_entries_fit_their_records() -> None:
    """65,536 bytes at most, in as many pairs as that takes; nothing is lost between them."""
    count = 4000
    pages = HeldPages(EPOCH)
    for number in range(count):
        pages.give(result(number))
    payload = b"".join(
        entries.encode_parsed(ParsedPage(number, EPOCH, Outcome.SUCCESS)) for number in range(count)
    )
    done, others = pages.finish(payload, count, True)
    assert others == []
    assert len(done) == 3
    assert max(len(entry) for entry, _ in done) <= 65_536
    assert sum(len(places) for _, places in done) == 8 * count


@pytest.mark.parametrize("change", [lambda p: p[:-1], lambda p: p + b"\0"])
def test_malformed_answers_take_nothing(change) -> None:  # type: ignore[no-untyped-def]
    """A frame whose entries do not fill it is refused as a whole."""
    pages = held(range(3))
    payload = entries.encode_parsed(ParsedPage(1, EPOCH, Outcome.SUCCESS))
    with pytest.raises(FormatError):
        pages.finish(change(payload), 1, True)
    assert len(pages) == 3


def test_none_is_refused() -> None:
    """A result that is none, and a parser with a number below 0."""
    pages = HeldPages(EPOCH)
    with pytest.raises(TypeError):
        pages.give(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no parser -1"):
        pages.join(-1)
