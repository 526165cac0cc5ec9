"""Sites that send a cookie before they show a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.scripts import response
from larbinpy.testing.servers import Connection, Server
from tests.crawl.crawls import Crawl
from tests.crawl.test_secrets import field

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SET = b"Set-Cookie: a=b; Path=/\r\n"


def moved(path: bytes, fields: bytes = b"") -> bytes:
    return response(status=b"302 Found", fields=b"Location: %b\r\n%b" % (path, fields))


@pytest.mark.parametrize(
    ("sender", "takes", "outcomes", "requests"),
    [
        (b"/page", True, ["err30X", "err30X", "success"], 3),
        (b"/check", True, ["err30X", "err30X", "success"], 3),
        (b"/page", False, ["err30X", "err30X", "err30X"], 3),
        (b"", True, ["err30X", "err30X", "err30X"], 3),
    ],
)
def test_a_page_that_redirects_away_and_back_is_asked_for_again(
    tmp_path: Path, sender: bytes, takes: bool, outcomes: list[str], requests: int
) -> None:
    """Whoever of the two sets the cookie; a loop that no cookie ends costs one request more."""

    def serve(connection: Connection) -> None:
        while head := connection.read_request():
            path = head.split()[1]
            cookie = SET if path == sender else b""
            if path == b"/page" and takes and field(head, b"cookie"):
                connection.send(response(b"<p>page", fields=b"Content-Type: text/html\r\n"))
            else:
                connection.send(moved(b"/check" if path == b"/page" else b"/page", cookie))

    with Server(serve) as server:
        crawl = Crawl(tmp_path, {"useCookies": "", "ignoreRobots": ""})
        assert crawl.run(f"http://127.0.0.1:{server.port}/page") == 0, crawl.output
    assert [line["outcome"] for line in crawl.lines()] == outcomes
    assert len(server.requests) == requests
