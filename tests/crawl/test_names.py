"""Names of every kind, through the ordinary command and a scripted name server."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

import pytest

from larbinpy.dns.lookups import MAX_LOOKUPS
from larbinpy.testing.dns import AAAA, CNAME, EVERY_NAME, A, DnsServer, Record
from larbinpy.testing.scripts import answer, response
from larbinpy.testing.servers import EVERY_ADDRESS, Server
from tests.crawl.crawls import Crawl
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from pathlib import Path

HERE: Final = Record(A, "127.0.0.1")
TABLE: Final = {
    "plain.test": [HERE],
    "under_score.test": [HERE],
    "-dash-.test": [HERE],
    "trailing.test": [HERE],
    "xn--bcher-kva.test": [HERE],
    "v6.test": [Record(AAAA, "::1")],
    "alias.test": [Record(CNAME, "end.test"), Record(A, "127.0.0.1", name="end.test")],
    "cut.test": [HERE],
    "spoofed.test": [HERE],
    "broken.test": [HERE],
}
SILENT: Final = frozenset(f"dead{n}.test" for n in range(100))
KEYS: Final = {"allowPrivateAddresses": "", "waitDurationIP": "0", "connectTimeout": "60s"}
QUERIES: Final = 2
"""Of a lookup that nobody answers."""
PAGE: Final = answer(response(b"<p>page"))


@pytest.mark.slow
def test_every_kind_of_name(tmp_path: Path) -> None:
    """Each has its page, or its outcome."""
    names = {
        "plain.test": "success",
        "under_score.test": "success",
        "-dash-.test": "success",
        "trailing.test.": "success",
        "b\u00fccher.test": "success",
        "v6.test": "success",
        "alias.test": "success",
        "cut.test": "success",
        "spoofed.test": "success",
        "broken.test": "noDNS",
        "missing.test": "noDNS",
    }
    with (
        Server(PAGE, address=EVERY_ADDRESS) as server,
        DnsServer(
            TABLE,
            broken=frozenset({"broken.test"}),
            cut=frozenset({"cut.test"}),
            spoofed=frozenset({"spoofed.test"}),
        ) as dns,
    ):
        run = Crawl(tmp_path, {**KEYS, "nameServer": dns.address})
        assert run.run(*(f"http://{name}:{server.port}/" for name in names)) == 0, run.output
    shown = {"b\u00fccher.test": "xn--bcher-kva.test"}
    expected = {
        f"http://{shown.get(name, name)}:{server.port}/": outcome for name, outcome in names.items()
    }
    assert run.outcomes() == expected


def test_a_crawl_may_begin_before_its_name_servers(tmp_path: Path) -> None:
    """A name that was asked for as often as a dead one is none, for nobody was heard yet."""
    with Server(PAGE) as server, DnsServer(TABLE, broken=EVERY_NAME) as dns:
        run = Crawl(tmp_path, {**KEYS, "nameServer": dns.address})
        url = f"http://plain.test:{server.port}/"
        with run.start([url]) as process:
            assert wait_until(lambda: dns.asked["plain.test", A] >= MAX_LOOKUPS * QUERIES)
            dns.broken = frozenset()
            assert process.wait(PATIENCE_S) == 0, run.output
    assert run.outcomes() == {url: "success"}


@pytest.mark.slow
def test_the_second_address_is_tried(tmp_path: Path) -> None:
    """Nobody listens on the first: no page is lost, and nobody else's line says so."""
    with (
        Server(PAGE, address="127.0.0.2") as server,
        DnsServer({"two.test": [HERE, Record(A, "127.0.0.2")]}) as dns,
    ):
        run = Crawl(tmp_path, {**KEYS, "nameServer": dns.address})
        urls = [f"http://two.test:{server.port}/{n}" for n in range(3)]
        assert run.run(*urls) == 0, run.output
    found = {line["url"]: (line["outcome"], line["ip"]) for line in run.lines()}
    assert found == dict.fromkeys(urls, ("success", "127.0.0.2"))
    report = json.loads((run.state / "report.json").read_text())
    assert report["outcomes"]["success"] == 3


@pytest.mark.slow
def test_names_that_never_answer_hold_nobody_up(tmp_path: Path) -> None:
    """curl/curl#8515: A good host's pages come while a hundred dead names are looked up."""
    with Server(PAGE) as server, DnsServer(TABLE, silent=SILENT) as dns:
        run = Crawl(tmp_path, {**KEYS, "nameServer": dns.address})
        dead = [f"http://{name}:{server.port}/" for name in sorted(SILENT)]
        began_s = time.time()
        assert run.run(*dead, f"http://plain.test:{server.port}/") == 0, run.output
        took_s = time.time() - began_s
    lines = run.lines()
    assert lines[0]["url"] == f"http://plain.test:{server.port}/"
    assert [line["outcome"] for line in lines] == ["success"] + ["noDNS"] * 100
    assert took_s < 200
