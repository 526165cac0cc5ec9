"""The seeder sends every good seed to its shard, no faster than shards write, and ends."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import seeder, wiring
from larbinpy.errors import ConfigError
from larbinpy.frames import FrameType
from larbinpy.links.found import LINK_SEED
from larbinpy.seeder import FRAMES_AHEAD, Seeder
from tests.channels import frames
from tests.patience import PATIENCE_S
from tests.reference.linkbuffers import read_links
from tests.starts import control, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.frames import Channel, Frame
    from larbinpy.wiring import Start
    from tests.starts import Boss

GROUP_BYTES = 12


@contextmanager
def running(start_: Start) -> Iterator[Boss]:
    """A seeder at work, which has ended when the block has."""
    with control() as (child, boss):
        made = Seeder(child, start_, -1)
        thread = threading.Thread(target=made.run, daemon=True)
        thread.start()
        yield boss
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        for sender in made._senders.values():
            sender.leave()


def urls(frame: Frame) -> list[bytes]:
    assert (frame.type, frame.count) == (FrameType.LINKS, 1)
    return [link.url for link in read_links(frame.payload[GROUP_BYTES:])]


def answer(shard: Channel, seq: int) -> None:
    shard.send(FrameType.WRITTEN, seq=seq)
    assert shard.flush()


def seeds_file(directory: Path, count: int) -> Path:
    path = directory / "seeds.txt"
    path.write_bytes(b"".join(b"http://h%d.test/\n" % number for number in range(count)))
    return path


def test_seeds_are_sent_and_the_end_is_told(tmp_path: Path) -> None:
    """As links of depth 0, after which the seeder waits for the answer."""
    given = (b"http://a.test", b"https://b.test/x#y")
    with running(start(tmp_path, start_urls=given)) as boss:
        shard = boss.join("shard", 0)
        (frame,) = frames(shard, 1)
        links = read_links(frame.payload[GROUP_BYTES:])
        assert [link.url for link in links] == [b"http://a.test/", b"https://b.test/x"]
        assert {(link.depth, link.flags & LINK_SEED) for link in links} == {(0, LINK_SEED)}
        assert not shard.wait(0.05)
        answer(shard, frame.seq)
        assert boss.heard() == [{"verb": "seeds", "lines": 2, "bad": 0, "users": 0}]


@pytest.mark.parametrize("keys", [{"scope": "domain"}, {"lock_site": True}])
def test_a_scope_without_any_first_url(tmp_path: Path, keys: dict[str, Any]) -> None:
    """Everything that waits would be out of it, and end: that is refused."""
    with control() as (child, boss):
        boss.join("shard", 0)
        made = Seeder(child, start(tmp_path, **keys), -1)
        with pytest.raises(ConfigError, match="no first URL"):
            made.run()
        for sender in made._senders.values():
            sender.leave()


def test_no_seeds_at_all(tmp_path: Path) -> None:
    """It ends at once."""
    with running(start(tmp_path)) as boss:
        boss.join("shard", 0)
        assert boss.heard() == [{"verb": "seeds", "lines": 0, "bad": 0, "users": 0}]


def test_seeds_go_to_their_shards(tmp_path: Path) -> None:
    """The same ones every time, and none twice."""
    path = seeds_file(tmp_path, 100)
    with running(start(tmp_path, shards=3, seed_file=path)) as boss:
        shards = [boss.join("shard", index) for index in range(3)]
        sent = [frames(shard, 1)[0] for shard in shards]
        for shard, frame in zip(shards, sent, strict=True):
            answer(shard, frame.seq)
        boss.heard()
    found = [url for frame in sent for url in urls(frame)]
    assert sorted(found) == sorted(b"http://h%d.test/" % number for number in range(100))


def test_it_is_never_more_than_four_frames_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads on when the shard has written."""
    monkeypatch.setattr(seeder, "BATCH_SEEDS", 10)
    path = seeds_file(tmp_path, 95)
    with running(start(tmp_path, seed_file=path)) as boss:
        shard = boss.join("shard", 0)
        got = frames(shard, FRAMES_AHEAD)
        assert not shard.wait(0.05)
        answer(shard, 1)
        got += frames(shard, 1)
        assert not shard.wait(0.05)
        answer(shard, 5)
        got += frames(shard, 4)
        answer(shard, 9)
        got += frames(shard, 1)
        answer(shard, 10)
        assert boss.heard() == [{"verb": "seeds", "lines": 95, "bad": 0, "users": 0}]
    assert sum(len(urls(frame)) for frame in got) == 95


def test_bad_lines_are_reported_by_their_place(tmp_path: Path) -> None:
    """And cost only themselves."""
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"http://a.test/\n\nno url\nftp://a.test/\xff\nhttp://b.test/\n")
    with running(start(tmp_path, seed_file=path)) as boss:
        shard = boss.join("shard", 0)
        (frame,) = frames(shard, 1)
        assert urls(frame) == [b"http://a.test/", b"http://b.test/"]
        answer(shard, frame.seq)
        *notices, end = boss.heard(3)
        assert [notice["text"] for notice in notices] == [
            f"{path}:3: not an http or https URL: no url",
            f"{path}:4: not an http or https URL: ftp://a.test/\\xff",
        ]
        assert end == {"verb": "seeds", "lines": 4, "bad": 2, "users": 0}


def test_no_password_of_a_bad_line_is_shown(tmp_path: Path) -> None:
    """Wherever it stands in it."""
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"ftp://me:secret@a.test/\nhttp://me:sec/ret@a.test/\nme:secret@a.test\n")
    with running(start(tmp_path, seed_file=path)) as boss:
        boss.join("shard", 0)
        texts = [notice["text"].partition("URL: ")[2] for notice in boss.heard(4)[:3]]
    assert texts == ["ftp://...@a.test/", "http://...@a.test/", "...@a.test"]


@pytest.mark.parametrize("mode", ["whatwg", "larbin"])
def test_users_in_urls_are_told_of_once_and_counted(tmp_path: Path, mode: str) -> None:
    """They are not sent; the operator hears what to write instead, and reads no password."""
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"http://b.test/@x\n" + b"http://me:secret@B.test/%d\n" * 3)
    given = (b"http://me:p@s@a.test:8080/x", b"http://a.test/")
    with running(start(tmp_path, start_urls=given, seed_file=path, url_mode=mode)) as boss:
        shard = boss.join("shard", 0)
        (frame,) = frames(shard, 1)
        answer(shard, frame.seq)
        notice, end = boss.heard(2)
    assert b"secret" not in frame.payload
    assert end == {"verb": "seeds", "lines": 6, "bad": 0, "users": 4}
    assert notice["text"] == (
        "startUrl: user and password in URLs of http://a.test:8080 are not sent;"
        " set auth http://a.test:8080 USER:PASSWORD instead"
    )


def test_only_the_first_bad_lines_are_shown(tmp_path: Path) -> None:
    """A wrong file does not fill the terminal; all are counted."""
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"bad\n" * 1000)
    with running(start(tmp_path, seed_file=path)) as boss:
        boss.join("shard", 0)
        *notices, end = boss.heard(seeder.REPORTED_LINES + 1)
        assert {notice["verb"] for notice in notices} == {"notice"}
        assert end == {"verb": "seeds", "lines": 1000, "bad": 1000, "users": 0}


def test_seeds_pass_the_filters_of_found_links(tmp_path: Path) -> None:
    """What the operator asks for is fetched, however few links a page may have."""
    urls = tuple(b"http://a.test/%d?q" % number for number in range(3))
    keys: dict[str, Any] = {"limit_to_domain": (b"b.test",), "links_per_page": 2}
    with running(start(tmp_path, start_urls=urls, **keys)) as boss:
        shard = boss.join("shard", 0)
        sent = [frame.payload for frame in frames(shard, 2)]
        answer(shard, 2)
        (end,) = boss.heard()
    assert [url in b"".join(sent) for url in urls] == [True] * 3
    assert end == {"verb": "seeds", "lines": 3, "bad": 0, "users": 0}


def test_a_successor_gets_what_the_dead_shard_did_not_answer(tmp_path: Path) -> None:
    """Under its old number."""
    with running(start(tmp_path, start_urls=(b"http://a.test/",))) as boss:
        shard = boss.join("shard", 0)
        (first,) = frames(shard, 1)
        shard.close()
        successor = boss.join("shard", 0)
        (again,) = frames(successor, 1)
        assert (again.seq, again.payload) == (first.seq, first.payload)
        answer(successor, again.seq)
        boss.heard()


def test_locked_sites_are_known_before_the_first_seed_goes(tmp_path: Path) -> None:
    """``lockSite``: all hosts are written, the parsers told, then the seeds pass their filter."""
    wiring.write_sites(tmp_path, {b"old.test/"})
    given = (b"http://a.test/", b"http://b.test/")
    with running(start(tmp_path, lock_site=True, start_urls=given)) as boss:
        shard = boss.join("shard", 0)
        assert boss.heard() == [{"verb": "sites"}]
        assert wiring.read_sites(tmp_path) == {b"a.test/", b"b.test/", b"old.test/"}
        assert not shard.wait(0.05)
        boss.tell("go")
        (frame,) = frames(shard, 1)
        assert urls(frame) == list(given)
        answer(shard, frame.seq)
        assert boss.heard() == [{"verb": "seeds", "lines": 2, "bad": 0, "users": 0}]
