"""Whatever is killed, every page is stored once, whole, and under its own name."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.web import WebProcess, WebSpec
from tests.differences import differences
from tests.integration.sites import ENVIRONMENT, Crawls
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEC = WebSpec.plain(hosts=60, pages=60, roots=8, latency_ms=40)
KILLS = 4
KILLS_OF_ONE = 2
"""In one crawl: the third death of a shard within a minute ends it."""


def children(pid: int) -> dict[str, list[int]]:
    """Processes of a crawl by their roles."""
    found: dict[str, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            parent = int((path / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        if parent == pid and b"-m" in words:
            role = words[words.index(b"-m") + 1].decode().rpartition(".")[2]
            found.setdefault(role, []).append(int(path.name))
    return found


def kill(crawl: subprocess.Popen[bytes], target: str) -> None:
    """Kill one process of a crawl, or all of it."""
    found = children(crawl.pid)
    victims = found.get(target, [])[:1]
    if target == "all":
        crawl.kill()
        crawl.wait()
        victims = [pid for pids in found.values() for pid in pids]
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it died with its supervisor


def wait_for_pages(log: Path, size: int, crawl: subprocess.Popen[bytes]) -> None:
    """Wait until the log has grown by so many bytes, or the crawl has ended."""
    before = log.stat().st_size if log.exists() else 0
    while crawl.poll() is None and (log.stat().st_size if log.exists() else 0) < before + size:
        time.sleep(0.002)


def stored(output: Path) -> Iterator[tuple[bytes, bytes]]:
    """URL and body of each page; fails unless files and lines belong to each other."""
    for directory in sorted(output.glob("d*")):
        index = directory / "index"
        lines = index.read_bytes().splitlines() if index.exists() else []
        names = {f"f{number:05d}" for number in range(len(lines))}
        assert {path.name for path in directory.iterdir()} - {"index"} == names
        for number, line in enumerate(lines):
            assert int(line.split()[0]) == number
            yield line.split()[1], (directory / f"f{number:05d}").read_bytes()


@pytest.mark.slow
@pytest.mark.crash
@pytest.mark.parametrize("target", ["all", "parser", "shard"])
def test_every_page_is_stored_once(target: str, tmp_path: Path) -> None:
    """Kills at random moments of the crawl; LARBINPY_SEED repeats their choice."""
    seed = int(os.environ.get("LARBINPY_SEED", time.time_ns() % 100_000))
    rng = random.Random(seed)
    with WebProcess(SPEC, tmp_path / "web") as web:
        keys = {"outputMode": "1", "segmentSize": "64Ki", "hostsFile": os.fspath(web.hosts_file)}
        keys |= {"fetchProcesses": "2", "parseProcesses": "2", "pageNoDuplicate": "yes"}
        keys |= {"fetchTimeout": "5"}  # as long a dead shard holds the addresses it was asking
        crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
        seeds = [url.decode() for url in web.seeds]
        for _ in range(KILLS if target == "all" else 1):
            with subprocess.Popen(
                crawls.command(*seeds), stderr=subprocess.PIPE, env=ENVIRONMENT
            ) as crawl:
                for _ in range(1 if target == "all" else KILLS_OF_ONE):
                    wait_for_pages(tmp_path / "state/crawl.log", rng.randint(1, 100_000), crawl)
                    kill(crawl, target)
                _, said = crawl.communicate(timeout=PATIENCE_S)
                assert crawl.returncode in (-signal.SIGKILL if target == "all" else 0, 0), said
        crawls.run(*seeds)
        asked = Counter((request.host, request.path) for request in web.requests())
    found = list(stored(tmp_path / "save"))
    logged = {line["url"].encode() for line in crawls.log() if line["outcome"] == "success"}
    context = f"LARBINPY_SEED={seed}, {sum(asked.values())} requests for {len(asked)} URLs"
    assert len(found) == len(dict(found)), context
    assert differences(dict(found).keys(), logged) == [], context
    places = {url: web.web.find(url) for url in logged}
    bodies = {url: web.web.native.body(*place) for url, place in places.items() if place}
    assert dict(found) == bodies, context
