"""The traps of the synthetic web: each page leads to new ones for ever, and to nobody else."""

from __future__ import annotations

import http.client
import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import pytest

from larbinpy._native.webserver import TRAPS
from larbinpy.testing.web import Scope, SyntheticWeb, Trap, WebProcess, WebSpec, expected

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEC = WebSpec(hosts=4, pages=10, roots=2, traps=2)
STEPS = 40


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    """A small web with two traps of each kind."""
    with WebProcess(SPEC, tmp_path_factory.mktemp("web")) as web:
        yield web


def trap_of(web: WebProcess, kind: str) -> Trap:
    """The second trap of a kind."""
    return [trap for trap in web.web.traps() if trap.kind == kind][1]


def get(client: http.client.HTTPConnection, url: str) -> bytes:
    """The body of a page; its host is named, whatever the connection leads to."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    client.request("GET", parts.path + query, headers={"Host": parts.netloc})
    response = client.getresponse()
    body = response.read()
    assert (response.status, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    return body


def walk(web: WebProcess, kind: str) -> dict[str, bytes]:
    """The pages that one meets by following the last link of each."""
    client = http.client.HTTPConnection("127.0.0.1", web.port)
    url = trap_of(web, kind).url.decode()
    pages: dict[str, bytes] = {}
    for _ in range(STEPS):
        pages[url] = get(client, url)
        url = urljoin(url, re.findall(rb'href="([^"]*)"', pages[url])[-1].decode())
    client.close()
    return pages


@pytest.mark.parametrize("kind", TRAPS)
def test_a_trap_has_no_end(running: WebProcess, kind: str) -> None:
    """Each page leads to one that was not there before, of the same trap."""
    pages = walk(running, kind)
    assert len(pages) == STEPS
    name = urlsplit(trap_of(running, kind).url.decode()).netloc
    assert all(urlsplit(url).netloc.endswith(name) for url in pages)


@pytest.mark.parametrize("kind", TRAPS)
def test_pages_of_a_trap_follow_from_the_seed(running: WebProcess, kind: str) -> None:
    """A second walk meets the same pages."""
    assert walk(running, kind) == walk(running, kind)


def heading(body: bytes) -> bytes:
    """What a page calls itself."""
    found = re.search(rb"<h1>(.*)</h1>", body)
    assert found is not None
    return found[1]


def test_what_traps_look_like(running: WebProcess) -> None:
    """In one each: months, sessions, searches for words of the page, paths that grow."""
    urls = {kind: [urlsplit(url) for url in walk(running, kind)] for kind in TRAPS}
    assert [url.path for url in urls["calendar"]][11:14] == [
        "/2000/12.html", "/2001/01.html", "/2001/02.html",
    ]  # fmt: skip
    assert all(re.fullmatch(r"/sid-\d+/p\d+.html", url.path) for url in urls["sid-path"][1:])
    assert all(re.fullmatch(r"PHPSESSID=\d+", url.query) for url in urls["sid-query"][1:])
    assert urls["path"][3].path == "/more/more/more/"
    assert len({url.netloc for url in urls["subdomains"]}) == STEPS
    for url, body in walk(running, "search").items():
        words = (urlsplit(url).query or "q=bbbbb+bbbbb").removeprefix("q=").split("+")
        assert heading(body).decode() == "You searched for " + " ".join(words)


def test_sessions_show_the_same_pages(running: WebProcess) -> None:
    """Without its links a page of the same number is the same."""
    for kind in ("sid-path", "sid-query"):
        bodies = walk(running, kind).values()
        texts = {re.sub(rb'href="[^"]*"', b"", body) for body in bodies}
        assert len(texts) == len({heading(body) for body in bodies}) < STEPS


def test_a_soft_404_has_the_same_bytes_everywhere(running: WebProcess) -> None:
    """The echoing one says what was asked for."""
    assert len(set(walk(running, "soft").values())) == 1
    assert len(set(walk(running, "soft-echo").values())) == STEPS


def test_honest_hosts_know_nothing_of_traps(running: WebProcess) -> None:
    """What is expected of a web does not change; its traps are seeds."""
    without = WebSpec(hosts=4, pages=10, roots=2, port=running.port)
    assert expected(running.spec, Scope()) == expected(without, Scope())
    seeds = running.seeds_file.read_bytes().split()
    assert seeds == running.seeds + [trap.url for trap in running.web.traps()]
    assert len(seeds) == 2 + 2 * len(TRAPS)


def test_requests_to_traps_are_logged(running: WebProcess) -> None:
    """Under the number of the trap, with the path as it was sent."""
    trap = trap_of(running, "path")
    walk(running, "path")
    paths = [request.path for request in running.requests() if request.host == trap.host]
    assert paths[:3] == [b"/", b"/more/", b"/more/more/"]


def test_traps_have_no_robots_txt(running: WebProcess) -> None:
    """And no other names."""
    client = http.client.HTTPConnection("127.0.0.1", running.port)
    for host, path, status in (
        ("soft0.localhost", "/robots.txt", 404),
        ("s7.subdomains1.localhost", "/", 200),
        ("s7.soft0.localhost", "/", 421),
        ("soft2.localhost", "/", 421),
        ("soft0.localhost.x", "/", 421),
        ("soft.localhost", "/", 421),
    ):
        client.request("GET", path, headers={"Host": host})
        response = client.getresponse()
        response.read()
        assert (host, response.status) == (host, status)
    client.close()


def test_numbers_that_are_no_traps_are_refused() -> None:
    """Honest hosts, and those behind the last trap."""
    native = SyntheticWeb(SPEC).native
    for host in (0, 3, 4 + 2 * len(TRAPS)):
        with pytest.raises(IndexError):
            native.trap(host)
    assert native.trap(4) == b"calendar0.localhost"
