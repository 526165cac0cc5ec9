"""The synthetic web as a process: its files, its end."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected, read_log
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

PARENT = """
import pathlib, sys
from larbinpy.testing.web import WebProcess, WebSpec
web = WebProcess(WebSpec(hosts=4, pages=4), pathlib.Path(sys.argv[1]))
print(web.pid, flush=True)
sys.stdin.read()
"""


def test_the_command_writes_its_files_and_ends_by_signal(tmp_path: Path) -> None:
    """hosts, seeds, expected.json at the start; the log at SIGTERM, which is an orderly end."""
    words = [sys.executable, "-m", "larbinpy.testing.web", "--dir", str(tmp_path)]
    words += ["--hosts", "6", "--pages", "9", "--roots", "2", "--expected", "--depth", "3"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        start, _, port = child.stdout.readline().decode().strip().rpartition(":")
        assert start == "listening on 127.0.0.1"
        child.send_signal(signal.SIGTERM)
        assert child.wait(PATIENCE_S) == 0
    spec = WebSpec(hosts=6, pages=9, roots=2, port=int(port))
    answer = expected(spec, Scope(depth_in_site=3)).to_json()
    assert json.loads((tmp_path / "expected.json").read_bytes()) == answer
    assert len((tmp_path / "seeds").read_text().split()) == 2
    assert list(read_log(tmp_path / "access.tsv")) == []


def test_the_web_does_not_outlive_its_parent(tmp_path: Path) -> None:
    """A killed parent takes the server along."""
    words = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        server = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        parent.wait()
    try:
        ended, _, _ = select.select([server], [], [], PATIENCE_S)
    finally:
        os.close(server)
    assert ended == [server]


def test_a_web_that_cannot_start_is_a_fault(tmp_path: Path) -> None:
    """A port in use raises, and leaves no child."""
    with (
        WebProcess(WebSpec(hosts=4, pages=4), tmp_path / "a") as web,
        pytest.raises(OSError, match="did not answer 'listening on'"),
    ):
        WebProcess(WebSpec(hosts=4, pages=4, port=web.port), tmp_path / "b")
