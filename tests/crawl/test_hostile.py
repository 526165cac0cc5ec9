"""Every hostile server at once, beside honest ones, through the ordinary command."""

from __future__ import annotations

import shutil
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.behaviours import BEHAVIOURS, HTTP
from larbinpy.testing.hostile import GOOD_DOMAIN, HostileWeb
from tests.crawl.crawls import Crawl, Line

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.testing.behaviours import Behaviour

GOOD_HOSTS = 50
GOOD_PAGES = 100
RULES_TRIES = 3
"""Requests for rules that cannot be read, after which a host is given up."""
KEYS = {
    "waitDuration": "50ms",
    "connectTimeout": "2s",
    "firstByteTimeout": "2s",
    "stallTime": "3s",
    "fetchTimeout": "5s",
    "maxPageSize": "1Mi",
    "maxRedirects": "10",
    "depthInSite": "200",
    "useCookies": "yes",
}


def crawl(directory: Path, web: HostileWeb, urls: list[str]) -> Crawl:
    """Crawl until everything has ended."""
    run = Crawl(directory, {**KEYS, "hostsFile": f'"{web.write_hosts()}"'})
    assert run.run(*urls) == 0, run.output
    return run


def host_of(line: Line) -> str:
    name: str = line["url"].split("/")[2]
    return name.partition(":")[0]


def seconds(lines: list[Line]) -> float:
    """From the first request to the last."""
    times = sorted(datetime.fromisoformat(line["ts"]) for line in lines)
    return (times[-1] - times[0]).total_seconds()


@dataclass
class Found:
    """What came of the crawls."""

    pages: dict[str, list[Line]]
    robots: dict[str, list[Line]]
    alone_s: float
    """What the honest hosts take alone."""

    @property
    def good(self) -> list[Line]:
        """Lines of honest hosts."""
        return [line for lines in self.pages.values() for line in lines if _is_good(line)]


def _is_good(line: Line) -> bool:
    return host_of(line).endswith(GOOD_DOMAIN)


def by_host(lines: list[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        found[host_of(line)].append(line)
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """A crawl of the honest hosts, and one of everything."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command")
    directory = tmp_path_factory.mktemp("hostile")
    with HostileWeb(directory, good_hosts=GOOD_HOSTS, good_pages=GOOD_PAGES) as web:
        good = web.good_urls()
        alone = crawl(directory / "alone", web, good)
        beside = crawl(directory / "beside", web, [*map(web.url, BEHAVIOURS), *good])
    pages, robots = by_host(beside.lines()), by_host(beside.lines(kind="robots"))
    return Found(pages, robots, seconds(alone.lines()))


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_each_behaviour_has_its_outcome(found: Found, behaviour: Behaviour) -> None:
    """Status, size and number of requests too.

    Among them are gocolly/colly#886, scrapy/scrapy#7134 and #3270 (bombs), xroche/httrack#515
    (gzip-not), iipc/warc-specifications#47 (gzip-two-members), scrapy/scrapy#7841
    (gzip-and-garbage), NUTCH-2729 (cut bodies), scrapy/scrapy#457 (redirect-to-file),
    internetarchive/Zeno#164 and scrapinghub/frontera#87 (redirect-chain), xroche/httrack#537
    (redirect-to-itself-with-cookies).
    """
    is_page = behaviour.port == HTTP
    lines = (found.pages if is_page else found.robots)[f"{behaviour.name}.hostile.test"]
    line = lines[-1]
    assert line["outcome"] == behaviour.outcome.label, line
    assert (line["status"] or 0) == behaviour.status
    assert behaviour.body_bytes in (-1, line["bytes"])
    requests = behaviour.pages if is_page else RULES_TRIES
    assert len({line["id"] for line in lines}) == requests


@pytest.mark.slow
def test_honest_hosts_do_not_suffer(found: Found) -> None:
    """All their pages come, in about the time that they take alone.

    The hostile servers share the processors with the crawl, and a busy machine gives no two crawls
    the same; honest hosts that waited for hostile ones would take minutes.
    """
    assert len(found.good) == GOOD_HOSTS * GOOD_PAGES
    assert {line["outcome"] for line in found.good} == {"success"}
    assert seconds(found.good) < found.alone_s * 2 + 10
