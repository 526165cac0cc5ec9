"""``waitDuration`` holds per host and per address, by the clock of the web that was asked.

A busy machine reads a request some milliseconds after it was sent, and then the next one seems to
come too early. How late a request was read is the difference to its time in crawl.log, and nothing
else excuses an early one.
"""

from __future__ import annotations

import itertools
import signal
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.differences import differences
from tests.integration.crawl import Crawl, all_of, asked, crawl_of, finish, url_of
from tests.patience import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOLERANCE_NS: Final = 5_000_000
WAIT_NS: Final = 100_000_000
CGI: Final = Scope(cgi=True)
TINY: Final = WebSpec(hosts=12, pages=4, notes=1, chain=2, links=8)


@dataclass(slots=True)
class Timed:
    """A request as the web saw it."""

    url: bytes
    host: int
    address: bytes
    start_ns: int
    end_ns: int
    late_ns: int
    """From its sending, by crawl.log, to its reading, by the web."""


def timed(web: WebProcess, crawl: Crawl) -> list[Timed]:
    """All finished requests, in the order of their starts."""
    offset_ns = time.time_ns() - time.monotonic_ns()
    lines = crawl.lines() + crawl.lines("robots")
    sent = {line["url"].encode(): _nanoseconds(line["ts"]) for line in lines}
    model, found = web.web, []
    for request in web.requests():
        url = url_of(model, request)
        if url in sent:
            late_ns = request.start_ns + offset_ns - sent[url]
            found.append(
                Timed(url, request.host, request.address, request.start_ns, request.end_ns, late_ns)
            )
    return found


def _nanoseconds(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1e6) * 1000


def by(requests: list[Timed], key: Callable[[Timed], object]) -> list[list[Timed]]:
    """Requests of one host or address each, in the order of their starts."""
    groups: dict[object, list[Timed]] = defaultdict(list)
    for request in requests:
        groups[key(request)].append(request)
    return list(groups.values())


def hosts(requests: list[Timed]) -> list[list[Timed]]:
    """Requests by host."""
    return by(requests, lambda request: request.host)


def addresses(requests: list[Timed]) -> list[list[Timed]]:
    """Requests by address."""
    return by(requests, lambda request: request.address)


def too_early(groups: list[list[Timed]], wait_ns: int) -> list[tuple[float, Timed, Timed]]:
    """Pairs of requests that did not wait from start to start, with the milliseconds between."""
    return [
        ((later.start_ns - earlier.start_ns) / 1e6, earlier, later)
        for group in groups
        for earlier, later in itertools.pairwise(group)
        if later.start_ns - earlier.start_ns < wait_ns - max(TOLERANCE_NS, earlier.late_ns)
    ]


def overlapping(groups: list[list[Timed]]) -> list[Timed]:
    """Requests that began before the one before had ended."""
    return [
        later
        for group in groups
        for earlier, later in itertools.pairwise(group)
        if later.start_ns < earlier.end_ns
    ]


def run_for(crawl: Crawl, web: WebProcess, requests: int) -> list[Timed]:
    """Crawl until the web was asked so often, stop, and return what it saw.

    A request for robots.txt that the stop cuts has no line, and is not among them.
    """
    process = crawl.start()
    assert wait_until(lambda: len(web.requests()) >= requests or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.code in (0, 130), ended.stderr
    seen = timed(web, crawl)
    assert len(seen) > requests / 2
    return seen


@pytest.mark.parametrize("shards", ["1", "3"])
def test_wait_duration_holds_per_host_and_address(tmp_path: Path, shards: str) -> None:
    """Hosts of several shards share an address; robots.txt counts as a request."""
    spec = WebSpec(hosts=16, pages=4, notes=1, chain=2, links=12, names_per_address=4, cross=0.3)
    with WebProcess(spec, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI, waitDuration="100ms", fetchProcesses=shards)
        seen = run_for(crawl, web, requests=60)
    assert len(addresses(seen)) < len(hosts(seen))
    assert too_early(addresses(seen), WAIT_NS) == []
    assert too_early(hosts(seen), WAIT_NS) == []
    assert overlapping(addresses(seen)) == []


def test_wait_duration_ip_may_be_shorter(tmp_path: Path) -> None:
    """A host waits for ``waitDuration``, its address for ``waitDurationIP`` alone."""
    spec = WebSpec(hosts=8, pages=4, notes=1, chain=2, links=8, named=1.0, names_per_address=8)
    with WebProcess(spec, tmp_path / "web") as web:
        waits = {"waitDuration": "500ms", "waitDurationIP": "50ms"}
        seen = run_for(crawl_of(web, tmp_path, CGI, **waits), web, requests=16)
    assert len(addresses(seen)) == 1
    assert too_early(hosts(seen), 5 * WAIT_NS) == []
    assert too_early([seen], WAIT_NS // 2) == []
    assert too_early([seen], 5 * WAIT_NS) != []
    assert overlapping([seen]) == []


def test_a_slow_server_is_never_asked_twice_at_a_time(tmp_path: Path) -> None:
    """Where an answer takes longer than the wait, the next request waits for its end."""
    spec = WebSpec(hosts=6, pages=3, notes=1, chain=2, links=6, latency_ms=120)
    with WebProcess(spec, tmp_path / "web") as web:
        seen = run_for(crawl_of(web, tmp_path, CGI, waitDuration="20ms"), web, requests=20)
    assert overlapping(addresses(seen)) == []
    assert too_early(addresses(seen), 120_000_000) == []


@pytest.mark.slow
def test_a_polite_crawl_finishes(tmp_path: Path) -> None:
    """With delays the same pages are fetched as without."""
    with WebProcess(TINY, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, CGI, waitDuration="50ms", fetchProcesses="3")
        assert crawl.run().code == 0
        assert differences(asked(web), all_of(expected(web.spec, CGI))) == []
        seen = timed(web, crawl)
    assert too_early(addresses(seen), WAIT_NS // 2) == []
    assert overlapping(addresses(seen)) == []
