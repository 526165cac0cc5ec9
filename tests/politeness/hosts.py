"""Many hosts on loopback behind one scripted server, and the ordinary command that crawls them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import larbinpy
from tests.patience import PATIENCE_S, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CHECKOUT = Path(larbinpy.__file__).parents[1]


@dataclass
class Asked:
    """One request as the server saw it."""

    time: float
    """``time.monotonic`` when its head had come."""
    host: str
    """Without the port."""
    path: str


Answer = bytes | None
"""What is sent; None = the connection is closed without a word."""


def page(body: str = "", *, status: str = "200 OK", fields: str = "", kind: str = "html") -> bytes:
    """A response."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/{kind}\r\n{fields}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def no_robots() -> bytes:
    """The answer for a robots.txt that is not there."""
    return page(status="404 Not Found")


class Hosts:
    """Every address of 127.0.0.0/8 on one port; ``answer`` decides what each request gets."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        self._peers: list[socket.socket] = []
        self._clients: list[tuple[str, int]] = []
        self._threads: list[threading.Thread] = []
        self._is_away = False
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]

    def _listen(self, port: int) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen(128)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.go_away()

    def go_away(self) -> None:
        """Close everything: nobody answers any more, whoever was just being accepted either."""
        self._is_away = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)

    def come_back(self) -> None:
        """Answer again, on the same port."""
        self._is_away = False
        self._listener = self._listen(self.port)

    def settle(self) -> None:
        """Wait until all is read that was sent by clients which are gone, as all must be."""
        with socket.create_connection(("127.0.0.1", self.port)) as last:  # behind all others
            assert wait_until(lambda: last.getsockname() in self._clients)
        assert wait_until(lambda: not any(thread.is_alive() for thread in self._threads))

    def url(self, host: str, path: str = "/") -> str:
        """A URL of this web."""
        return f"http://{host}:{self.port}{path}"

    def of(self, host: str, *, robots: bool = False) -> list[Asked]:
        """The requests to a host, with or without those for robots.txt."""
        return [
            asked
            for asked in list(self.asked)
            if asked.host == host and (robots or asked.path != "/robots.txt")
        ]

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, client = listener.accept()
            except OSError:
                return
            self._peers.append(peer)
            thread = threading.Thread(target=self._serve, args=(peer,), daemon=True)
            thread.start()
            self._threads.append(thread)
            self._clients.append(client)

    def _serve(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError), peer, peer.makefile("rb") as lines:
            while line := lines.readline():
                if not line.startswith(b"GET "):
                    return  # TLS, which nobody speaks here
                path = line.split()[1].decode()
                host = ""
                while (field := lines.readline()) not in (b"\r\n", b""):
                    if field.lower().startswith(b"host:"):
                        host = field[5:].strip().decode().partition(":")[0]
                asked = Asked(time.monotonic(), host, path)
                if self._is_away:
                    return
                self.asked.append(asked)
                answer = self._answer(asked)
                if answer is None or self._is_away:
                    return
                peer.sendall(answer)


class Crawl:
    """The command, run on a configuration of its own."""

    def __init__(self, directory: Path, urls: Iterable[str], **keys: str) -> None:
        self.directory = directory
        self.state = directory / "crawl"
        given = {
            "From": "operator@web.test", "stateDir": str(self.state), "allowPrivateAddresses": "",
            "waitDuration": "0", "seedFile": str(directory / "seeds"), "depthInSite": "9",
            "getCGI": "", **keys,
        }  # fmt: skip
        (directory / "seeds").write_text("".join(f"{url}\n" for url in urls))
        (directory / "conf").write_text("".join(f"{k} {v}\n" for k, v in given.items()))
        self.errors = ""

    def start(self, *, is_group: bool = False) -> subprocess.Popen[str]:
        """Start the command, if wanted as a group of its own; it is the caller's to end."""
        return subprocess.Popen(
            [sys.executable, "-m", "larbinpy", "-c", str(self.directory / "conf")],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=is_group,
        )

    def run(self, timeout_s: float = PATIENCE_S) -> int:
        """Run it to its end; returns the exit code."""
        child = self.start()
        try:
            _, self.errors = child.communicate(timeout=timeout_s)
        finally:
            child.kill()
        sys.stderr.write(self.errors)  # shown when the test fails
        return child.returncode

    def log(self) -> list[dict[str, Any]]:
        """The lines of ``crawl.log``."""
        path = self.state / "crawl.log"
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def outcomes(self, path: str) -> list[str]:
        """``kind outcome`` of each line whose URL ends so, in order."""
        return [
            f"{line['kind']} {line['outcome']}" for line in self.log() if line["url"].endswith(path)
        ]

    def logged(self, host: str) -> int:
        """How many lines ``crawl.log`` has by now of pages of a host."""
        path = self.state / "crawl.log"
        return path.read_bytes().count(f'"url":"http://{host}:'.encode()) if path.exists() else 0

    def gaps_s(self, requests: list[Asked]) -> list[float]:
        """Seconds from each request to a host to the next one.

        A busy server reads a request late: then it was made at the time that its line has.
        """
        gone_s = time.time() - time.monotonic()
        sent: dict[str, list[float]] = {}
        for line in self.log():
            at_s = datetime.fromisoformat(line["ts"]).timestamp() - gone_s
            host, _, path = line["url"].removeprefix("http://").partition("/")
            sent.setdefault(f"{host.partition(':')[0]}/{path}", []).append(at_s)
        starts = [
            max((at for at in sent.get(one.host + one.path, ()) if at < one.time), default=one.time)
            for one in requests
        ]
        return [later.time - start for start, later in zip(starts, requests[1:], strict=False)]

    def report(self) -> dict[str, Any]:
        """The report."""
        report: dict[str, Any] = json.loads((self.state / "report.json").read_bytes())
        return report
