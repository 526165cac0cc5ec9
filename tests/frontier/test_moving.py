"""Survivors of old segments are moved, and nobody who knows their positions notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from larbinpy.errors import StorageError
from larbinpy.frontier.moving import GUESSED_BYTES, RecordSize, is_worth_moving
from larbinpy.frontier.payloads import Retry
from tests.frontier.logs import (
    files,
    finish,
    is_balanced,
    open_log,
    places_of,
    put,
    reopened,
    seen,
    url_of,
    waiting,
)

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.log import PersistentFifo


def put_many(fifo: PersistentFifo, start: int, end: int) -> list[int]:
    """Put URLs ten at a time, so that segments are full to their size."""
    batches = (range(n, min(n + 10, end)) for n in range(start, end, 10))
    return [place for batch in batches for place in places_of(put(fifo, batch))]


@pytest.mark.parametrize(
    ("segment_live", "log_bytes", "log_live", "expected"),
    [
        (49, 1000, 900, True),
        (50, 1000, 900, False),
        (900, 3799, 900, False),
        (900, 3801, 900, True),
    ],
)
def test_when_it_is_worth_it(
    segment_live: int, log_bytes: int, log_live: int, expected: bool
) -> None:
    """Under 5 % of the oldest segment, or the log over twice what is live and two segments."""
    assert expected == is_worth_moving(
        segment_bytes=1000, segment_live=segment_live, log_bytes=log_bytes, log_live=log_live
    )


def test_the_size_of_records_is_learnt() -> None:
    """A guess before the first."""
    size = RecordSize()
    assert size.mean == GUESSED_BYTES
    size.add(300, 3)
    assert size.mean == 100


def test_an_old_segment_of_few_survivors_goes(tmp_path: Path) -> None:
    """Its URLs keep position, id and place in the order."""
    fifo, _ = open_log(tmp_path)
    places = put_many(fifo, 0, 300)
    ids = [url[0] for url in fifo.read(places)]
    finish(fifo, places[1:200])
    fifo.collect(wait=True)
    before = len(files(tmp_path))
    assert (fifo.compact(), fifo.compact()) == (1, 0)
    assert fifo.collect(wait=True) > 1
    assert len(files(tmp_path)) < before
    assert [(ids[0], url_of(0))] == [(url[0], url[2]) for url in fifo.read(places[:1])]
    assert ids[200:] == [url[0] for url in fifo.read(places[200:])]
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert [0, *range(200, 300)] == waiting(fifo, found)
        assert (found.damage, found.lost, is_balanced(found)) == ([], 0, True)
        assert set(range(300)) == seen(found)


def test_urls_in_flight_may_be_moved(tmp_path: Path) -> None:
    """They are finished by the position that they were taken with, once."""
    fifo, _ = open_log(tmp_path)
    places = put_many(fifo, 0, 300)
    finish(fifo, places[1:])
    fifo.collect(wait=True)
    fifo.compact()
    fifo.compact()
    finish(fifo, places[:1])
    with pytest.raises(StorageError, match="no URL at position"):
        fifo.done(bytes(40), places[:1])
    fifo.collect(wait=True)
    fifo.close()
    with reopened(tmp_path) as (fifo, found):
        assert (waiting(fifo, found), is_balanced(found)) == ([], True)
        assert found.counters.as_dict()["done"] == 300


def test_a_call_moves_no_more_than_it_may(tmp_path: Path) -> None:
    """What is left comes with the next one."""
    fifo, _ = open_log(tmp_path)
    places = put_many(fifo, 0, 1000)
    finish(fifo, [place for n, place in enumerate(places[:700]) if n > 30])
    fifo.collect(wait=True)
    moved = [fifo.compact(8) for _ in range(6)]
    assert moved == [8, 8, 8, 7, 0, 0]
    fifo.close()


def test_a_log_that_is_all_live_is_left_alone(tmp_path: Path) -> None:
    """However large its records are, also after a restart."""
    fifo, _ = open_log(tmp_path)
    put_many(fifo, 0, 1000)
    fifo.collect(wait=True)
    assert fifo.compact() == 0
    fifo.close()
    with reopened(tmp_path) as (fifo, _):
        assert fifo.compact() == 0


def test_retries_go_with_their_urls(tmp_path: Path) -> None:
    """Those of URLs that are done do not."""
    fifo, _ = open_log(tmp_path)
    places = put_many(fifo, 0, 300)
    ids = [url[0] for url in fifo.read(places[:2])]
    fifo.retry(Retry(ids[0], 1, 77))
    fifo.retry(Retry(ids[1], 2, 88))
    places += put_many(fifo, 300, 600)
    finish(fifo, places[1:500])
    for _ in range(4):
        fifo.collect(wait=True)
        fifo.compact()
    assert fifo.segments[0].number > 7
    fifo.close()
    with reopened(tmp_path) as (_, found):
        assert {ids[0]: Retry(ids[0], 1, 77)} == found.retries


lives = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "done", "done", "compact", "collect", "move", "reopen"]),
        st.integers(1, 40),
    ),
    max_size=40,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lives)
def test_any_life(tmp_path_factory: pytest.TempPathFactory, life: list[tuple[str, int]]) -> None:
    """Every URL that waits can be read by the position that came with it, and no other waits."""
    directory = tmp_path_factory.mktemp("log")
    fifo, found = open_log(directory)
    places: dict[int, int] = {}
    count = 0
    for verb, n in life:
        if verb == "put":
            places |= zip(range(count, count + n), put_many(fifo, count, count + n), strict=True)
            count += n
        elif verb == "done":
            chosen = [number for number in places if number % (n % 3 + 2)][: 2 * n]
            finish(fifo, [places.pop(number) for number in chosen])
        elif verb == "move":
            fifo.move([(places[number], None) for number in list(places)[::n]])
        elif verb == "compact":
            fifo.compact(n)
        elif verb == "collect":
            fifo.collect(wait=True)
        else:
            fifo.close()
            fifo, found = open_log(directory)
            assert list(places) == waiting(fifo, found)
            assert (found.damage, found.lost, is_balanced(found)) == ([], 0, True)
            assert set(range(count)) == seen(found)
            places = dict(zip(places, memoryview(found.waiting).cast("Q"), strict=True))
        assert [url_of(number) for number in places] == [
            url[2] for url in fifo.read(list(places.values()))
        ]
    fifo.close()
