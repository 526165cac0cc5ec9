"""The state directory: one crawl at a time, a manifest that cannot lie."""

from __future__ import annotations

import dataclasses
import errno
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
from larbinpy.stateparts import SUFFIX_LIST
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
    assert (tmp_path / SUFFIX_LIST).read_bytes() == psl_bytes()
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
