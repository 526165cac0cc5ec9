"""Seen files are held to their segments when a log is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.frontier.logs import (
    drop_tail,
    finish,
    flip_byte,
    kinds,
    open_log,
    places_of,
    put,
    reopened,
    seen,
    write_log,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("verb", ["unlink", "flip", "truncate", "stale"])
def test_a_bad_seen_file_is_made_again(tmp_path: Path, verb: str) -> None:
    """Missing, damaged, cut or from another segment: while the segment exists nothing is lost."""
    write_log(tmp_path)
    with reopened(tmp_path):
        paths = sorted(tmp_path.glob("*.fp"))
    good = paths[0].read_bytes()
    if verb == "unlink":
        paths[0].unlink()
    elif verb == "flip":
        flip_byte(paths[0], 90)
    elif verb == "truncate":
        drop_tail(paths[0], 1)
    else:
        paths[0].write_bytes(paths[1].read_bytes())
    with reopened(tmp_path) as (_, found):
        assert set(range(200)) == seen(found)
        assert (["seen file"] if verb == "flip" else []) == kinds(found.damage)
    assert good == paths[0].read_bytes()


def test_a_bad_seen_file_without_its_segment(tmp_path: Path) -> None:
    """The block is lost, counted, and reported at every start."""
    fifo, _ = open_log(tmp_path)
    places = [p for i in range(0, 200, 50) for p in places_of(put(fifo, range(i, i + 50)))]
    finish(fifo, places)
    fifo.collect(wait=True)
    fifo.close()
    flip_byte(tmp_path / "seen-0000000000000001.fp", 90)
    for _ in range(2):
        with reopened(tmp_path) as (_, found):
            assert kinds(found.damage) == ["seen file"]
            assert 100 <= len(seen(found)) < 200
