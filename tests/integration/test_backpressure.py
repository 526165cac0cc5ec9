"""Slow parsers hold fetching back: memory stays under a bound, and nothing is lost.

With ``fetchInfo`` a parser writes a line per URL to the terminal. A terminal that takes 20 lines a
second makes a parser that reads 20 pages a second, without any help from the product.
"""

from __future__ import annotations

import fcntl
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.differences import differences
from tests.integration.crawl import (
    SlowedDown,
    asked,
    children_of,
    crawl_of,
    finish,
    memory_peak_bytes,
)
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    import subprocess
    from collections import Counter
    from pathlib import Path

CONNECTIONS: Final = 40
PAGE_BYTES: Final = 60_000
BODY_BYTES: Final = 8 << 20
CREDIT: Final = 2 * CONNECTIONS + 100
"""Most requests without DONE, over all shards; docs/protocol.md."""
PIPE_BYTES: Final = 4096
LINE_BYTES: Final = 30
UNREAD: Final = 2 * PIPE_BYTES // LINE_BYTES
"""Lines at most that are in the pipe, and in the buffer of its reader."""
PARSER_BATCH: Final = 64
PLAIN_BYTES: Final = 72 << 20
"""What a shard or parser holds with nothing to do is about 40 MiB."""
BOUND_BYTES: Final = PLAIN_BYTES + 2 * BODY_BYTES + CONNECTIONS * 2 * PAGE_BYTES
"""For each process: bodies held, bodies on their way, transfers in flight."""
PAGES_PER_S: Final = 20
SLOW_S: Final = 3.0
SCOPE: Final = Scope(depth_in_site=60_000, cgi=True)
SPEC: Final = WebSpec.plain(hosts=40, pages=30, page_bytes=PAGE_BYTES, page_spread=20_000)
LARGE: Final = replace(SPEC, pages=120)
"""It lasts for four seconds also where parsers read 50,000 pages a second."""


class SlowTerminal(threading.Thread):
    """Reads the standard output of a crawl slowly, and at full speed once ``hurry`` is called."""

    def __init__(self, process: subprocess.Popen[bytes], *, lines_per_s: int) -> None:
        super().__init__(daemon=True)
        assert process.stdout is not None  # a pipe was asked for
        self._stdout = process.stdout
        self._pause_s = 1 / lines_per_s
        self._hurry = threading.Event()
        self.lines = 0
        fcntl.fcntl(self._stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def run(self) -> None:
        """Read to the end."""
        while self._stdout.readline():
            self.lines += 1
            self._hurry.wait(self._pause_s)

    def hurry(self) -> None:
        """No more pauses."""
        self._hurry.set()


def pages_asked(web: WebProcess) -> int:
    """Requests so far, but for robots.txt."""
    return sum(not request.is_robots for request in web.requests())


def test_a_slow_terminal_holds_fetching_back(tmp_path: Path) -> None:
    """20 pages a second are read, so not much more is fetched and held; then all the rest."""
    keys = {"pagesConnexions": str(CONNECTIONS), "bodyMemory": "8Mi", "maxPageSize": "1Mi"}
    with WebProcess(SPEC, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, SCOPE, fetchInfo="", **keys)
        process = crawl.start()
        terminal = SlowTerminal(process, lines_per_s=PAGES_PER_S)
        terminal.start()
        try:
            assert wait_until(lambda: terminal.lines > 0)
            time.sleep(SLOW_S)
            asked_then = pages_asked(web)
            assert asked_then <= terminal.lines + UNREAD + PARSER_BATCH + CREDIT
            check_memory(process.pid)
        finally:
            terminal.hurry()
        process.wait(PATIENCE_S)
        terminal.join()
        ended = finish(process)
        assert process.returncode == 0, ended.stderr
        check_complete(web, crawl.urls("success"))


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 3])
def test_stopped_parsers_hold_fetching_back(tmp_path: Path, shards: int) -> None:
    """Two parsers that run a hundredth of the time."""
    keys = {"pagesConnexions": str(CONNECTIONS), "bodyMemory": "8Mi", "maxPageSize": "1Mi"}
    processes = {"fetchProcesses": str(shards), "parseProcesses": "2"}
    with WebProcess(LARGE, tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, SCOPE, **keys, **processes)
        process = crawl.start()
        assert wait_until(lambda: pages_asked(web) > 0)
        slow = SlowedDown(
            lambda: children_of(process.pid).get("parser", []),
            run_s=0.005,
            stop_s=0.5,
        )
        slow.start()
        try:
            for _ in range(8):
                time.sleep(0.5)
                log = crawl.state / "crawl.log"
                logged = len(crawl.lines()) if log.exists() else 0
                asked_then = pages_asked(web)
                later = len(crawl.lines()) if log.exists() else 0
                print(f"asked {asked_then}, logged {logged} to {later}")  # noqa: T201
                assert asked_then <= later + CREDIT + shards
            check_memory(process.pid)
        finally:
            slow.end()
        ended = finish(process)
        assert ended.code == 0, ended.stderr
        check_complete(web, crawl.urls("success"))


def check_memory(supervisor: int) -> None:
    """Every process is below the bound."""
    peaks = {
        f"{role} {pid}": memory_peak_bytes(pid)
        for role, pids in children_of(supervisor).items()
        for pid in pids
    }
    print(f"bound {BOUND_BYTES >> 20} MiB:", {k: f"{v >> 20} MiB" for k, v in peaks.items()})  # noqa: T201
    assert peaks
    assert {name: peak for name, peak in peaks.items() if peak > BOUND_BYTES} == {}


def check_complete(web: WebProcess, success: Counter[bytes]) -> None:
    """Every page was fetched once, and none is missing in crawl.log."""
    want = expected(web.spec, SCOPE)
    assert differences(asked(web), want.requests | want.robots) == []
    assert differences(success, want.success) == []
