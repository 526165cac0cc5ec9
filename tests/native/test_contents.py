"""What hosts have shown last, beside the plain version."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from larbinpy._native.contents import Contents, HostContents
from tests.reference.contents import Contents as Plain

HOST = 7
DIGESTS = st.integers(1, 8).map(lambda number: number.to_bytes(16, "little"))
PAGES = st.tuples(st.integers(0, 3000), DIGESTS, st.booleans(), st.booleans(), st.integers(0, 1))


@given(st.lists(PAGES), st.integers(0, 20), st.integers(1, 100))
def test_pages_in_a_row_are_counted(
    pages: list[tuple[int, bytes, bool, bool, int]], after: int, most: int
) -> None:
    """Four contents are remembered, the oldest goes first; a near-duplicate is nothing new; a host
    says nothing of another."""
    contents = HostContents()
    plain: dict[int, Plain] = {}
    for host, digest, is_near, leads_on, watched in pages:
        beside = plain.setdefault(host, Plain())
        contents.add(host, digest, is_near=is_near, leads_on=leads_on, watched=watched)
        beside.add(digest, is_near=is_near, leads_on=leads_on, watched=watched)
    for host, beside in plain.items():
        assert (contents.in_a_row(host), contents.shown(host)) == (beside.in_a_row, beside.shown)
        assert contents.watch(host, after, most) == beside.watch(after, most)


def grown(pages: int, *, same: int = 0) -> HostContents:
    """After so many different pages, and then the same so often."""
    contents = HostContents()
    contents.meet(HOST)
    for number in range(pages):
        contents.add(HOST, (number + 1).to_bytes(16, "little"), watched=0)
    for _ in range(same):
        contents.add(HOST, pages.to_bytes(16, "little"))
    return contents


def test_few_pages_are_watched_until_they_say_nothing_new() -> None:
    """None of a small host, one of sixteen of a larger one, and all of one that may be a trap."""
    assert [grown(pages).watch(HOST, 64, 1000) for pages in (0, 48, 63, 64, 65, 79, 80)] == [
        0, 0, 0, 1, 0, 0, 1,
    ]  # fmt: skip
    assert [grown(70, same=same).watch(HOST, 64, 1000) for same in (1, 31, 32, 33)] == [0, 0, 1, 1]
    assert [grown(70, same=same).watch(HOST, 64, 4) for same in (1, 2, 3)] == [0, 1, 1]
    assert grown(0).watch(HOST, 0, 1000) == 4


def test_pages_that_are_not_watched_end_no_row() -> None:
    """Nobody knows what they said; one that is known to be new does."""
    contents = grown(1, same=5)
    contents.add(HOST, b"a" * 16, watched=0)
    assert contents.in_a_row(HOST) == 5
    contents.add(HOST, b"b" * 16)
    assert contents.in_a_row(HOST) == 0


def test_a_near_duplicate_that_leads_nowhere_new_counts_neither_way() -> None:
    """A catalogue that a list leads to has an end."""
    contents = grown(1, same=5)
    contents.add(HOST, b"a" * 16, is_near=True, leads_on=False)
    assert contents.in_a_row(HOST) == 5
    contents.add(HOST, b"b" * 16, is_near=True)
    assert contents.in_a_row(HOST) == 6


def test_a_crowd_takes_the_first_page_of_each_host() -> None:
    """And is asked about instead of the host until then."""
    contents, crowd, plain = HostContents(), Contents(), Plain()
    for host in range(3):
        beside = Plain()
        beside.crowd = plain
        contents.meet(host, crowd)
        assert contents.crowd(host) is crowd
        assert contents.watch(host, 64, 1000) == beside.watch(64, 1000) == 2
        for _ in range(2):
            contents.add(host, b"a" * 16)
            beside.add(b"a" * 16)
        assert contents.crowd(host) is None
        assert contents.watch(host, 64, 1000) == beside.watch(64, 1000) == 0
    assert (crowd.shown, crowd.in_a_row) == (plain.shown, plain.in_a_row) == (3, 2)


def test_a_crowd_is_left_once() -> None:
    """Whoever owns it says so."""
    crowd = Contents()
    crowd.add(b"a")
    assert not crowd.is_left
    crowd.is_left = True
    assert crowd.is_left


def test_a_short_digest_is_filled_up() -> None:
    """The log may tell less than 16 bytes."""
    contents = HostContents()
    contents.add(HOST, b"ab")
    contents.add(HOST, b"ab" + bytes(14))
    assert contents.in_a_row(HOST) == 1
    contents.add(HOST, b"ac")
    assert contents.in_a_row(HOST) == 0


def test_all_kept_bits_of_a_digest_tell_contents_apart() -> None:
    """Of the four places each; 20 bits are kept."""
    digests = [(1 << bit | 1 << 25).to_bytes(4, "little") for bit in range(20)]
    for start in range(4):
        contents = grown(0)
        for digest in [*(b"%d" % number for number in range(start)), *digests]:
            contents.add(HOST, digest, watched=0)
        assert contents.in_a_row(HOST) == 0
        for digest in digests[-4:]:
            contents.add(HOST, digest, watched=0)
        assert contents.in_a_row(HOST) == 4


def test_a_row_longer_than_can_be_counted_stays_where_it_is() -> None:
    """No limit is higher."""
    contents = grown(1, same=65_540)
    assert contents.in_a_row(HOST) == 65_535


def test_a_host_is_left_once() -> None:
    """The second time there is nothing to tell."""
    contents = grown(1)
    assert contents.leave(HOST)
    assert not contents.leave(HOST)
    assert contents.leave(HOST + 1)


def test_nothing_is_known_of_a_host_that_was_not_met() -> None:
    """Not of one between others, nor of one with no number."""
    contents = HostContents()
    contents.meet(5000)
    for host in (0, 4999, 5001, 1 << 40, -1):
        assert not contents.is_met(host)
        assert (contents.in_a_row(host), contents.shown(host)) == (0, 0)
        assert contents.watch(host, 0, 1) == 0
        assert contents.crowd(host) is None
    assert contents.is_met(5000)


@pytest.mark.parametrize("host", [-1, 1 << 31])
def test_no_host_has_such_a_number(host: int) -> None:
    """What would be written is refused."""
    contents = HostContents()
    for call in (contents.meet, contents.leave, lambda number: contents.add(number, b"")):
        with pytest.raises(ValueError, match=f"no host has the number {host}"):
            call(host)
