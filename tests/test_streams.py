"""Standard input, output and error that are closed, or full."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from larbinpy.testing.web import Scope, WebProcess, WebSpec, expected
from tests.crawldirs import ENVIRONMENT
from tests.integration.crawl import crawl_of
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path

ALL_CLOSED = "<&- >&- 2>&-"
FULL = "No space left on device\n"


def larbinpy(words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line as a shell does, with its redirections."""
    return subprocess.run(
        ["/bin/sh", "-c", f"{shlex.quote(sys.executable)} -m larbinpy {words}"],
        capture_output=True, text=True, check=False, cwd=cwd, env=ENVIRONMENT, timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.mark.parametrize("words", ["links --url http://a.example/ -", "robots --file none -"])
@pytest.mark.parametrize("redirections", ["<&-", "<&- >&-", ALL_CLOSED])
def test_what_is_closed_is_empty(tmp_path: Path, words: str, redirections: str) -> None:
    """Nothing is read, and what is written is gone."""
    (tmp_path / "none").touch()
    done = larbinpy(f"{words} {redirections}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "words", ["--version", "--help", "check-config", "why http:/", "links --url http://a.org/ a"]
)
def test_a_full_output_is_one_line_and_a_fault(tmp_path: Path, words: str) -> None:
    """No traceback, and no success."""
    (tmp_path / "a").write_text("<a href=b>" * 2000)
    done = larbinpy(f"{words} >/dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (1, f"larbinpy: {FULL}")


def test_who_reads_no_more_gets_no_more(tmp_path: Path) -> None:
    """``larbinpy links ... | head -1`` is a common thing to type."""
    (tmp_path / "a").write_text("<a href=b>" * 20_000)
    done = larbinpy("links --url http://a.example/ a | head -c 1", tmp_path)
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.parametrize("redirections", [ALL_CLOSED, ">/dev/full"])
def test_a_crawl_needs_no_terminal(tmp_path: Path, redirections: str) -> None:
    """A daemon closes all three, and a terminal may hang up: the crawl goes on, and is whole."""
    with WebProcess(WebSpec(hosts=12, pages=15, notes=3), tmp_path / "web") as web:
        crawl = crawl_of(web, tmp_path, Scope(), fetchInfo="")
        crawl.write()
        done = larbinpy(f"-c {shlex.quote(str(crawl.config))} {redirections}", tmp_path)
        assert done.returncode == 0, done.stderr
        assert crawl.urls("success") == Counter(expected(web.spec, Scope()).success)
    assert "Traceback" not in done.stderr
