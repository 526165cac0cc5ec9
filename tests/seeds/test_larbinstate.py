"""Reading what a real larbin left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.errors import FormatError, StorageError
from larbinpy.seeds.larbinstate import (
    MAX_LINE_BYTES,
    TABLE_BYTES,
    Fault,
    Queued,
    parse_line,
    queue_files,
    read_queue,
    read_table,
)
from tests.larbinstate import NAMES, lines, unpack
from tests.reference.larbinhash import url_code

if TYPE_CHECKING:
    from pathlib import Path


def items(path: Path, data: bytes, *, has_cookies: bool = False) -> list[Queued | Fault]:
    """What a file with these bytes is read as."""
    path.write_bytes(data)
    return list(read_queue(path, has_cookies=has_cookies))


# --- real states --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_a_real_queue_is_read(name: str, tmp_path: Path) -> None:
    """Written out again they are the lines that larbin wrote."""
    state = unpack(name, tmp_path)
    for path in queue_files(state):
        again = [
            b"%d %b:%d%b" % (item.left, item.host, item.port, item.file)
            for item in read_queue(path, has_cookies=False)
            if isinstance(item, Queued)
        ]
        assert path.read_bytes().splitlines() == again


def test_real_cookies_stand_behind_a_blank(tmp_path: Path) -> None:
    """Of a larbin that ran with ``useCookies``; the table has the codes without them."""
    state = unpack("cookies", tmp_path)
    raw, _ = read_table(state)
    assert raw is not None
    for path in state.glob("fifowait*"):
        for item in read_queue(path, has_cookies=True):
            assert isinstance(item, Queued)
            assert item.has_cookie
            code = url_code(item.host, item.file, item.port)
            assert raw[code >> 3] & 1 << (code & 7)


def test_waiting_files_come_first(tmp_path: Path) -> None:
    """As larbin takes them; each kind by its numbers."""
    names = [path.name for path in queue_files(unpack("fifowait", tmp_path))]
    waiting = [f"fifowait{number:06}" for number in range(6)]
    assert [*waiting, "fifo000006"] == names


@pytest.mark.parametrize(("name", "full"), [("fifo", "fifo*"), ("fifowait", "fifowait*")])
def test_real_table_knows_what_was_queued_before_it_was_saved(
    name: str, full: str, tmp_path: Path
) -> None:
    """So the bits mean what we take them for."""
    state = unpack(name, tmp_path)
    raw, table = read_table(state)
    assert table == "hashtable.bin"
    assert raw is not None
    for line in lines(state, full):
        item = parse_line(line, has_cookies=False)
        assert item is not None
        code = url_code(item.host, item.file, item.port)
        assert raw[code >> 3] & 1 << (code & 7), line


# --- lines --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"5 a.org:80/", Queued(5, b"a.org", 80, b"/")),
        (b"0 a.org:8080/x?q=1 2", Queued(0, b"a.org", 8080, b"/x?q=1 2")),
        (b"3 17 a.org:80/", Queued(3, b"a.org", 80, b"/", tag=b"17")),
        (b"3 0 a.org:80/", Queued(3, b"a.org", 80, b"/")),
        (b"5 user@a.org:80/", Queued(5, b"user@a.org", 80, b"/")),
    ],
)
def test_line(line: bytes, expected: Queued) -> None:
    """Depth, tag, host, port, file; a tag of 0 is none."""
    assert expected == parse_line(line, has_cookies=False)


def test_cookie_stands_behind_a_blank() -> None:
    """Only when larbin ran with cookies; else the blank is part of the URL."""
    line = b"5 a.org:80/x id=1; b=2"
    assert Queued(5, b"a.org", 80, b"/x", has_cookie=True) == parse_line(line, has_cookies=True)
    assert Queued(5, b"a.org", 80, b"/x id=1; b=2") == parse_line(line, has_cookies=False)
    assert Queued(5, b"a.org", 80, b"/x") == parse_line(line[:12], has_cookies=True)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"a.org:80/",
        b"5 a.org/",
        b"5 a.org:/",
        b"5 a.org:80",
        b"5 :80/",
        b"x a.org:80/",
        b"5 a.org:0/",
        b"5 a.org:65536/",
        b"5 a.org:80/a\0b",
        b"5 a b:80/",
        b"5 " + b"a" * 254 + b":80/",
    ],
)
def test_line_that_larbin_did_not_write(line: bytes) -> None:
    """It is no URL."""
    assert parse_line(line, has_cookies=False) is None


def test_torn_last_line_is_a_fault(tmp_path: Path) -> None:
    """Even if it looks like a whole one: its end may be missing."""
    expected = [Queued(5, b"a.org", 80, b"/1"), Fault("torn line")]
    assert expected == items(tmp_path / "fifo000000", b"5 a.org:80/1\n5 a.org:80/2")


def test_bad_line_costs_only_itself(tmp_path: Path) -> None:
    """One item a line, also where a line is too long to be held."""
    data = (
        b"5 a.org:80/1\n\xff\0\n" + b"5 a.org:80/" + b"x" * 3 * MAX_LINE_BYTES + b"\n1 b.org:80/\n"
    )
    expected = [
        Queued(5, b"a.org", 80, b"/1"),
        Fault("not a line of larbin's queue: b'\\xff\\x00\\n'"),
        Fault("line too long"),
        Queued(1, b"b.org", 80, b"/"),
    ]
    assert expected == items(tmp_path / "fifo000000", data)


# --- files --------------------------------------------------------------------------------------


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """Only names that larbin makes."""
    for name in ("fifo", "fifo00001", "fifo0000001", "fifowait00000x", "xfifo000001", "fifo000001"):
        (tmp_path / name).touch()
    assert [tmp_path / "fifo000001"] == queue_files(tmp_path)


def test_missing_directory_is_a_fault(tmp_path: Path) -> None:
    """Named in the message."""
    with pytest.raises(StorageError, match="nowhere: No such file"):
        queue_files(tmp_path / "nowhere")


def test_old_table_stands_in_for_one_cut_short(tmp_path: Path) -> None:
    """larbin died while it saved."""
    (tmp_path / "hashtable.bin").write_bytes(bytes(4096))
    with pytest.raises(FormatError, match="4096 bytes, not 8000000"):
        read_table(tmp_path)
    (tmp_path / "hashtable.old").write_bytes(bytes(TABLE_BYTES))
    assert (bytes(TABLE_BYTES), "hashtable.old") == read_table(tmp_path)


def test_no_table(tmp_path: Path) -> None:
    """A crawl that has not filled its first file has not saved one."""
    assert read_table(tmp_path) == (None, "")
