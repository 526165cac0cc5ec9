"""URLs that wait outside the chains."""

from __future__ import annotations

from larbinpy.frontier.apart import Apart, places_of
from larbinpy.records import ID_SHARD_SHIFT, FetchJob


def job(number: int) -> FetchJob:
    """A URL with this id."""
    return FetchJob(number, b"http://h.example/%d" % number, b"h.example", 80, https=False)


def test_one_that_was_taken_is_still_set_apart() -> None:
    """Until it is let go."""
    apart = Apart()
    apart.add(job(1))
    apart.add(job(2))
    assert apart.take(1) == job(1)
    assert (apart.waiting, apart.ids) == ([job(2)], {1, 2})
    apart.let_go(1)
    assert apart.ids == {2}


def test_one_that_is_put_back_waits_again() -> None:
    """It may be taken once more."""
    apart = Apart()
    apart.add(job(1))
    apart.add(apart.take(1))
    assert (len(apart), apart.ids) == (1, {1})


def test_one_that_waits_may_be_let_go() -> None:
    """Nobody takes it here then."""
    apart = Apart()
    apart.add(job(1))
    apart.let_go(1)
    assert (apart.waiting, apart.ids) == ([], set())


def test_places_are_found_by_id() -> None:
    """In their order; those that do not wait are passed over, whatever their shard."""
    lsns = {place: place // 10 for place in range(20, 2000, 30)}
    shard = 5 << ID_SHARD_SHIFT
    ids = [shard | lsns[500], shard | lsns[20], shard | 3, shard | 10**6]
    assert places_of(ids, list(lsns), lsns.__getitem__) == [20, 500]
    assert places_of(ids, [], lsns.__getitem__) == []
