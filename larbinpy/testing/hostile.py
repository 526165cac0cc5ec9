"""Servers that mean no good: each breaks HTTP, TLS or good manners in one way.

``behaviours`` says what each does and how a URL of it has to end.  ``HostileWeb`` serves them all
on loopback, a host name each, beside honest hosts that must not suffer.  A robots.txt is honest
everywhere: what is under test is the page.
"""

from __future__ import annotations

import contextlib
import ssl
import subprocess
from typing import TYPE_CHECKING, Final, Self

from larbinpy.testing.attacks import BOMBS, PAGE, bomb
from larbinpy.testing.behaviours import (
    BEHAVIOURS,
    HTTP,
    NOBODY,
    TLS,
    TLS_SILENT,
    Behaviour,
)
from larbinpy.testing.scripts import answer_and_stall, response
from larbinpy.testing.servers import EVERY_ADDRESS, Connection, Server, Silent

if TYPE_CHECKING:
    from pathlib import Path

DOMAIN: Final = "hostile.test"
GOOD_DOMAIN: Final = "good.test"


class HostileWeb:
    """All behaviours, each at ``http[s]://NAME.hostile.test:PORT/``, and some honest hosts.

    Args:
        directory: for the certificate and the hosts file.
        good_hosts, good_pages: honest hosts beside them, and the pages of each.
    """

    def __init__(self, directory: Path, *, good_hosts: int = 0, good_pages: int = 10) -> None:
        self._directory = directory
        self._good_hosts = good_hosts
        self._good_pages = good_pages
        self._by_name = {behaviour.name.encode(): behaviour for behaviour in BEHAVIOURS}
        self._stack = contextlib.ExitStack()
        self._ports: dict[str, int] = {}

    def __enter__(self) -> Self:
        for coding in BOMBS:
            bomb(coding)  # packing takes time that is not under test
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(make_certificate(self._directory, "other.test"))

        def over_tls(connection: Connection) -> None:
            with context.wrap_socket(connection.peer, server_side=True) as connection.peer:
                self._serve(connection)

        for name, script in (
            (HTTP, self._serve),
            (TLS, over_tls),
            (TLS_SILENT, answer_and_stall()),
        ):
            server = Server(script, address=EVERY_ADDRESS, backlog=512)
            self._ports[name] = self._stack.enter_context(server).port
        self._ports[NOBODY] = self._stack.enter_context(Silent()).port
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def url(self, behaviour: Behaviour) -> str:
        """The first URL of a behaviour."""
        scheme = "https" if behaviour.port in (TLS, TLS_SILENT) else "http"
        return f"{scheme}://{behaviour.name}.{DOMAIN}:{self._ports[behaviour.port]}/"

    def good_urls(self) -> list[str]:
        """The first URLs of the honest hosts."""
        port = self._ports[HTTP]
        return [f"http://h{n}.{GOOD_DOMAIN}:{port}/" for n in range(self._good_hosts)]

    def write_hosts(self) -> Path:
        """A hosts file in which everybody has an address: a crawler asks each of one at a time."""
        hostile = [f"127.0.2.{n} {b.name}.{DOMAIN}\n" for n, b in enumerate(BEHAVIOURS)]
        good = [f"127.0.3.{n} h{n}.{GOOD_DOMAIN}\n" for n in range(self._good_hosts)]
        path = self._directory / "hosts"
        path.write_text("".join(hostile + good))
        return path

    def _serve(self, connection: Connection) -> None:
        """Answer for robots.txt and the honest hosts, and hand the rest to its behaviour."""
        while head := connection.peek_request():
            path, host = head.split()[1], _host(head)
            if path == b"/robots.txt":
                connection.read_request()
                connection.send(response(status=b"404 None"))
            elif host.endswith(GOOD_DOMAIN.encode()):
                connection.read_request()
                connection.send(response(self._good_page(path)))
            else:
                self._by_name[host.partition(b".hostile")[0]].script(connection)
                return

    def _good_page(self, path: bytes) -> bytes:
        number = int(path.strip(b"/") or b"0") + 1
        return b'<a href="/%d">next</a>' % number if number < self._good_pages else PAGE


def _host(head: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"host":
            return value.strip().rpartition(b":")[0]
    return b""


def make_certificate(directory: Path, name: str) -> Path:
    """Write a self-signed certificate with its key into one file, by the openssl command."""
    path = directory / f"{name}.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    files = ["-keyout", str(path), "-out", str(path) + ".crt"]
    subprocess.run([*words.split(), *names, *files], check=True, capture_output=True)
    certificate = path.with_name(path.name + ".crt")
    path.write_bytes(path.read_bytes() + certificate.read_bytes())
    return path
