"""States of every released format stay readable; see ``tests/data/make_state_v1.py``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from larbinpy import reshard
from larbinpy._native.linkentry import shard
from larbinpy.cli.state import look
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.payloads import HostState
from larbinpy.frontier.settings import Settings
from larbinpy.manifest import parse_manifest
from larbinpy.stats import HOSTS
from tests import states

V1 = Path(__file__).parents[1] / "data" / "state-v1"


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    """A copy of the state of version 1."""
    return Path(shutil.copytree(V1, tmp_path / "state-v1"))


def expected_of(index: int) -> list[int]:
    """The numbers that wait in a shard."""
    numbers = [n for n in range(180) if shard(states.fingerprint(n), 2) == index]
    return numbers[:1] * (index == 0) + numbers[40:] + [200 + index]


def test_version_1_opens(v1: Path) -> None:
    """All that waits, was seen, was counted and noted; the torn end is cut."""
    manifest = parse_manifest((v1 / "MANIFEST").read_bytes(), v1)
    assert (manifest.version, manifest.fetch_processes, manifest.key) == (1, 2, states.KEY)
    for index in range(2):
        fifo, found = PersistentFifo.open(
            v1 / f"shard-{index:02d}", uuid=manifest.key, settings=Settings(4096)
        )
        urls = fifo.read(memoryview(found.waiting).cast("Q"))
        expected = expected_of(index)
        assert [states.url_of(n) for n in expected] == [url[2] for url in urls]
        assert [states.fingerprint(n) for n in expected] == [url[1] for url in urls]
        seen = set(memoryview(b"".join(found.fingerprints())).cast("Q"))
        assert seen >= {states.fingerprint(n) for n in expected}
        counters = found.counters.as_dict()
        assert counters["accepted"] == len(seen) == counters["done"] + len(expected)
        assert (found.damage, found.lost, found.torn_bytes > 0) == ([], 0, True)
        assert (found.epoch, found.synced_lsn > 0) == (3, True)
        if index == 0:
            assert [(r.attempt, r.not_before_us) for r in found.retries.values()] == [(2, 77)]
            assert found.counters[HOSTS] == 11
        if index == shard(states.fingerprint(3), 2):
            assert list(found.hosts.values()) == [HostState(b"www.h3.example", 5, 2, 1)]
        fifo.close()


def test_version_1_is_verified(v1: Path) -> None:
    """No fault is found in it."""
    view = look(v1, is_thorough=True)
    assert (view.faults, sorted(view.shards)) == ([], [0, 1])
    assert [log.live for log in view.shards.values()] == [len(expected_of(i)) for i in range(2)]


def test_version_1_is_divided_anew(v1: Path) -> None:
    """By the version of today."""
    assert list(reshard.reshard(v1, 3))
    assert look(v1, is_thorough=True).faults == []
