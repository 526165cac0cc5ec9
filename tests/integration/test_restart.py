"""Whatever is killed, and whenever: nothing is lost, and little is fetched again.

Moments are random; the seed is printed, and LARBINPY_TEST_SEED sets it.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.differences import differences
from tests.integration.crawl import (
    Crawl,
    SlowedDown,
    asked,
    children_of,
    crawl_of,
    finish,
    hear,
    is_alive,
)
from tests.patience import wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from larbinpy.testing.web import Expected

pytestmark = pytest.mark.crash

CGI = Scope(cgi=True)
SPEC = WebSpec(hosts=12, pages=15, notes=3, latency_ms=20)
CONNECTIONS: Final = 20
REFETCHES: Final = 2 * CONNECTIONS + 100
"""The crash contract: at most so many requests are made again for each kill."""
EARLY_BYTES: Final = 36_000
"""Of crawl.log: a hundred of its lines, which is a third of the smallest crawl."""
SLOW: Final = WebSpec(hosts=12, pages=6, notes=1, chain=3, latency_ms=100)
"""It can be made to stand still while it owes an answer."""


@pytest.fixture
def chance() -> random.Random:
    """Random moments, the same for the same seed."""
    seed = int(os.environ.get("LARBINPY_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"LARBINPY_TEST_SEED={seed}")  # noqa: T201  (pytest shows it when the test fails)
    return random.Random(seed)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebProcess]:
    """A web that takes a crawl a second or two."""
    with WebProcess(SPEC, tmp_path / "web") as running:
        yield running


def small_crawl(web: WebProcess, directory: Path, **more: str) -> Crawl:
    """A crawl with few connections and small segments."""
    keys = {"pagesConnexions": str(CONNECTIONS), "segmentSize": "64Ki", **more}
    return crawl_of(web, directory, CGI, **keys)


def check_nothing_is_lost(web: WebProcess, crawl: Crawl, want: Expected, *, kills: int) -> None:
    """Every request was made, no other one was, and few were made again."""
    requests = Counter(
        {url: n for url, n in asked(web).items() if not url.endswith(b"/robots.txt")}
    )
    assert differences(requests.keys(), want.requests) == []
    assert requests.total() - len(want.requests) <= kills * REFETCHES
    all_urls = want.requests | want.forbidden | want.unresolvable
    assert differences(crawl.urls().keys(), all_urls) == []
    assert differences(crawl.urls("success").keys(), want.success) == []
    report = crawl.report()
    assert report["exit"] == "finished"
    identity = {"accepted": len(all_urls), "done": len(all_urls)}
    idle = {"waiting": 0, "ready": 0, "in_flight": 0, "parsing": 0}
    assert report["identity"] == {**identity, **idle}
    assert report["counters"]["success"] == len(want.success)


def run_until(
    crawl: Crawl, chance: random.Random, do: Callable[[subprocess.Popen[bytes]], None]
) -> subprocess.Popen[bytes]:
    """Start the crawl, and do something to it at a random moment after its first pages.

    The moment is one of the crawl, not of the clock: however fast it is, much of it is left.
    """
    log = crawl.state / "crawl.log"

    def size() -> int:
        return log.stat().st_size if log.exists() else 0

    enough = size() + chance.randrange(1, EARLY_BYTES)
    process = crawl.start()
    wait_until(lambda: size() >= enough or process.poll() is not None)
    do(process)
    return process


def kill_supervisor(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL, after which its children must go by themselves."""
    if process.poll() is not None:
        return
    children = [pid for pids in children_of(process.pid).values() for pid in pids]
    process.kill()
    assert wait_until(lambda: not any(map(is_alive, children)))


@contextmanager
def standing(web: WebProcess, process: subprocess.Popen[bytes]) -> Iterator[bool]:
    """A web that stands still while it owes an answer, so that no crawl of it can end.

    Yields False for a crawl that has ended before.
    """
    while is_running := process.poll() is None:
        requests = web.requests()
        os.kill(web.pid, signal.SIGSTOP)
        since_ns = time.monotonic_ns() - web.spec.latency_ms * 1_000_000
        if any(not one.end_ns and one.start_ns > since_ns for one in requests):
            break
        os.kill(web.pid, signal.SIGCONT)
    try:
        yield is_running
    finally:
        os.kill(web.pid, signal.SIGCONT)


@pytest.mark.parametrize("processes", [(1, 1), pytest.param((2, 2), marks=pytest.mark.slow)])
def test_a_killed_crawl_goes_on(
    tmp_path: Path, web: WebProcess, chance: random.Random, processes: tuple[int, int]
) -> None:
    """The supervisor is killed three times; the same command goes on to the end."""
    fetch, parse = map(str, processes)
    crawl = small_crawl(web, tmp_path, fetchProcesses=fetch, parseProcesses=parse)
    kills = 3
    for _ in range(kills):
        process = run_until(crawl, chance, kill_supervisor)
        finish(process)
    ended = crawl.run()
    assert ended.code == 0, ended.stderr
    check_nothing_is_lost(web, crawl, expected(web.spec, CGI), kills=kills)


@pytest.mark.parametrize("role", ["shard", "parser"])
def test_a_killed_child_is_replaced(tmp_path: Path, chance: random.Random, role: str) -> None:
    """One of two is killed, twice; the crawl ends as if nothing had been."""
    with WebProcess(SLOW, tmp_path / "web") as web:
        crawl = small_crawl(web, tmp_path, fetchProcesses="2", parseProcesses="2")
        kills = 0

        def kill_two(process: subprocess.Popen[bytes]) -> None:
            nonlocal kills
            for _ in range(2):
                with standing(web, process) as is_running:
                    if not is_running:
                        return
                    os.kill(chance.choice(children_of(process.pid)[role]), signal.SIGKILL)
                    hear(process, b" ended with -9; starting it again\n")
                    kills += 1
                time.sleep(chance.uniform(0, 0.5))

        ended = finish(run_until(crawl, chance, kill_two))
        assert ended.code == 0, ended.stderr
        assert "ended with" not in ended.stderr
        assert kills > 0
        check_nothing_is_lost(web, crawl, expected(web.spec, CGI), kills=kills)


def test_a_shard_that_keeps_dying_ends_the_crawl(tmp_path: Path, chance: random.Random) -> None:
    """The third death within a minute is a fault; the state goes on from there."""
    with WebProcess(SLOW, tmp_path / "web") as web:
        crawl = small_crawl(web, tmp_path)

        def kill_all(process: subprocess.Popen[bytes]) -> None:
            killed: set[int] = set()
            with standing(web, process):
                while process.poll() is None:
                    for pid in set(children_of(process.pid).get("shard", ())) - killed:
                        killed.add(pid)
                        os.kill(pid, signal.SIGKILL)
                    time.sleep(0.05)

        ended = finish(run_until(crawl, chance, kill_all))
        assert ended.code == 1
        report = crawl.report()
        assert report["exit"] == "fault"
        assert report["error"].startswith("shard 0 died for the 3rd time within a minute")
        assert report["error"] in ended.stderr


def test_a_seeder_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """All seeds are fetched, each once: what it had sent before is not new."""
    with WebProcess(replace(SPEC, latency_ms=50), tmp_path / "web") as web:
        crawl = small_crawl(web, tmp_path)
        seeds = Path(crawl.keys["seedFile"].strip('"'))
        text = seeds.read_text()
        seeds.write_text(text * 20_000)
        process = crawl.start()

        def seeders() -> list[int]:
            return children_of(process.pid).get("seeder", [])

        slow = SlowedDown(seeders, run_s=0.02, stop_s=0.1)
        slow.start()
        try:
            assert wait_until(lambda: bool(asked(web)))
            os.kill(seeders()[0], signal.SIGKILL)
        finally:
            slow.end()
        ended = finish(process)
        assert ended.code == 0, ended.stderr
        assert "seeder ended with -9; starting it again" in ended.stderr
        check_nothing_is_lost(web, crawl, expected(web.spec, CGI), kills=0)


def test_a_shard_that_is_killed_in_a_stop_is_replaced(
    tmp_path: Path, chance: random.Random
) -> None:
    """The run ends as the interrupt that it is, and the next one loses nothing."""
    with WebProcess(SLOW, tmp_path / "web") as web:
        crawl = small_crawl(web, tmp_path, fetchProcesses="2")

        def stop_and_kill(process: subprocess.Popen[bytes]) -> None:
            with standing(web, process):
                process.send_signal(signal.SIGINT)
                hear(process, b"stopping: ")
                os.kill(children_of(process.pid)["shard"][0], signal.SIGKILL)
                hear(process, b" ended with -9; starting it again\n")

        ended = finish(run_until(crawl, chance, stop_and_kill))
        assert (ended.code, crawl.report()["exit"]) == (130, "interrupted"), ended.stderr
        assert crawl.run().code == 0
        check_nothing_is_lost(web, crawl, expected(web.spec, CGI), kills=1)


# --- orderly stops ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_stop_drains_and_goes_on(
    tmp_path: Path, chance: random.Random, number: signal.Signals
) -> None:
    """What was asked is finished and logged, exit code 130; the next run asks nothing again."""
    with WebProcess(SLOW, tmp_path / "web") as web:
        check_a_stop(web, small_crawl(web, tmp_path), chance, number)


def check_a_stop(
    web: WebProcess, crawl: Crawl, chance: random.Random, number: signal.Signals
) -> None:
    """Stop a crawl while something is in flight, and go on with it."""

    def stop(process: subprocess.Popen[bytes]) -> None:
        with standing(web, process):
            process.send_signal(number)
            hear(process, b"stopping: ")

    ended = finish(run_until(crawl, chance, stop))
    assert (ended.code, crawl.report()["exit"]) == (130, "interrupted"), ended.stderr
    assert "Traceback" not in ended.stderr
    first = Counter({u: n for u, n in asked(web).items() if not u.endswith(b"/robots.txt")})
    answered = Counter(line["url"].encode() for line in crawl.lines() if line["status"])
    assert differences(first, answered) == []
    assert crawl.run().code == 0
    want = expected(web.spec, CGI)
    pages = Counter({u: n for u, n in asked(web).items() if not u.endswith(b"/robots.txt")})
    assert differences(pages, want.requests) == []
    check_nothing_is_lost(web, crawl, want, kills=0)


def test_a_second_stop_does_not_wait(tmp_path: Path) -> None:
    """The first one waits for what is in flight, here for ever; the second one ends it."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        keys = {
            "From": "operator@web.test",
            "stateDir": str(tmp_path / "crawl"),
            "startUrl": f"http://127.0.0.1:{silent.getsockname()[1]}/",
            "allowPrivateAddresses": "",
            "ignoreRobots": "",
            "drainTime": "1h",
            "firstByteTimeout": "1h",
            "fetchTimeout": "1h",
        }
        crawl = Crawl(tmp_path, keys)
        process = crawl.start()
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            hear(process, b"stopping: ")
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            ended = finish(process)
    assert ended.code == 130, ended.stderr
    identity = crawl.report()["identity"]
    assert (identity["accepted"], identity["done"]) == (1, 0)
