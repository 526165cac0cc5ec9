"""A tenth of ``make chaos``, drawn by a seed that is printed: ``make chaos-ci``.

CHAOS_SEED sets the seed; on a failure the seed and the kept directory say how to see it again.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.chaos import disks, kills, limits, power, syscalls

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crash, pytest.mark.slow]

KILLS = 100
KILLS_S = 150.0
POSITIONS = 40
POSITIONS_S = 120.0
WAYS = 4
MOMENTS = 4


@pytest.fixture
def seed() -> int:
    """One seed for all."""
    seed = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 30)))
    print(f"\nCHAOS_SEED={seed}")
    return seed


def test_random_kills(tmp_path: Path, seed: int) -> None:
    """Nothing is lost, little is fetched again, whatever is killed and when."""
    score = kills.hunt(KILLS, seed, KILLS_S, tmp_path, hosts=150)
    kills.show(score)
    assert score.faults == []


def test_calls_that_go_wrong(tmp_path: Path, seed: int) -> None:
    """A kill, half a write, a full disk, an error at any call that changes files."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: cc is needed for tests/chaos/faults.c")
    score = syscalls.sweep(
        POSITIONS, seed, POSITIONS_S, tmp_path,
        kinds=list(syscalls.KINDS), roles=list(syscalls.ROLES),
    )  # fmt: skip
    syscalls.show(score)
    assert score.faults == []


@pytest.mark.parametrize("durability", ["power", "process"])
def test_power_failures(tmp_path: Path, seed: int, durability: str) -> None:
    """What was synced is there, and the crawl goes on with it."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: cc is needed for tests/chaos/record.c")
    score = power.fail(MOMENTS, seed, durability, tmp_path, hosts=20)
    power.show(score, durability)
    assert score.faults == []


def test_parsers_that_die_all_the_time(tmp_path: Path, seed: int) -> None:
    """The crawl goes on."""
    assert limits.murder(seed, tmp_path, hosts=25) == []


def test_too_few_descriptors(tmp_path: Path, seed: int) -> None:
    """No URL fails for it."""
    assert limits.descriptors(seed, tmp_path, hosts=25) == []


def test_damaged_states(tmp_path: Path, seed: int) -> None:
    """Damage is seen, put aside and said; the rest of the crawl is used."""
    assert disks.damage(seed, tmp_path, ways=WAYS, hosts=25) == []


def test_the_faults_are_built(tmp_path: Path) -> None:
    """A kill that never happens would prove nothing: half a write is seen by its writer."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    library = tmp_path / "faults.so"
    syscalls.build(library)
    script = (
        "import os, sys; fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT);"
        " print(os.write(fd, b'four'))"
    )
    for kind, code, said in (("count", 0, "4\n"), ("short", 0, "2\n"), ("torn", -9, "")):
        (tmp_path / "x").unlink(missing_ok=True)
        ended = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "x")],
            env={
                "LD_PRELOAD": str(library),
                "FAULT_KIND": kind,
                "FAULT_AT": "2",
                "FAULT_DIRS": str(tmp_path / "x"),
                "FAULT_LOG": str(tmp_path / "log"),
            },
            capture_output=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout.decode()) == (code, said), ended.stderr
