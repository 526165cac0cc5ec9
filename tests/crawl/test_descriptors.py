"""Descriptors: running out of them slows the crawl down, and costs no page."""

from __future__ import annotations

import resource
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import EVERY_ADDRESS, Connection, Server
from tests.crawl.crawls import Crawl
from tests.integration.crawl import children_of
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from larbinpy.testing.servers import Script

HOSTS = 120
OPEN = 80
PAGES = 6


def serving(may_go_on: threading.Event) -> Script:
    """Chains of pages, of which the middle ones are held back until the crawl may go on."""

    def script(connection: Connection) -> None:
        while head := connection.read_request():
            number = int(head.split()[1].split(b"/")[1] or b"0") + 1
            if number > PAGES // 2:
                may_go_on.wait(PATIENCE_S)
            link = b'<a href="/%d/%b">x</a>' % (number, b"long" * 400)
            connection.send(response(link if number < PAGES else b"<p>end"))

    return script


def has_open(process: int, count: int) -> bool:
    """Whether a process has so many descriptors."""
    return len(list(Path(f"/proc/{process}/fd").iterdir())) >= count


@pytest.mark.slow
def test_no_page_is_lost_when_descriptors_run_out(tmp_path: Path) -> None:
    """The limit is lowered in the middle of the crawl, below what it has open.

    URLs are long and segments small: the log begins and reads new ones all the time.
    """
    hosts = tmp_path / "hosts"
    names = [f"h{n}.test" for n in range(HOSTS)]
    hosts.write_text("".join(f"127.0.1.{n} {name}\n" for n, name in enumerate(names)))
    keys = {
        "hostsFile": f'"{hosts}"', "allowPrivateAddresses": "",
        "ignoreRobots": "", "depthInSite": "20", "segmentSize": "64Ki",
    }  # fmt: skip
    may_go_on = threading.Event()
    with Server(serving(may_go_on), address=EVERY_ADDRESS, backlog=512) as server:
        run = Crawl(tmp_path, keys)
        with run.start(f"http://{name}:{server.port}/" for name in names) as process:
            assert wait_until(lambda: "shard" in children_of(process.pid))
            (shard,) = children_of(process.pid)["shard"]
            assert wait_until(lambda: has_open(shard, OPEN))
            resource.prlimit(shard, resource.RLIMIT_NOFILE, (OPEN // 2, OPEN // 2))
            may_go_on.set()
            assert process.wait(PATIENCE_S) == 0, run.output
    outcomes = run.outcomes()
    assert len(outcomes) == HOSTS * PAGES
    assert set(outcomes.values()) == {"success"}


def test_more_connections_than_descriptors_are_a_clear_error(tmp_path: Path) -> None:
    """Before anything is begun."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard > 900_000:
        pytest.skip("so many descriptors that no number is too high")
    run = Crawl(tmp_path, {"pagesConnexions": "1000000"})
    assert run.run("http://127.0.0.1:1/") == 2
    assert "pagesConnexions: 1000000 is more than the" in run.output
