"""SIGHUP: a crawl reads its configuration again and goes on with it."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import promises
from larbinpy.cli import main
from tests.integration.crawl import Crawl, finish, hear
from tests.integration.sites import Site
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 40


class Chain(Site):
    """Pages with a link to the next one and to a picture; the first is held until ``go_on``."""

    def __init__(self) -> None:
        pages = {
            f"/{n}": b'<a href="/%d">next</a> <a href="/%d.gif">picture</a>' % (n + 1, n)
            for n in range(PAGES)
        }
        super().__init__(pages)
        self._may_go_on = threading.Event()

    def answer(self, path: str) -> bytes | None:
        """See ``Site``."""
        body = super().answer(path)
        self._may_go_on.wait(PATIENCE_S)
        return body

    def go_on(self) -> None:
        """Answer everything."""
        self._may_go_on.set()


@pytest.fixture
def site() -> Iterator[Chain]:
    """A chain that has not been asked."""
    with Chain() as running:
        yield running
        running.go_on()


class Reloaded:
    """A crawl of a site that hears of new keys while it runs."""

    def __init__(self, directory: Path, site: Chain, **keys: str) -> None:
        self._crawl = Crawl(
            directory,
            {
                "From": "operator@web.test",
                "stateDir": str(directory / "crawl"),
                "startUrl": site.url("/0"),
                "allowPrivateAddresses": "",
                "ignoreRobots": "",
                "depthInSite": "100",
                "waitDuration": "10s",
                "firstByteTimeout": "10m",
                **keys,
            },
        )

    def start(self) -> subprocess.Popen[bytes]:
        return self._crawl.start()

    def change(self, process: subprocess.Popen[bytes], **keys: str) -> None:
        """Write the file again, and tell the process."""
        self._crawl.keys.update(keys)
        self._crawl.write()
        os.kill(process.pid, signal.SIGHUP)

    def report(self) -> dict[str, Any]:
        return self._crawl.report()


def test_a_crawl_goes_on_with_another_configuration(tmp_path: Path, site: Chain) -> None:
    """At another pace, with other links; what cannot change is named."""
    crawl = Reloaded(tmp_path, site)
    process = crawl.start()
    assert wait_until(lambda: len(site.asked) == 1)
    crawl.change(
        process, waitDuration="0", forbiddenExtensions=".gif end", segmentSize="128Ki",
        limitPage="99",
    )  # fmt: skip
    said = hear(process, b"kept until a restart: limitPage, segmentSize\n")
    assert b"changed: waitDuration, forbiddenExtensions\n" in said
    site.go_on()
    ended = finish(process)
    assert ended.code == 0, ended.stderr
    asked = [path for path in site.asked if not path.endswith(".gif")]
    assert asked == [f"/{n}" for n in range(PAGES + 1)]
    assert len(site.asked) - len(asked) <= 1
    kept = promises.kept(tmp_path / "crawl")
    assert [promised.host.wait_us for promised in kept] == [10_000_000, 0]
    assert main(["audit", str(tmp_path / "crawl")]) == 0


def test_a_file_that_is_wrong_changes_nothing(tmp_path: Path, site: Chain) -> None:
    """It is said what is wrong with it, and the crawl goes on; a limit then ends it."""
    crawl = Reloaded(tmp_path, site, limitPage="1000")
    process = crawl.start()
    assert wait_until(lambda: len(site.asked) == 1)
    crawl.change(process, waitDuration="soon")
    assert b"waitDuration: " in hear(process, b"; nothing was changed\n")
    crawl.change(process, waitDuration="0", limitPage="10")
    hear(process, b"changed: limitPage, waitDuration\n")
    site.go_on()
    ended = finish(process)
    assert ended.code == 3, ended.stderr
    assert crawl.report()["counters"]["success"] == 10
