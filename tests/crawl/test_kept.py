"""Servers that close the connections they let us keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import Connection, Server
from tests.crawl.crawls import Crawl

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 6
LINKS = b"".join(b'<a href="/%d">x</a>' % n for n in range(1, PAGES))


@pytest.mark.parametrize("swallows", [False, True])
def test_no_page_is_lost_and_nothing_is_asked_unseen(tmp_path: Path, swallows: bool) -> None:
    """Even with one try a page; every request that the server read has a line in the log."""

    def serve(connection: Connection) -> None:
        head = connection.read_request()
        connection.send(response(LINKS + head.split()[1] if head else b""))
        if swallows:
            connection.read_request()

    with Server(serve) as server:
        run = Crawl(tmp_path, {"maxTries": "1", "waitDuration": "20ms"})
        assert run.run(f"http://127.0.0.1:{server.port}/") == 0, run.output
        asked = len(server.requests)
    assert list(run.outcomes().values()) == ["success"] * PAGES
    lost = [line["reason"] for line in run.lines(kind="retry")]
    assert set(lost) <= {"the kept connection was closed under it"}
    assert len(lost) <= 2
    logged = PAGES + len(run.lines(kind="robots")) + len(lost)
    assert logged == asked if swallows else logged - len(lost) == asked
