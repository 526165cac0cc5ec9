"""Debian's Apache and squid on free ports, run in the foreground as ordinary processes.

Started by root they give up its rights, so what they read and write lies in a directory that
everybody may enter.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.crawl.peers import free_port, running, tool

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES: Final = Path("/usr/lib/apache2/modules")
HELPERS: Final = Path("/usr/lib/squid")
_LOADED: Final = (
    "mpm_event", "authz_core", "mime", "dir", "filter", "deflate", "brotli", "headers", "ssl",
    "socache_shmcb", "http2",
)  # fmt: skip


@contextlib.contextmanager
def open_directory() -> Iterator[Path]:
    """A directory that other users may enter."""
    with tempfile.TemporaryDirectory(prefix="larbinpy-test-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


class Apache:
    """Apache with one site; a line of its log has the request, status, what was sent and how.

    Args:
        directory: see ``open_directory``; ``pages`` in it is the site.
        rules: directives of the site.
        certificates: where ``server.pem`` and ``server.key`` are; None: without TLS.
    """

    def __init__(self, directory: Path, rules: str, *, certificates: Path | None = None) -> None:
        self.port = free_port()
        self.pages = directory / "pages"
        self.pages.mkdir(exist_ok=True)
        self._log = directory / "access"
        self._errors = directory / "errors"
        self._file = directory / "apache.conf"
        present = [name for name in _LOADED if (MODULES / f"mod_{name}.so").exists()]
        modules = [f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in present]
        self._file.write_text("\n".join([*modules, *self._settings(directory), rules,
                                         *_tls(certificates)]) + "\n")  # fmt: skip

    def _settings(self, directory: Path) -> list[str]:
        user = ["User nobody", "Group nogroup"] if os.geteuid() == 0 else []
        return [
            f"ServerName a.test\nServerRoot {directory}\nPidFile {directory}/pid",
            f"Listen 127.0.0.1:{self.port}\nDocumentRoot {self.pages}\nDirectoryIndex index.html",
            f"Mutex file:{directory}\nErrorLog {self._errors}",
            "TypesConfig /dev/null\nAddType text/html .html",
            "ServerLimit 1\nStartServers 1\nThreadsPerChild 8\nMaxRequestWorkers 8",
            "MinSpareThreads 1\nMaxSpareThreads 8\nKeepAlive on\nKeepAliveTimeout 30",
            r'LogFormat "%U %>s %H coding=%{Content-Encoding}o on=%k from=%{From}i'
            r' agent=\"%{User-Agent}i\"" test',
            f"CustomLog {self._log} test",
            *user,
        ]

    @contextlib.contextmanager
    def running(self) -> Iterator[Apache]:
        """Run it."""
        if not MODULES.is_dir():
            pytest.skip("no modules of Apache")
        words = [tool("apache2"), "-f", str(self._file), "-D", "FOREGROUND"]
        with running(words, self.port, self._errors):
            yield self

    @property
    def requests(self) -> list[str]:
        """Its access log."""
        return self._log.read_text().splitlines()


def _tls(certificates: Path | None) -> list[str]:
    if certificates is None:
        return []
    files = f"{certificates}/server.pem", f"{certificates}/server.key"
    return ["SSLEngine on", f"SSLCertificateFile {files[0]}", f"SSLCertificateKeyFile {files[1]}"]


@contextlib.contextmanager
def squid(directory: Path, *, user: str, password: str) -> Iterator[tuple[int, Path]]:
    """An HTTP proxy that wants credentials; yields its port and its log.

    Args:
        directory: see ``open_directory``.
    """
    program, helper = tool("squid"), HELPERS / "basic_ncsa_auth"
    if not helper.exists():
        pytest.skip(f"no {helper}")
    directory.chmod(0o777)
    port, config, log = free_port(), directory / "squid.conf", directory / "squid.access"
    users = directory / "users"
    users.write_text(f"{user}:{_crypted(password)}\n")
    config.write_text(f"""
        http_port 127.0.0.1:{port}
        auth_param basic program {helper} {users}
        auth_param basic children 1
        acl known proxy_auth REQUIRED
        http_access allow known
        http_access deny all
        logformat test %>Hs %un %rm %ru
        access_log stdio:{log} logformat=test
        cache_log {directory}/squid.log
        cache deny all
        pid_filename none
        pinger_enable off
        coredump_dir {directory}
        shutdown_lifetime 0 seconds
        visible_hostname test
    """)
    with running([program, "-N", "-f", str(config)], port, directory / "squid.out"):
        yield port, log


def _crypted(password: str) -> str:
    """As basic_ncsa_auth reads it."""

    words = [tool("openssl"), "passwd", "-apr1", password]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
