"""An answer that crashes a shard: that page is given up, and every other one is fetched."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import EVERY_ADDRESS, Connection, Server
from tests.crawl.crawls import Crawl
from tests.crawl.peers import tool

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

HOSTS = 20
PAGES = 3
FATAL = b"HTTP/1.1 200 OK\r\nX-Bring-Down: 1\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture
def preloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawls that are started now crash at ``FATAL``."""
    source, library = Path(__file__).with_name("bringdown.c"), tmp_path / "bringdown.so"
    words = [tool("cc"), "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(words, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))


def web(fatal: dict[str, int], asked: Counter[str]) -> Callable[[Connection], None]:
    """Hosts whose pages link to their next one."""

    def serve(connection: Connection) -> None:
        while head := connection.read_request():
            path = head.split()[1]
            name = (head.lower().split(b"host: ")[1].split(b":")[0] + path).decode()
            asked[name] += 1
            time.sleep(0.02)
            if fatal.get(name, 0) >= asked[name]:
                connection.send(FATAL)
                continue
            number = int(path.strip(b"/") or b"0") + 1 if path != b"/robots.txt" else PAGES
            link = b'<a href="/%d">x</a>' % number
            connection.send(response(link if number < PAGES else b"<p>end"))

    return serve


class Crashing(Crawl):
    """A crawl of ``HOSTS`` hosts of which some have answers that crash."""

    def crawl(self, fatal: dict[str, int]) -> tuple[int, dict[str, str], Counter[str]]:
        """Crawl the web.

        Args:
            fatal: ``host/path`` -> how many of its answers are fatal, from the first on.

        Returns:
            Exit code, outcomes and numbers of requests by ``host/path``.
        """
        asked: Counter[str] = Counter()
        names = [f"h{n}.test" for n in range(HOSTS)]
        hosts = self.state.parent / "hosts"
        hosts.write_text("".join(f"127.0.1.{n} {name}\n" for n, name in enumerate(names)))
        with Server(web(fatal, asked), address=EVERY_ADDRESS, backlog=512) as server:
            code = self.run(*(f"http://{name}:{server.port}/" for name in names))
        port = f":{server.port}"
        outcomes = {
            url.removeprefix("http://").replace(port, ""): outcome
            for url, outcome in self.outcomes().items()
        }
        return code, outcomes, asked


@pytest.fixture
def run(tmp_path: Path) -> Crashing:
    """A crawl that has not begun."""
    return Crashing(tmp_path, {"hostsFile": f'"{tmp_path / "hosts"}"', "allowPrivateAddresses": ""})


@pytest.mark.usefixtures("preloaded")
@pytest.mark.parametrize("shards", ["1", "2"])
def test_a_page_that_brings_its_shard_down_is_poison(run: Crashing, shards: str) -> None:
    """Once among others, once alone: then it is known, and the crawl goes on without it."""
    run.set("fetchProcesses", shards)
    code, outcomes, asked = run.crawl({"h7.test/1": 99})
    assert code == 0, run.output
    assert outcomes.pop("h7.test/1") == "poison"
    assert len(outcomes) == HOSTS * PAGES - 2
    assert set(outcomes.values()) == {"success"}
    assert asked["h7.test/1"] == 2
    assert run.output.count("ended with -11") == 2


@pytest.mark.usefixtures("preloaded")
def test_a_crash_that_does_not_come_again_charges_nobody(run: Crashing) -> None:
    """Every page is fetched, the one that was fatal once as well."""
    code, outcomes, _ = run.crawl({"h7.test/1": 1})
    assert code == 0, run.output
    assert len(outcomes) == HOSTS * PAGES
    assert set(outcomes.values()) == {"success"}
    assert run.output.count("ended with -11") == 1


@pytest.mark.usefixtures("preloaded")
def test_a_robots_txt_that_brings_its_shard_down(run: Crashing) -> None:
    """It is the page that wanted to know the rules which is given up."""
    code, outcomes, asked = run.crawl({"h7.test/robots.txt": 99})
    assert code == 0, run.output
    assert outcomes.pop("h7.test/") == "poison"
    assert len(outcomes) == (HOSTS - 1) * PAGES
    assert set(outcomes.values()) == {"success"}
    assert asked["h7.test/robots.txt"] == 2


@pytest.mark.usefixtures("preloaded")
def test_a_third_crash_within_a_minute_ends_the_crawl(run: Crashing) -> None:
    """The message says what was in flight."""
    code, _, _ = run.crawl({"h3.test/": 99, "h7.test/": 99})
    assert code == 1
    (line,) = [line for line in run.output.splitlines() if "3rd time" in line]
    assert "shard 0 died for the 3rd time within a minute; in flight: http://h" in line
    assert line.count("http://") == 1
