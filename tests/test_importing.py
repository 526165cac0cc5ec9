"""A state is made from what a real larbin left."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from larbinpy.config import Config
from larbinpy.dedup.bitsfile import BitsFile
from larbinpy.errors import ConfigError, FormatError
from larbinpy.frontier.log import PersistentFifo
from larbinpy.frontier.settings import Settings
from larbinpy.importing import import_larbin
from larbinpy.state import StateDirectory
from tests.larbinstate import NAMES, lines, unpack

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.payloads import LoggedUrl
    from larbinpy.importing import Imported
    from larbinpy.manifest import Manifest


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Two shards, larbin's URLs."""
    return Config(
        state_dir=tmp_path / "crawl", fetch_processes=2, url_mode="larbin", durability="off"
    )


@pytest.fixture
def larbin(tmp_path: Path) -> Path:
    """An empty directory for larbin's files."""
    path = tmp_path / "larbin"
    path.mkdir()
    return path


def run(source: Path, config: Config) -> tuple[Imported, list[str]]:
    """Import, and what was reported."""
    reported: list[str] = []
    return import_larbin(source, config, reported.append), reported


def manifest_of(config: Config) -> Manifest:
    """What the state was begun with."""
    directory = StateDirectory(config.state_dir)
    with closing(directory):
        manifest = directory.load()
    assert manifest is not None
    return manifest


def shard(config: Config, index: int) -> Path:
    """Directory of a shard."""
    return config.state_dir / f"shard-{index:02d}"


def waiting(config: Config) -> list[list[LoggedUrl]]:
    """The URLs that wait in each shard, in order."""
    manifest = manifest_of(config)
    shards = []
    for index in range(manifest.fetch_processes):
        fifo, found = PersistentFifo.open(
            shard(config, index), uuid=manifest.key, settings=Settings(1 << 20, "off")
        )
        shards.append(fifo.read(list(memoryview(found.waiting).cast("Q"))))
        fifo.close()
    return shards


def one_by_one(config: Config) -> list[LoggedUrl]:
    """The URLs that wait, of one shard after the other."""
    return [url for shard in waiting(config) for url in shard]


def urls(config: Config) -> list[bytes]:
    """Only the URLs."""
    return [url[2] for url in one_by_one(config)]


# --- real states --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_real_queue_waits_once_in_larbins_order(name: str, tmp_path: Path, config: Config) -> None:
    """Whatever the table says: it knows nearly all of these URLs."""
    source = unpack(name, tmp_path)
    result, reported = run(source, config)
    queued = [*lines(source, "fifowait*"), *lines(source, "fifo0*")]
    expected = list(dict.fromkeys(b"http://" + line.split(b" ")[1] for line in queued))
    place = {url: at for at, url in enumerate(expected)}
    shards = [[place[url[2]] for url in shard] for shard in waiting(config)]
    assert reported == []
    assert all(shards)
    assert list(range(len(expected))) == sorted(shards[0] + shards[1])
    assert [sorted(shard) for shard in shards] == shards
    assert (len(expected), len(queued) - len(expected)) == (result.queued, result.repeated)


def test_larbins_depth_is_what_is_left(tmp_path: Path, config: Config) -> None:
    """What was followed so far is known from ``depthInSite``."""
    source = unpack("fifo", tmp_path)
    run(source, replace(config, depth_in_site=20))
    expected = {b"http://" + x.split(b" ")[1]: int(x.split(b" ")[0]) for x in lines(source, "f*")}
    found = {url[2]: (url[8], url[9]) for url in one_by_one(config)}
    assert {url: (20 - left, left) for url, left in expected.items()} == found


@pytest.mark.parametrize(
    ("seen_set", "name"),
    [("exact", "larbin.bits"), ("bloom", "larbin.bits"), ("bits", "seen.bits")],
)
def test_table_is_kept_in_each_shard(
    seen_set: str, name: str, tmp_path: Path, config: Config
) -> None:
    """As larbin wrote it: beside the seen set, or as the seen set."""
    source = unpack("fifowait", tmp_path)
    result, _ = run(source, replace(config, seen_set=seen_set))
    raw = (source / "hashtable.bin").read_bytes()
    manifest = manifest_of(config)
    known = (manifest.seen_set, manifest.url_mode, manifest.fetch_processes)
    assert (seen_set, "larbin", 2) == known
    for index in range(2):
        assert raw == BitsFile(shard(config, index), manifest.key, name=name).load()
        assert len(list(shard(config, index).glob("*.bits"))) == 1
    assert ("hashtable.bin", 6440) == (result.table, result.known)


# --- URLs ---------------------------------------------------------------------------------------


def test_url_is_taken_as_larbin_wrote_it(larbin: Path, config: Config) -> None:
    """To normalise it once more could make another URL of it."""
    (larbin / "fifo000000").write_bytes(b"5 a.org:80/100%25\n5 b.org:81/a//b c\n")
    config = replace(config, fetch_processes=1)
    run(larbin, config)
    assert [b"http://a.org/100%25", b"http://b.org:81/a//b c"] == urls(config)


def test_url_standard_normalises(larbin: Path, config: Config) -> None:
    """What is no URL to it is reported by file and line."""
    (larbin / "fifo000000").write_bytes(b"5 a.org:80/a b\n5 x@[:80/\n5 a.org:443/\xc3\xa9\n")
    config = replace(config, url_mode="whatwg", fetch_processes=1)
    result, reported = run(larbin, config)
    assert [b"http://a.org/a%20b", b"http://a.org:443/%C3%A9"] == urls(config)
    expected = f"{larbin / 'fifo000000'}:2: not a URL that can be fetched: b'x@[/'"
    assert (1, [expected]) == (result.bad, reported)


def test_bad_lines_are_reported_and_passed_over(larbin: Path, config: Config) -> None:
    """By file and line; the torn last one too."""
    (larbin / "fifo000003").write_bytes(b"5 a.org:80/1\nrubbish\n5 a.org:80/2\n5 a.org:80/3")
    result, reported = run(larbin, config)
    path = larbin / "fifo000003"
    expected = [f"{path}:2: not a line of larbin's queue: b'rubbish\\n'", f"{path}:4: torn line"]
    assert (2, expected) == (result.bad, reported)
    assert [b"http://a.org/1", b"http://a.org/2"] == urls(config)


def test_cookies_are_left_out(tmp_path: Path, config: Config) -> None:
    """And counted; with ``useCookies`` only, for else a blank belongs to the URL."""
    source = unpack("cookies", tmp_path)
    result, _ = run(source, replace(config, use_cookies=True))
    expected = {b"http://" + line.split(b" ")[1] for line in lines(source, "fifo*")}
    assert expected == set(urls(config))
    assert len(lines(source, "fifo*")) == result.cookies


def test_tags_stay_with_their_urls(larbin: Path, config: Config) -> None:
    """Of a larbin that was built with tags."""
    (larbin / "fifo000000").write_bytes(b"5 7 a.org:80/1\n5 7 a.org:80/2\n5 0 a.org:80/3\n")
    run(larbin, config)
    found = {url[2]: url[4] for url in one_by_one(config)}
    assert {b"http://a.org/1": b"7", b"http://a.org/2": b"7", b"http://a.org/3": b""} == found


def test_preferred_extensions_are_served_first(larbin: Path, config: Config) -> None:
    """Those of ``specificSet``, as for links of pages."""
    (larbin / "fifo000000").write_bytes(b"5 a.org:80/1.MP3?x\n5 a.org:80/2.html\n")
    run(larbin, replace(config, specific_set=((b"audio/mpeg", b".mp3"),)))
    assert [0, 1] == [url[10] for url in one_by_one(config)]


def test_impossible_depth_is_cut(larbin: Path, config: Config) -> None:
    """The field has 16 bits."""
    (larbin / "fifo000000").write_bytes(b"4294967295 a.org:80/\n")
    run(larbin, config)
    assert [(0, 65_535)] == [(url[8], url[9]) for url in one_by_one(config)]


# --- the state ----------------------------------------------------------------------------------


def test_existing_crawl_is_refused(tmp_path: Path, config: Config) -> None:
    """And stays as it is."""
    source = unpack("fifo", tmp_path)
    run(source, config)
    before = (config.state_dir / "MANIFEST").read_bytes()
    with pytest.raises(ConfigError, match="holds a crawl already"):
        run(source, config)
    assert before == (config.state_dir / "MANIFEST").read_bytes()


def test_import_that_was_broken_off_begins_anew(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crawl does not take it for a state, the next import deletes it."""
    source = unpack("fifo", tmp_path)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StateDirectory, "save", fail)
        with pytest.raises(KeyboardInterrupt):
            run(source, config)
    with pytest.raises(FormatError, match="an import was broken off here; run it again"):
        manifest_of(config)
    result, _ = run(source, config)
    assert result.queued == len(set(urls(config)))
    assert not (config.state_dir / "importing").exists()


def test_directory_without_larbin_is_refused(larbin: Path, config: Config) -> None:
    """Nothing is made."""
    with pytest.raises(ConfigError, match="neither fifo files nor"):
        run(larbin, config)
    assert not config.state_dir.exists()


def test_short_table_is_refused(larbin: Path, config: Config) -> None:
    """Before anything is made."""
    (larbin / "fifo000000").write_bytes(b"5 a.org:80/\n")
    (larbin / "hashtable.bin").write_bytes(bytes(100))
    with pytest.raises(FormatError, match="move it away"):
        run(larbin, config)
    assert not config.state_dir.exists()


def test_without_a_table_the_queue_alone_is_taken(larbin: Path, config: Config) -> None:
    """A crawl that had not filled its first file, which larbin itself cannot restart."""
    (larbin / "fifo000000").write_bytes(b"5 a.org:80/\n")
    result, _ = run(larbin, config)
    assert (1, "", 0) == (result.queued, result.table, result.known)
    assert not list(config.state_dir.glob("shard-*/*.bits"))
