"""What a shard costs beside bare pycurl: how it is measured, and that it can be."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from larbinpy.cli import bench_fetch as module
from larbinpy.cli.bench import bench
from larbinpy.cli.bench_fetch import Case
from larbinpy.cli.bench_runs import RunFailed, Sample, child_with, cost, cpu_seconds
from larbinpy.testing.tlsweb import is_available

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 10**9


def test_the_cost_of_a_page_is_that_behind_the_warm_up() -> None:
    """CPU time between two samples by the pages between them; start and warm-up are left out."""
    samples = [Sample(at * SECOND, cpu) for at, cpu in ((0, 5.0), (2, 9.0), (3, 9.5), (4, 10.0))]
    ends = [SECOND] * 10 + [2 * SECOND + number * SECOND // 100 for number in range(200)]
    found = cost([*samples, Sample(9 * SECOND, 99.0)], ends, warm_up=9)
    assert (found.pages, found.pages_per_s) == (100, 100.0)
    assert found.cpu_us == pytest.approx(0.5 * 1e6 / 100)


@pytest.mark.parametrize("warm_up", [2, 1])
def test_a_run_that_says_nothing_is_refused(warm_up: int) -> None:
    """Fewer pages than the warm-up has, or no two samples behind it."""
    with pytest.raises(RunFailed):
        cost([Sample(0, 0.0), Sample(SECOND, 1.0)], [1, SECOND], warm_up=warm_up)


def test_processes_are_watched_from_outside() -> None:
    """CPU time grows; nobody is found under a word that no command line has."""
    before = cpu_seconds(os.getpid())
    while cpu_seconds(os.getpid()) == before:
        pass
    assert child_with(os.getpid(), "no-such-word") == 0


def test_unknown_cases_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1 and the message lists what there is."""
    assert bench(["fetch", "nonsense"]) == 1
    assert "no case nonsense; there are keep-alive" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("is_https", [False, True])
def test_a_pair_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_https: bool
) -> None:
    """Both sides fetch the same web; the JSON has what each took."""
    if is_https and not is_available():
        pytest.skip("needs nginx and openssl")
    case = Case(hosts=20, pages=2000, connections=10, keep_alive=not is_https, is_https=is_https)
    monkeypatch.setitem(module.CASES, "keep-alive", case)
    path = tmp_path / "result.json"
    words = ["fetch", "keep-alive", "--pairs", "1", "--json", str(path), "--seconds"]
    assert any(bench([*words, seconds]) == 0 for seconds in ("3", "30"))  # if that is too short
    result = json.loads(path.read_bytes())["cases"]["keep-alive"]
    assert min(result["median_us"].values()) > 0
    assert result["median_ratio"] > 0
