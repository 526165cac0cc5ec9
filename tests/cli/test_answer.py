"""The words for a fate, which no state has to have."""

from __future__ import annotations

from pathlib import Path

import pytest

from larbinpy.cli.answer import answer_of
from larbinpy.cli.fate import Fate, LogLine
from larbinpy.cli.newlink import NewLink
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.search import Found, Place
from larbinpy.records import Filtered
from larbinpy.url import parse

STATE = Path("/crawl")
AT = Place(STATE / "shard-01/q-1.seg", 64)
NOW_US = 1_000_000_000_000_000
LATER, EARLIER = NOW_US + 1, NOW_US - 1


def fate_of(
    found: Found, *, link: NewLink | None = None, ends: list[LogLine] | None = None
) -> Fate:
    """A fate of which only this is known."""
    url = parse(b"http://h.example/a")
    assert url is not None
    return Fate(
        url, b"h.example", fingerprint=1, shard=1, is_running=False, found=found, ends=ends or [],
        tries=[], robots=None, link=link,
    )  # fmt: skip


def waiting(**more: object) -> Found:
    """A URL that waits."""
    return Found(url_at=AT, is_waiting=True, live={1}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("until_us", "is_left"), [(LATER, True), (NOW_US, False)])
def test_a_host_is_left_alone_until_its_time(until_us: int, *, is_left: bool) -> None:
    """Its HOST record decides no longer, and sets no condition."""
    host = HostState(b"h.example", until_us, 1, 1)
    answer = answer_of(fate_of(waiting(host=host, host_at=AT)), STATE, now_us=NOW_US)
    assert ("back-off" in answer["decided"]) is is_left
    assert ("not before" in answer["now"]) is is_left


@pytest.mark.parametrize(("due_us", "is_said"), [(LATER, True), (EARLIER, False)])
def test_a_next_try_is_a_condition_until_its_time(due_us: int, *, is_said: bool) -> None:
    """The tries are told all the same."""
    found = waiting(retry=Retry(1, 2, due_us), retry_at=AT)
    answer = answer_of(fate_of(found), STATE, now_us=NOW_US)
    assert answer["decided"] == "tried in vain 2 times"
    assert ("not before" in answer["now"]) is is_said


@pytest.mark.parametrize(
    ("link", "state", "now"),
    [
        (NewLink(), "unknown", "a link to it would be queued by shard 1"),
        (
            NewLink(Filtered.CGI),
            "refused",
            "a link to it would be refused by cgi (getCGI)",
        ),
    ],
)
def test_a_url_that_was_never_queued(link: NewLink, state: str, now: str) -> None:
    """What becomes of a link to it, and which key has a say."""
    answer = answer_of(fate_of(Found(), link=link), STATE, now_us=NOW_US)
    assert (answer["state"], answer["now"]) == (state, now)


def test_a_line_whose_done_is_missing_decides() -> None:
    """The URL has ended, and nobody would know it after a kill."""
    fields = {
        "id": 1, "ts": "then", "outcome": "err40X", "status": 404, "reason": None, "depth": 2,
        "via": None,
    }  # fmt: skip
    answer = answer_of(fate_of(waiting(), ends=[LogLine(77, fields)]), STATE, now_us=NOW_US)
    assert (answer["state"], answer["record"]) == ("done", "crawl.log at byte 77")
    assert answer["decided"] == "err40X, status 404"
    assert answer["now"].startswith("its end is being noted")
