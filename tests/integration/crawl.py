"""Runs the command as a user does, and reads what it leaves: crawl.log and report.json."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from larbinpy.testing.crawls import crawl_keys, write_config
from larbinpy.testing.web import Place, Scope
from tests.crawldirs import ENVIRONMENT, CrawlDirectory
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from larbinpy.testing.web import Expected, Request, SyntheticWeb, WebProcess

ID_SHARD_SHIFT: Final = 56
"""The shard stands in the highest byte of an id; docs/protocol.md."""

Line = dict[str, Any]  # of crawl.log: values of several types


@dataclass(slots=True)
class Ended:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str


@dataclass(slots=True)
class Crawl(CrawlDirectory):
    """A crawl in a directory of its own: configuration, state, and the command that runs it."""

    directory: Path
    keys: dict[str, str]
    """Key -> value; the value of a flag is empty."""
    environment: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT))

    def write(self) -> None:
        """Write the configuration file."""
        write_config(self.config, self.keys, title="a test")

    def start(self, *more: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start the command; the caller waits for it."""
        self.write()
        return subprocess.Popen(
            [sys.executable, "-m", "larbinpy", "-c", str(self.config), *more],
            cwd=self.directory,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *more: str, stdin: bytes | None = None, timeout_s: float = PATIENCE_S) -> Ended:
        """Run the command to its end.

        Raises:
            subprocess.TimeoutExpired: it did not end in time; it was killed.
        """
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        return finish(self.start(*more, stdin=source), stdin=stdin, timeout_s=timeout_s)

    def lines(self, kind: str = "page") -> list[Line]:
        """Lines of crawl.log of one kind."""
        text = (self.state / "crawl.log").read_text(encoding="ascii")
        return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]

    def report(self) -> dict[str, Any]:
        """The content of report.json."""
        loaded: dict[str, Any] = json.loads((self.state / "report.json").read_text())
        return loaded

    def urls(self, outcome: str | None = None) -> Counter[bytes]:
        """How often each URL stands in crawl.log with this outcome, or with any."""
        return Counter(
            line["url"].encode() for line in self.lines() if outcome in (None, line["outcome"])
        )


def finish(
    process: subprocess.Popen[bytes],
    *,
    stdin: bytes | None = None,
    timeout_s: float = PATIENCE_S,
) -> Ended:
    """Wait for a command; one that takes too long is killed, and its children with it."""
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout_s)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    sys.stderr.write(stderr.decode())  # shown when the test fails
    return Ended(process.returncode, stdout.decode(), stderr.decode())


def crawl_of(web: WebProcess, directory: Path, scope: Scope | None = None, **more: str) -> Crawl:
    """A crawl of a synthetic web under a scope, with more keys."""
    keys = {**crawl_keys(web, directory), **scope_keys(scope or Scope()), **more}
    return Crawl(directory, {name: value for name, value in keys.items() if value != "no"})


def scope_keys(scope: Scope) -> dict[str, str]:
    """The keys that say what a ``Scope`` says; ``no`` leaves a flag out."""
    flags = {
        "depthBySite": scope.depth_by_site,
        "noExternalLinks": scope.no_external,
        "lockSite": scope.lock_site,
        "getCGI": scope.cgi,
        "getImage": scope.images,
        "ignoreRobots": not scope.robots,
    }
    lists = {
        "forbiddenExtensions": scope.forbidden_extensions,
        "limitToDomain": scope.limit_to_domain,
    }
    return {
        "depthInSite": str(scope.depth_in_site),
        "UserAgent": scope.agent.decode(),
        **{name: "" if is_set else "no" for name, is_set in flags.items()},
        **{
            name: " ".join([*(word.decode() for word in words), "end"])
            for name, words in lists.items()
            if words
        },
    }


def silent_crawl(directory: Path, port: int) -> Crawl:
    """A crawl of hosts that accept connections and say nothing; only its end ends a request."""
    urls = (f"http://127.0.0.{n}:{port}/" for n in range(1, 9))
    (directory / "seeds").write_text("\n".join(urls) + "\n")
    return Crawl(
        directory,
        {
            "From": "operator@web.test",
            "stateDir": str(directory / "crawl"),
            "seedFile": str(directory / "seeds"),
            "allowPrivateAddresses": "",
            "ignoreRobots": "",
            "waitDuration": "0",
            "firstByteTimeout": "1h",
            "fetchTimeout": "1h",
            "limitTime": "1s",
            "drainTime": "500ms",
        },
    )


def hear(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    """Wait until a command has said a text to the terminal; what it has said since the last call.

    Nothing is buffered, so that ``finish`` gets the rest.
    """
    assert process.stderr is not None  # a pipe was asked for
    said = b""
    while text not in said:
        more = os.read(process.stderr.fileno(), 1 << 16)
        assert more, f"it has ended, and said: {said.decode()}"
        said += more
    return said


# --- the web's own words ------------------------------------------------------------------------


def asked(web: WebProcess) -> Counter[bytes]:
    """How often each URL was asked for, by the web's access log."""
    model = web.web
    return Counter(url_of(model, request) for request in web.requests())


def url_of(model: SyntheticWeb, request: Request) -> bytes:
    """The URL of a request."""
    assert request.host >= 0, f"a request for no host of this web: {request}"
    return b"http://%b:%d%b" % (
        model.host(request.host).name,
        model.spec.port,
        request.path,
    )


def body_of(model: SyntheticWeb, url: bytes) -> bytes:
    """The body that the web has at a URL."""
    place = model.find(url)
    assert place is not None
    return model.native.body(*Place(*place))


def all_of(want: Expected) -> Counter[bytes]:
    """Every request that a crawl must make, once."""
    return Counter(want.requests | want.robots)


# --- processes ----------------------------------------------------------------------------------


def children_of(pid: int) -> dict[str, list[int]]:
    """Role -> process ids of the children of a supervisor, from /proc."""
    found: dict[str, list[int]] = {}
    for child in _children(pid):
        role = _role_of(child)
        if role:
            found.setdefault(role, []).append(child)
    return found


def _children(pid: int) -> list[int]:
    """None of a process that is gone; only its first thread starts others."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _role_of(pid: int) -> str:
    """``shard``, ``parser`` or ``seeder``; empty for a process that is gone or not yet one."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    names = [word for word in words if word.startswith(b"larbinpy.")]
    return names[0].partition(b".")[2].decode() if names else ""


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def memory_peak_bytes(pid: int) -> int:
    """Most memory that a process has held so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def signal_quietly(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


class SlowedDown(threading.Thread):
    """Stops and continues processes in turn, so that each runs for a share of the time only.

    Args of ``__init__``:
        pids: asked for again each turn: a process that was replaced is found.
        run_s, stop_s: of each turn.
    """

    def __init__(self, pids: Callable[[], list[int]], *, run_s: float, stop_s: float) -> None:
        super().__init__(daemon=True)
        self._pids = pids
        self._run_s = run_s
        self._stop_s = stop_s
        self._ended = threading.Event()

    def run(self) -> None:
        """Take turns until ``end``."""
        while not self._ended.is_set():
            pids = self._pids()
            for pid in pids:
                signal_quietly(pid, signal.SIGSTOP)
            self._ended.wait(self._stop_s)
            for pid in pids:
                signal_quietly(pid, signal.SIGCONT)
            self._ended.wait(self._run_s)

    def end(self) -> None:
        """Let the processes run."""
        self._ended.set()
        self.join()


def outcome_counts(lines: list[Line]) -> Mapping[str, int]:
    """Outcome -> lines."""
    return Counter(line["outcome"] for line in lines)
