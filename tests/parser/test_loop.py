"""A parser answers for a page when its links are written, and survives its shards."""

from __future__ import annotations

import gzip
import json
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import entries
from larbinpy._native.heldpages import encode
from larbinpy.frames import FrameType
from larbinpy.parser import shards as sockets
from larbinpy.parser.loop import Parser
from larbinpy.records import ID_SHARD_SHIFT, ID_WITHOUT_ENQ, FetchJob, FetchResult, Kind, Outcome
from larbinpy.shared import NEAR_BYTES, CrawlMemory, ParserWord
from larbinpy.store.notes import Note, unpack
from tests.channels import frames
from tests.patience import PATIENCE_S
from tests.records import HTML
from tests.reference.linkbuffers import read_links
from tests.reference.pages import BODY_IN_MEMORY
from tests.starts import Boss, control, start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from larbinpy.frames import Channel, Frame
    from larbinpy.records import ParsedPage

EPOCH = 3


class Crawl:
    """A parser at work, and its surroundings."""

    def __init__(self, boss: Boss, made: Parser, memory: CrawlMemory, state: Path) -> None:
        self.boss = boss
        self.parser = made
        self.memory = memory
        self._state = state
        self._thread = threading.Thread(target=made.run, daemon=True)
        self._thread.start()
        assert boss.heard() == [{"verb": "ready"}]

    def ended(self, within_s: float = PATIENCE_S) -> bool:
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self._state / "crawl.log").read_bytes().splitlines()]


@contextmanager
def crawl(state: Path, **keys: Any) -> Iterator[Crawl]:
    """A parser that is stopped when the block ends."""
    shards = keys.pop("shards", 1)
    memory = CrawlMemory.create(shards, 1, page_bytes=NEAR_BYTES)
    with control() as (child, boss):
        made = Parser(child, start(state, shards=shards, **keys), memory.fd)
        running = Crawl(boss, made, memory, state)
        yield running
        boss.tell("stop", drain_s=0)
        boss.drop_peers()
        assert running.ended()
        for shard in made._shards:
            made._shards.leave(shard)


def give(shard: Channel, number: int, body: bytes = b"", **more: Any) -> None:
    """Send a page of a shard."""
    index = more.pop("of", 0)
    epoch = more.pop("epoch", EPOCH)
    page_id = index << ID_SHARD_SHIFT | number
    kind = more.pop("kind", Kind.PAGE)
    if kind is Kind.ROBOTS:
        page_id |= ID_WITHOUT_ENQ
    url = b"http://a.test/%d" % number
    tag = b"http://a.test:80" if kind is Kind.ROBOTS else b""
    job = FetchJob(page_id, url, b"a.test", 80, https=False, kind=kind, left=5, tag=tag)
    outcome = more.pop("outcome", Outcome.SUCCESS)
    fields = {"status": 200, "headers": HTML, "body": body, **more}
    entry = encode(FetchResult(job, outcome, **fields), epoch)
    shard.send(FrameType.PAGE, entry, count=1)
    assert shard.flush()


def written(shard: Channel, frame: Frame) -> None:
    shard.send(FrameType.WRITTEN, seq=frame.seq)
    assert shard.flush()


def answers(frame: Frame) -> list[ParsedPage]:
    assert frame.type == FrameType.PARSED
    return entries.decode_parsed(frame.payload, frame.count)


def urls(frame: Frame) -> list[bytes]:
    assert frame.type == FrameType.LINKS
    via, tag = (int.from_bytes(frame.payload[at : at + 2], "little") for at in (0, 2))
    return [link.url for link in read_links(frame.payload[12 + via + tag :])]


def test_a_page_goes_its_way(tmp_path: Path) -> None:
    """Links first; only when they are written, its line and its answer."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        (links,) = frames(shard, 1)
        assert urls(links) == [b"http://b.test/"]
        assert not shard.wait(0.05)
        assert running.log() == []
        written(shard, links)
        (frame,) = frames(shard, 1)
        (parsed,) = answers(frame)
        assert (parsed.id, parsed.epoch, parsed.outcome, parsed.links) == (1, EPOCH, 0, 1)
        (line,) = running.log()
        assert (line["url"], line["outcome"]) == ("http://a.test/1", "success")
        assert running.memory.parser[0].blamed() is None
        assert running.memory.parser[0].words.load(ParserWord.PAGES) == 1


def test_a_page_without_links_is_answered_at_once(tmp_path: Path) -> None:
    """Nothing has to be written for it."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"no links")
        (frame,) = frames(shard, 1)
        assert [parsed.id for parsed in answers(frame)] == [1]


def test_bodies_are_read_in_the_memory_of_their_shard(tmp_path: Path) -> None:
    """Of each shard in its own; of a successor in the one that it brings."""
    body = b"<a href=http://b.test/%d>"
    with crawl(tmp_path, shards=2) as running:
        for index, number in ((0, 1), (1, 2), (0, 3)):
            shard = running.boss.join("shard", index)
            share(shard, bytes(1000) + body % number)
            page_id = index << ID_SHARD_SHIFT | number
            shard.send(FrameType.PAGE, in_memory(page_id, 1000, len(body % number)), count=1)
            assert shard.flush()
            (parsed,) = answers(frames(shard, 1)[0])
            assert (parsed.id, parsed.outcome, parsed.links) == (page_id, 0, 1)


def share(shard: Channel, content: bytes) -> None:
    """Give the parser the memory of a shard."""
    fd = os.memfd_create("bodies")
    os.write(fd, content)
    shard.send(FrameType.MEMORY, descriptors=(fd,))
    os.close(fd)


def in_memory(page_id: int, place: int, length: int) -> bytes:
    """A PAGE entry whose body lies there; its link leads nowhere."""
    job = FetchJob(page_id, b"http://a.test/", b"a.test", 80, https=False)
    entry = bytearray(encode(FetchResult(job, Outcome.SUCCESS, status=200, headers=HTML), EPOCH))
    entry[:4] = (len(entry) + 8 - 4).to_bytes(4, "little")
    entry[4 + 8 + 4 + 3] |= BODY_IN_MEMORY
    at = len(entry) - len(HTML) - len(job.url) - 4
    entry[at : at + 4] = length.to_bytes(4, "little")
    return bytes(entry) + place.to_bytes(8, "little")


def test_pages_are_stored_before_their_line(tmp_path: Path) -> None:
    """Good ones only, decoded."""
    with crawl(tmp_path, output_mode=1, output_dir=tmp_path / "save") as running:
        shard = running.boss.join("shard", 0)
        packed = HTML.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
        give(shard, 1, gzip.compress(b"good"), headers=packed)
        give(shard, 2, b"", status=404, outcome=Outcome.ERR_40X)
        got: list[ParsedPage] = []
        while len(got) < 2:  # in one frame, or in two that may come together
            assert shard.wait(PATIENCE_S)
            got += [parsed for frame in shard.receive() for parsed in answers(frame)]
    assert (tmp_path / "save" / "d00000" / "f00000").read_bytes() == b"good"
    assert (tmp_path / "save" / "d00000" / "index").read_bytes() == b"   0 http://a.test/1\n"


@pytest.mark.parametrize("is_ignored", [False, True])
def test_pages_that_ask_not_to_be_kept(tmp_path: Path, is_ignored: bool) -> None:
    """They are read and logged, and not stored, unless the operator wants them all the same."""
    keys = {"output_mode": 1, "output_dir": tmp_path / "save", "ignore_noarchive": is_ignored}
    with crawl(tmp_path, **keys) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<meta name=larbin content=noarchive>")
        (parsed,) = answers(frames(shard, 1)[0])
        assert parsed.outcome == Outcome.SUCCESS
        assert running.log()[0]["robots"] == "noarchive"
    assert (tmp_path / "save" / "d00000" / "f00000").exists() == is_ignored


def test_a_probe_is_only_logged(tmp_path: Path) -> None:
    """Its answer may be good, but nobody asked for the page: the output has it already."""
    save = tmp_path / "save"
    with crawl(tmp_path, output_mode=1, output_dir=save) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"good", kind=Kind.RETRY)
        frames(shard, 1)
        (line,) = running.log()
        assert (line["kind"], line["outcome"]) == ("retry", "success")
    assert list(save.glob("d*/f*")) == []


def test_a_page_needs_the_answers_of_all_its_shards(tmp_path: Path) -> None:
    """It is done when the last of them has written."""
    with crawl(tmp_path, shards=2) as running:
        shards = [running.boss.join("shard", index) for index in (0, 1)]
        give(shards[1], 1, b"".join(b"<a href=http://h%d.test/>" % n for n in range(30)), of=1)
        links = [frames(shard, 1)[0] for shard in shards]
        written(shards[1], links[1])
        assert not shards[1].wait(0.05)
        written(shards[0], links[0])
        (frame,) = frames(shards[1], 1)
        assert [parsed.id for parsed in answers(frame)] == [1 << ID_SHARD_SHIFT | 1]


def test_bodies_in_files(tmp_path: Path) -> None:
    """The descriptor that came with the frame is read and closed."""
    body = b"<a href=http://b.test/>" + b" " * 3_000_000
    job = FetchJob(1, b"http://a.test/", b"a.test", 80, https=False, left=5)
    result = FetchResult(job, Outcome.SUCCESS, 200, HTML, body)
    (tmp_path / "body").write_bytes(body)
    with crawl(tmp_path) as running, (tmp_path / "body").open("rb") as file:
        shard = running.boss.join("shard", 0)
        file.seek(100)
        entry = encode(result, EPOCH, is_body_in_file=True)
        shard.send(FrameType.PAGE, entry, count=1, descriptors=(file.fileno(),))
        shard.flush()
        (links,) = frames(shard, 1)
        written(shard, links)
        (frame,) = frames(shard, 1)
        assert answers(frame)[0].body_bytes == len(body)


# --- robots.txt ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "status", "expected"),
    [
        (Outcome.SUCCESS, 200, (200, b"Disallow: /")),
        (Outcome.TRUNCATED, 200, (0, b"Disallow: /")),
        (Outcome.ERR_40X, 404, (404, b"")),
        (Outcome.ERR_40X, 503, (0, b"")),
        (Outcome.NO_CONNECTION, 0, (0, b"")),
        (Outcome.TIMEOUT, 200, (0, b"")),
        (Outcome.PROTOCOL_ERROR, 200, (0, b"")),
        (Outcome.POISON, 200, (0, b"")),
    ],
)
def test_robots_are_answered(
    tmp_path: Path, outcome: Outcome, status: int, expected: tuple[int, bytes]
) -> None:
    """A file that did not arrive is unreachable, whatever its status: not an empty file."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"Disallow: /", kind=Kind.ROBOTS, outcome=outcome, status=status)
        robots, parsed = frames(shard, 2)
        assert robots.type == FrameType.ROBOTS
        assert entries.decode_robots(robots.payload) == (b"http://a.test:80", *expected)
        assert answers(parsed)[0].id == ID_WITHOUT_ENQ | 1
        assert running.log()[0]["kind"] == "robots"


def test_robots_are_answered_when_their_sitemaps_are_queued(tmp_path: Path) -> None:
    """Else the pages of the host might end, and the crawl with them, before the shard knows."""
    with crawl(tmp_path, use_sitemaps=True) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"Sitemap: /map.xml", kind=Kind.ROBOTS)
        (links,) = frames(shard, 1)
        assert urls(links) == [b"http://a.test/map.xml"]
        assert not shard.wait(0.05)
        written(shard, links)
        robots, parsed = frames(shard, 2)
        assert robots.type == FrameType.ROBOTS
        assert answers(parsed)[0].id == ID_WITHOUT_ENQ | 1


def test_moved_robots_are_the_shards_to_follow(tmp_path: Path) -> None:
    """The request is logged and answered, and no rules are told."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, kind=Kind.ROBOTS, outcome=Outcome.ERR_30X, status=301)
        (frame,) = frames(shard, 1)
        assert answers(frame)[0].id == ID_WITHOUT_ENQ | 1


# --- shards that die -----------------------------------------------------------------------------


def test_a_shards_successor_gets_the_links_again(tmp_path: Path) -> None:
    """Under their old number; the page of the dead one is answered to it, in its epoch."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        (first,) = frames(shard, 1)
        shard.close()
        successor = running.boss.join("shard", 0)
        (again,) = frames(successor, 1)
        assert (again.seq, again.payload) == (first.seq, first.payload)
        written(successor, again)
        (frame,) = frames(successor, 1)
        assert [(parsed.id, parsed.epoch) for parsed in answers(frame)] == [(1, EPOCH)]


def test_a_page_of_a_dead_shard_is_known_until_its_successor_has_the_answer(
    tmp_path: Path,
) -> None:
    """Whoever gets it again finds its place: an answer in the old epoch answers nothing."""
    with crawl(tmp_path, output_mode=1, output_dir=tmp_path / "save") as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        frames(shard, 1)
        shard.close()
        successor = running.boss.join("shard", 0)
        (again,) = frames(successor, 1)
        written(successor, again)
        frames(successor, 1)
        give(successor, 2, b"no links", epoch=EPOCH + 1)
        frames(successor, 1)
    (notes,) = (tmp_path / "stored").iterdir()
    answered = [data for kind, data, _ in unpack(notes.read_bytes()) if kind == Note.ANSWERED]
    assert b"".join(answered) == (2).to_bytes(8, "little")


def test_pages_wait_while_a_shard_is_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With too many bytes unanswered nothing is read; it goes on with the answer."""
    monkeypatch.setattr(sockets, "MAX_UNANSWERED_BYTES", 10)
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        (links,) = frames(shard, 1)
        give(shard, 2, b"<a href=http://c.test/>")
        assert not shard.wait(0.05)
        written(shard, links)
        parsed, more = frames(shard, 2)
        if parsed.type == FrameType.LINKS:
            parsed, more = more, parsed
        assert [page.id for page in answers(parsed)] == [1]
        assert urls(more) == [b"http://c.test/"]


def test_a_stop_waits_for_no_answer_that_cannot_come(tmp_path: Path) -> None:
    """Shards end first: a batch that one of them has not written is given up."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        frames(shard, 1)
        shard.close()
        running.boss.tell("stop", drain_s=0)
        assert running.ended()
        assert running.log() == []


def test_a_stop_finishes_what_can_be_finished(tmp_path: Path) -> None:
    """Pages that have come are read and answered while their shard is there."""
    with crawl(tmp_path) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        (links,) = frames(shard, 1)
        running.boss.tell("stop", drain_s=0)
        assert not running.ended(within_s=0.05)
        written(shard, links)
        (frame,) = frames(shard, 1)
        assert len(answers(frame)) == 1
        assert running.ended()


def test_new_sites_are_read(tmp_path: Path) -> None:
    """``lockSite``: the supervisor says when the start hosts are known."""
    with crawl(tmp_path, lock_site=True) as running:
        shard = running.boss.join("shard", 0)
        give(shard, 1, b"<a href=http://b.test/>")
        (frame,) = frames(shard, 1)
        assert answers(frame)[0].filtered == {4: 1}
        (tmp_path / "sites").write_bytes(b"b.test\n")
        running.boss.tell("sites")
        give(shard, 2, b"<a href=http://b.test/>")
        (links,) = frames(shard, 1)
        assert urls(links) == [b"http://b.test/"]
        written(shard, links)
        frames(shard, 1)
