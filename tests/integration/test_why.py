"""``larbinpy why`` agrees with everything that a real crawl did, and left undone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.cli import main
from larbinpy.testing.web import Scope, WebProcess, WebSpec
from tests.integration.crawl import crawl_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.crawl import Crawl

SPEC = WebSpec(hosts=12, pages=25, notes=3)
OF_EACH = 12
"""URLs of each outcome that are asked for."""
DECIDED = {
    "forbiddenRobots": "forbiddenRobots: line 2 of robots.txt",
    "earlyStop": "earlyStop: pagesPerHost",
}
"""Outcomes that name their rule."""


@contextmanager
def crawled(tmp_path: Path, keys: dict[str, str], scope: Scope | None = None) -> Iterator[Crawl]:
    """A crawl of the synthetic web that has ended."""
    with WebProcess(SPEC, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, scope, fetchProcesses="2", **keys)
        crawl.run()
        yield crawl


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Any:
    """The JSON of an answer."""

    def asked(crawl: Crawl, url: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main(["why", "-c", str(crawl.config), "--json", url]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    return asked


def explains(answer: dict[str, Any], line: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    """A redirection tells where it led, a duplicate which page it repeats."""
    by_url = {one["url"]: one for one in lines}
    led, repeats = answer["leads_to"], answer["repeats"]
    if line["outcome"] == "err30X":
        target = by_url[led["url"]]
        assert (led["url"], led["state"]) == (line["canonical"], "done")
        assert led["decided"].startswith(target["outcome"])
    elif line["outcome"] == "duplicate":
        first = by_url[repeats["url"]]
        assert (first["outcome"], first["digest"]) == ("success", line["digest"])
    else:
        assert (led, repeats) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        # All URLs are judged, whatever comes first.
        (
            {"pageNoDuplicate": "", "ramUrls": "200"},
            {"success", "err40X", "err30X", "noDNS", "forbiddenRobots"},
        ),
        # A host has more pages than that: whichever come first, they have links to others.
        ({"pagesPerHost": "15"}, {"success", "earlyStop"}),
    ],
    ids=["all", "budget"],
)
def test_every_outcome_is_explained_by_its_line(
    tmp_path: Path, ask: Any, keys: dict[str, str], expected: set[str]
) -> None:
    """All kinds of outcomes of a whole crawl: what, when, by which line, by which rule."""
    with crawled(tmp_path, keys) as crawl:
        log = (crawl.state / "crawl.log").read_bytes()
        lines = crawl.lines()
        by_outcome = defaultdict(list)
        for line in lines:
            by_outcome[line["outcome"]].append(line)
        assert by_outcome.keys() >= expected
        for outcome, some in by_outcome.items():
            for line in some[:OF_EACH]:
                answer = ask(crawl, line["url"])
                assert answer["state"] == "done", answer
                assert answer["decided"].startswith(DECIDED.get(outcome, outcome)), answer
                assert answer["when"] == line["ts"]
                offset = int(answer["record"].removeprefix("crawl.log at byte "))
                assert json.loads(log[offset : log.index(b"\n", offset)]) == line
                assert answer["shard"] == line["id"] >> 56
                assert answer["now"] == "nothing: a link to it counts as a duplicate"
                explains(answer, line, lines)
                if outcome == "forbiddenRobots":
                    assert answer["robots"]["status"] == 200


@pytest.mark.slow
def test_what_waits_is_said_to_wait(tmp_path: Path, ask: Any) -> None:
    """A crawl that a limit ended: every URL that it printed as waiting, and what was fetched."""
    with crawled(tmp_path, {"limitPage": "40"}) as crawl:
        listed = subprocess.run(
            [sys.executable, "-m", "larbinpy", "urls", "-c", str(crawl.state)],
            capture_output=True, check=True, text=True, env=os.environ,
        ).stdout.split()  # fmt: skip
        assert len(listed) > 50
        for url in listed[:: len(listed) // 30]:
            answer = ask(crawl, url)
            assert (answer["state"], answer["crawl"]) == ("waiting", "stopped"), answer
            assert answer["now"].startswith("once the crawl goes on, it is fetched"), answer
            place, _, offset = answer["record"].rpartition(" at byte ")
            record = (crawl.state / place).read_bytes()[int(offset) :][:400]
            assert url.encode() in record
        done = {line["url"] for line in crawl.lines()} - set(listed)
        assert all(ask(crawl, url)["state"] == "done" for url in sorted(done)[:20])


@pytest.mark.slow
def test_links_that_were_never_queued(tmp_path: Path, ask: Any) -> None:
    """Refused by a filter that is named with its keys, or unknown and welcome."""
    scope = Scope(forbidden_extensions=(b".pdf",), no_external=True)
    with crawled(tmp_path, {"limitPage": "5"}, scope) as crawl:
        refused = ask(crawl, "http://h0000.web.test/never/x.pdf")
        assert (refused["state"], refused["decided"]) == (
            "refused", "filter extension (forbiddenExtensions)"
        )  # fmt: skip
        assert ask(crawl, "http://h0000.web.test/?q")["decided"] == "filter cgi (getCGI)"
        unknown = ask(crawl, "HTTP://H0000.web.test:80/never/../new.html#here")
        assert (unknown["state"], unknown["record"]) == ("unknown", None)
        assert unknown["normal"] == "http://h0000.web.test/new.html"
        assert unknown["now"] == f"a link to it would be queued by shard {unknown['shard']}"
        assert ask(crawl, "mailto:nobody@web.test")["state"] == "invalid"
