"""``larbinpy state`` and ``larbinpy urls`` look, and change nothing."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import state
from larbinpy.cli import main
from larbinpy.frontier.payloads import Retry
from tests import states

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A state of two shards, with some URLs done."""
    path = tmp_path / "crawl"
    states.make_state(path, 2)
    states.fill(path, 2, 300, 40)
    return path


def look(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Any]:
    """Exit code and JSON of a look."""
    capsys.readouterr()
    code = main(["state", str(path), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


def test_a_sound_state(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers of each shard; nothing is damaged and nothing is changed."""
    before = {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()}
    code, seen = look(crawl, capsys, "--verify")
    assert (code, seen["faults"], seen["running"]) == (0, [], False)
    assert [shard["done"] for shard in seen["shards"]] == [40, 40]
    assert sum(shard["live"] for shard in seen["shards"]) == 220
    assert sum(shard["accepted"] for shard in seen["shards"]) == 300
    assert all(shard["segments"] > 2 and shard["seen_files"] > 1 for shard in seen["shards"])
    assert all(shard["unsynced"] == 0 for shard in seen["shards"])
    assert before == {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()}
    assert main(["state", str(crawl)]) == 0
    text = capsys.readouterr().out
    assert "not stopped in order" in text
    assert text.endswith("no damage\n")


def test_a_running_crawl(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be looked at; what no sync covers is told, with the time."""
    directory = state.StateDirectory(crawl)
    fifo = states.open_shard(crawl, 0)
    states.put(fifo, [1000, 1001])
    fifo.sync()
    states.put(fifo, [1002])
    fifo.counts()
    fifo._tail.writer.flush()
    code, seen = look(crawl, capsys, "--verify")
    assert (code, seen["running"], seen["shards"][0]["unsynced"]) == (0, True, 3)
    assert seen["shards"][0]["unsynced_since"] > 1.7e9
    main(["state", str(crawl)])
    assert "3 records not synced, the oldest of 20" in capsys.readouterr().out
    fifo.close()
    directory.close()


def test_every_flipped_bit_is_named(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File, and an offset near it: in segments, seen files, manifest and suffix list."""
    paths = [path for path in crawl.rglob("*") if path.is_file() and path.name != "LOCK"]
    order = random.Random(3)
    for path in paths:
        good = path.read_bytes()
        for at in order.sample(range(len(good)), 4):
            path.write_bytes(good[:at] + bytes((good[at] ^ 1 << at % 8,)) + good[at + 1 :])
            code, seen = look(crawl, capsys, "--verify")
            faults = [one for one in seen["faults"] if str(path).endswith(one["file"])]
            is_torn = any(shard["torn_bytes"] for shard in seen["shards"])
            assert is_torn or (code == 1 and faults[0]["offset"] <= at), (path, at, seen["faults"])
            path.write_bytes(good)
    assert look(crawl, capsys, "--verify")[0] == 0


def test_files_that_are_missing_or_too_many(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Segments, shards, and the manifest itself; without --verify it is only told."""
    shard = crawl / "shard-01"
    second = sorted(shard.glob("q-*.seg"))[1]
    number = second.stem.split("-")[2]
    second.unlink()
    code, seen = look(crawl, capsys)
    kinds = {(one["file"].split("/")[-1], one["kind"]) for one in seen["faults"]}
    assert code == 0
    assert (f"seen-{number}.fp", "segment missing") in kinds
    assert "records missing before this" in {kind for _, kind in kinds}
    (crawl / "shard-00").rename(crawl / "elsewhere")
    assert {"file": "shard-00", "offset": 0, "kind": "missing"} in look(crawl, capsys)[1]["faults"]
    (crawl / "MANIFEST").unlink()
    code, seen = look(crawl, capsys, "--verify")
    assert (code, seen["faults"]) == (1, [{"file": "MANIFEST", "offset": 0, "kind": "missing"}])
    assert main(["state", str(crawl / "elsewhere")]) == 2


def test_a_torn_end_is_damage_only_after_an_orderly_stop(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kill leaves one; the next start cuts it."""
    last = sorted((crawl / "shard-00").glob("q-*.seg"))[-1]
    last.write_bytes(last.read_bytes()[:-5])
    code, seen = look(crawl, capsys, "--verify")
    assert (code, seen["shards"][0]["torn_bytes"] > 0) == (0, True)
    directory = state.StateDirectory(crawl)
    manifest = directory.load()
    assert manifest is not None
    directory.save(replace(manifest, clean=True))
    directory.close()
    assert look(crawl, capsys, "--verify")[0] == 1


# --- larbinpy urls ---------------------------------------------------------------------------


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Lines of ``larbinpy urls``."""
    capsys.readouterr()
    assert main(["urls", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_urls_that_wait(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them, or those of a host, while the crawl runs."""
    fifo = states.open_shard(crawl, 0)
    every = listed(capsys, "-c", str(crawl))
    assert len(every) == len(set(every)) == 220
    host = listed(capsys, "-c", str(crawl), "--host", "WWW.h3.example")
    assert host == [url for url in every if "//www.h3.example/" in url]
    assert len(host) > 10
    fifo.close()


def test_urls_of_a_queue(crawl: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Tried before, or not; the state may be named by a configuration."""
    fifo = states.open_shard(crawl, 0)
    (place,) = states.put(fifo, [1000])
    fifo.retry(Retry(fifo.read([place])[0][0], 1, 77))
    fifo.close()
    config = tmp_path / "larbin.conf"
    config.write_text(f'stateDir "{crawl}"')
    assert listed(capsys, "-c", str(config), "--queue", "again") == [states.url_of(1000).decode()]
    assert len(listed(capsys, "-c", str(config), "--queue", "new")) == 220
    assert main(["urls", "-c", str(tmp_path)]) == 2
    assert main(["urls", "--queue", "none"]) == 2
