"""The order of a host's pages: breadth first, depth first, and by level."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar, Final

import pytest

from tests.integration.crawl import Crawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINKS: Final = {"1": "234", "2": "56", "3": "7", "4": "8"}
"""Page -> pages that it has links to, in this order."""


class Graph(BaseHTTPRequestHandler):
    """Serves the pages of ``LINKS`` and notes their order."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        name = self.path.strip("/").partition(".")[0]
        self.asked.append(self.path.strip("/"))
        pages = [f"/{page}{self.ending(page)}" for page in LINKS.get(name, "")]
        links = "".join(f"<a href={page}>x</a>" for page in pages)
        body = f"<title>{name}</title>{links}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def ending(page: str) -> str:
        """Pages 4 and 6 have an extension, which may have priority."""
        return ".doc" if page in "46" else ""

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@contextmanager
def graph() -> Iterator[int]:
    """The port of a server of the graph."""
    Graph.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Graph) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("order", "more", "expected"),
    [
        ("bfs", {}, "1 2 3 4 5 6 7 8"),
        ("dfs", {}, "1 2 5 6 3 7 4 8"),
        ("best", {"specificSet": '"text/html" .doc end end'}, "1 4 2 6 3 8 5 7"),
    ],
)
def test_order_of_one_host(tmp_path: Path, order: str, more: dict[str, str], expected: str) -> None:
    """Links of a page in document order; the level of ``specificSet`` goes before all others."""
    keys = {
        "From": "operator@web.test",
        "stateDir": str(tmp_path / "crawl"),
        "waitDuration": "0",
        "ignoreRobots": "",
        "order": order,
        "pagesConnexions": "1",
        **more,
    }
    with graph() as port:
        ended = Crawl(tmp_path, keys).run(f"http://127.0.0.1:{port}/1")
    assert ended.code == 0, ended.stderr
    assert " ".join(name.removesuffix(".doc") for name in Graph.asked) == expected
