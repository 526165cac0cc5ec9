"""The bare pycurl loop fetches what it is given, over one connection a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy.testing.barecurl import BareCurl, read_hosts
from larbinpy.testing.web import Place, WebProcess, WebSpec

if TYPE_CHECKING:
    from pathlib import Path


def test_each_url_is_fetched_once_over_one_connection_a_host(tmp_path: Path) -> None:
    """Hosts by name and by address, each kept alive."""
    with WebProcess(WebSpec.plain(hosts=30, pages=8), tmp_path) as web:
        urls = [web.web.url(Place(h, 0, i)).decode() for i in range(8) for h in range(30)]
        loop = BareCurl(urls, read_hosts(web.hosts_file), connections=10, seconds=20)
        loop.run()
        log = web.requests()
    assert (loop.pages, loop.failed) == (240, 0)
    assert len({(r.host, r.path) for r in log}) == len(log) == 240
    assert len({(r.host, r.connection) for r in log}) == 30
