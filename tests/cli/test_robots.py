"""``larbinpy robots --file FILE PATH...``: verdicts and the lines they are by."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from larbinpy.cli import main

TEXT = b"""User-agent: *
Disallow: /private
Allow: /private/open

User-agent: foobot
Disallow: /caf\xe9
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A robots.txt in a directory without configuration."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "robots.txt"
    path.write_bytes(TEXT)
    return str(path)


def give(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Put bytes on the standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_each_path_gets_a_verdict_and_its_line(
    file: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """0 where no line decides."""
    assert main(["robots", "--file", file, "/private", "/private/open?a", "/b"]) == 0
    assert capfdbinary.readouterr() == (
        b"disallowed\t2\t/private\nallowed\t3\t/private/open?a\nallowed\t0\t/b\n", b"",
    )  # fmt: skip


def test_paths_are_read_from_standard_input(
    file: str, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One a line, any bytes, blank lines passed over; beside arguments."""
    give(monkeypatch, b"/caf\xe9\r\n\n/caf%e9\n/private")
    assert main(["robots", "--file", file, "--agent", "FooBot/1.0", "/1", "-", "/2"]) == 0
    assert capfdbinary.readouterr().out == (
        b"allowed\t0\t/1\ndisallowed\t6\t/caf\xe9\ndisallowed\t6\t/caf%e9\nallowed\t0\t/private\n"
        b"allowed\t0\t/2\n"
    )


def test_without_an_agent_it_answers_for_the_crawl_from_here(
    file: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """``UserAgent`` of larbin.conf."""
    Path("larbin.conf").write_text('UserAgent "foobot/2.0"\n')
    assert main(["robots", "--file", file, "/private", "/caf%E9"]) == 0
    assert capfdbinary.readouterr().out == b"allowed\t0\t/private\ndisallowed\t6\t/caf%E9\n"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (
            ["--file", "robots.txt", "http://a.org/a"],
            "'http://a.org/a' is not a path: it must begin with /",
        ),
        (["--file", "none", "/a"], "none: cannot be read: No such file or directory"),
        (["--file", "robots.txt", "a"], "'a' is not a path: it must begin with /"),
        (
            ["--file", "robots.txt", "--agent", "5emeRue", "/a"],
            "--agent '5emeRue': must begin with a letter, _ or -",
        ),
        (
            ["--file", "robots.txt"],
            "Missing argument 'URL|PATH...'. (see larbinpy robots --help)",
        ),
    ],
)
@pytest.mark.usefixtures("file")
def test_what_cannot_be_done_is_one_line_and_2(
    arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do."""
    assert main(["robots", *arguments]) == 2
    assert capsys.readouterr() == ("", f"larbinpy: {fault}\n")
