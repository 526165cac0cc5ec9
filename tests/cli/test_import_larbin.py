"""``larbinpy import-larbin DIR`` imports and says what was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from larbinpy.cli import main
from tests.larbinstate import unpack


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_was_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And how the crawl goes on."""
    unpack("fifowait", tmp_path)
    Path("my.conf").write_text("stateDir st\nurlMode larbin\n")
    assert main(["import-larbin", "larbin-fifowait", "-c", "my.conf", "--set", "getCGI"]) == 0
    expected = [
        "5619 URLs queued from 7 files of larbin-fifowait (292 repeated, 0 bad lines)",
        "6440 bits of hashtable.bin say what was seen before",
        "The crawl is continued by: larbinpy -c my.conf --set getCGI",
    ]
    assert expected == capsys.readouterr().out.splitlines()
    assert Path("st/MANIFEST").exists()


def test_first_bad_lines_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others are counted; a queue without a table is told of, and cookies."""
    (tmp_path / "fifo000000").write_bytes(b"x\n" * 23 + b"5 a.org:80/ id=1\n")
    assert main(["import-larbin", ".", "--set", "useCookies"]) == 0
    out, err = capsys.readouterr()
    assert [
        "1 URLs queued from 1 files of . (0 repeated, 23 bad lines)",
        "there is no hashtable.bin: only the queued URLs count as seen",
        "1 cookies were left out",
    ] == out.splitlines()[:3]
    told = [line for line in err.splitlines() if "passed over" in line]
    assert told[0] == "larbinpy: passed over: fifo000000:1: not a line of larbin's queue: b'x\\n'"
    assert (21, "larbinpy: passed over: 3 more lines") == (len(told), told[-1])


def test_state_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, one line."""
    (tmp_path / "fifo000000").write_bytes(b"5 a.org:80/\n")
    assert main(["import-larbin", "."]) == 0
    assert main(["import-larbin", "."]) == 2
    expected = (
        f"larbinpy: {tmp_path / 'crawl'} holds a crawl already;"
        " give another stateDir, or delete it first"
    )
    assert expected == capsys.readouterr().err.splitlines()[-1]


def test_missing_directory_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 1."""
    assert main(["import-larbin", "nowhere"]) == 1
    assert "larbinpy: nowhere: No such file or directory\n" == capsys.readouterr().err
