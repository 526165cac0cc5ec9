"""A disk that fills up: the crawl waits, says why, loses nothing, and goes on by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.integration.sites import ENVIRONMENT, Crawls, Site
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


PAGES = 300
FULL_AT = 60
"""Requests after which the disk is full."""
DISK_BYTES = 4 << 20


@dataclass
class SmallDisk:
    """A file system of its own, and the file that fills it."""

    path: Path
    _filling: threading.Lock = field(default_factory=threading.Lock)

    def fill(self, *, leave: int = 0) -> None:
        """Leave no more than so many bytes free; the crawl may take the last ones itself."""
        with self._filling, suppress(OSError), self._filler.open("ab", buffering=0) as filler:
            while (left := self.free() - leave) > 0:
                filler.write(bytes(min(left, 1 << 16)))

    @property
    def _filler(self) -> Path:
        return self.path / "filler"

    def free(self) -> int:
        """Bytes that are free."""
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def empty(self) -> None:
        """Make room again."""
        with self._filling:
            self._filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A tmpfs of 4 MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", os.fspath(path)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a file system can only be mounted by root")
    yield SmallDisk(path)
    subprocess.run(["umount", "-l", os.fspath(path)], check=True)


class Tree(Site):
    """Page n links to 2n and 2n + 1; something happens at one of the requests."""

    def __init__(self, event: Callable[[], None]) -> None:
        pages = {
            f"/{n}": b"<p>%d" % n * 100
            + b"".join(b'<a href="/%d">' % child for child in (2 * n, 2 * n + 1) if child <= PAGES)
            for n in range(1, PAGES + 1)
        }
        super().__init__(pages)
        self._event = event

    def answer(self, path: str) -> bytes | None:
        """See ``Site``."""
        body = super().answer(path)
        if len(self.asked) == FULL_AT and path != "/robots.txt":
            self._event()
        return body


@contextmanager
def crawling(crawls: Crawls, url: str, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl that runs; what it says goes to a file."""
    with said.open("wb") as stderr:
        child = subprocess.Popen(crawls.command(url), stderr=stderr, env=ENVIRONMENT)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def wait_for_pause(said: Path) -> None:
    """Wait until a crawl has said that it waits; its shards were told before."""
    assert wait_until(lambda: b"paused: " in said.read_bytes()), said.read_text()


def expect_all_once(crawls: Crawls, site: Tree) -> None:
    """Every page was asked for once, logged once and stored once."""
    assert sorted(site.asked) == sorted(site.pages)
    assert sorted(line["url"] for line in crawls.log()) == sorted(map(site.url, site.pages))
    report = crawls.report()
    assert report["outcomes"] == {"success": PAGES}
    assert (report["paused"], report["identity"]["waiting"]) == (None, 0)
    stored = {}
    for index in crawls.output.glob("d*/index"):
        for line in index.read_text().splitlines():
            number, url = line.split()
            stored[url] = (index.parent / f"f{int(number):05d}").read_bytes()
    assert stored == {site.url(path): body for path, body in site.pages.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seen_set", ["exact", "bits"])
@pytest.mark.parametrize("full", ["state", "output"])
def test_a_full_disk_only_delays(full: str, seen_set: str, disk: SmallDisk, tmp_path: Path) -> None:
    """Not a byte is left when the disk is full, under the state or under the output."""
    if (full, seen_set) == ("state", "bits"):
        pytest.skip("its table does not fit on the small disk")
    crawls = Crawls(
        (disk.path if full == "state" else tmp_path) / "state",
        (disk.path if full == "output" else tmp_path) / "save",
        {"outputMode": "1", "minFreeDisk": "0", "segmentSize": "64Ki", "seenSet": seen_set},
    )
    said = tmp_path / "said"
    with Tree(disk.fill) as site, crawling(crawls, site.url("/1"), said) as crawl:
        wait_for_pause(said)
        time.sleep(2.5)  # it tries again meanwhile
        assert len(site.asked) < PAGES
        assert crawl.poll() is None
        disk.empty()
        assert crawl.wait(timeout=PATIENCE_S) == 0, said.read_text()
        assert b"No space left on device" in said.read_bytes()
        assert b"going on" in said.read_bytes()
        expect_all_once(crawls, site)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["state", "output"])
def test_the_crawl_pauses_before_a_disk_is_full(
    where: str, disk: SmallDisk, tmp_path: Path
) -> None:
    """At minFreeDisk, and goes on at 1.25 times that; the report says why it waits."""
    crawls = Crawls(
        (disk.path if where == "state" else tmp_path) / "state",
        (disk.path if where == "output" else tmp_path) / "save",
        {"outputMode": "1", "minFreeDisk": "1Mi", "segmentSize": "64Ki"},
    )
    said = tmp_path / "said"

    def fill() -> None:
        disk.fill(leave=1 << 19)
        wait_for_pause(said)  # the disks are looked at every second

    with Tree(fill) as site, crawling(crawls, site.url("/1"), said) as crawl:
        wait_for_pause(said)
        assert (crawls.report()["paused"] or "").count("minFreeDisk (1 MiB)") == 1
        asked = len(site.asked)
        time.sleep(1)
        assert asked == len(site.asked) < PAGES
        assert crawl.poll() is None
        disk.empty()
        assert crawl.wait(timeout=PATIENCE_S) == 0, said.read_text()
        expect_all_once(crawls, site)


@pytest.mark.slow
def test_a_crawl_that_starts_on_a_short_disk_waits_for_room(
    disk: SmallDisk, tmp_path: Path
) -> None:
    """It asks for nothing, and takes no seeds, until there is."""
    crawls = Crawls(disk.path / "state", tmp_path / "save", {"minFreeDisk": "1Mi"})
    said = tmp_path / "said"
    disk.fill(leave=1 << 19)
    with Tree(lambda: None) as site, crawling(crawls, site.url("/1"), said) as crawl:
        wait_for_pause(said)
        time.sleep(1)
        assert site.asked == []
        disk.empty()
        assert crawl.wait(timeout=PATIENCE_S) == 0, said.read_text()
        assert sorted(site.asked) == sorted(site.pages)


@pytest.mark.slow
@pytest.mark.parametrize("full", ["state", "output"])
def test_an_interrupt_while_the_disk_is_full(full: str, disk: SmallDisk, tmp_path: Path) -> None:
    """It ends as an interrupt, at once; the same command goes on when there is room."""
    crawls = Crawls(
        (disk.path if full == "state" else tmp_path) / "state",
        (disk.path if full == "output" else tmp_path) / "save",
        {"outputMode": "1", "minFreeDisk": "0", "segmentSize": "64Ki"},
    )
    said = tmp_path / "said"
    with Tree(disk.fill) as site:
        with crawling(crawls, site.url("/1"), said) as crawl:
            wait_for_pause(said)
            crawl.send_signal(signal.SIGINT)
            assert crawl.wait(timeout=PATIENCE_S) == 130, said.read_text()
        assert b"Traceback" not in said.read_bytes()
        disk.empty()
        crawls.run(site.url("/1"))
        assert set(site.asked) == set(site.pages)
        assert {line["url"] for line in crawls.log()} == set(map(site.url, site.pages))
