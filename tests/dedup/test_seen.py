"""The three kinds of seen sets behind one interface."""

from __future__ import annotations

import logging
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from larbinpy.dedup.bitsfile import BitsFile
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.dedup.seen import BitsSeen, BloomSeen, ExactSeen
from larbinpy.errors import StorageError
from tests.reference.linkbuffers import FORCE, Link, group_of
from tests.reference.mix import mix64

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.dedup.base import SeenUrls

BOOT = "0f1e2d3c"
UUID = bytes(range(16))


def link(name: int, flags: int = 0) -> Link:
    """The link of a numbered URL."""
    return Link(b"http://a.org/%d" % name, mix64(name), host_start=7, host_len=5, flags=flags)


def entries(*names: int, flags: int = 0) -> tuple[bytes, bytes]:
    """A LINKS payload of numbered URLs in two groups, and their fingerprints."""
    links = [link(name, flags) for name in names]
    groups = group_of(*links[:1], via=b"http://b.org/") + group_of(*links[1:], tag=b"t")
    return groups, struct.pack(f"<{len(names)}Q", *map(mix64, names))


@dataclass
class Log:
    """Stands in for a recovered log: URLs by the segment that they lie in."""

    segments: dict[int, tuple[int, ...]] = field(default_factory=dict)
    oldest_segment: int = 1
    is_damaged: bool = False
    asked: list[int] = field(default_factory=list)

    def fingerprints(self, since: int = 0) -> Iterator[bytes]:
        self.asked.append(since)
        for number, names in self.segments.items():
            if number >= since:
                yield entries(*names)[1]

    def links(self, since: int = 0) -> Iterator[bytes]:
        self.asked.append(since)
        for number, names in self.segments.items():
            if number >= max(since, self.oldest_segment):
                yield b"".join(link(name).pack() for name in names)


def files(directory: Path, *, capacity: int = 1000, boot_id: str = BOOT) -> BloomFiles:
    """Filters in this directory."""
    return BloomFiles(directory, capacity=capacity, rate=0.001, boot_id=boot_id)


@pytest.fixture(params=["exact", "bloom", "bits"])
def seen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SeenUrls]:
    """An empty set of each kind."""
    if request.param == "exact":
        yield ExactSeen()
    elif request.param == "bits":
        yield BitsSeen(BitsFile(tmp_path, UUID))
    else:
        bloom = files(tmp_path)
        yield BloomSeen(bloom)
        bloom.close()


def test_links_are_new_once(seen: SeenUrls) -> None:
    """apify/crawlee-python#1383: A batch is worked off in order, and what it added is known to the
    next one."""
    assert seen.add_links(*entries(1, 2, 1)) == bytes([1, 1, 0])
    seen.add_written(entries(1, 2)[1])
    assert seen.add_links(*entries(2, 3)) == bytes([0, 1])
    assert len(seen) == 3
    assert seen.nbytes > 0


def test_empty_batch(seen: SeenUrls) -> None:
    """No links, no answers."""
    assert seen.add_links(b"", b"") == b""


def test_forced_links_are_queued_and_remembered(seen: SeenUrls) -> None:
    """A link that is to be queued even if seen is, and counts as seen from then on."""
    seen.add_links(*entries(1))
    assert seen.add_links(*entries(1, 2, flags=FORCE)) == bytes([1, 1])
    assert seen.add_links(*entries(1, 2)) == bytes([0, 0])


def test_torn_links_are_refused(seen: SeenUrls) -> None:
    """A payload that is cut short raises."""
    groups, fingerprints = entries(1)
    with pytest.raises(ValueError, match="malformed"):
        seen.add_links(groups[:-1], fingerprints)


def test_restored_urls_are_known(seen: SeenUrls) -> None:
    """What the log holds is not new; a URL twice is harmless."""
    seen.restore(Log({1: (1, 2), 2: (2,)}))
    assert seen.add_links(*entries(1, 2, 3)) == bytes([0, 0, 1])
    assert len(seen) == 3


# --- bits ---------------------------------------------------------------------------------------


def test_bits_are_larbins(tmp_path: Path) -> None:
    """The table is the ``hashtable.bin`` that larbin would have."""
    seen = BitsSeen(BitsFile(tmp_path, UUID))
    url = Link(b"http://www.example.org/", port=80, host_start=7, host_len=15)
    seen.add_links(group_of(url), bytes(8))
    seen.save(1, wait=True)
    raw = (tmp_path / "seen.bits").read_bytes()[:8_000_000]
    assert raw[41501462 >> 3] == 1 << (41501462 & 7)
    assert raw.count(0) == 7_999_999


def test_bits_are_restored(tmp_path: Path) -> None:
    """A saved table knows URLs whose segments are gone; newer ones are added from the log."""
    seen = BitsSeen(BitsFile(tmp_path, UUID))
    seen.add_links(*entries(1, 2))
    seen.save(3, wait=True)
    assert seen.needs_from == 3
    log = Log({2: (2,), 3: (3,)}, oldest_segment=2)
    copy = BitsSeen(BitsFile(tmp_path, UUID))
    copy.restore(log)
    assert (log.asked, copy.needs_from) == ([3], 3)
    assert copy.add_links(*entries(1, 2, 3, 4)) == bytes([0, 0, 0, 1])


def test_bits_are_saved_every_minute_and_with_each_segment(tmp_path: Path) -> None:
    """And not in between."""
    now = [0.0]
    seen = BitsSeen(BitsFile(tmp_path, UUID), clock=lambda: now[0])
    saved = []
    for second, segment in ((0, 1), (1, 1), (59, 1), (60, 1), (61, 2), (62, 2)):
        now[0] = second
        (tmp_path / "seen.bits").unlink(missing_ok=True)
        seen.save(segment, wait=True)
        saved.append((tmp_path / "seen.bits").exists())
    assert saved == [True, False, False, True, True, False]


@pytest.mark.parametrize("damage", ["cut", "flip", "foreign"])
def test_damaged_bits_are_not_used(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With a warning; the URLs of the segments that are left are added."""
    seen = BitsSeen(BitsFile(tmp_path, UUID))
    seen.add_links(*entries(1))
    seen.save(2, wait=True)
    path = tmp_path / "seen.bits"
    data = bytearray(path.read_bytes())
    data[4_000_000] ^= damage == "flip"
    path.write_bytes(data[:100] if damage == "cut" else data)
    copy = BitsSeen(BitsFile(tmp_path, UUID[::-1] if damage == "foreign" else UUID))
    copy.restore(Log({2: (2,)}, oldest_segment=2))
    assert copy.add_links(*entries(1, 2)) == bytes([1, 0])
    assert "may be fetched again" in caplog.text


def test_refused_bits_are_saved_again(tmp_path: Path) -> None:
    """A full disk keeps the old file, and the segments that it needs."""
    (tmp_path / "state").mkdir()
    seen = BitsSeen(BitsFile(tmp_path / "state", UUID))
    (tmp_path / "state").rename(tmp_path / "away")
    with pytest.raises(StorageError, match=r"seen\.bits"):
        seen.save(5, wait=True)
    assert seen.needs_from == 0
    (tmp_path / "away").rename(tmp_path / "state")
    seen.save(5, wait=True)
    assert seen.needs_from == 5


# --- bloom --------------------------------------------------------------------------------------


def reopened(tmp_path: Path, boot_id: str) -> tuple[bool, bytes]:
    """Whether the filters are trusted after a restart, and what they say of URLs 1 to 3."""
    bloom = files(tmp_path, boot_id=boot_id)
    answer = BloomSeen(bloom).add_links(*entries(1, 2, 3))
    bloom.close()
    return bloom.is_trusted, answer


def test_bits_are_set_after_write_only(tmp_path: Path) -> None:
    """After a kill, a URL whose record was not written is new again."""
    bloom = files(tmp_path)
    bloom.trust()
    seen = BloomSeen(bloom)
    seen.add_links(*entries(1, 2))
    seen.add_written(entries(1)[1])
    bloom.close()
    assert reopened(tmp_path, BOOT) == (True, bytes([0, 1, 1]))


def test_trusted_filters_load_what_they_may_lack(tmp_path: Path) -> None:
    """Only the segments that were not noted as complete are read."""
    bloom = files(tmp_path)
    BloomSeen(bloom).restore(Log({1: (1,)}))
    BloomSeen(bloom).save(2)
    bloom.close()
    log = Log({1: (), 2: (2,)})
    again = BloomSeen(files(tmp_path))
    again.restore(log)
    assert log.asked == [2]
    assert again.add_links(*entries(1, 2, 3)) == bytes([0, 0, 1])


def test_untrusted_filters_load_everything(tmp_path: Path) -> None:
    """After another boot, or when the log is damaged; they are trusted from then on."""
    for boot, is_damaged in ((BOOT, False), ("another", False), ("another", True)):
        log = Log({1: (1,), 7: (2,)}, is_damaged=is_damaged)
        bloom = files(tmp_path, boot_id=boot)
        seen = BloomSeen(bloom)
        seen.restore(log)
        seen.save(8)
        bloom.close()
        assert log.asked == [0]
    assert reopened(tmp_path, "another") == (True, bytes([0, 0, 1]))


def test_another_boot_is_not_trusted(tmp_path: Path) -> None:
    """After a crash of the machine the filters are empty and must be loaded."""
    bloom = files(tmp_path)
    BloomSeen(bloom).restore(Log({1: (1,)}))
    bloom.close()
    assert reopened(tmp_path, "another") == (False, bytes([1, 1, 1]))


def test_half_loaded_filters_are_not_trusted(tmp_path: Path) -> None:
    """A process that died while loading leaves nothing to believe."""
    bloom = files(tmp_path)
    bloom.add(entries(1)[1])
    bloom.close()
    assert reopened(tmp_path, BOOT) == (False, bytes([1, 1, 1]))


def test_damaged_filter_is_not_trusted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is no filter costs a rebuild and a warning."""
    bloom = files(tmp_path)
    bloom.trust()
    bloom.close()
    (tmp_path / "seen-0.bloom").write_bytes(b"no filter" * 100)
    assert reopened(tmp_path, BOOT) == (False, bytes([1, 1, 1]))
    assert "made again" in caplog.text


def test_full_filter_gets_another(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Past its capacity a second filter takes over, with a warning; both are asked, and kept."""
    names = range(250)
    bloom = files(tmp_path, capacity=100)
    bloom.trust()
    seen = BloomSeen(bloom)
    with caplog.at_level(logging.WARNING):
        seen.restore(Log({1: tuple(names)}))
    assert caplog.text.count("bloomCapacity") == 2
    assert seen.add_links(*entries(*names)).count(1) == 0
    assert sorted(path.name for path in tmp_path.glob("*.bloom*")) == [
        "seen-0.bloom", "seen-1.bloom", "seen-2.bloom",
    ]  # fmt: skip
    bloom.close()
    again = files(tmp_path, capacity=100)
    assert BloomSeen(again).add_links(*entries(*names)).count(1) == 0
    assert len(again) == pytest.approx(250, abs=15)
    again.close()


def test_bloom_rate_and_bytes(tmp_path: Path) -> None:
    """At its capacity a filter keeps its rate, in about 14.4 bits an entry for 0.1 %."""
    bloom = files(tmp_path, capacity=5000)
    seen = BloomSeen(bloom)
    seen.restore(Log({1: tuple(range(5000))}))
    taken_for_seen = seen.add_links(*entries(*range(10_000, 20_000))).count(0)
    assert taken_for_seen < 40
    assert seen.nbytes * 8 / 5000 == pytest.approx(14.4, abs=0.2)
    bloom.close()


def test_blocks_are_allocated(tmp_path: Path) -> None:
    """A full disk is met when the file is made, not when a bit is set."""
    bloom = files(tmp_path, capacity=1_000_000)
    status = (tmp_path / "seen-0.bloom").stat()
    assert status.st_blocks * 512 >= status.st_size > 1_700_000
    bloom.close()


def test_refusing_directory_is_a_storage_error(tmp_path: Path) -> None:
    """The message names the directory."""
    with pytest.raises(StorageError, match="missing"):
        files(tmp_path / "missing")


def test_full_disk_is_a_storage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a second filter nor a half-made file is left."""

    def refuse(fd: int, offset: int, length: int) -> None:
        raise OSError(28, "No space left on device")

    bloom = files(tmp_path, capacity=10)
    monkeypatch.setattr("os.posix_fallocate", refuse)
    with pytest.raises(StorageError, match="No space left"):
        BloomSeen(bloom).restore(Log({1: tuple(range(11))}))
    assert [path.name for path in tmp_path.iterdir()] == ["seen-0.bloom"]
    bloom.close()
