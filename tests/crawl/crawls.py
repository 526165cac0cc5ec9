"""Runs the ordinary command on servers of the test, and reads what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from larbinpy.testing.crawls import crawl_command, write_config
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT: Final = Path(__file__).parents[2]
FAST: Final = {"waitDuration": "0", "UserAgent": "larbin", "From": "me@a.test"}
Line = dict[str, Any]  # what JSON holds


class Crawl:
    """A crawl in a directory of its own.

    Args:
        directory: empty or new; state and configuration go there.
        keys: of the configuration, beside or instead of ``FAST``.
    """

    def __init__(self, directory: Path, keys: Mapping[str, str]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.state = directory / "crawl"
        self._config = directory / "larbin.conf"
        self._output = directory / "output"
        paths = {"stateDir": f'"{self.state}"', "outputDir": f'"{directory / "save"}"'}
        self._keys = {**FAST, **paths, **keys}
        write_config(self._config, self._keys, title="A test.")

    def set(self, key: str, value: str) -> None:
        """Change a key for the next start."""
        self._keys[key] = value
        write_config(self._config, self._keys, title="A test.")

    def start(self, urls: Iterable[str] = (), *, scratch: bool = True) -> subprocess.Popen[bytes]:
        """Start the command; what it prints goes to a file."""
        words = crawl_command(self._config, *urls)
        if not scratch:
            words.remove("--scratch")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with self._output.open("ab") as output:
            return subprocess.Popen(words, env=environment, stdout=output, stderr=output)

    def run(self, *urls: str, scratch: bool = True, within_s: float = PATIENCE_S) -> int:
        """Run the command to its end; returns its exit code."""
        with self.start(urls, scratch=scratch) as process:
            try:
                return process.wait(within_s)
            finally:
                process.kill()
                sys.stderr.write(self.output)  # shown when the test fails

    @property
    def output(self) -> str:
        """What the command has printed."""
        return self._output.read_text()

    def lines(self, *, kind: str = "page") -> list[Line]:
        """The lines of ``crawl.log`` of one kind of request."""
        path = self.state / "crawl.log"
        text = path.read_text() if path.exists() else ""
        return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]

    def outcomes(self) -> dict[str, str]:
        """URL -> its last outcome."""
        return {line["url"]: line["outcome"] for line in self.lines()}


def crawl(directory: Path, url: str, **keys: str) -> list[Line]:
    """The lines of a crawl from one URL; a.test and b.test are this machine."""
    hosts = directory / "hosts"
    hosts.write_text("127.0.0.1 a.test b.test\n")
    run = Crawl(directory / "run", {"hostsFile": f'"{hosts}"', "connectTimeout": "60s", **keys})
    assert run.run(url) == 0, run.output
    return run.lines()
