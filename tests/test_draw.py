"""A part of the tests is drawn from those that are asked for, and the seed says which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HERE = """
import pytest
@pytest.mark.parametrize("n", range(20))
def test_one(n): pass
@pytest.mark.slow
def test_slow(): pass
"""


def listed(directory: Path, *options: str) -> list[str]:
    """Names of the tests that would run."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.draw", "--collect-only", "-q", "-c",
         str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), *options, str(directory)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_a_part_is_drawn(tmp_path: Path) -> None:
    """Half of those that other options leave, others with another seed, together at most all."""
    (tmp_path / "test_it.py").write_text(HERE)
    whole = listed(tmp_path)
    assert len(whole) == 20
    part = listed(tmp_path, "--one-of", "2", "--draw-seed", "1")
    assert len(part) == 10
    assert set(part) < set(whole)
    assert listed(tmp_path, "--one-of", "2", "--draw-seed", "1") == part
    assert listed(tmp_path, "--one-of", "2", "--draw-seed", "2") != part
