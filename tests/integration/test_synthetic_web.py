"""A crawl of the synthetic web asks for exactly what the web says that it must, each once.

What was asked is counted from the web's access log, what was to be asked comes from the web's
model: neither is larbinpy's word.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
import xxhash

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.differences import differences
from tests.integration.crawl import (
    ID_SHARD_SHIFT,
    Crawl,
    Ended,
    all_of,
    asked,
    body_of,
    crawl_of,
    outcome_counts,
)
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.testing.web import Expected

SMALL = WebSpec(hosts=12, pages=15, notes=3)
CGI = Scope(cgi=True)

SCOPES = {
    "default": Scope(),
    "depth 0": Scope(depth_in_site=0),
    "depth 2": Scope(depth_in_site=2, cgi=True),
    "noExternalLinks": Scope(no_external=True, depth_in_site=1000),
    "lockSite": Scope(lock_site=True, depth_in_site=1000),
    "getCGI": CGI,
    "getImage": Scope(images=True),
    "forbiddenExtensions": Scope(forbidden_extensions=(b".zip", b".gz", b".html"), cgi=True),
    "limitToDomain": Scope(limit_to_domain=(b".web.test", b".0.2", b".0.3", b".0.4")),
    "ignoreRobots": Scope(robots=False),
    "another agent": Scope(agent=b"otherbot"),
    "depthBySite": Scope(depth_by_site=True, depth_in_site=3),
}

RARE = ("depth 0", "another agent", "depthBySite")


def check_requests(web: WebProcess, want: Expected) -> None:
    """Everything expected was asked for once, with the expected answer, and nothing else was."""
    assert differences(asked(web), all_of(want)) == []
    model = web.web
    statuses = {
        b"http://%b:%d%b" % (model.host(r.host).name, web.port, r.path): r.status
        for r in web.requests()
        if not r.is_robots
    }
    assert differences(statuses.items(), want.statuses.items()) == []
    assert all(request.end_ns for request in web.requests())


def check_log(crawl: Crawl, want: Expected, *, images: frozenset[bytes] = frozenset()) -> None:
    """Every URL has one line, and the lines say what the web says."""
    all_urls = want.requests | want.forbidden | want.unresolvable
    assert differences(crawl.urls(), all_urls) == []
    assert differences(crawl.urls("success"), want.success | images) == []
    assert differences(crawl.urls("forbiddenRobots"), want.forbidden) == []
    dead = crawl.urls("noDNS") + crawl.urls("fastNoDns")
    assert differences(dead, want.unresolvable) == []
    robots = Counter(line["url"].encode() for line in crawl.lines("robots"))
    assert differences(robots, want.robots) == []
    statuses = {line["url"].encode(): line["status"] for line in crawl.lines() if line["status"]}
    assert differences(statuses.items(), want.statuses.items()) == []


def check_report(crawl: Crawl, web: WebProcess, want: Expected) -> None:
    """The counters of the report are those of the web and of the log, and they add up."""
    report, lines, robots = crawl.report(), crawl.lines(), crawl.lines("robots")
    counters, identity = report["counters"], report["identity"]
    requests = web.requests()
    hosts = {line["url"].split("/")[2] for line in lines}
    assert counters == report["run"]
    assert report["exit"] == "finished"
    assert {name: counters[name] for name in ("urls", "pages", "success", "hosts")} == {
        "urls": len(want.requests | want.forbidden | want.unresolvable),
        "pages": sum(not request.is_robots for request in requests),
        "success": sum(line["outcome"] == "success" for line in lines),
        "hosts": len(hosts),
    }
    asked_hosts = {request.host for request in requests}
    assert counters["hosts_with_dns"] == len(asked_hosts)
    assert counters["robots_seen"] == sum(request.is_robots for request in requests)
    assert counters["robots_good"] == sum(line["outcome"] == "success" for line in robots)
    assert report["outcomes"] == outcome_counts(lines)
    assert sum(report["outcomes"].values()) == counters["urls"]
    idle = {"waiting": 0, "ready": 0, "in_flight": 0, "parsing": 0}
    assert identity == {"accepted": counters["urls"], "done": counters["urls"], **idle}
    check_links(report, seeds=len(web.seeds))
    assert counters["bytes_read"] > sum(line["bytes"] for line in lines)
    fetched = [p["pages"] for p in report["processes"] if p["name"].startswith("shard")]
    assert sum(fetched) == counters["pages"]


def check_links(report: dict[str, dict[str, int]], *, seeds: int) -> None:
    """Links found = accepted + duplicates + filtered."""
    counters = report["counters"]
    accepted = report["identity"]["accepted"] - seeds
    refused = sum(report["filtered"].values())
    assert counters["links_found"] == accepted + counters["url_dup"] + refused


def check(ended: Ended, crawl: Crawl, web: WebProcess, want: Expected) -> None:
    """All of the above."""
    assert (ended.code, ended.stdout) == (0, ""), ended.stderr
    assert "finished: " in ended.stderr
    check_requests(web, want)
    check_log(crawl, want)
    check_report(crawl, web, want)


@pytest.mark.parametrize(
    "name", [pytest.param(s, marks=pytest.mark.slow) if s in RARE else s for s in SCOPES]
)
def test_a_scope_is_fetched_exactly(tmp_path: Path, name: str) -> None:
    """Nothing is left out, asked twice, or asked against the rules, whatever the scope."""
    scope = SCOPES[name]
    with WebProcess(SMALL, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, scope)
        ended = crawl.run()
        want = expected(web.spec, scope)
        assert (ended.code, ended.stdout) == (0, ""), ended.stderr
        check_requests(web, want)
        check_log(crawl, want, images=_images(web, want) if scope.images else frozenset())
        check_report(crawl, web, want)


def _images(web: WebProcess, want: Expected) -> frozenset[bytes]:
    """Images are successes where they are asked for; the web counts HTML pages only."""
    model = web.web
    pages = (model.page(p.host, p.number, p.kind) for p in map(model.find, want.requests) if p)
    return frozenset(p.url for p in pages if p.status == 200 and p.content_type == b"image/png")


@pytest.mark.parametrize(
    ("fetch", "parse"), [(1, 3), (3, 1), pytest.param(3, 2, marks=pytest.mark.slow)]
)
def test_more_processes_fetch_the_same(tmp_path: Path, fetch: int, parse: int) -> None:
    """And each host is asked by one process only."""
    processes = {"fetchProcesses": str(fetch), "parseProcesses": str(parse)}
    with WebProcess(SMALL, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI, **processes)
        check(crawl.run(), crawl, web, expected(web.spec, CGI))
    owners: dict[str, set[int]] = {}
    for line in crawl.lines() + crawl.lines("robots"):
        owners.setdefault(line["url"].split("/")[2], set()).add(line["id"] >> ID_SHARD_SHIFT)
    assert {len(shards) for shards in owners.values()} == {1}
    assert (len(set().union(*owners.values())) > 1) is (fetch > 1)
    names = Counter(process["name"].split()[0] for process in crawl.report()["processes"])
    assert (names["shard"], names["parser"]) == (fetch, parse)


def test_depth_first_fetches_the_same(tmp_path: Path) -> None:
    """``order dfs`` changes the order alone."""
    with WebProcess(SMALL, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI, order="dfs")
        check(crawl.run(), crawl, web, expected(web.spec, CGI))


@pytest.mark.slow
def test_any_to_any_links_are_fetched_exactly(tmp_path: Path) -> None:
    """A web whose pages link to any other, where no depth binds."""
    scope = Scope(depth_in_site=60_000, cgi=True)
    spec = WebSpec(hosts=10, pages=15, layered=False)
    with WebProcess(spec, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, scope)
        check(crawl.run(), crawl, web, expected(web.spec, scope))


@pytest.mark.slow
@pytest.mark.parametrize(("fetch", "parse"), [(1, 1), (3, 2)])
def test_two_hundred_hosts_of_a_hundred_pages(tmp_path: Path, fetch: int, parse: int) -> None:
    """The web of the demonstration, to its end."""
    scope = Scope(depth_in_site=1000, cgi=True)
    processes = {"fetchProcesses": str(fetch), "parseProcesses": str(parse)}
    with WebProcess(WebSpec(hosts=200, pages=100), tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, scope, **processes)
        check(crawl.run(timeout_s=4 * PATIENCE_S), crawl, web, expected(web.spec, scope))


def test_lines_and_files_hold_what_was_served(tmp_path: Path) -> None:
    """Size and digest of every line, and with ``outputMode 1`` every good page as a file."""
    with WebProcess(SMALL, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI, outputMode="1", parseProcesses="2")
        assert crawl.run().code == 0
        want, model = expected(web.spec, CGI), web.web
    good = [line for line in crawl.lines() if line["outcome"] == "success"]
    for line in good:
        body = body_of(model, line["url"].encode())
        assert (line["bytes"], line["digest"]) == (
            len(body),
            f"xxh3-128:{xxhash.xxh3_128_hexdigest(body)}",
        )
    saved: dict[bytes, bytes] = {}
    for index in crawl.output.glob("d*/index"):
        for entry in index.read_bytes().splitlines():
            number, url = entry.split()
            saved[url] = (index.parent / f"f{int(number):05d}").read_bytes()
    assert saved == {url: body_of(model, url) for url in want.success}


@pytest.mark.parametrize("kind", ["bloom", "bits"])
def test_every_seen_set_crawls(tmp_path: Path, kind: str) -> None:
    """``bloom`` and ``bits`` may drop URLs at a published rate, and never ask one twice.

    ``bloomRate`` is 0.001, the table of ``bits`` holds 64 million: of these few URLs one each is
    far more than they may drop.
    """
    more = {"seenSet": kind, **({"bloomCapacity": "100000"} if kind == "bloom" else {})}
    with WebProcess(SMALL, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI, **more)
        ended = crawl.run()
        want, got = expected(web.spec, CGI), asked(web)
    assert ended.code == 0, ended.stderr
    # A dropped URL takes what only it leads to along: in this web at most its subtree of a host.
    assert max(got.values()) == 1
    assert differences(set(got) - set(all_of(want)), []) == []
    assert len(got) >= len(want.requests) * 0.99 - SMALL.pages


@pytest.mark.parametrize("way", ["--seeds", "standard input", "seedFile", "arguments"])
def test_seeds_come_from_everywhere(tmp_path: Path, way: str) -> None:
    """A bad line is reported with its number, and the others go on."""
    with WebProcess(SMALL, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, Scope(depth_in_site=0))
        seeds = web.seeds
        lines = [b"# first", seeds[0], b"", b"ftp://elsewhere/", *seeds[1:], b"no url"]
        listed = tmp_path / "list"
        listed.write_bytes(b"\n".join(lines) + b"\n")
        del crawl.keys["seedFile"]
        if way == "--seeds":
            ended = crawl.run("--seeds", str(listed))
        elif way == "standard input":
            ended = crawl.run("--seeds", "-", stdin=listed.read_bytes())
        elif way == "seedFile":
            crawl.keys["seedFile"] = str(listed)
            ended = crawl.run()
        else:
            ended = crawl.run(*(seed.decode() for seed in seeds))
        assert (ended.code, ended.stdout) == (0, "")
        want = expected(web.spec, Scope(depth_in_site=0))
        assert differences(asked(web), all_of(want)) == []
    if way != "arguments":
        name = "standard input" if way == "standard input" else str(listed)
        last = 4 + len(seeds)
        assert f"{name}:4: not an http or https URL: ftp://elsewhere/\n" in ended.stderr
        assert f"{name}:{last}: not an http or https URL: no url\n" in ended.stderr
        assert f"2 of {len(seeds) + 2} start URLs could not be used\n" in ended.stderr
