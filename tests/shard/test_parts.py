"""A shard opens what the configuration says."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.dedup.bitsfile import LARBIN_NAME, BitsFile
from larbinpy.dedup.seen import BitsSeen, BloomSeen, ExactSeen
from larbinpy.errors import ConfigError, FormatError, StorageError
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.settings import Settings
from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ
from larbinpy.shard.parts import ShardParts
from larbinpy.shared import CrawlMemory
from larbinpy.wiring import CREDIT_PER_CONNECTION, SPARE_CREDIT
from tests.frontier import logs
from tests.starts import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def opened(state: Path, **keys: Any) -> Iterator[ShardParts]:
    shards = keys.pop("shards", 1)
    memory = CrawlMemory.create(shards, 1)
    try:
        made = ShardParts.open(start(state, shards=shards, **keys), memory.fd, print)
        yield made
        made.frontier.close()
        made.fetcher.close()
        made.loop.close()
    finally:
        os.close(memory.fd)


def test_a_new_shard(tmp_path: Path) -> None:
    """Its log is in its directory, its epoch the first; ids of requests say whose they are."""
    with opened(tmp_path, shards=3, index=2) as parts:
        assert (tmp_path / "shard-02" / "LOCK").exists()
        assert (parts.epoch, parts.notices, parts.frontier.waiting) == (1, [], 0)
        first, second = parts.next_id(), parts.next_id()
    assert first >> ID_SHARD_SHIFT == 2
    assert first & ID_WITHOUT_ENQ
    assert second == first + 1


def test_a_shard_that_starts_again_has_what_waited(tmp_path: Path) -> None:
    """In its chains, with the next epoch."""
    fifo, _ = PersistentFifo.open(
        tmp_path / "shard-00", uuid=logs.UUID, settings=Settings(1 << 20, "off")
    )
    places = logs.places_of(logs.put(fifo, range(10)))
    logs.finish(fifo, places[:4])
    fifo.close()
    with opened(tmp_path) as parts:
        assert (parts.epoch, parts.frontier.waiting) == (2, 6)


def test_damage_is_told(tmp_path: Path) -> None:
    """A line for the user for each place; the rest is used."""
    fifo, _ = PersistentFifo.open(
        tmp_path / "shard-00", uuid=logs.UUID, settings=Settings(1 << 20, "off")
    )
    logs.put(fifo, range(30))
    fifo.close()
    (segment,) = logs.files(tmp_path / "shard-00")
    logs.flip_byte(segment, segment.stat().st_size // 2)
    with opened(tmp_path) as parts:
        assert parts.frontier.waiting < 30
        assert "shard 0: range damaged in" in parts.notices[1]
        assert "URLs were lost" in "".join(parts.notices) or parts.frontier.waiting == 29


@pytest.mark.parametrize(
    ("name", "kind"), [("exact", ExactSeen), ("bloom", BloomSeen), ("bits", BitsSeen)]
)
def test_the_kind_of_seen_set(tmp_path: Path, name: str, kind: type) -> None:
    """As the key says."""
    with opened(tmp_path, seen_set=name, bloom_capacity=10_000) as parts:
        assert isinstance(parts.frontier._seen, kind)


def test_connections_and_credit_are_shared_by_the_shards(tmp_path: Path) -> None:
    """Two results a connection may be unanswered, and some more."""
    with opened(tmp_path, shards=2, pages_connexions=50, body_memory_bytes=1000) as parts:
        assert parts.fetcher.free() == 25
        assert parts.credit == CREDIT_PER_CONNECTION * 25 + SPARE_CREDIT // 2
        assert parts.body_bytes == 500


@pytest.mark.parametrize(("wait_s", "keeps"), [(0.0, True), (9.0, True), (30.0, False)])
def test_connections_are_kept_when_they_are_used_again(
    tmp_path: Path, wait_s: float, keeps: bool
) -> None:
    """Not when the host's next request is far off."""
    with opened(tmp_path, wait_duration_s=wait_s) as parts:
        assert parts.keeps_connections == keeps


def test_a_hosts_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The text names the key."""
    with (
        pytest.raises(ConfigError, match=r"hostsFile: .*missing: No such file"),
        opened(tmp_path, hosts_file=tmp_path / "missing"),
    ):
        pass


def test_foreign_memory_is_refused(tmp_path: Path) -> None:
    """That of another number of processes."""
    memory = CrawlMemory.create(2, 2)
    with pytest.raises(FormatError, match="not the memory"):
        ShardParts.open(start(tmp_path), memory.fd, print)
    os.close(memory.fd)


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    """A fault of the disk."""
    (tmp_path / "shard-00").write_bytes(b"")
    with pytest.raises(StorageError), opened(tmp_path):
        pass


def test_the_table_of_a_larbin_stands_beside_the_seen_set(tmp_path: Path) -> None:
    """What it had seen is not new."""
    (tmp_path / "shard-00").mkdir()
    file = BitsFile(tmp_path / "shard-00", logs.UUID, name=LARBIN_NAME)
    file.save(b"\xff" * 8_000_000, 0)
    file.settle(wait=True)
    with opened(tmp_path) as parts:
        assert parts.frontier.put(logs.links(range(10))).new == 0
        assert len(parts.notices) == 1
    file.path.write_bytes(file.path.read_bytes()[1:])
    with opened(tmp_path) as parts:
        assert parts.frontier.put(logs.links(range(10))).new == 10
        _, notice = parts.notices
    assert "larbin.bits is damaged; what larbin had fetched may be fetched again" in notice
