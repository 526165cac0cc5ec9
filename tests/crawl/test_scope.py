"""A configuration that was changed while a crawl stood also holds for what already waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import EVERY_ADDRESS, Connection, Server
from tests.crawl.crawls import Crawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server() -> Iterator[Server]:
    """Two hosts with links of every kind on their first pages."""

    def serve(connection: Connection) -> None:
        while head := connection.read_request():
            links = ("/kept.html", "/x.pdf", "/q?a=1", f"http://b.test:{made.port}/b.html")
            page = "".join(f'<a href="{link}">x</a>' for link in links)
            is_first = head.split()[1] == b"/"
            connection.send(response(page.encode() if is_first else b"<p>" + head.split()[1]))

    with Server(serve, address=EVERY_ADDRESS) as made:
        yield made


@pytest.fixture
def crawl(tmp_path: Path, server: Server) -> Crawl:
    """A crawl that stopped after its first page: four links wait."""
    (tmp_path / "hosts").write_text("127.0.5.1 a.test\n127.0.5.2 b.test\n127.0.5.3 c.test\n")
    keys = {
        "hostsFile": f'"{tmp_path / "hosts"}"', "allowPrivateAddresses": "", "ignoreRobots": "",
        "getCGI": "", "limitPage": "1", "anyType": "",
    }  # fmt: skip
    run = Crawl(tmp_path, keys)
    assert run.run(f"http://a.test:{server.port}/") == 3, run.output
    run.set("limitPage", "0")
    return run


def test_filters_are_applied_again(crawl: Crawl, server: Server) -> None:
    """What breaks a rule of today ends with its reason, and nobody is asked for it."""
    asked = len(server.requests)
    crawl.set("limitToDomain", "a.test end")
    crawl.set("forbiddenExtensions", ".pdf end")
    crawl.set("maxQuerySize", "2")
    assert crawl.run(scratch=False) == 0, crawl.output
    reasons = {line["url"].split("/")[-1]: line["reason"] for line in crawl.lines()[1:]}
    assert reasons == {
        "kept.html": None,
        "x.pdf": "extension: the configuration does not allow it any more",
        "q?a=1": "query: the configuration does not allow it any more",
        "b.html": "outSite: the configuration does not allow it any more",
    }
    assert sorted(crawl.outcomes().values()) == ["outSite"] * 3 + ["success"] * 2
    assert [head.split()[1] for head in server.requests[asked:]] == [b"/kept.html"]


def test_the_hosts_of_new_seeds_are_known_before_anything_is_judged(
    crawl: Crawl, server: Server
) -> None:
    """``lockSite``: a link that waits for a host that is a start host from now on is fetched."""
    crawl.set("lockSite", "")
    seeds = [f"http://{host}.test:{server.port}/" for host in "abc"]
    assert crawl.run(*seeds, scratch=False) == 0, crawl.output
    assert set(crawl.outcomes().values()) == {"success"}


def test_a_scope_needs_first_urls(crawl: Crawl, server: Server) -> None:
    """A crawl that had none says so, fetches nothing and refuses nothing; with them it goes on."""
    asked = len(server.requests)
    crawl.set("lockSite", "")
    assert crawl.run(scratch=False) == 2
    assert "knows no first URL" in crawl.output
    assert len(server.requests) == asked
    assert list(crawl.outcomes().values()) == ["success"]
    assert crawl.run(f"http://a.test:{server.port}/", scratch=False) == 0, crawl.output
    assert sorted(crawl.outcomes().values()) == ["outSite"] + ["success"] * 4


def test_nothing_is_refused_when_nothing_was_changed(crawl: Crawl) -> None:
    """However the links were found."""
    assert crawl.run(scratch=False) == 0, crawl.output
    assert set(crawl.outcomes().values()) == {"success"}
