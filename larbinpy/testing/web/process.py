"""Run a synthetic web as a process of its own, and read its access log."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final, Self

from larbinpy.testing.web.model import SyntheticWeb
from larbinpy.testing.web.spec import WebSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STOP_S: Final = 10.0
HOSTS_NAME: Final = "hosts"
SEEDS_NAME: Final = "seeds"
LOG_NAME: Final = "access.tsv"
EXPECTED_NAME: Final = "expected.json"


@dataclass(slots=True)
class Request:
    """One line of the access log."""

    start_ns: int
    """CLOCK_MONOTONIC, when the request was read."""
    end_ns: int
    """When the last byte of the response was given to the socket; 0: it never was."""
    host: int
    """-1: the request named no host of this web."""
    path: bytes
    status: int
    address: bytes
    """That the connection came to."""
    connection: int
    agent: int
    """``larbinpy._native.webserver.agent_hash`` of the User-Agent."""
    method: bytes

    @property
    def is_robots(self) -> bool:
        """A request for robots.txt."""
        return self.path == b"/robots.txt"


def read_log(path: Path) -> Iterator[Request]:
    """The requests of an access log, in the order of their starts."""
    with path.open("rb") as lines:
        for line in lines:
            start, end, host, where, status, address, connection, agent, method = line.split(b"\t")
            yield Request(
                start_ns=int(start),
                end_ns=int(end),
                host=int(host),
                path=where,
                status=int(status),
                address=address,
                connection=int(connection),
                agent=int(agent),
                method=method.rstrip(),
            )


def command(spec: WebSpec, directory: Path, *, cpu: int | None = None) -> list[str]:
    """The command line that serves this web."""
    words = [sys.executable, "-m", "larbinpy.testing.web", "--dir", str(directory)]
    default = WebSpec()
    for field in fields(WebSpec):
        value = getattr(spec, field.name)
        if field.name in ("hosts", "pages") or value != getattr(default, field.name):
            words += [
                f"--{field.name.replace('_', '-')}",
                str(int(value) if value is True or value is False else value),
            ]
    return words if cpu is None else [*words, "--cpu", str(cpu)]


class WebProcess:
    """A running synthetic web; use it in a ``with``, or call ``stop``.

    *Process*: the server is a child that ends with this process, however this one ends.
    """

    __slots__ = ("_child", "directory", "spec")

    def __init__(self, spec: WebSpec, directory: Path, *, cpu: int | None = None) -> None:
        """Start the web and wait until it listens.

        Args:
            spec: port 0 takes a free one.
            directory: for the files hosts, seeds and access.tsv; made when it is missing.
            cpu: the core to stay on.

        Raises:
            OSError: the server did not start; its complaint is on stderr.
        """
        self.directory = directory
        words = [*command(spec, directory, cpu=cpu), "--until-eof"]
        self._child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.spec = replace(spec, port=int(self._answer("listening on").rpartition(":")[2]))
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _answer(self, start: str) -> str:
        assert self._child.stdout is not None  # a pipe was asked for
        line = self._child.stdout.readline().decode().rstrip()
        if not line.startswith(start):
            raise OSError(f"the synthetic web did not answer {start!r} but {line!r}")
        return line

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.spec.port

    @property
    def pid(self) -> int:
        """Of the serving process."""
        return self._child.pid

    @property
    def web(self) -> SyntheticWeb:
        """A model of what is served."""
        return SyntheticWeb(self.spec)

    @property
    def seeds(self) -> list[bytes]:
        """The URLs to start from; also the lines of the file ``seeds``."""
        return self.web.seeds()

    @property
    def seeds_file(self) -> Path:
        """One seed a line."""
        return self.directory / SEEDS_NAME

    @property
    def hosts_file(self) -> Path:
        """Addresses of the hosts that have names."""
        return self.directory / HOSTS_NAME

    def requests(self) -> list[Request]:
        """All requests so far, in the order of their starts; also after ``stop``."""
        if self._child.poll() is None:
            assert self._child.stdin is not None  # a pipe was asked for
            self._child.stdin.write(b"log\n")
            self._child.stdin.flush()
            self._answer("logged")
        return list(read_log(self.directory / LOG_NAME))

    def page_ends(self) -> list[int]:
        """When the last byte of each good page was given to its socket, CLOCK_MONOTONIC."""
        return [
            request.end_ns
            for request in self.requests()
            if request.status == 200 and request.end_ns and not request.is_robots
        ]

    def stop(self) -> None:
        """End the server; the access log is complete afterwards."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        try:
            self._child.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()
