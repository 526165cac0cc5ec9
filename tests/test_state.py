"""The state directory: one crawl at a time, a manifest that cannot lie, a scratch that is exact."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import json
import os
import time
import zlib
from typing import TYPE_CHECKING

import pytest

from larbinpy import state
from larbinpy.config import Config
from larbinpy.domain import psl_bytes
from larbinpy.errors import ConfigError, FormatError, StorageError
from larbinpy.frontier.disk import lock
from larbinpy.manifest import Manifest, parse_manifest
from larbinpy.state import StateDirectory
from larbinpy.wholefile import write_whole
from tests.descriptors import open_descriptors

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = Config()
MANIFEST = Manifest(
    "00112233445566778899aabbccddeeff", 2, CONFIG.seen_set, CONFIG.url_mode, "ab" * 32
)


# --- lock ------------------------------------------------------------------------------------


def test_a_state_is_made_and_locked(tmp_path: Path) -> None:
    """With its parents; the lock names its holder."""
    directory = StateDirectory(tmp_path / "deep" / "crawl")
    assert (tmp_path / "deep" / "crawl" / "LOCK").read_text() == f"{os.getpid()}\n"
    assert not directory.exists
    directory.close()


def test_a_full_disk_does_not_keep_a_lock_from_its_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the name of the holder is missing in it."""

    def refuse(_fd: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "ftruncate", refuse)
    directory = StateDirectory(tmp_path)
    os.close(lock(tmp_path / "other", wait_s=0))
    with pytest.raises(StorageError, match="in use by another crawl"):
        StateDirectory(tmp_path, wait_s=0)
    directory.close()


def test_a_second_crawl_is_told_who_holds_it(tmp_path: Path) -> None:
    """After it has waited; it leaves no descriptor behind."""
    directory = StateDirectory(tmp_path)
    before = open_descriptors()
    with pytest.raises(StorageError, match=rf"in use by another crawl \(process {os.getpid()}\)"):
        StateDirectory(tmp_path, wait_s=0.06)
    assert open_descriptors() <= before
    directory.close()
    StateDirectory(tmp_path, wait_s=0).close()


def test_a_crawl_waits_for_one_that_is_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as the lock is free, it is taken."""
    ending = StateDirectory(tmp_path)
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            ending.close()

    monkeypatch.setattr(time, "sleep", nap)
    StateDirectory(tmp_path, wait_s=60).close()
    assert len(naps) == 3


def test_a_state_that_cannot_be_made(tmp_path: Path) -> None:
    """A file is in the way."""
    (tmp_path / "crawl").write_bytes(b"")
    with pytest.raises(StorageError, match="crawl"):
        StateDirectory(tmp_path / "crawl")


# --- manifest --------------------------------------------------------------------------------


def test_a_manifest_comes_back_as_it_was(tmp_path: Path) -> None:
    """Field by field."""
    directory = StateDirectory(tmp_path)
    assert directory.load() is None
    directory.save(MANIFEST)
    assert directory.exists
    assert directory.load() == MANIFEST
    assert MANIFEST.key == bytes.fromhex(MANIFEST.uuid)
    assert directory.shard(3) == tmp_path / "shard-03"
    directory.close()


def test_every_damage_to_a_manifest_is_found(tmp_path: Path) -> None:
    """A flipped byte anywhere, a cut anywhere, an empty file."""
    directory = StateDirectory(tmp_path)
    directory.save(MANIFEST)
    directory.close()
    path = tmp_path / "MANIFEST"
    good = path.read_bytes()
    end = len(good) - 1  # the line end is no part of it
    flipped = [good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in range(end)]
    for bad in (*flipped, *(good[:size] for size in range(end))):
        with pytest.raises(FormatError, match="damaged; restore it"):
            parse_manifest(bad, path)


def test_a_newer_manifest_is_refused(tmp_path: Path) -> None:
    """Not read as far as it is understood."""
    body = json.dumps({"version": 2, "new": "field"}).encode()
    with pytest.raises(FormatError, match=r"written by a newer larbinpy \(version 2\)"):
        parse_manifest(body + b"\n%08x\n" % zlib.crc32(body), tmp_path)


def test_shards_without_a_manifest_are_no_new_crawl(tmp_path: Path) -> None:
    """A lost manifest must not make a new key for old fingerprints."""
    directory = StateDirectory(tmp_path)
    directory.shard(0).mkdir()
    with pytest.raises(FormatError, match="missing, though the state has shards"):
        directory.load()
    directory.close()


# --- begin -----------------------------------------------------------------------------------


def begin(path: Path, config: Config, *, reload: bool = False) -> Manifest:
    directory = StateDirectory(path)
    try:
        return state.begin(directory, config, reload=reload)
    finally:
        directory.close()


def test_a_crawl_begins_once_and_goes_on(tmp_path: Path) -> None:
    """Its key and its suffix list stay."""
    first = begin(tmp_path, dataclasses.replace(CONFIG, fetch_processes=2))
    again = begin(tmp_path, CONFIG, reload=True)
    assert (again.uuid, again.fetch_processes) == (first.uuid, 2)
    assert (tmp_path / state.SUFFIX_LIST).read_bytes() == psl_bytes()
    other = begin(tmp_path / "other", CONFIG)
    assert other.uuid != first.uuid


def test_reload_needs_a_crawl(tmp_path: Path) -> None:
    """A wrong path must not begin a new one."""
    with pytest.raises(ConfigError, match="there is no crawl"):
        begin(tmp_path, CONFIG, reload=True)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"fetch_processes": 3}, "--reshard 3"),
        ({"url_mode": "larbin"}, "urlMode"),
        ({"seen_set": "bits"}, "seenSet"),
    ],
)
def test_a_configuration_must_fit_the_state(
    tmp_path: Path, changes: dict[str, object], text: str
) -> None:
    """What decides whose URL is whose cannot change; the state stays as it was."""
    first = begin(tmp_path, dataclasses.replace(CONFIG, fetch_processes=2))
    with pytest.raises(ConfigError, match=text):
        begin(tmp_path, dataclasses.replace(CONFIG, **changes))  # type: ignore[arg-type]
    assert begin(tmp_path, CONFIG).uuid == first.uuid


def test_seen_sets_of_fingerprints_may_change(tmp_path: Path) -> None:
    """Exact and bloom are made of the same fingerprints."""
    begin(tmp_path, dataclasses.replace(CONFIG, seen_set="exact"))
    assert begin(tmp_path, dataclasses.replace(CONFIG, seen_set="bloom")).seen_set == "bloom"


# --- write_whole -----------------------------------------------------------------------------


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """No temporary file is left."""
    path = tmp_path / "file"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"two")]


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_failed_write_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The old content or the new one, nothing between, and no temporary file."""
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(StorageError, match="file: No space left"):
        write_whole(path, b"new")
    expected = b"old" if call == "fdatasync" else b"new"
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", expected)]


# --- scratch ---------------------------------------------------------------------------------

OURS = ["MANIFEST", "crawl.log", "report.json", "control.json", "sites", state.SUFFIX_LIST]
FOREIGN = ["notes.txt", "crawl.log.1", "pages/index.html", "manifest"]


def test_scratch_deletes_exactly_the_files_of_the_state(tmp_path: Path) -> None:
    """What somebody else put there stays."""
    for name in (*OURS, *FOREIGN, "shard-00/q-1.seg", "shard-01/LOCK", "inbox/urls"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    deleted = state.scratch(tmp_path)
    assert sorted(path.name for path in deleted) == sorted([*OURS, "shard-00", "shard-01", "inbox"])
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*FOREIGN, "LOCK"}


def test_scratch_refuses_what_is_no_state(tmp_path: Path) -> None:
    """A wrong path costs nothing."""
    (tmp_path / "thesis.txt").write_bytes(b"x")
    (tmp_path / "crawl.log").write_bytes(b"x")
    with pytest.raises(ConfigError, match="is not a larbinpy state; nothing was deleted"):
        state.scratch(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["MANIFEST", "shard-01/data", "shard-old/LOCK", "inbox/mail"])
def test_scratch_knows_others_by_the_same_names(tmp_path: Path, name: str) -> None:
    """A package has a MANIFEST, a database has shards, people have an inbox."""
    for one in (name, "inbox/letter"):
        (tmp_path / one).parent.mkdir(exist_ok=True)
        (tmp_path / one).write_bytes(b"setup.py\n")
    with pytest.raises(ConfigError, match="is not a larbinpy state; nothing was deleted"):
        state.scratch(tmp_path)
    assert (tmp_path / name).exists()
    assert (tmp_path / "inbox" / "letter").exists()


@pytest.mark.parametrize("damage", [b"", b"damaged"])
def test_scratch_of_a_state_with_a_damaged_manifest(tmp_path: Path, damage: bytes) -> None:
    """It is the way out of it."""
    (tmp_path / "MANIFEST").write_bytes(damage)
    (tmp_path / state.SUFFIX_LIST).write_bytes(b"x")
    assert len(state.scratch(tmp_path)) == 2


@pytest.mark.parametrize("name", ["stored", "inbox/pages"])
def test_scratch_never_takes_the_output(tmp_path: Path, name: str) -> None:
    """Not even one that lies in a directory of the state."""
    directory = StateDirectory(tmp_path)
    directory.save(MANIFEST)
    directory.close()
    output = tmp_path / name
    output.mkdir(parents=True)
    with pytest.raises(ConfigError, match="nothing was deleted"):
        state.scratch(tmp_path, keep=output)
    assert output.exists()
    assert (tmp_path / "MANIFEST").exists()
    assert state.scratch(tmp_path, keep=tmp_path / "save") != []


def test_scratch_of_a_file(tmp_path: Path) -> None:
    """A file in the place of the directory is an error, not a traceback."""
    path = tmp_path / "crawl"
    path.write_text("a file")
    with pytest.raises(ConfigError, match="is not a directory"):
        state.scratch(path)
    assert path.read_text() == "a file"


def test_scratch_takes_what_a_kill_left_half_written(tmp_path: Path) -> None:
    """Files that were being replaced."""
    directory = StateDirectory(tmp_path)
    directory.save(MANIFEST)
    directory.close()
    left = [tmp_path / "MANIFEST.tmp", tmp_path / "report.json.tmp"]
    for path in left:
        path.write_text("half")
    assert set(left) <= set(state.scratch(tmp_path))


def test_scratch_of_nothing(tmp_path: Path) -> None:
    """A directory that is empty, or not there."""
    assert state.scratch(tmp_path) == []
    assert state.scratch(tmp_path / "missing") == []


def test_scratch_after_a_crawl_that_failed_to_begin(tmp_path: Path) -> None:
    """It leaves its lock, at most its suffix list too; the next one may begin."""
    StateDirectory(tmp_path).close()
    assert state.scratch(tmp_path) == []
    (tmp_path / state.SUFFIX_LIST).write_bytes(b"x")
    assert state.scratch(tmp_path) == [tmp_path / state.SUFFIX_LIST]


def test_scratch_of_a_running_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is deleted under its feet."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(time, "monotonic", itertools.count(0, 9).__next__)
    running = StateDirectory(tmp_path)
    running.save(MANIFEST)
    with pytest.raises(StorageError, match="in use"):
        state.scratch(tmp_path)
    assert (tmp_path / "MANIFEST").exists()
    running.close()
