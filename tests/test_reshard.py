"""A state for another number of shards holds the same crawl."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from larbinpy import reshard as module
from larbinpy import state
from larbinpy._native.linkentry import shard
from larbinpy.cli import main
from larbinpy.errors import ConfigError, StorageError
from larbinpy.frontier.inspect import LogView
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.settings import Settings
from larbinpy.manifest import parse_manifest
from larbinpy.stats import HOSTS
from tests import states

if TYPE_CHECKING:
    from pathlib import Path


STEP = re.compile(r"(shard-(\d\d|3|3\.tmp)|MANIFEST\.tmp)$")
"""What is renamed or deleted when a state changes, but for files inside of a shard."""


def contents(path: Path, shards: int) -> tuple[list[int], set[int], int, int]:
    """Numbers of what waits, fingerprints ever seen, and the sums of done and accepted."""
    waiting: list[int] = []
    seen: set[int] = set()
    done = accepted = 0
    for index in range(shards):
        directory = path / f"shard-{index:02d}"
        view = LogView(directory, states.KEY, is_thorough=True)
        assert view.state.faults == []
        for url in view.urls():
            assert shard(url[1], shards) == index
            waiting.append(int(url[2].rpartition(b"/")[2]))
        fifo, found = PersistentFifo.open(directory, uuid=states.KEY, settings=Settings(4096))
        assert found.damage == []
        seen |= set(memoryview(b"".join(found.fingerprints())).cast("Q"))
        fifo.close()
        done, accepted = done + view.state.done, accepted + view.state.accepted
    return waiting, seen, done, accepted


@pytest.mark.parametrize(("old", "new"), [(1, 3), (3, 2), (2, 5)])
def test_the_same_crawl(tmp_path: Path, old: int, new: int) -> None:
    """What waits, what was seen, counters; the order of each host is kept."""
    states.make_state(tmp_path, old)
    states.fill(tmp_path, old, 400, 30)
    waiting, seen, done, accepted = contents(tmp_path, old)
    assert main(["state", str(tmp_path), "--reshard", str(new)]) == 0
    manifest = parse_manifest((tmp_path / "MANIFEST").read_bytes(), tmp_path)
    assert manifest.fetch_processes == new
    after = contents(tmp_path, new)
    assert (sorted(waiting), seen, done, accepted) == (sorted(after[0]), *after[1:])
    assert len(seen) == 400
    for host in range(11):
        expected = [n for n in waiting if n % 11 == host]
        assert expected == [n for n in after[0] if n % 11 == host]
    assert len(list(tmp_path.glob("shard-*"))) == new
    assert not list(tmp_path.glob("reshard-*"))


def test_retries_hosts_counters_and_quarantine_are_kept(tmp_path: Path) -> None:
    """Moved URLs too."""
    states.make_state(tmp_path, 1)
    fifo = states.open_shard(tmp_path, 0)
    places = states.put(fifo, range(30))
    fifo.move([(places[7], 3)])
    fifo.retry(Retry(fifo.read(places[7:8])[0][0], 3, 77))
    fifo.host(HostState(b"www.h3.example", 5, 2, 1))
    fifo.counters[HOSTS] = 11
    fifo.counts()
    fifo.close()
    (tmp_path / "shard-00" / "quarantine").mkdir()
    (tmp_path / "shard-00" / "quarantine" / "1-2-3-4.bad").write_bytes(b"?")
    list(module.reshard(tmp_path, 4))
    hosts, retries, counted = [], [], 0
    for index in range(4):
        fifo, found = PersistentFifo.open(
            tmp_path / f"shard-{index:02d}", uuid=states.KEY, settings=Settings(4096)
        )
        hosts += [(index, host) for host in found.hosts.values()]
        retries += [
            (url[2], url[13], found.retries[url[0]].not_before_us)
            for url in fifo.read(memoryview(found.waiting).cast("Q"))
            if url[0] in found.retries
        ]
        counted += found.counters[HOSTS]
        fifo.close()
    assert hosts == [(shard(states.fingerprint(3), 4), HostState(b"www.h3.example", 5, 2, 1))]
    assert retries == [(states.url_of(7), 3, 77)]
    assert counted == 11
    kept = tmp_path / "shard-00" / "quarantine" / "shard-00-1-2-3-4.bad"
    assert kept.read_bytes() == b"?"


def test_a_kill_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    """At every step: the next start has one of them, whole."""
    states.make_state(tmp_path / "whole", 2)
    states.fill(tmp_path / "whole", 2, 100, 10)
    waiting, *_ = contents(tmp_path / "whole", 2)
    for n in range(60):
        copy = tmp_path / "copy"
        shutil.copytree(tmp_path / "whole", copy)
        is_over = killed_at(copy, n)
        directory = state.StateDirectory(copy)
        state.finish_reshard(directory)
        manifest = directory.load()
        directory.close()
        assert manifest is not None
        shards = manifest.fetch_processes
        assert sorted(path.name for path in copy.glob("*shard-*")) == [
            f"shard-{index:02d}" for index in range(shards)
        ]
        assert sorted(waiting) == sorted(contents(copy, shards)[0])
        shutil.rmtree(copy)
        if is_over:
            assert (shards, n) == (3, 8)
            break


def killed_at(path: Path, n: int) -> bool:
    """Reshard in a child that ends at its n-th rename or removal; true when it got through."""
    child = os.fork()
    if child == 0:
        left = n

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in ("os.rename", "shutil.rmtree") and STEP.search(str(arguments[0])):
                left -= 1
                if left < 0:
                    os._exit(1)

        sys.addaudithook(count)
        list(module.reshard(path, 3))
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def test_what_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A running crawl, no state, seenSet bits; the same number is no fault."""
    with pytest.raises(ConfigError, match="is not a larbinpy state"):
        list(module.reshard(tmp_path / "none", 2))
    assert not (tmp_path / "none").exists()
    manifest = states.make_state(tmp_path, 1)
    directory = state.StateDirectory(tmp_path)
    with pytest.raises(StorageError, match="in use by another crawl"):
        list(module.reshard(tmp_path, 2))
    directory.save(replace(manifest, seen_set="bits"))
    directory.close()
    with pytest.raises(ConfigError, match="seenSet bits"):
        list(module.reshard(tmp_path, 2))
    assert main(["state", str(tmp_path), "--reshard", "0"]) == 2
    states.make_state(tmp_path, 1)
    assert list(module.reshard(tmp_path, 1)) == [f"{tmp_path} has 1 shards already"]
