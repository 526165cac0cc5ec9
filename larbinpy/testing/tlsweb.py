"""Pages over HTTPS for measurements: nginx with a certificate of its own making.

Every host ``hNNNN.web.test`` has an address of its own in 127.0.0.0/8 and serves one page under
any path; a connection ends with its response, so every page costs a TLS handshake.
"""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from pathlib import Path

PAGE_BYTES: Final = 7600
LISTEN_S: Final = 10.0
_CONFIG: Final = """
user {user}; worker_processes 1; pid {root}/pid; error_log {root}/error.log; daemon off;
worker_rlimit_nofile 20000;
events {{ worker_connections 8192; }}
http {{
  log_format ends '$msec $status $uri'; access_log {root}/access.log ends;
  keepalive_timeout 0; default_type text/html;
  client_body_temp_path {root}/b; proxy_temp_path {root}/p; fastcgi_temp_path {root}/f;
  uwsgi_temp_path {root}/u; scgi_temp_path {root}/s;
  server {{
    listen {port} ssl backlog=4096; root {root};
    ssl_certificate {root}/cert.pem; ssl_certificate_key {root}/key.pem;
    location = /robots.txt {{ return 404; }}
    location / {{ try_files /page.html =404; }}
  }}
}}
"""


def is_available() -> bool:
    """Whether the programs that it needs are installed."""
    return bool(_nginx() and shutil.which("openssl"))


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


class TlsWeb:
    """A running nginx; use it in a ``with``.

    Args of ``__init__``:
        hosts, pages: the seeds are ``pages`` URLs of each host.
        directory: for its files; made when it is missing.

    Raises:
        OSError: nginx did not start.
    """

    def __init__(self, hosts: int, pages: int, directory: Path) -> None:
        directory.mkdir(parents=True)
        directory.chmod(0o755)
        self.hosts_file = directory / "hosts"
        self.seeds_file = directory / "seeds"
        self.certificate = directory / "cert.pem"
        self._log = directory / "access.log"
        self._offset_ns = time.monotonic_ns() - time.time_ns()
        port = _free_port()
        names = [f"h{number:04}.web.test" for number in range(hosts)]
        self.hosts_file.write_text(
            "".join(f"{_address(number)} {name}\n" for number, name in enumerate(names))
        )
        self.seeds_file.write_text(
            "".join(f"https://{name}:{port}/p{n}\n" for n in range(pages) for name in names)
        )
        (directory / "page.html").write_bytes(b"<p>" + b"x" * (PAGE_BYTES - 3))
        _make_certificate(directory)
        (directory / "conf").write_text(_CONFIG.format(root=directory, port=port, user=_user()))
        self._server = subprocess.Popen(
            [_nginx() or "nginx", "-c", str(directory / "conf")], stderr=subprocess.DEVNULL
        )
        self._wait_for(port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()

    def _wait_for(self, port: int) -> None:
        deadline = time.monotonic() + LISTEN_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError as error:
                if time.monotonic() > deadline or self._server.poll() is not None:
                    self.__exit__()
                    raise OSError("nginx did not start") from error
                time.sleep(0.02)
            else:
                return

    def page_ends(self) -> list[int]:
        """When each page was sent, CLOCK_MONOTONIC; nginx knows milliseconds."""
        ends = []
        for line in self._log.read_bytes().splitlines():
            moment, status, path = line.split(b" ", 2)
            if status == b"200" and path.startswith(b"/p"):
                ends.append(int(float(moment) * 1e9) + self._offset_ns)
        return ends


def _address(number: int) -> str:
    return f"127.1.{number >> 8}.{number & 255}"


def _user() -> str:
    """User and group that may read our files; as root, nginx would change to another user."""
    return f"{pwd.getpwuid(os.geteuid()).pw_name} {grp.getgrgid(os.getegid()).gr_name}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _make_certificate(directory: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=web.test",
         "-addext", "subjectAltName=DNS:*.web.test",
         "-keyout", str(directory / "key.pem"), "-out", str(directory / "cert.pem")],
        check=True,
        capture_output=True,
    )  # fmt: skip
