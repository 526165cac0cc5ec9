"""Whole crawls of hosts that do not do well: what they are spared, and what still is fetched."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from larbinpy.cli import main
from larbinpy.testing.servers import Silent
from tests.patience import PATIENCE_S, wait_until
from tests.politeness.hosts import Asked, Crawl, Hosts, no_robots, page

if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.2"
OTHER = "127.0.0.3"


def links(count: int) -> bytes:
    """A page with links to /1, /2, ..."""
    return page("".join(f'<a href="/{n}">' for n in range(1, count + 1)))


def test_a_page_that_fails_is_tried_again(tmp_path: Path) -> None:
    """Each failure has a line of its own, and the URL one Outcome."""
    left = {"/500": 1, "/never": 9, "/empty": 1}

    def answer(asked: Asked) -> bytes | None:
        if asked.path == "/robots.txt":
            return page(status="404 Not Found")
        if left.get(asked.path, 0) > 0:
            left[asked.path] -= 1
            if asked.path == "/empty":
                return None
            return page(status="500 Oops")
        return page("fine")

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(f"127.0.0.{n + 2}", path) for n, path in
                                 enumerate(left)])  # fmt: skip
        assert crawl.run() == 0
        assert crawl.outcomes("/500") == ["retry err40X", "page success"]
        assert crawl.outcomes("/empty") == ["retry protocolError", "page success"]
        assert crawl.outcomes("/never") == ["retry err40X", "retry err40X", "page err40X"]
    assert crawl.report()["counters"]["retries"] == 4
    assert crawl.report()["identity"]["waiting"] == 0


def test_retry_after_is_obeyed(tmp_path: Path) -> None:
    """xroche/httrack#1738: nothing of that host is asked before, and everything afterwards."""
    said: list[float] = []

    def answer(asked: Asked) -> bytes:
        if asked.path == "/robots.txt":
            return no_robots()
        if asked.path == "/1" and not said:
            said.append(time.monotonic())
            return page(status="503 Busy", fields="Retry-After: 1\r\n")
        return links(5) if asked.path == "/" else page()

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(HOST)])
        assert crawl.run() == 0
        after = [asked.time - said[0] for asked in hosts.of(HOST) if asked.time > said[0]]
    assert min(after) >= 1
    assert crawl.outcomes("/1") == ["retry err40X", "page success"]
    assert crawl.report()["outcomes"] == {"success": 6}


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [("/robots.txt", "404 No", ""), ("/1", "301 Moved", "Location: /5\r\n"), ("/1", "403 No", "")],
)
def test_a_pause_may_come_with_any_answer(
    tmp_path: Path, path: str, status: str, field: str
) -> None:
    """It is no reason to ask for the page again, but to leave the host alone."""
    said: list[float] = []

    def answer(asked: Asked) -> bytes:
        if asked.path == path:
            said.append(time.monotonic())
            return page(status=status, fields=f"{field}Retry-After: 1\r\n")
        if asked.path == "/robots.txt":
            return no_robots()
        return links(5) if asked.path == "/" else page()

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(HOST)])
        assert crawl.run() == 0
        after = [
            asked.time - said[0] for asked in hosts.of(HOST, robots=True) if asked.time > said[0]
        ]
    assert len(said) == 1
    assert min(after) >= 1


@pytest.mark.parametrize("ignores", ["no", "yes"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_site_is_not_lost_for_its_other_ports(
    tmp_path: Path,
    ignores: str,
    is_first: bool,
) -> None:
    """Sites without TLS have links to https, others to ports where nobody listens: those alone end,
    whether they or the site were asked for first."""

    def answer(asked: Asked) -> bytes:
        others = f'<a href="https://{HOST}:{hosts.port}/tls"><a href="http://{HOST}:1/dead">'
        own = "".join(f'<a href="/{n}">' for n in range(30))
        return no_robots() if asked.path == "/robots.txt" else page(others + own)

    with Hosts(answer) as hosts:
        seeds = [f"http://{HOST}:1/first"] if is_first else []
        crawl = Crawl(tmp_path, [*seeds, hosts.url(HOST)], ignoreRobots=ignores)
        assert crawl.run() == 0
    wanted = {hosts.url(HOST), *(hosts.url(HOST, f"/{n}") for n in range(30))}
    good = [line["url"] for line in crawl.log() if line["outcome"] == "success"]
    assert wanted <= set(good)
    ended = {line["url"]: line for line in crawl.log() if line["kind"] == "page"}
    assert ended[f"http://{HOST}:1/dead"]["outcome"] in ("noConnection", "fastNoConn")
    tls = ended[f"https://{HOST}:{hosts.port}/tls"]
    assert (tls["outcome"], tls["reason"]) == (
        "tlsError",
        "its robots.txt cannot be read" if ignores == "no" else tls["reason"],
    )


@pytest.mark.parametrize("status", ["301 Moved", "304 Not Modified"])
def test_a_robots_txt_that_moved_nowhere_is_asked_for_once(tmp_path: Path, status: str) -> None:
    """It counts as one that is not there."""
    with Hosts(lambda asked: page(status=status) if asked.path == "/robots.txt" else page()) as web:
        crawl = Crawl(tmp_path, [web.url(HOST)])
        assert crawl.run() == 0
        assert [asked.path for asked in web.of(HOST, robots=True)] == ["/robots.txt", "/"]


@pytest.mark.slow
@pytest.mark.crash
def test_retry_after_survives_a_kill(tmp_path: Path) -> None:
    """users.md 8: the host is not asked in those seconds, also by a crawl that was killed."""
    said: list[float] = []

    def answer(asked: Asked) -> bytes:
        if asked.path == "/robots.txt":
            return no_robots()
        if not said:
            said.append(time.monotonic())
            return page(status="429 No", fields="Retry-After: 4\r\n")
        return page()

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(HOST)])
        child = crawl.start()
        assert wait_until(lambda: crawl.logged(HOST) > 1)  # by then the log knows of it
        child.kill()
        child.communicate()
        assert crawl.run() == 0
        after = [asked.time - said[0] for asked in hosts.of(HOST, robots=True)]
    assert min(moment for moment in after if moment > 0) >= 4
    assert crawl.report()["outcomes"] == {"success": 1}


@pytest.mark.slow
@pytest.mark.crash
def test_a_kill_makes_nobody_faster(tmp_path: Path) -> None:
    """After a restart every host and every address counts as asked just now."""

    def answer(asked: Asked) -> bytes:
        return no_robots() if asked.path == "/robots.txt" else links(4)

    with Hosts(answer) as hosts:
        urls = [hosts.url(f"127.0.1.{n}") for n in range(1, 9)]
        crawl = Crawl(tmp_path, urls, waitDuration="0.4", fetchProcesses="2")
        for _ in range(2):
            child = crawl.start()
            enough = len(hosts.asked) + 12
            while len(hosts.asked) < enough and child.poll() is None:
                time.sleep(0.01)
            child.kill()
            child.communicate()
            hosts.settle()  # nobody knows later how late a request without a line was read
        assert crawl.run() == 0
        gaps = [
            gap
            for url in urls
            for gap in crawl.gaps_s(hosts.of(url.split("/")[2].partition(":")[0], robots=True))
        ]
    assert main(["audit", "-c", str(tmp_path / "conf")]) == 0
    assert min(gaps) > 0.35
    assert crawl.report()["outcomes"] == {"success": 40}


def test_a_dead_host_is_given_up(tmp_path: Path) -> None:
    """After three failures to connect its other URLs end without a request."""
    with Silent() as silent:
        urls = [f"http://{HOST}:{silent.port}/{n}" for n in range(5)]
        crawl = Crawl(tmp_path, urls, ignoreRobots="")
        assert crawl.run() == 0
    requests = [line["outcome"] for line in crawl.log() if line["ip"]]
    assert requests == ["noConnection"] * 3
    assert crawl.report()["outcomes"] == {"noConnection": 1, "fastNoConn": 4}


@pytest.mark.parametrize(
    "unreadable",
    [
        page("<h1>User-agent: *", status="503 Busy"),
        page("User-agent: *", fields="Content-Encoding: rot13\r\n"),
        page("\x1f", fields="Content-Encoding: zstd, gzip, br\r\n"),
    ],
    ids=["busy", "unknown coding", "too many codings"],
)
def test_a_robots_txt_that_cannot_be_read_forbids(tmp_path: Path, unreadable: bytes) -> None:
    """After three tries; nothing else was asked (apify/crawlee-python#2065)."""

    def answer(asked: Asked) -> bytes:
        assert asked.path == "/robots.txt"
        return unreadable

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(HOST), hosts.url(HOST, "/1")])
        assert crawl.run() == 0
        assert len(hosts.asked) == 3
    assert crawl.report()["outcomes"] == {"forbiddenRobots": 2}


def test_rules_may_lie_on_another_host(tmp_path: Path) -> None:
    """NUTCH-2581, NUTCH-2990: they hold for the host that was asked, not for the other one."""

    def answer(asked: Asked) -> bytes:
        where = (asked.host, asked.path)
        if where == (HOST, "/robots.txt"):
            to = hosts.url(OTHER, "/rules/1")
            return page(status="301 Moved", fields=f"Location: {to}\r\n")
        if where == (OTHER, "/rules/1"):
            to = hosts.url(OTHER, "/rules/2")
            return page(status="302 Moved", fields=f"Location: {to}\r\n")
        if where == (OTHER, "/rules/2"):
            return page("User-agent: *\nDisallow: /1\n", kind="plain")
        return no_robots() if asked.path == "/robots.txt" else page()

    with Hosts(answer) as hosts:
        urls = [hosts.url(host, path) for host in (HOST, OTHER) for path in ("/0", "/1")]
        crawl = Crawl(tmp_path, urls)
        assert crawl.run() == 0
        asked = {(one.host, one.path) for one in hosts.asked}
    assert (HOST, "/1") not in asked
    assert {(HOST, "/0"), (OTHER, "/0"), (OTHER, "/1"), (OTHER, "/robots.txt")} <= asked
    assert crawl.report()["outcomes"] == {"success": 3, "forbiddenRobots": 1}


def test_crawl_delay_is_obeyed_and_shortened(tmp_path: Path) -> None:
    """LAW-Unimi/BUbiNG#30, apache/stormcrawler#1979: from robots.txt on; what was shortened is said
    once."""

    def answer(asked: Asked) -> bytes:
        if asked.path == "/robots.txt":
            delay = 0.3 if asked.host == HOST else 1000
            return page(f"User-agent: *\nCrawl-delay: {delay}\n", kind="plain")
        return links(2) if asked.path == "/" else page()

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(HOST), hosts.url(OTHER)], maxCrawlDelay="500ms")
        assert crawl.run() == 0
        gaps = {host: crawl.gaps_s(hosts.of(host, robots=True)) for host in (HOST, OTHER)}
    assert min(gaps[HOST]) >= 0.29
    assert min(gaps[OTHER]) >= 0.49
    assert max(gaps[OTHER]) < 100
    said = f"{OTHER}: its Crawl-delay of 1000 s is shortened to 0.5 s (maxCrawlDelay)"
    assert crawl.errors.count("Crawl-delay") == crawl.errors.count(said) == 1


def test_an_outage_of_our_own_costs_no_url_anything(tmp_path: Path) -> None:
    """Nearly all hosts fail at once: the crawl waits, says so, and goes on."""
    gone: list[float] = []

    def answer(asked: Asked) -> bytes:
        if asked.path == "/robots.txt":
            return no_robots()
        if asked.path == "/3" and not gone:
            gone.append(time.monotonic())
            hosts.go_away()
        return links(12) if asked.path == "/" else page()

    with Hosts(answer) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(f"127.0.1.{n}") for n in range(1, 31)])
        child = crawl.start()
        assert child.stderr
        for line in child.stderr:
            if "our own line seems to be down" in line:
                break
        hosts.come_back()
        _, errors = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0
    assert "our own line is back" in errors
    assert crawl.report()["outcomes"] == {"success": 30 * 13}
    assert crawl.report()["counters"]["outages"] == 1


@pytest.mark.parametrize("ignores", ["no", "yes"])
def test_a_crawl_may_begin_before_its_way_out_is_there(tmp_path: Path, ignores: str) -> None:
    """Nobody was heard yet: not even robots.txt files that cannot be had are charged to anybody."""

    def answer(asked: Asked) -> bytes:
        return no_robots() if asked.path.endswith("/robots.txt") else page()

    with Hosts(answer) as proxy:
        proxy.go_away()
        crawl = Crawl(
            tmp_path, [f"http://h{n}.test/" for n in range(20)], ignoreRobots=ignores,
            proxy=f"http://127.0.0.1:{proxy.port}",
        )  # fmt: skip
        child = crawl.start()
        assert child.stderr
        for line in child.stderr:
            if "our own line seems to be down" in line:
                assert f"127.0.0.1:{proxy.port}" in line
                break
        proxy.come_back()
        _, errors = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0
    assert "our own line is back" in errors
    assert crawl.report()["outcomes"] == {"success": 20}
    assert crawl.report()["counters"]["outages"] == 1


def test_nobody_crawls_anonymously(tmp_path: Path) -> None:
    """Known from the seeds it is an error; a link to elsewhere ends as a forbidden address."""
    crawl = Crawl(
        tmp_path, ["http://127.0.0.1:9/", "http://192.0.2.1/"], From="larbin@unspecified.mail"
    )
    assert crawl.run() == 2
    assert crawl.errors.startswith("larbinpy: http://192.0.2.1/: no contact: set From")
    elsewhere = page('<a href="http://192.0.2.1/">')
    with Hosts(lambda asked: no_robots() if asked.path == "/robots.txt" else elsewhere) as hosts:
        crawl = Crawl(tmp_path, [hosts.url(HOST)], From="larbin@unspecified.mail")
        assert crawl.run() == 0
    assert crawl.report()["outcomes"] == {"success": 1, "forbiddenAddress": 1}
    reasons = [line["reason"] for line in crawl.log() if line["outcome"] == "forbiddenAddress"]
    assert [reason[:10] for reason in reasons] == ["no contact"]


def test_the_width_of_the_line_is_kept(tmp_path: Path) -> None:
    """Over all hosts and shards."""
    body = "x" * 20_000

    def answer(asked: Asked) -> bytes:
        if asked.path == "/robots.txt":
            return no_robots()
        return page(body + "".join(f'<a href="/{n}">' for n in range(1, 4)))

    with Hosts(answer) as hosts:
        urls = [hosts.url(f"127.0.1.{n}") for n in range(1, 11)]
        crawl = Crawl(tmp_path, urls, bondWidth="500000", fetchProcesses="2")
        assert crawl.run() == 0
        times = [asked.time for asked in hosts.asked]
    assert crawl.report()["outcomes"] == {"success": 40}
    assert max(times) - min(times) >= 40 * 20_000 / 500_000 * 0.6


def test_traps_are_left_and_an_honest_host_is_not(tmp_path: Path) -> None:
    """Paths that grow, the same page under ever new URLs; both were links of good pages."""
    same = page("gone" + "".join(f'<a href="/s{n}">' for n in range(60)))

    def answer(asked: Asked) -> bytes:
        if asked.path == "/robots.txt":
            return no_robots()
        if asked.host == HOST:
            return page(f'<a href="x/">{asked.path}')
        if asked.host == OTHER:
            # What is on its way when the limit is met is asked for too: the parser keeps up.
            assert wait_until(lambda: crawl.logged(OTHER) >= len(hosts.of(OTHER)) - 2)
            return same
        return page(asked.path + "".join(f'<a href="/{n}">' for n in range(1, 61)))

    honest = "127.0.0.4"
    with Hosts(answer) as hosts:
        urls = [hosts.url(host) for host in (HOST, OTHER, honest)]
        crawl = Crawl(tmp_path, urls, depthInSite="100", sameContent="20", pagesPerPath="61")
        assert crawl.run() == 0
        asked = {host: len(hosts.of(host)) for host in (HOST, OTHER, honest)}
    assert asked[HOST] == 5  # with none to four times "x"
    assert crawl.report()["filtered"] == {"segmentRepeats": 1}
    assert 21 <= asked[OTHER] < 40
    assert asked[honest] == 61
    reasons = {line["reason"] for line in crawl.log() if line["outcome"] == "earlyStop"}
    assert reasons == {"sameContent"}
    (left,) = crawl.report()["left"]
    assert left.startswith(f"no more pages of {OTHER} are asked for: the last ")
