"""SIGHUP: a crawl reads its configuration again and goes on with it."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.crawl import Crawl, finish, wait_until
from tests.integration.sites import Site

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 40


@pytest.fixture
def site() -> Iterator[Site]:
    """A chain of pages, each with a link to the next one and to a picture of it."""
    pages = {
        f"/{n}": b'<a href="/%d">next</a> <a href="/%d.gif">picture</a>' % (n + 1, n)
        for n in range(PAGES)
    }
    with Site(pages) as running:
        yield running


class Reloaded:
    """A crawl of a site that hears of new keys while it runs."""

    def __init__(self, directory: Path, site: Site, **keys: str) -> None:
        self._said = directory / "said"
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


def test_a_crawl_goes_on_with_another_configuration(tmp_path: Path, site: Site) -> None:
    """At another pace, with other links; what cannot change is named."""
    crawl = Reloaded(tmp_path, site)
    process = crawl.start()
    assert wait_until(lambda: len(site.asked) == 1)
    crawl.change(
        process, waitDuration="0", forbiddenExtensions=".gif end", segmentSize="128Ki",
        limitPage="99",
    )  # fmt: skip
    ended = finish(process)
    assert ended.code == 0, ended.stderr
    assert "changed: waitDuration, forbiddenExtensions\n" in ended.stderr
    assert "kept until a restart: limitPage, segmentSize\n" in ended.stderr
    asked = [path for path in site.asked if not path.endswith(".gif")]
    assert asked == [f"/{n}" for n in range(PAGES + 1)]
    assert len(site.asked) - len(asked) <= 1


def test_a_file_that_is_wrong_changes_nothing(tmp_path: Path, site: Site) -> None:
    """It is said what is wrong with it, and the crawl goes on; a limit then ends it."""
    crawl = Reloaded(tmp_path, site, waitDuration="100ms", limitPage="1000")
    process = crawl.start()
    assert wait_until(lambda: len(site.asked) == 1)
    crawl.change(process, waitDuration="soon")
    time.sleep(0.5)
    crawl.change(process, waitDuration="50ms", limitPage="10")
    ended = finish(process)
    assert ended.code == 3, ended.stderr
    assert "waitDuration: " in ended.stderr
    assert "; nothing was changed\n" in ended.stderr
    assert "changed: limitPage, waitDuration\n" in ended.stderr
    assert crawl.report()["counters"]["success"] == 10
