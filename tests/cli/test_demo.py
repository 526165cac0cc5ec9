"""The demonstration runs the ordinary command on a running web and reports what it left."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from larbinpy.cli import demo as module
from larbinpy.cli.demo import demo

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CRAWL = """
import json, pathlib, sys, urllib.request
keys = dict(line.strip().partition(" ")[::2] for line in open(sys.argv[1]))
seeds = open(keys["seedFile"].strip('"')).read().split()
seed = next(url for url in seeds if "127." in url)
assert urllib.request.build_opener(urllib.request.ProxyHandler({})).open(seed).status == 200
state = pathlib.Path(keys["stateDir"].strip('"'))
state.mkdir(exist_ok=True)
report = {"exit": "finished", "seconds": 1.5, "counters": {"pages": 1234}}
report["outcomes"] = {"success": 7}
(state / "report.json").write_text(json.dumps(report))
sys.exit(int(sys.argv[2]))
"""


def _crawl_by(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def command(config: Path) -> list[str]:
        return [sys.executable, "-c", CRAWL, str(config), str(code)]

    monkeypatch.setattr(module, "crawl_command", command)


def test_the_demo_reports_and_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It prints both commands and the summary, also in a directory of an earlier demo."""
    _crawl_by(monkeypatch, 0)
    for _ in range(2):
        assert demo(["--dir", str(tmp_path / "demo"), "--hosts", "9", "--pages", "5"]) == 0
        out, err = capfd.readouterr()
        assert "larbinpy.testing.web --dir" in out
        assert "--hosts 9 --pages 5" in out
        assert "ended: finished, after 1.5 s" in out
        assert "pages 1,234" in out
        assert "success 7" in out
        assert str(tmp_path / "demo" / "crawl" / "crawl.log") in out
        assert err == ""


def test_the_exit_code_is_the_crawls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the crawl ends with, the demonstration ends with."""
    _crawl_by(monkeypatch, 3)
    assert demo(["--dir", str(tmp_path), "--hosts", "4", "--pages", "4"]) == 3


def test_a_missing_report_is_told(tmp_path: Path) -> None:
    """A crawl that left no report gets one line, no traceback."""
    lines = list(module._summary(tmp_path, tmp_path / "larbin.conf"))
    assert len(lines) == 1
    assert lines[0].startswith("no report: ")
    assert json.dumps(lines)
