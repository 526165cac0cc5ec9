"""What explains the end of a URL, and what stands before one that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import states
from tests.cli.asking import SHARDS, ask, log_line, shard_with

if TYPE_CHECKING:
    from pathlib import Path

FIRST, TARGET = 5, 7


def target_url() -> str:
    return states.url_of(TARGET).decode()


@pytest.mark.parametrize(("order", "expected"), [("bfs", 3), ("dfs", 2), ("best", 3)])
def test_what_stands_before_a_url_is_counted(
    crawl: Path, capsys: pytest.CaptureFixture[str], order: str, expected: int
) -> None:
    """The waiting URLs of its host that are taken first, by the order of the crawl."""
    shard = states.shard_of(5, SHARDS)
    same = [n for n in range(5, 2000, 11) if states.shard_of(n, SHARDS) == shard]
    fifo = shard_with(crawl, 5)
    places = states.put(fifo, [*same[:4], 6, *same[4:8]])
    states.finish(fifo, [places[1], places[7]])
    fifo.close()
    answer = ask(crawl, same[4], capsys, "--set", f"order={order}")
    assert answer["ahead"] == expected
    assert f"behind {expected} other URLs of its host" in answer["now"]
    assert ask(crawl, same[1], capsys)["ahead"] is None


def test_a_duplicate_names_the_page_it_repeats(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first one with its digest that was fetched well, when it was fetched, and its line."""
    for number, outcome in ((8, "err40X"), (9, "success"), (10, "success"), (FIRST, "duplicate")):
        log_line(crawl, number, number, outcome=outcome, digest="xxh3-128:77")
    log_line(crawl, 6, 6, outcome="duplicate", digest="xxh3-128:78")
    answer = ask(crawl, FIRST, capsys)
    assert answer["repeats"].keys() == {"url", "fetched", "record"}
    assert answer["repeats"]["url"] == states.url_of(9).decode()
    offset = int(answer["repeats"]["record"].rpartition(" ")[2])
    assert states.url_of(9) in (crawl / "crawl.log").read_bytes()[offset:].split(b"\n")[0]
    assert (ask(crawl, 6, capsys)["repeats"], ask(crawl, 9, capsys)["repeats"]) == (None, None)


def test_a_redirection_tells_what_became_of_its_target(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was fetched, waits, was refused, or was never queued."""
    log_line(crawl, FIRST, 1, outcome="err30X", status=301, canonical=target_url())
    unknown = ask(crawl, FIRST, capsys)["leads_to"]
    assert unknown == {
        "url": target_url(), "state": "unknown", "decided": "no link to it was queued"
    }  # fmt: skip
    refused = ask(crawl, FIRST, capsys, "--set", "limitToDomain=.test")["leads_to"]
    assert refused["state"] == "refused"
    assert refused["decided"] == "filter outSite (noExternalLinks, limitToDomain, lockSite)"
    fifo = shard_with(crawl, TARGET)
    states.put(fifo, [TARGET])
    fifo.close()
    waiting = ask(crawl, FIRST, capsys)["leads_to"]
    assert (waiting["state"], waiting["decided"]) == ("waiting", "it was queued")
    log_line(crawl, TARGET, 1, outcome="err40X", status=404)
    done = ask(crawl, FIRST, capsys)["leads_to"]
    assert (done["state"], done["decided"]) == ("done", "err40X, status 404")


def test_a_redirection_too_many_is_the_limits(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The record of the URL knows how many came before."""
    fifo = shard_with(crawl, FIRST)
    states.finish(fifo, states.put(fifo, [FIRST]))
    id_lsn = fifo.next_lsn - 2
    fifo.close()
    log_line(crawl, FIRST, id_lsn, outcome="err30X", status=301, canonical=target_url())
    answer = ask(crawl, FIRST, capsys, "--set", "maxRedirects=0")
    assert answer["leads_to"]["decided"] == "filter redirects (maxRedirects)"


def test_a_redirection_to_nowhere_leads_nowhere(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its line has no URL, as those of older crawls."""
    log_line(crawl, FIRST, 1, outcome="err30X", status=304)
    assert ask(crawl, FIRST, capsys)["leads_to"] is None


def test_what_waits_is_judged_by_the_configuration(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the shard will do that goes on with it."""
    fifo = shard_with(crawl, FIRST)
    states.put(fifo, [FIRST])
    fifo.close()
    answer = ask(crawl, FIRST, capsys, "--set", "exclude=/5$")
    assert (answer["state"], answer["now"]) == (
        "waiting", "once the crawl goes on, it ends as outSite by excluded (exclude)"
    )  # fmt: skip
    assert "is fetched" in ask(crawl, FIRST, capsys)["now"]
