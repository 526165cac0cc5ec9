"""A small web site on the loopback, and crawls of it by the ordinary command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
"""Children find the package of this checkout, whatever the current directory is."""


@dataclass
class Site:
    """Serves pages by their paths while it is entered; everything else is 404."""

    pages: dict[str, bytes]
    asked: list[str] = field(default_factory=list)
    """Paths of all requests but those for robots.txt, in order."""
    types: dict[str, str] = field(default_factory=dict)
    """Content types by path, where it is not HTML."""

    def __enter__(self) -> Self:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16  # one packet a response

            def do_GET(self) -> None:
                body = site.answer(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", site.types.get(self.path, "text/html"))
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str) -> bytes | None:
        """The body of a page."""
        if path != "/robots.txt":
            self.asked.append(path)
        return self.pages.get(path)

    def url(self, path: str) -> str:
        """The URL of a path."""
        return f"http://127.0.0.1:{self._server.server_port}{path}"


@dataclass
class Crawls:
    """Crawls with a state of their own, each going on where the last one stopped."""

    state: Path
    output: Path
    keys: dict[str, str] = field(default_factory=dict)

    def command(self, *urls: str) -> list[str]:
        """The command line."""
        keys = {
            "stateDir": self.state,
            "outputDir": self.output,
            "From": "a@b.example",
            "allowPrivateAddresses": "yes",
            "waitDuration": "0",
            "depthInSite": "100",
            **self.keys,
        }
        sets = [f"--set={name}={value}" for name, value in keys.items()]
        return [sys.executable, "-m", "larbinpy", *sets, *urls]

    def run(self, *urls: str) -> dict[str, Any]:
        """Crawl to the end; returns the report."""
        ended = subprocess.run(
            self.command(*urls), capture_output=True, timeout=PATIENCE_S, env=ENVIRONMENT
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return self.report()

    def report(self) -> dict[str, Any]:
        """The report as it is."""
        report: dict[str, Any] = json.loads((self.state / "report.json").read_bytes())
        return report

    def log(self) -> list[dict[str, Any]]:
        """The lines of crawl.log for pages."""
        lines = (self.state / "crawl.log").read_bytes().splitlines()
        return [line for line in map(json.loads, lines) if line["kind"] == "page"]
