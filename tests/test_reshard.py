"""A state for another number of shards holds the same crawl."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from larbinpy import reshard as module
from larbinpy import state
from larbinpy._native.linkentry import shard
from larbinpy.cli import main
from larbinpy.dedup.bitsfile import LARBIN_NAME, BitsFile
from larbinpy.dedup.seen import BitsSeen
from larbinpy.dns import named
from larbinpy.errors import ConfigError, StorageError
from larbinpy.frontier.inspect import LogView
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.settings import Settings
from larbinpy.manifest import parse_manifest
from larbinpy.records import ID_SHARD_SHIFT
from larbinpy.stateparts import STORED
from larbinpy.stats import HOSTS
from larbinpy.store.transaction import StoredPages
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


def prints(count: int) -> bytes:
    """Fingerprints, which ``bits`` does not look at."""
    return bytes(8 * count)


@pytest.mark.parametrize(("old", "new"), [(2, 3), (3, 1)])
def test_larbins_table_of_urls(tmp_path: Path, old: int, new: int) -> None:
    """Every new shard knows what any old one had seen, saved in its table or not, and no more."""
    states.make_state(tmp_path, old, seen_set="bits")
    states.fill(tmp_path, old, 300, 20)
    for index in range(old):
        seen = BitsSeen(BitsFile(tmp_path / f"shard-{index:02d}", states.KEY))
        seen.add_links(
            states.links(range(1000 + index, 1100, old)), prints(len(range(index, 100, old)))
        )
        seen.save(1, wait=True)
    list(module.reshard(tmp_path, new))
    expected = BitsSeen(BitsFile(tmp_path, states.KEY))
    expected.add_links(states.links([*range(300), *range(1000, 1100)]), prints(400))
    for index in range(new):
        directory = tmp_path / f"shard-{index:02d}"
        fifo, found = PersistentFifo.open(directory, uuid=states.KEY, settings=Settings(4096))
        seen = BitsSeen(BitsFile(directory, states.KEY))
        seen.restore(found)
        fifo.close()
        assert seen.to_bytes() == expected.to_bytes()


def test_the_table_of_a_larbin_whose_crawl_is_continued(tmp_path: Path) -> None:
    """It never changes; each new shard has it."""
    states.make_state(tmp_path, 2)
    states.fill(tmp_path, 2, 50, 5)
    raw = bytes(range(250)) * 32_000
    for index in range(2):
        file = BitsFile(tmp_path / f"shard-{index:02d}", states.KEY, name=LARBIN_NAME)
        file.save(raw, 1)
        file.settle(wait=True)
    list(module.reshard(tmp_path, 3))
    for index in range(3):
        file = BitsFile(tmp_path / f"shard-{index:02d}", states.KEY, name=LARBIN_NAME)
        assert file.load() == raw


def test_digests_of_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, in whatever shard; those of a segment that a kill left open too."""
    monkeypatch.setattr("larbinpy.reshard_tables.PAGE_DIGESTS", 7)
    states.make_state(tmp_path, 2)
    expected = set()
    settings = Settings(4096, keeps_pages=True)
    for index in range(2):
        directory = tmp_path / f"shard-{index:02d}"
        fifo, _ = PersistentFifo.open(directory, uuid=states.KEY, settings=settings)
        places = states.put(fifo, [n for n in range(300) if states.shard_of(n, 2) == index])
        for place in places[:40]:
            digest = os.urandom(16)
            expected.add(digest)
            states.finish(fifo, [place], digest=digest)
        fifo.close()
    list(module.reshard(tmp_path, 3))
    kept = []
    for index in range(3):
        directory = tmp_path / f"shard-{index:02d}"
        fifo, found = PersistentFifo.open(directory, uuid=states.KEY, settings=settings)
        assert found.damage == []
        kept += [part[at : at + 16] for part in found.digests() for at in range(0, len(part), 16)]
        fifo.close()
    assert set(kept) == expected
    assert len(kept) == 80
    assert sum(map(len, [contents(tmp_path, 3)[0]])) == 220


def test_named_hosts(tmp_path: Path) -> None:
    """A host that may have a private address is known to its new shard."""
    states.make_state(tmp_path, 1)
    states.fill(tmp_path, 1, 30, 0)
    lines = b"".join(states.host_of(n) + b"\n" for n in range(11))
    (tmp_path / "shard-00" / named.FILE_NAME).write_bytes(lines)
    list(module.reshard(tmp_path, 3))
    for n in range(11):
        index = states.shard_of(n, 3)
        hosts = named.NamedHosts(tmp_path / f"shard-{index:02d}" / named.FILE_NAME)
        assert hosts.has(0, states.host_of(n))


def test_places_of_stored_pages(tmp_path: Path) -> None:
    """A page that was stored before a kill, and waits, is found under its new id."""
    states.make_state(tmp_path, 1)
    fifo = states.open_shard(tmp_path, 0)
    ids = [url[0] for url in fifo.read(states.put(fifo, range(30)))]
    fifo.close()
    stored = StoredPages(tmp_path / STORED, 0, 100)
    stored.open(b"d00007")
    for n in (4, 19):
        stored.note(ids[n], b"place %d" % n)
    stored.close()
    list(module.reshard(tmp_path, 4))
    stored = StoredPages(tmp_path / STORED, 0, 100)
    assert stored.opened == b"d00007"
    for n in (4, 19):
        index = states.shard_of(n, 4)
        view = LogView(tmp_path / f"shard-{index:02d}", states.KEY, is_thorough=True)
        (lsn,) = [url[0] for url in view.urls() if url[2] == states.url_of(n)]
        page_id = index << ID_SHARD_SHIFT | lsn
        assert stored.find(page_id, is_again=False) == [b"place %d" % n]
    stored.close()


def test_what_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A running crawl, no state; the same number is no fault."""
    with pytest.raises(ConfigError, match="is not a larbinpy state"):
        list(module.reshard(tmp_path / "none", 2))
    assert not (tmp_path / "none").exists()
    states.make_state(tmp_path, 1)
    directory = state.StateDirectory(tmp_path)
    with pytest.raises(StorageError, match="in use by another crawl"):
        list(module.reshard(tmp_path, 2))
    directory.close()
    assert main(["state", str(tmp_path), "--reshard", "0"]) == 2
    states.make_state(tmp_path, 1)
    assert list(module.reshard(tmp_path, 1)) == [f"{tmp_path} has 1 shards already"]
