"""larbin's table beside a seen set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from larbinpy.dedup.bitsfile import BitsFile
from larbinpy.dedup.larbinbits import ContinuedSeen, larbin_codes
from larbinpy.dedup.seen import BitsSeen, ExactSeen
from tests.reference.larbinhash import url_code
from tests.reference.linkbuffers import FORCE, Link, group_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HTTPS = 1
TABLE_BYTES = 8_000_000


def table(*files: bytes, host: bytes = b"a.org") -> bytes:
    """A table that knows these files of a host."""
    raw = bytearray(TABLE_BYTES)
    for file in files:
        code = url_code(host, file, 80)
        raw[code >> 3] |= 1 << (code & 7)
    return bytes(raw)


def link(url: bytes, *, flags: int = 0) -> Link:
    """A link to a URL of host a.org."""
    start = 8 if flags & HTTPS else 7
    return Link(url, host_start=start, host_len=5, flags=flags)


def seen(*files: bytes, is_larbin_form: bool = False) -> ContinuedSeen:
    """A set whose table knows these files."""
    return ContinuedSeen(ExactSeen(), table(*files), is_larbin_form=is_larbin_form)


class Log:
    """Stands in for a recovered log that holds one URL."""

    oldest_segment = 1
    is_damaged = False

    def fingerprints(self, since: int = 0) -> Iterator[bytes]:
        yield prints(7)

    def links(self, since: int = 0) -> Iterator[bytes]:
        yield link(b"http://a.org/x").pack()


def prints(*numbers: int) -> bytes:
    """Fingerprints."""
    return b"".join(number.to_bytes(8, "little") for number in numbers)


@pytest.mark.parametrize("is_larbin_form", [False, True])
def test_new_is_what_neither_knows(is_larbin_form: bool) -> None:
    """Each URL once, in the order of the batch."""
    both = seen(b"/old", is_larbin_form=is_larbin_form)
    old, new = link(b"http://a.org/old"), link(b"http://a.org/new")
    links = group_of(old) + group_of(new, new)
    assert bytes([0, 1, 0]) == both.add_links(links, prints(1, 2, 2))
    assert bytes([0, 0, 0]) == both.add_links(links, prints(1, 2, 2))


@pytest.mark.parametrize("is_larbin_form", [False, True])
def test_forced_is_queued_whatever_the_table_says(is_larbin_form: bool) -> None:
    """And is known from then on."""
    both = seen(b"/old", is_larbin_form=is_larbin_form)
    assert b"\1" == both.add_links(group_of(link(b"http://a.org/old", flags=FORCE)), prints(1))
    assert b"\0" == both.add_links(group_of(link(b"http://a.org/old")), prints(1))


def test_https_is_not_larbins() -> None:
    """larbin saw http only; the twin under https is another URL."""
    both = seen(b"/old")
    links = group_of(link(b"https://a.org/old", flags=HTTPS), link(b"http://a.org/old"))
    assert bytes([1, 0]) == both.add_links(links, prints(1, 2))


@pytest.mark.parametrize(
    ("larbins", "standard"),
    [
        (b"/~x", b"/%7Ex"),
        (b"/a/b", b"/a//b"),
        (b"/%c3%a9", b"/%C3%A9"),
        (b"/a b", b"/a%20b"),
        (b"/a%20b", b"/a%20b"),
        (b'/"', b"/%22"),
    ],
)
def test_url_is_known_by_larbins_form(larbins: bytes, standard: bytes) -> None:
    """Normalised by the URL standard it may look different."""
    assert b"\0" == seen(larbins).add_links(group_of(link(b"http://a.org" + standard)), prints(1))
    assert b"\1" == seen(b"/other").add_links(group_of(link(b"http://a.org" + standard)), prints(1))


def test_url_that_larbin_refuses_has_no_code() -> None:
    """It cannot have been seen."""
    assert larbin_codes(b"http://a.org/%01") == []
    assert larbin_codes(b"") == []


def test_empty_batch() -> None:
    """No links, no answers."""
    assert seen().add_links(b"", b"") == b""


def test_the_set_beside_is_restored_and_saved(tmp_path: Path) -> None:
    """What the log holds is known after a restart; the table needs no segment of it."""
    beside = BitsSeen(BitsFile(tmp_path, bytes(16)))
    both = ContinuedSeen(beside, table(b"/old"), is_larbin_form=True)
    both.restore(Log())
    both.add_written(prints(7))
    assert b"\0" == both.add_links(group_of(link(b"http://a.org/x")), prints(7))
    assert len(both) == 2
    assert both.nbytes > TABLE_BYTES
    both.save(3)
    while not both.needs_from:
        both.save(3)
    assert both.needs_from == 3


def test_table_of_another_size_is_refused() -> None:
    """Only larbin's codes are known."""
    with pytest.raises(ValueError, match="8000000 bytes"):
        ContinuedSeen(ExactSeen(), bytes(8), is_larbin_form=True)
