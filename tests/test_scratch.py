"""``--scratch`` is exact: the files of a state go, and nothing else."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import ConfigError, StorageError
from larbinpy.manifest import Manifest
from larbinpy.scratch import delete_state
from larbinpy.state import StateDirectory
from larbinpy.stateparts import PROMISES, SUFFIX_LIST

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = Manifest("00112233445566778899aabbccddeeff", 2, "exact", "whatwg", "ab" * 32)
OURS = ["MANIFEST", "crawl.log", "report.json", "control.json", "sites", PROMISES, SUFFIX_LIST]
FOREIGN = ["notes.txt", "crawl.log.1", "pages/index.html", "manifest"]


def test_scratch_deletes_exactly_the_files_of_the_state(tmp_path: Path) -> None:
    """What somebody else put there stays."""
    for name in (*OURS, *FOREIGN, "shard-00/q-1.seg", "shard-01/LOCK", "inbox/urls"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    deleted = delete_state(tmp_path)
    assert sorted(path.name for path in deleted) == sorted([*OURS, "shard-00", "shard-01", "inbox"])
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*FOREIGN, "LOCK"}


def test_scratch_refuses_what_is_no_state(tmp_path: Path) -> None:
    """A wrong path costs nothing."""
    (tmp_path / "thesis.txt").write_bytes(b"x")
    (tmp_path / "crawl.log").write_bytes(b"x")
    with pytest.raises(ConfigError, match="is not a larbinpy state; nothing was deleted"):
        delete_state(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["MANIFEST", "shard-01/data", "shard-old/LOCK", "inbox/mail"])
def test_scratch_knows_others_by_the_same_names(tmp_path: Path, name: str) -> None:
    """A package has a MANIFEST, a database has shards, people have an inbox."""
    for one in (name, "inbox/letter"):
        (tmp_path / one).parent.mkdir(exist_ok=True)
        (tmp_path / one).write_bytes(b"setup.py\n")
    with pytest.raises(ConfigError, match="is not a larbinpy state; nothing was deleted"):
        delete_state(tmp_path)
    assert (tmp_path / name).exists()
    assert (tmp_path / "inbox" / "letter").exists()


@pytest.mark.parametrize("damage", [b"", b"damaged"])
def test_scratch_of_a_state_with_a_damaged_manifest(tmp_path: Path, damage: bytes) -> None:
    """It is the way out of it."""
    (tmp_path / "MANIFEST").write_bytes(damage)
    (tmp_path / SUFFIX_LIST).write_bytes(b"x")
    assert len(delete_state(tmp_path)) == 2


@pytest.mark.parametrize("name", ["stored", "inbox/pages"])
def test_scratch_never_takes_the_output(tmp_path: Path, name: str) -> None:
    """Not even one that lies in a directory of the state."""
    directory = StateDirectory(tmp_path)
    directory.save(MANIFEST)
    directory.close()
    output = tmp_path / name
    output.mkdir(parents=True)
    with pytest.raises(ConfigError, match="nothing was deleted"):
        delete_state(tmp_path, keep=output)
    assert output.exists()
    assert (tmp_path / "MANIFEST").exists()
    assert delete_state(tmp_path, keep=tmp_path / "save") != []


def test_scratch_of_a_file(tmp_path: Path) -> None:
    """A file in the place of the directory is an error, not a traceback."""
    path = tmp_path / "crawl"
    path.write_text("a file")
    with pytest.raises(ConfigError, match="is not a directory"):
        delete_state(path)
    assert path.read_text() == "a file"


def test_scratch_takes_what_a_kill_left_half_written(tmp_path: Path) -> None:
    """Files that were being replaced."""
    directory = StateDirectory(tmp_path)
    directory.save(MANIFEST)
    directory.close()
    left = [tmp_path / "MANIFEST.tmp", tmp_path / "report.json.tmp"]
    for path in left:
        path.write_text("half")
    assert set(left) <= set(delete_state(tmp_path))


def test_scratch_of_nothing(tmp_path: Path) -> None:
    """A directory that is empty, or not there."""
    assert delete_state(tmp_path) == []
    assert delete_state(tmp_path / "missing") == []


def test_scratch_after_a_crawl_that_failed_to_begin(tmp_path: Path) -> None:
    """It leaves its lock, at most its suffix list too; the next one may begin."""
    StateDirectory(tmp_path).close()
    assert delete_state(tmp_path) == []
    (tmp_path / SUFFIX_LIST).write_bytes(b"x")
    assert delete_state(tmp_path) == [tmp_path / SUFFIX_LIST]


def test_scratch_of_a_running_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is deleted under its feet."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(time, "monotonic", itertools.count(0, 9).__next__)
    running = StateDirectory(tmp_path)
    running.save(MANIFEST)
    with pytest.raises(StorageError, match="in use"):
        delete_state(tmp_path)
    assert (tmp_path / "MANIFEST").exists()
    running.close()
