"""When a crawl must wait for room on its disks."""

from __future__ import annotations

import os
from pathlib import Path

from larbinpy.supervisor.freedisk import MIB, FreeDisk, free_bytes


def test_it_pauses_below_the_limit_and_goes_on_well_above_it() -> None:
    """The reason names the disk that is short, and stays as it was."""
    free = {Path("/state"): 100 * MIB, Path("/save"): 100 * MIB}
    disk = FreeDisk(free, 40 * MIB, free=free.__getitem__)
    reasons = []
    for state, save in ((40, 40), (100, 39), (49, 49), (39, 50), (50, 49), (50, 50), (41, 41)):
        free[Path("/state")], free[Path("/save")] = state * MIB, save * MIB
        reasons.append(disk.look())
    text = "the disk of /save has less than minFreeDisk (40 MiB) left"
    assert reasons == [None, text, text, text, text, None, None]
    assert disk.reason is None


def test_no_limit_looks_at_nothing() -> None:
    """``minFreeDisk 0``."""
    nothing: dict[Path, int] = {}
    assert FreeDisk([Path("/none")], 0, free=nothing.__getitem__).look() is None


def test_a_directory_that_is_not_there_lies_on_its_parents_disk(tmp_path: Path) -> None:
    """The output is made with the first page."""
    found = os.statvfs(tmp_path)
    missing = free_bytes(tmp_path / "a/b")
    assert abs(missing - found.f_bavail * found.f_frsize) < 1 << 30
