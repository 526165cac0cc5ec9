"""The index of crawl.log: it follows the log whatever happens, and never lies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from larbinpy.store import crawlindex
from larbinpy.store.crawlindex import ENTRY_BYTES, NAME, first_page, lines_of
from larbinpy.store.crawllog import CrawlLog
from tests.reference.logindex import ENTRY

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(16))


def line(n: int, more: bytes = b"") -> bytes:
    return b'{"ts":"x","url":"http://h/%d","via":"http://h/0"%b}\n' % (n, more)


def append(log: Path, *lines: bytes, is_trusted: bool = True) -> None:
    writer = CrawlLog(log, KEY, is_trusted=is_trusted)
    writer.append(b"".join(lines))
    writer.close()


def found(log: Path, n: int) -> list[bytes]:
    """The lines of a URL; each lies where it is said to lie."""
    lines = lines_of(log, KEY, b"http://h/%d" % n)
    data = log.read_bytes()
    assert all(data[start : start + len(text)] == text for start, text in lines)
    return [text for _, text in lines]


def index_of(log: Path) -> Path:
    return log.with_name(NAME)


def is_whole(log: Path) -> bool:
    """Whether the index knows every line."""
    entries = list(ENTRY.iter_unpack(index_of(log).read_bytes()))
    return len(entries) == log.read_bytes().count(b"\n") and entries[-1][-1] == log.stat().st_size


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.log"
    append(path, *map(line, range(5)))
    append(path, line(2, b',"attempt":1'), line(5))
    return path


def test_all_lines_of_a_url_are_found(log: Path) -> None:
    """In their order, and no others."""
    assert found(log, 2) == [line(2), line(2, b',"attempt":1')]
    assert found(log, 9) == []
    assert is_whole(log)


def test_a_state_without_a_log_has_no_lines(tmp_path: Path) -> None:
    """Nothing was asked yet."""
    assert lines_of(tmp_path / "crawl.log", KEY, b"http://h/1") == []


def page(n: int, digest: int, outcome: bytes = b"success") -> bytes:
    return b'{"url":"http://h/%d","outcome":"%b","digest":"xxh3-128:%d"}\n' % (n, outcome, digest)


@pytest.mark.parametrize("is_indexed", [True, False])
def test_the_first_page_with_a_digest_is_found(tmp_path: Path, is_indexed: bool) -> None:
    """The first that was fetched well, whatever stands before it, with an index or without."""
    log = tmp_path / "crawl.log"
    lines = [page(1, 8), page(2, 7, b"duplicate"), page(3, 7), page(4, 7)]
    append(log, *lines)
    if not is_indexed:
        index_of(log).unlink()
    assert first_page(log, KEY, b"xxh3-128:7") == (len(lines[0] + lines[1]), lines[2])
    assert first_page(log, KEY, b"xxh3-128:9") is None
    assert first_page(tmp_path / "none.log", KEY, b"xxh3-128:9") is None


@pytest.mark.parametrize("kept", [0, 1, 15, 16, 40, 64])
def test_an_index_that_fell_behind_catches_up(log: Path, kept: int) -> None:
    """A writer was killed between the log and the index, or in the index."""
    os.truncate(index_of(log), kept)
    assert found(log, 5) == [line(5)]
    append(log, line(6))
    assert is_whole(log)
    assert [found(log, n) for n in (0, 4, 6)] == [[line(0)], [line(4)], [line(6)]]


def test_an_index_that_is_ahead_is_cut(log: Path) -> None:
    """The machine went down, and the log lost more than the index."""
    os.truncate(log, log.stat().st_size - len(line(5)) - 3)
    append(log, line(7))
    assert is_whole(log)
    assert found(log, 2) == [line(2)]


def test_a_long_log_is_not_indexed_afterwards(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much for an append is searched itself, and nothing is missed."""
    index_of(log).unlink()
    monkeypatch.setattr(crawlindex, "MAX_CATCH_UP", 20)
    append(log, line(8), line(2, b"!"))
    assert index_of(log).stat().st_size == ENTRY_BYTES
    assert found(log, 2) == [line(2), line(2, b',"attempt":1'), line(2, b"!")]
    assert found(log, 8) == [line(8)]


def test_without_an_index_the_log_is_searched(log: Path) -> None:
    """It may be deleted at any time."""
    index_of(log).unlink()
    assert found(log, 3) == [line(3)]


def test_an_index_with_holes_is_not_believed(log: Path) -> None:
    """Zeros are what a lost block leaves; the next start that has reason to looks for them."""
    data = bytearray(index_of(log).read_bytes())
    data[16:48] = bytes(32)
    index_of(log).write_bytes(data)
    assert found(log, 2) == [line(2), line(2, b',"attempt":1')]
    append(log, line(6), is_trusted=False)
    assert is_whole(log)


def test_lines_are_indexed_while_the_log_grows(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every so many bytes; what is behind the index is found all the same."""
    monkeypatch.setattr(crawlindex, "STEP_BYTES", 2 * len(line(1)))
    writer = CrawlLog(log, KEY)
    writer.append(line(6))
    assert not is_whole(log)
    assert found(log, 6) == [line(6)]
    writer.append(line(7))
    assert is_whole(log)
    writer.close()


def test_a_torn_line_is_no_line(log: Path) -> None:
    """A writer died in it."""
    with log.open("ab") as file:
        file.write(line(9)[:-1])
    assert found(log, 9) == []


def test_a_disk_that_refuses_the_index_stops_nothing(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log takes the line, and the index has it later."""
    write = os.write

    def only_the_log(fd: int, data: bytes) -> int:
        if len(data) % ENTRY_BYTES == 0 and b"url" not in bytes(data):
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(os, "write", only_the_log)
    append(log, line(6))
    monkeypatch.undo()
    assert not is_whole(log)
    assert found(log, 6) == [line(6)]
    append(log, line(7))
    assert is_whole(log)
