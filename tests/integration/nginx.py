"""An nginx of its own on loopback that serves a directory and logs what was asked."""

from __future__ import annotations

import shutil
import socket
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import pytest

if TYPE_CHECKING:
    from pathlib import Path

STOP_S: Final = 10.0
_SYSTEM: Final = ":/usr/sbin:/sbin"

_CONFIG: Final = """
daemon off;
worker_processes 1;
pid {own}/nginx.pid;
error_log {own}/error.log crit;
events {{ worker_connections 512; }}
http {{
    types {{
        text/html html; text/css css; text/plain txt; text/xml xml; application/javascript js;
        image/png png; image/svg+xml svg; image/gif gif; image/jpeg jpg;
    }}
    default_type application/octet-stream;
    log_format tests '$status\\t$sent_http_content_type\\t$http_user_agent\\t$request_uri';
    access_log {own}/access.log tests;
    client_body_temp_path {own}/body; proxy_temp_path {own}/proxy;
    fastcgi_temp_path {own}/fastcgi; uwsgi_temp_path {own}/uwsgi; scgi_temp_path {own}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root "{root}";
        location = /robots.txt {{ return 200 "{robots}"; }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """One line of the access log."""

    status: int
    mime: str
    agent: str
    path: str


class Nginx:
    """A running nginx; use it in a ``with``.

    It inherits a socket that listens already: there is no port to guess and nothing to wait for.
    """

    def __init__(self, root: Path, own: Path, *, robots: str) -> None:
        """``own``: directory for its configuration and logs; ``robots``: text of robots.txt."""
        program = shutil.which("nginx") or shutil.which("nginx", path=_SYSTEM)
        if program is None:
            pytest.skip("nginx is not installed")
        own.mkdir()
        self._log = own / "access.log"
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            config = own / "nginx.conf"
            text = robots.replace("\n", "\\n")
            config.write_text(_CONFIG.format(own=own, port=self.port, root=root, robots=text))
            self._process = subprocess.Popen(
                [program, "-e", str(own / "error.log"), "-p", str(own), "-c", str(config)],
                env={"NGINX": f"{listener.fileno()};"},
                pass_fds=(listener.fileno(),),
                stderr=subprocess.DEVNULL,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def asked(self) -> list[Asked]:
        """What was asked for so far."""
        entries = [line.split("\t") for line in self._log.read_text().splitlines()]
        return [
            Asked(int(status), mime.partition(";")[0], agent, path)
            for status, mime, agent, path in entries
        ]
