"""Limits end a crawl exactly, say which key it was, and leave a state that goes on."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.differences import differences
from tests.integration.crawl import Crawl, all_of, asked, crawl_of, silent_crawl
from tests.integration.sites import Site
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = WebSpec(hosts=12, pages=15, notes=3)
CGI = Scope(cgi=True)
LIMIT = 100
PAGES = 60
PAGE_BYTES = 10_000
SERVED = 30
"""Pages of ``Held`` that are answered at once: half as much again as its limit."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebProcess]:
    """A small web."""
    with WebProcess(SMALL, tmp_path / "web") as running:
        yield running


@pytest.mark.parametrize("shards", ["1", "3"])
def test_limit_page_is_exact(tmp_path: Path, web: WebProcess, shards: str) -> None:
    """Exactly so many good pages, over all shards and runs; then it ends at once."""
    crawl = crawl_of(web, tmp_path, CGI, limitPage=str(LIMIT), fetchProcesses=shards)
    first = crawl.run()
    assert (first.code, crawl.report()["exit"]) == (3, "page limit"), first.stderr
    assert "page limit: " in first.stderr
    assert crawl.urls("success").total() == LIMIT
    assert crawl.report()["counters"]["success"] == LIMIT
    requests = asked(web)
    again = crawl.run()
    assert again.code == 3
    assert "limitPage: the crawl has reached this limit before\n" in again.stderr
    assert asked(web) == requests
    more = crawl.run("--set", f"limitPage={LIMIT + 17}")
    assert more.code == 3
    assert crawl.urls("success").total() == LIMIT + 17
    last = crawl.run("--set", "limitPage=0")
    assert last.code == 0, last.stderr
    want = expected(web.spec, CGI)
    assert differences(asked(web) - most_of(all_of(want), runs=4), []) == []
    assert differences(crawl.urls("success").keys(), want.success) == []


def most_of(want: Counter[bytes], *, runs: int) -> Counter[bytes]:
    """Every run asks for robots.txt anew; a page is asked for once."""
    return Counter({url: runs if url.endswith(b"/robots.txt") else 1 for url in want})


@pytest.mark.slow
def test_limit_page_above_the_web_finishes(tmp_path: Path, web: WebProcess) -> None:
    """A limit that is not reached does not hold anything back."""
    crawl = crawl_of(web, tmp_path, CGI, limitPage="100000")
    assert crawl.run().code == 0
    assert differences(asked(web), all_of(expected(web.spec, CGI))) == []


class Held(Site):
    """A page with links to all others, of which those behind ``SERVED`` wait for ``go_on``."""

    def __init__(self) -> None:
        links = b"".join(b'<a href="/%d">x</a>' % n for n in range(1, PAGES))
        super().__init__({f"/{n}": b"<p>%d" % n + b"x" * PAGE_BYTES for n in range(1, PAGES)})
        self.pages["/0"] = links
        self._may_go_on = threading.Event()

    def answer(self, path: str) -> bytes | None:
        """See ``Site``."""
        body = super().answer(path)
        if len(self.asked) > SERVED:
            self._may_go_on.wait(PATIENCE_S)
        return body

    def go_on(self) -> None:
        """Answer everything."""
        self._may_go_on.set()


def test_limit_size_counts_bytes_read(tmp_path: Path) -> None:
    """Of the whole crawl; what is in flight is finished, so a little more is read.

    However late the limit is seen, the crawl cannot have ended before: the rest is not answered.
    """
    with Held() as site:
        keys = {
            "From": "operator@web.test", "stateDir": str(tmp_path / "crawl"), "waitDuration": "0",
            "startUrl": site.url("/0"), "allowPrivateAddresses": "", "firstByteTimeout": "1h",
            "fetchTimeout": "1h", "limitSize": "200K", "drainTime": "200ms",
        }  # fmt: skip
        crawl = Crawl(tmp_path, keys)
        ended = crawl.run()
        assert (ended.code, crawl.report()["exit"]) == (3, "size limit"), ended.stderr
        assert crawl.report()["counters"]["bytes_read"] >= 200_000
        assert crawl.urls().total() <= SERVED
        site.go_on()
        asked = len(site.asked)
        again = crawl.run()
        assert (again.code, len(site.asked)) == (3, asked)
        assert "limitSize: the crawl has reached this limit before\n" in again.stderr
        assert crawl.run("--set", "limitSize=0").code == 0
        assert differences(crawl.urls("success"), (site.url(n).encode() for n in site.pages)) == []


def test_limit_time_is_of_this_run(tmp_path: Path) -> None:
    """It ends then, with 3; the next run has its time anew and goes on.

    A busy machine may need longer until the first page comes; the web is enough for a minute.
    """
    with WebProcess(replace(SMALL, pages=400, latency_ms=150), tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI)
        assert any(goes_on(crawl, limit_s) for limit_s in (1, 5, 25))


def goes_on(crawl: Crawl, limit_s: int) -> bool:
    """Whether the second run of a crawl does more, when both have so much time."""
    done = []
    for option in (["--scratch"], []):
        ended = crawl.run(*option, "--set", f"limitTime={limit_s}s")
        report = crawl.report()
        assert (ended.code, report["exit"]) == (3, "time limit"), ended.stderr
        assert report["seconds"] >= limit_s
        done.append(report["counters"]["urls"])
    return done[1] > done[0] and max(crawl.urls().values()) == 1


def test_limit_time_ends_where_every_server_is_silent(tmp_path: Path) -> None:
    """No event comes from anywhere; what is in flight is given up after ``drainTime``."""
    with socket.create_server(("", 0), backlog=64) as silent:
        port = silent.getsockname()[1]
        crawl = silent_crawl(tmp_path, port)
        ended = crawl.run()
    report = crawl.report()
    assert (ended.code, report["exit"]) == (3, "time limit"), ended.stderr
    identity = report["identity"]
    busy = sum(identity[name] for name in ("waiting", "ready", "in_flight", "parsing"))
    assert (identity["done"], busy) == (0, identity["accepted"])


# --- beginning and going on ---------------------------------------------------------------------


def test_a_finished_crawl_says_so_and_takes_new_seeds(tmp_path: Path, web: WebProcess) -> None:
    """Nothing is asked for twice; a new start URL is crawled."""
    scope = Scope(depth_in_site=0)
    crawl = crawl_of(web, tmp_path, scope)
    assert crawl.run().code == 0
    requests = asked(web)
    again = crawl.run()
    done = crawl.report()["counters"]["urls"]
    assert again.code == 0
    assert f"going on: {done} URLs done, 0 waiting\n" in again.stderr
    assert "nothing was fetched: the crawl had finished" in again.stderr
    assert asked(web) == requests
    seed = web.web.host(7).name.decode()
    new = crawl.run(f"http://{seed}:{web.port}/")
    assert new.code == 0
    assert crawl.report()["counters"]["urls"] == done + 1
    assert crawl.report()["run"]["urls"] == 1
    added = asked(web) - requests
    assert added[f"http://{seed}:{web.port}/".encode()] == 1


def test_scratch_begins_afresh(tmp_path: Path, web: WebProcess) -> None:
    """The state is deleted, and named; the output is left alone."""
    crawl = crawl_of(web, tmp_path, Scope(depth_in_site=1), outputMode="1")
    assert crawl.run().code == 0
    requests, saved = asked(web), sorted(crawl.output.rglob("f*"))
    ended = crawl.run("--scratch")
    assert ended.code == 0
    assert f"deleted {crawl.state / 'crawl.log'}\n" in ended.stderr
    assert asked(web) == requests + requests
    assert set(saved) < set(crawl.output.rglob("f*"))


def test_scratch_refuses_a_directory_that_is_no_state(tmp_path: Path, web: WebProcess) -> None:
    """Whatever is in it stays."""
    crawl = crawl_of(web, tmp_path)
    crawl.state.mkdir()
    treasure = crawl.state / "thesis.tex"
    treasure.write_text("ten years")
    ended = crawl.run("--scratch")
    assert (ended.code, ended.stderr) == (
        2,
        f"larbinpy: --scratch: {crawl.state} is not a larbinpy state; nothing was deleted\n",
    )
    assert [*crawl.state.iterdir()] == [treasure]
    assert asked(web) == {}


def test_reload_needs_a_state(tmp_path: Path, web: WebProcess) -> None:
    """And goes on with the one that is there."""
    crawl = crawl_of(web, tmp_path, Scope(depth_in_site=0))
    ended = crawl.run("--reload")
    assert (ended.code, ended.stderr) == (
        2,
        f"larbinpy: --reload: there is no crawl in {crawl.state}\n",
    )
    assert asked(web) == {}
    assert crawl.run().code == 0
    assert crawl.run("--reload").code == 0


def test_more_shards_than_the_state_has_are_refused(tmp_path: Path, web: WebProcess) -> None:
    """The number of shards is part of the state; parsers may differ between runs."""
    crawl = crawl_of(web, tmp_path, Scope(depth_in_site=0))
    assert crawl.run().code == 0
    ended = crawl.run("--set", "fetchProcesses=2")
    assert ended.code == 2
    assert ended.stderr.startswith("larbinpy: fetchProcesses: the state has 1 shards, not 2;")
    assert "--reshard 2" in ended.stderr
    assert crawl.run("--set", "parseProcesses=2").code == 0
