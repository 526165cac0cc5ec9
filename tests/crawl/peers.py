"""Real peers on loopback: nginx, tinyproxy, microsocks, with certificates of a test authority."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FORMAT = (
    '$request_uri $status $server_protocol user=$remote_user cookie="$http_cookie"'
    ' key="$http_x_key" from=$remote_addr name=$ssl_server_name'
)


def tool(name: str) -> str:
    """Path of a program; the test is skipped where it is not installed."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"no {name} command")
    return path


def free_port() -> int:
    """A port that nobody listens on.

    It lies below those that the kernel gives by itself: nobody gets it before it is used.
    """
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(first // 2, first)
        with contextlib.suppress(OSError), socket.create_server(("", port)):
            return port


@contextlib.contextmanager
def running(words: Sequence[str], port: int, log: Path) -> Iterator[None]:
    """Run a server in the foreground, from the moment when it takes connections."""
    with log.open("ab") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output)
    try:
        assert wait_until(lambda: _listens(process, port, log)), log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _listens(process: subprocess.Popen[bytes], port: int, log: Path) -> bool:
    """Whether a server takes connections."""
    assert process.poll() is None, log.read_text()
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


class Nginx:
    """nginx with one server; its log shows what each request brought."""

    def __init__(
        self, directory: Path, rules: str, *, listen: str = "", name: str = "nginx"
    ) -> None:
        """Choose a port.

        Args:
            rules: what stands in ``location /``.
            listen: words behind the port: ``ssl``, ``http2``.
            name: of its files.
        """
        self.port = free_port()
        self._log = directory / f"{name}.access"
        self._errors = directory / f"{name}.errors"
        self._file = directory / f"{name}.conf"
        tls = f"ssl_certificate {directory}/server.pem; ssl_certificate_key {directory}/server.key;"
        self._file.write_text(f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off; worker_processes 1; pid {directory}/{name}.pid;
            error_log {self._errors} warn;
            events {{}}
            http {{
                client_body_temp_path {directory}/b; proxy_temp_path {directory}/p;
                fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u;
                scgi_temp_path {directory}/s;
                default_type text/html;
                log_format test '{_FORMAT}';
                access_log {self._log} test;
                server {{
                    listen 127.0.0.1:{self.port} {listen};
                    {tls if "ssl" in listen else ""}
                    location = /robots.txt {{ return 404; }}
                    location / {{ {rules} return 200 "<p>page"; }}
                }}
            }}""")

    @contextlib.contextmanager
    def running(self) -> Iterator[Nginx]:
        """Run it."""
        words = [tool("nginx"), "-c", str(self._file), "-e", str(self._errors)]
        with running(words, self.port, self._errors):
            yield self

    @property
    def requests(self) -> list[str]:
        """Its access log without robots.txt; call it when it has ended."""
        return [line for line in self._log.read_text().splitlines() if "/robots.txt" not in line]


def make_certificates(directory: Path, *names: str) -> Path:
    """Write ``server.pem`` and ``.key`` for some names, and return its authority's certificate."""
    openssl = tool("openssl")
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    ca, server = directory / "ca.pem", directory / "server.pem"
    _run(f"{openssl} req -x509 {key} -keyout {ca}.key -out {ca}", "/CN=Test authority")
    names_file = directory / "names"
    names_file.write_text("subjectAltName=" + ",".join(f"DNS:{name}" for name in names))
    _run(f"{openssl} req -new {key} -keyout {directory}/server.key -out {server}.csr", "/CN=test")
    _run(f"{openssl} x509 -req -in {server}.csr -CA {ca} -CAkey {ca}.key -CAcreateserial -days 2"
         f" -extfile {names_file} -out {server}")  # fmt: skip
    return ca


def _run(words: str, subject: str = "") -> None:
    more = ["-subj", subject] if subject else []
    subprocess.run([*words.split(), *more], check=True, capture_output=True)


@contextlib.contextmanager
def tinyproxy(directory: Path, *, user: str = "", password: str = "") -> Iterator[tuple[int, Path]]:
    """An HTTP proxy that says so (Via); yields its port and its log."""
    program, port, log = tool("tinyproxy"), free_port(), directory / "tinyproxy.log"
    config = directory / "tinyproxy.conf"
    auth = f"BasicAuth {user} {password}" if user else ""
    config.write_text(
        f"Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nLogLevel Connect\n{auth}\n"
        'ViaProxyName "test"\nMaxClients 100\n'
    )
    with running([program, "-d", "-c", str(config)], port, log):
        yield port, log


@contextlib.contextmanager
def microsocks(directory: Path, *, user: str, password: str) -> Iterator[tuple[int, Path]]:
    """A SOCKS5 proxy that connects from 127.0.0.9; yields its port and its log."""
    program, port, log = tool("microsocks"), free_port(), directory / "microsocks.log"
    words = [program, "-i", "127.0.0.1", "-p", str(port), "-u", user, "-P", password]
    with running([*words, "-b", "127.0.0.9"], port, log):
        yield port, log
