"""When silence is taken for our own, and when it is believed to be theirs."""

from __future__ import annotations

from random import Random

import pytest

from larbinpy.politeness.outage import (
    FIRST_PROBE_NS,
    LAST_PROBE_NS,
    SILENT,
    SILENT_ALONE,
    STRANGERS,
    TRUST_NS,
    WINDOW_NS,
    Line,
    State,
)

NOW = 10**12


@pytest.fixture
def line() -> Line:
    """A line on which somebody was heard."""
    made = Line(Random(1))
    made.heard(NOW)
    return made


def be_silent(line: Line, count: int, now_ns: int = NOW, *, first: int = 0) -> list[bool]:
    """So many addresses do not answer."""
    return [line.silent(b"%d" % n, now_ns) for n in range(first, first + count)]


def test_many_silent_addresses_make_the_line_suspect(line: Line) -> None:
    """The last one of them, once; a probe is due at once."""
    assert be_silent(line, SILENT + 1) == [False] * (SILENT - 1) + [True, False]
    assert (line.state, line.probe_ns, line.since_ns) == (State.SUSPECT, NOW, NOW)


def test_one_address_counts_once(line: Line) -> None:
    """Hosts of one server that go down together are not the line."""
    assert not any(line.silent(b"1", NOW) for _ in range(1000))


def test_an_answer_between_clears_all(line: Line) -> None:
    """Whoever it is from."""
    be_silent(line, SILENT - 1)
    assert not line.heard(NOW)
    assert not any(be_silent(line, SILENT - 1, first=100))


def test_silence_of_long_ago_does_not_count(line: Line) -> None:
    """Dead hosts that come up now and then in a slow crawl."""
    assert not any(
        line.silent(b"%d" % n, NOW + n * (WINDOW_NS // SILENT + WINDOW_NS // 50))
        for n in range(100)
    )


def test_a_friend_that_answers_clears_the_line(line: Line) -> None:
    """The tail of a crawl may be nothing but dead hosts: they are suspected once a while only."""
    be_silent(line, SILENT)
    assert line.heard(NOW)
    assert (line.state, line.was_down) == (State.FINE, False)
    assert not any(be_silent(line, 1000, NOW + TRUST_NS - 1))
    be_silent(line, SILENT, NOW + TRUST_NS)
    assert line.probed(NOW, NOW, is_friend=True)


def test_a_friend_that_is_silent_too_means_that_the_line_is_down(line: Line) -> None:
    """Said once."""
    be_silent(line, SILENT)
    assert [line.probed(NOW, NOW, is_friend=True) for _ in range(3)] == [True, False, False]
    assert line.state is State.DOWN


def test_probes_are_sent_at_growing_intervals(line: Line) -> None:
    """With jitter."""
    be_silent(line, SILENT)
    spans = []
    for _ in range(10):
        line.probed(NOW, NOW, is_friend=True)
        spans.append(line.probe_ns - NOW)
    expected = [min(FIRST_PROBE_NS << n, LAST_PROBE_NS) for n in range(10)]
    assert all(e <= s <= e * 1.5 for s, e in zip(spans, expected, strict=True))
    assert len(set(spans)) == 10


def test_probes_side_by_side_count_as_one(line: Line) -> None:
    """Silence is as long as a timeout: each friend that was asked in it would double the delay."""
    be_silent(line, SILENT)
    begun = [NOW + n for n in range(8)]
    ended = [NOW + LAST_PROBE_NS + n for n in range(8)]
    news = [line.probed(b, e, is_friend=True) for b, e in zip(begun, ended, strict=True)]
    assert news == [True] + [False] * 7
    assert line.probe_ns <= ended[0] + FIRST_PROBE_NS * 1.5
    line.probed(line.probe_ns, line.probe_ns + 9, is_friend=True)
    assert line.probe_ns >= ended[0] + FIRST_PROBE_NS * 3


def test_an_outage_ends_with_the_first_answer(line: Line) -> None:
    """And the next one is noticed at once."""
    be_silent(line, SILENT)
    line.probed(NOW, NOW, is_friend=True)
    assert line.heard(NOW)
    assert (line.state, line.was_down) == (State.FINE, True)
    be_silent(line, SILENT)
    assert line.probed(NOW, NOW, is_friend=True)


def test_a_crawl_that_was_never_answered_needs_more_silence() -> None:
    """A few dead start URLs are no outage."""
    line = Line(Random(1))
    assert be_silent(line, SILENT_ALONE) == [False] * (SILENT_ALONE - 1) + [True]


def test_without_friends_the_silence_is_theirs_in_the_end() -> None:
    """A crawl of dead hosts alone ends."""
    line = Line(Random(1))
    be_silent(line, SILENT_ALONE)
    assert [line.probed(NOW, NOW, is_friend=False) for _ in range(STRANGERS)] == [False] * (
        STRANGERS - 1
    ) + [True]
    assert line.state is State.FINE
    assert not any(be_silent(line, 1000))


def find_no_way(line: Line, count: int) -> list[bool]:
    """So many addresses cannot be reached from here."""
    return [line.silent(b"%d" % n, NOW, is_unsent=True) for n in range(count)]


def test_a_crawl_that_finds_no_way_out_is_down() -> None:
    """There is no network yet: nobody need be asked about it."""
    line = Line(Random(1))
    assert find_no_way(line, SILENT + 1) == [False] * (SILENT - 1) + [True, False]
    assert (line.state, line.probe_ns) == (State.DOWN, NOW)
    assert not any(line.probed(NOW, NOW, is_friend=False, is_unsent=True) for _ in range(100))
    assert line.heard(NOW)
    assert (line.state, line.was_down) == (State.FINE, True)


def test_who_has_friends_asks_them(line: Line) -> None:
    """Hosts that have addresses of the other family alone are not the line."""
    find_no_way(line, SILENT)
    assert line.state is State.SUSPECT


def test_an_address_counts_as_it_was_the_last_time() -> None:
    """A way out that was found later counts, and what lies back longer does not."""
    line = Line(Random(1))
    find_no_way(line, SILENT - 1)
    line.silent(b"0", NOW)
    assert not line.silent(b"more", NOW, is_unsent=True)
    assert not line.silent(b"late", NOW + WINDOW_NS + 1, is_unsent=True)
    assert line.state is State.FINE


def test_when_there_is_a_way_out_the_silence_is_theirs_again() -> None:
    """Asked after it was lost; then they are believed for a while."""
    line = Line(Random(1))
    find_no_way(line, SILENT)
    assert not any(line.probed(NOW - 1, NOW, is_friend=False) for _ in range(STRANGERS))
    assert [line.probed(NOW, NOW, is_friend=False) for _ in range(STRANGERS)] == [False] * (
        STRANGERS - 1
    ) + [True]
    assert (line.state, line.was_down) == (State.FINE, True)
    assert not any(find_no_way(line, SILENT))


def test_a_suspect_line_is_down_when_a_probe_finds_no_way() -> None:
    """Also when it is nobody's friend that was asked."""
    line = Line(Random(1))
    be_silent(line, SILENT_ALONE)
    assert line.probed(NOW, NOW, is_friend=False, is_unsent=True)
    assert line.state is State.DOWN


def test_whoever_was_heard_once_believes_no_stranger(line: Line) -> None:
    """There is a way out, if not to these."""
    be_silent(line, SILENT)
    probes = [line.probed(NOW, NOW, is_friend=False, is_unsent=True) for _ in range(STRANGERS)]
    assert probes == [False] * (STRANGERS - 1) + [True]
    assert line.state is State.FINE
