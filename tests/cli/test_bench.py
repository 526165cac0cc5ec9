"""The bench harness: bare pycurl for real, the crawl by a stand-in command."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from larbinpy.cli import bench as module
from larbinpy.cli.bench import bench, process_cpu

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CRAWL = """
import json, pathlib, sys
from larbinpy.testing.barecurl import BareCurl, read_hosts
keys = dict(line.strip().partition(" ")[::2] for line in open(sys.argv[1]))
path = {key: pathlib.Path(value.strip('"')) for key, value in keys.items()}
assert sys.argv[2:] == ["--set", "order=dfs"]
urls = path["seedFile"].read_text().split()
BareCurl(urls, read_hosts(path["hostsFile"]), connections=4, seconds=9).run()
path["stateDir"].mkdir()
processes = [{"name": "shard 0", "pages": 20, "cpu_seconds": 0.002}]
(path["stateDir"] / "report.json").write_text(json.dumps({"processes": processes}))
"""
SMALL = ["--hosts", "20", "--pages", "3", "--connections", "5", "--latency", "0"]


def test_web_measures_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages are those of the web's log; the table and the JSON hold the same pairs."""

    def command(config: Path, *more: str) -> list[str]:
        return [sys.executable, "-W", "error", "-c", CRAWL, str(config), *more]

    monkeypatch.setattr(module, "crawl_command", command)
    path = tmp_path / "result.json"
    words = ["web", "A", *SMALL, "--pairs", "2", "--set", "order=dfs", "--json", str(path)]
    assert bench(words) == 0
    result = json.loads(path.read_bytes())
    assert [(p["pycurl"]["pages"], p["larbinpy"]["pages"]) for p in result["pairs"]] == [
        (60, 20)
    ] * 2
    assert result["pairs"][0]["larbinpy"]["cpu_us"] == {"shard 0": 100.0}
    assert result["workload"]["hosts"] == 20
    assert result["machine"]["cores"] >= 1
    assert "median ratio of 2 pairs" in capsys.readouterr().out


def test_a_crawl_that_fails_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1 and one line says what ended how."""

    def command(config: Path, *more: str) -> list[str]:
        return [sys.executable, "-c", "raise SystemExit(2)"]

    monkeypatch.setattr(module, "crawl_command", command)
    assert bench(["web", *SMALL, "--pairs", "1"]) == 1
    assert capsys.readouterr().err == "larbinpy bench: the crawl ended with 2\n"


def test_unknown_kernels_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A kernel without a benchmark exits 2 and lists those that have one."""
    assert bench(["kernels", "nonsense"]) == 2
    assert "no nonsense; there are" in capsys.readouterr().err


def test_outside_a_checkout_kernels_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An installed package has no tests/bench."""
    monkeypatch.setattr(module, "_checkout", lambda: tmp_path)
    assert bench(["kernels"]) == 1
    assert "only in a checkout" in capsys.readouterr().err


def test_processes_of_a_report_may_be_a_list_or_an_object() -> None:
    """Both shapes give names and CPU seconds."""
    assert process_cpu({"shard 0": {"cpu_seconds": 2}}) == {"shard 0": 2.0}
    assert process_cpu([{"name": "shard 0", "cpu_seconds": 2}]) == {"shard 0": 2.0}
