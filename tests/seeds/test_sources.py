"""Seeds are streamed line by line, and each knows where it stood."""

from __future__ import annotations

import io
import itertools
import sys
from pathlib import Path

import pytest

from larbinpy.errors import ConfigError
from larbinpy.seeds import sources
from larbinpy.seeds.sources import MAX_LINE_BYTES, Seed


def of(path: Path, data: bytes) -> list[Seed]:
    path.write_bytes(data)
    return list(sources.from_file(path))


def test_given_urls() -> None:
    """Those of the configuration have no line."""
    assert list(sources.given([b"http://a/", b"http://b/"])) == [
        Seed(b"http://a/", "startUrl"),
        Seed(b"http://b/", "startUrl"),
    ]


def test_lines_of_a_file(tmp_path: Path) -> None:
    """Blank lines and comments are passed over and still counted; the last may lack its end."""
    path = tmp_path / "seeds"
    assert of(path, b"http://a/\n\n  # no\n\thttp://b/ \r\n#\nhttp://c/#d") == [
        Seed(b"http://a/", f"{path}:1"),
        Seed(b"http://b/", f"{path}:4"),
        Seed(b"http://c/#d", f"{path}:6"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_url(tmp_path: Path) -> None:
    """Editors put it there."""
    path = tmp_path / "seeds"
    assert of(path, b"\xef\xbb\xbfhttp://a/\n") == [Seed(b"http://a/", f"{path}:1")]


def test_an_empty_file(tmp_path: Path) -> None:
    """No seeds, no fault."""
    assert of(tmp_path / "seeds", b"") == []


@pytest.mark.parametrize("more", [-1, 0, 1, MAX_LINE_BYTES, 3 * MAX_LINE_BYTES])
def test_a_line_that_is_too_long_costs_only_itself(tmp_path: Path, more: int) -> None:
    """Its head is handed out once, and the next line is found, with its number."""
    path = tmp_path / "seeds"
    line = b"x" * (MAX_LINE_BYTES + more)
    seeds = of(path, line + b"\nhttp://b/\n")
    assert seeds == [
        Seed(line[:MAX_LINE_BYTES], f"{path}:1"),
        Seed(b"http://b/", f"{path}:2"),
    ]


def test_a_long_line_at_the_end(tmp_path: Path) -> None:
    """It needs no line end."""
    assert len(of(tmp_path / "seeds", b"x" * (2 * MAX_LINE_BYTES))) == 1


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The text names the key and the file."""
    with pytest.raises(ConfigError, match=r"seedFile: .*missing: No such file"):
        list(sources.from_file(tmp_path / "missing"))
    with pytest.raises(ConfigError, match="Is a directory"):
        list(sources.from_file(tmp_path))


class Endless(io.RawIOBase):
    """A pipe that never ends."""

    def __init__(self) -> None:
        self.lines = 0

    def readline(self, size: int | None = -1) -> bytes:
        self.lines += 1
        return b"http://a/%d\n" % self.lines


def test_standard_input_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more lines are read than seeds are asked for."""
    endless = Endless()
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": endless}))
    seeds = list(itertools.islice(sources.from_file(Path("-")), 3))
    assert seeds[-1] == Seed(b"http://a/3", "standard input:3")
    assert endless.lines == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"http://me:secret@a.test/", True),
        (b"HTTPS:\\\\me@a.test", True),
        (b"http://a.test/@me", False),
        (b"http://a.test?me@b.test", False),
        (b"http://a.test#me@b.test", False),
        (b"http://@a.test/", False),
        (b"ftp://me:secret@a.test/", False),
    ],
)
def test_a_user_stands_before_the_host(text: bytes, expected: bool) -> None:
    """Nowhere else."""
    assert Seed(text, "").has_user == expected


def test_what_is_shown_of_a_seed() -> None:
    """A line of ASCII."""
    assert Seed(b"http:/\xff" + b"x" * 100, "").shown == "http:/\\xff" + "x" * 73
