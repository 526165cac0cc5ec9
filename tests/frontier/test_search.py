"""What a log says of one URL agrees with what is put into it and taken out."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING

import pytest

from larbinpy.frontier import search as searching
from larbinpy.frontier.payloads import HostState, Retry
from larbinpy.frontier.search import is_queued, search
from tests import states
from tests.frontier.logs import UUID, finish, open_log, places_of, put, url_of

if TYPE_CHECKING:
    from pathlib import Path

    from larbinpy.frontier.search import Found


def ask(directory: Path, number: int) -> Found:
    """Search for a URL by its number, which is its fingerprint too."""
    url = url_of(number)
    return search(directory, UUID, number, url.split(b"/")[2], url)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_url_of_a_log_is_found(tmp_path: Path, seed: int) -> None:
    """Waiting, done, done long ago, never seen: whatever was put, done, moved and deleted."""
    rng = random.Random(seed)
    fifo, _ = open_log(tmp_path)
    waiting: dict[int, int] = {}
    for start in range(1, 600, 20):
        numbers = list(range(start, start + 20))
        waiting |= zip(numbers, places_of(put(fifo, numbers)), strict=True)
        for number in rng.sample(sorted(waiting), min(len(waiting), 19)):
            finish(fifo, [waiting.pop(number)])
        fifo.flush()
        for _ in range(5):
            fifo.compact()
        fifo.collect(wait=True)
    fifo.flush()
    assert min(path.name[-9:] for path in tmp_path.glob("*.seg")) > "00001.seg"
    for number in rng.sample(range(1, 601), 200):
        found = ask(tmp_path, number)
        assert found.is_seen, number
        assert found.is_waiting == (number in waiting), number
        assert is_queued(tmp_path, UUID, number), number
    assert not ask(tmp_path, 601).is_seen
    assert not is_queued(tmp_path, UUID, 601)
    fifo.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_ahead_of_a_url_is_counted(tmp_path: Path, seed: int) -> None:
    """The waiting URLs of its host that are older, or newer; through moves and deleted segments."""
    rng = random.Random(seed)
    fifo = states.open_shard(tmp_path, 0)
    waiting: dict[int, int] = {}
    for start in range(0, 600, 20):
        numbers = list(range(start, start + 20))
        waiting |= zip(numbers, states.put(fifo, numbers), strict=True)
        done = rng.sample(sorted(waiting), min(len(waiting), 18))
        states.finish(fifo, [waiting.pop(number) for number in done])
        fifo.flush()
        for _ in range(5):
            fifo.compact()
        fifo.collect(wait=True)
    fifo.close()
    directory = tmp_path / "shard-00"
    assert min(path.name[-9:] for path in directory.glob("*.seg")) > "00001.seg"
    for number, newest_first in product(waiting, (False, True)):
        host, url = states.host_of(number), states.url_of(number)
        found = search(
            directory, states.KEY, states.fingerprint(number), host, url, newest_first=newest_first
        )
        ahead = [n for n in waiting if states.host_of(n) == host and n != number]
        assert found.ahead == sum((n > number) == newest_first for n in ahead)


def test_a_waiting_url_tells_where_it_stands(tmp_path: Path) -> None:
    """Its record, and what is known of its tries and its host."""
    fifo, _ = open_log(tmp_path)
    put(fifo, [5, 6])
    fifo.retry(Retry(fifo.next_lsn - 1, 2, 1_000_000))
    fifo.host(HostState(b"h6.example", 7_000_000, 3, 2))
    fifo.host(HostState(b"h5.example", 8_000_000, 1, 1))
    fifo.flush()
    found = ask(tmp_path, 6)
    assert found.url is not None
    assert (found.url[2], found.url[3]) == (url_of(6), b"http://h1.example/")
    assert found.url_at is not None
    assert found.url_at.path.read_bytes()[found.url_at.offset :].find(url_of(6)) == 60
    assert (found.retry, found.host) == (
        Retry(found.url[0], 2, 1_000_000),
        HostState(b"h6.example", 7_000_000, 3, 2),
    )
    assert ask(tmp_path, 5).retry is None
    fifo.close()


def test_a_done_url_names_its_done(tmp_path: Path) -> None:
    """While both records are in the log."""
    fifo, _ = open_log(tmp_path)
    (place,) = places_of(put(fifo, [5]))
    finish(fifo, [place])
    fifo.flush()
    found = ask(tmp_path, 5)
    assert found.done_at is not None
    assert found.done_at.path.read_bytes()[found.done_at.offset + 8] == 2
    assert not found.is_waiting
    fifo.close()


def test_damage_hides_only_what_is_damaged(tmp_path: Path) -> None:
    """The search goes on behind it."""
    fifo, _ = open_log(tmp_path, segment_bytes=1 << 20)
    put(fifo, [1, 2, 3])
    fifo.close()
    (path,) = tmp_path.glob("*.seg")
    data = bytearray(path.read_bytes())
    at = data.index(url_of(2))
    data[at - 60 : at] = b"\xff" * 60
    path.write_bytes(data)
    assert [ask(tmp_path, number).is_waiting for number in (1, 2, 3)] == [True, False, True]


def test_records_are_found_across_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record may lie on the border of what is read at once."""
    fifo, _ = open_log(tmp_path, segment_bytes=1 << 20)
    put(fifo, range(1, 200))
    fifo.close()
    monkeypatch.setattr(searching, "WINDOW_BYTES", 2000)
    assert all(ask(tmp_path, number).is_waiting for number in range(1, 200, 7))
