"""Which URLs are judged again, and when."""

from __future__ import annotations

from larbinpy._native.linkfilter import LinkFilter
from larbinpy.records import ID_SHARD_SHIFT, FetchJob
from larbinpy.shard.scope import Scope

SHARD = 3 << ID_SHARD_SHIFT


def taken(lsn: int, path: bytes) -> FetchJob:
    """A URL whose record has this number."""
    return FetchJob(SHARD | lsn, b"http://a.test" + path, b"a.test", 80, https=False)


def scope(made: list[int], *, below: int, needs_sites: bool = False) -> Scope:
    """One that forbids .pdf, and tells how often it made its filter."""

    def links() -> LinkFilter:
        made.append(1)
        return LinkFilter(key=bytes(16), shards=1, domain_of=bytes, forbidden=[b".pdf"])

    return Scope(links, below=below, needs_sites=needs_sites)


def test_only_what_an_earlier_run_queued_is_judged() -> None:
    """By its number in the log; the filter is made once, when it is needed."""
    made: list[int] = []
    judge = scope(made, below=7)
    assert judge.refused([taken(7, b"/x.pdf")]) == {}
    assert not made
    old = [taken(6, b"/x.pdf"), taken(5, b"/x"), taken(8, b"/y.pdf")]
    assert set(judge.refused(old)) == set(judge.refused(old)) == {SHARD | 6}
    assert len(made) == 1


def test_a_new_crawl_judges_nothing() -> None:
    """It has nothing old, and waits for nothing."""
    judge = scope([], below=0, needs_sites=True)
    assert judge.is_known
    assert judge.refused([taken(1, b"/x.pdf")]) == {}


def test_the_start_hosts_are_waited_for() -> None:
    """And read again when they have come, whatever was known before."""
    made: list[int] = []
    judge = scope(made, below=7, needs_sites=True)
    known = [judge.is_known]
    judge.refused([taken(1, b"/")])
    judge.sites_known()
    known.append(judge.is_known)
    assert known == [False, True]
    judge.refused([taken(1, b"/")])
    assert len(made) == 2
