"""The synthetic web answers what its model says, and ``expected`` is what a crawl finds."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from larbinpy._native import webserver
from larbinpy.testing.web import (
    AmbiguousError,
    Kind,
    Place,
    Scope,
    SyntheticWeb,
    WebProcess,
    WebSpec,
    expected,
)
from tests.testing.oracle import Crawl, links_of, normal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = WebSpec(
    seed=7, hosts=24, pages=30, roots=2, notes=6, chain=6, links=12, error=0.08, redirect=0.1,
    page_bytes=1500, page_spread=500, large_bytes=30_000,
)  # fmt: skip


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    """One small web for all tests of this file that only ask it for pages."""
    with WebProcess(SMALL, tmp_path_factory.mktemp("web")) as web:
        yield web


SCOPES = {
    "shallow": Scope(depth_in_site=2),
    "deep": Scope(depth_in_site=20, cgi=True, images=True),
    "by site": Scope(depth_in_site=2, depth_by_site=True),
    "seed only": Scope(depth_in_site=0),
    "no external links": Scope(depth_in_site=5, no_external=True),
    "one domain": Scope(depth_in_site=9, limit_to_domain=(b".web.test",)),
    "extensions": Scope(depth_in_site=5, forbidden_extensions=(b".zip", b".gz", b".pdf")),
    "no robots": Scope(depth_in_site=5, robots=False),
    "other agent": Scope(depth_in_site=5, agent=b"somebot"),
}


def _seeds(web: SyntheticWeb, scope: Scope) -> list[bytes]:
    ends = scope.limit_to_domain
    named = [Place(h, Kind.PAGE, 0) for h in range(web.spec.hosts) if web.host(h).is_named]
    return [web.url(named[0])] if ends else web.seeds()


@pytest.mark.parametrize("name", SCOPES)
def test_expected_is_what_an_independent_crawl_finds(running: WebProcess, name: str) -> None:
    """The oracle, in a random order, asks for exactly the URLs that ``expected`` tells."""
    scope = SCOPES[name]
    web = running.web
    seeds = _seeds(web, scope)
    if scope.limit_to_domain:
        scope = Scope(depth_in_site=9, limit_to_domain=scope.limit_to_domain, seeds=tuple(seeds))
    answer = expected(running.spec, scope)
    with closing(Crawl(scope, running.hosts_file, random.Random(name))) as crawl:
        crawl.run(seeds)
    assert {url.encode(): status for url, status in crawl.fetched.items()} == answer.statuses
    assert {url.encode() for url in crawl.success} == answer.success
    assert {url.encode() for url in crawl.forbidden} == answer.forbidden
    hosts = {f"http://{netloc}/robots.txt".encode() for netloc in crawl.rules}
    assert hosts == answer.robots


def test_layered_webs_are_the_same_in_any_order(running: WebProcess) -> None:
    """Under a binding depth limit the order of fetches changes nothing."""
    scope = Scope(depth_in_site=3, depth_by_site=True)
    found = set()
    for order in range(3):
        with closing(Crawl(scope, running.hosts_file, random.Random(order))) as crawl:
            crawl.run(running.seeds)
        found.add(frozenset(crawl.fetched))
    assert len(found) == 1


def test_the_web_has_some_of_everything() -> None:
    """Statuses, types, forbidden, unresolvable URLs and every kind of place occur."""
    spec = WebSpec(hosts=60, pages=60, port=80)
    answer = expected(spec, Scope(depth_in_site=30, cgi=True, images=True))
    assert set(answer.statuses.values()) == {200, 301, 302, 307, 308, 403, 404, 410, 500}
    assert answer.forbidden
    assert answer.unresolvable
    assert len(answer.robots) == 60
    endings = Counter(url.rpartition(b".")[2] for url in answer.requests)
    assert endings.keys() >= {b"html", b"txt", b"png", b"pdf", b"zip", b"gz", b"exe", b"iso"}
    assert any(b"/private/" in url for url in answer.success)
    assert any(b"?x=" in url for url in answer.success)


def test_pages_are_what_the_model_says(running: WebProcess) -> None:
    """Status, type, body and Location of every kind of place equal the model's."""
    web = running.web
    places = [Place(h, Kind.PAGE, i) for h in range(4) for i in range(30)]
    places += [Place(1, kind, 1) for kind in Kind if kind < Kind.OFF_SCOPE and kind != Kind.ROBOTS]
    with closing(Crawl(Scope(), running.hosts_file, random.Random(0))) as crawl:
        for place in places:
            page = web.page(place.host, place.number, place.kind)
            status, headers, body = crawl.get(page.url.decode())
            assert (status, body) == (page.status, page.body)
            assert headers["Content-Type"].encode() == page.content_type
            assert headers.get("Location") == (page.location.decode() if page.location else None)


def test_links_in_pages_are_the_links_of_the_model(running: WebProcess) -> None:
    """html.parser and urllib find the same URLs in the same order, written as the model says."""
    web = running.web
    for page in (page for k in range(30) if (page := web.page(3, k)).is_html):
        found = links_of(page.body, page.url.decode())
        assert [url for _, url in found] == [link.url.decode() for link in page.links]
        assert all(normal(url) == url for _, url in found)


def test_all_pages_differ() -> None:
    """No two pages have the same letters, which is all that larbin's page hash reads."""
    web = SyntheticWeb(WebSpec(hosts=40, pages=40, page_bytes=300, page_spread=0, links=0))
    bodies = [web.page(host, index).body for host in range(40) for index in range(40)]
    letters = {bytes(c for c in body if 0x41 < c < 0x7A) for body in bodies}
    assert len(letters) == len(bodies)


def test_sizes_vary_around_the_mean() -> None:
    """Pages that are larger than their links are as large as was drawn."""
    web = SyntheticWeb(WebSpec.plain(page_bytes=7600, page_spread=1000))
    sizes = [len(web.page(0, index).body) for index in range(100)]
    assert 6600 <= min(sizes) < 7000 < 8200 < max(sizes) <= 8600


def test_the_web_may_be_endless() -> None:
    """Nothing is stored: pages with huge numbers have links and a URL that is found again."""
    web = SyntheticWeb(WebSpec(hosts=1 << 23, pages=1 << 40, port=8080))
    url = web.url(Place((1 << 23) - 1, Kind.PAGE, (1 << 40) - 1))
    assert web.find(url) == Place((1 << 23) - 1, Kind.PAGE, (1 << 40) - 1)
    numbers = [web.page(0, (1 << 39) + k) for k in range(20)]
    assert max(len(page.links) for page in numbers) >= 30


def test_urls_and_places_are_one_to_one() -> None:
    """``find`` undoes ``url``, and knows no other spelling."""
    web = SyntheticWeb(WebSpec(port=8080))
    for kind in Kind:
        for index in range(1, 12) if kind < Kind.ROBOTS else ():
            place = Place(index, kind, index)
            assert web.find(web.url(place)) == place
            assert web.find(web.url(place) + b"x") is None
    assert web.find(b"http://127.0.0.1:8081/") is None
    assert web.find(b"http://x1.elsewhere.invalid:8080/") is None


def test_golden_page() -> None:
    """The web of a seed never changes: recorded figures of crawls rely on it."""
    page = SyntheticWeb(WebSpec(port=80)).page(2, 5)
    assert webserver.agent_hash(page.body) == GOLDEN


GOLDEN = 15722555141948254893


def test_ambiguous_depth_limits_are_refused() -> None:
    """A web in which any page links to any has no answer under a depth limit that binds."""
    spec = WebSpec.plain(hosts=4, pages=30, links=5, port=80)
    with pytest.raises(AmbiguousError, match="another page leaves"):
        expected(spec, Scope(depth_in_site=4))
    assert len(expected(spec, Scope(depth_in_site=200)).requests) == 120


def test_seeds_below_the_first_page_are_ambiguous() -> None:
    """A seed inside a site may find the first page by a longer way than links do."""
    spec = WebSpec(port=80)
    web = SyntheticWeb(spec)
    inside = web.url(Place(0, Kind.CHAIN, 3))
    with pytest.raises(AmbiguousError):
        expected(spec, Scope(depth_in_site=4, seeds=(inside, web.seeds()[0])))


def test_foreign_seeds_are_refused() -> None:
    """What is not on this web cannot be expected of it."""
    with pytest.raises(ValueError, match="not on this web"):
        expected(WebSpec(port=80), Scope(seeds=(b"http://example.test/",)))


def test_specs_out_of_range_are_refused() -> None:
    """Numbers that the model cannot hold are refused, not cut."""
    for spec in (WebSpec(hosts=0), WebSpec(hosts=1 << 25), WebSpec(page_spread=9000)):
        with pytest.raises(ValueError, match="out of range"):
            SyntheticWeb(spec)


def test_the_access_log_can_be_read_while_the_web_runs(tmp_path: Path) -> None:
    """``requests`` answers at any time, and after ``stop``."""
    with WebProcess(SMALL, tmp_path / "web") as web:
        with closing(Crawl(Scope(depth_in_site=0), web.hosts_file, random.Random(0))) as crawl:
            crawl.run(web.seeds)
        during = web.requests()
        assert [r.path for r in during].count(b"/") == 2
        assert {r.status for r in during} <= {200, 404}
        assert all(r.start_ns < r.end_ns for r in during)
    assert web.requests() == during
    assert web.seeds_file.read_bytes().split() == web.seeds
