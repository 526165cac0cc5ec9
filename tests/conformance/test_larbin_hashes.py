"""Hash codes against outputs of the real larbin."""

from __future__ import annotations

import re
import struct

from larbinpy._native import larbinhash
from tests.conformance.shared import data
from tests.reference.linkbuffers import Link

SERIALIZED = re.compile(rb"\d+ (.*):(\d+)(/.*)")


def rows(name: str) -> list[list[bytes]]:
    """The rows of a table below its heading."""
    lines = data(name).read_bytes().splitlines()
    return [line.split(b"\t") for line in lines if not line.startswith(b"#")]


def parts(serialized: bytes) -> tuple[bytes, bytes, int]:
    """Host, file and port of ``depth host:port/file``."""
    match = SERIALIZED.fullmatch(serialized)
    assert match is not None
    return match[1], match[3], int(match[2])


def test_url_codes_are_larbins() -> None:
    """Each valid URL has the code that larbin gives it."""
    good = [row for row in rows("larbin-url-vectors.tsv") if row[0] == b"OK"]
    expected = [int(row[2]) for row in good]
    actual = [larbinhash.url_code(*parts(row[4])) for row in good]
    assert len(expected) == 27
    assert expected == actual


def test_url_codes_of_link_entries_are_larbins() -> None:
    """The batch call finds host, port and file in the link entries."""
    good = [row for row in rows("larbin-url-vectors.tsv") if row[0] == b"OK"]
    links = [
        Link(row[5], port=port, host_start=7, host_len=len(host))
        for row in good
        for host, _, port in [parts(row[4])]
    ]
    codes = larbinhash.url_codes(b"".join(link.pack() for link in links))
    assert [int(row[2]) for row in good] == list(struct.unpack(f"<{len(good)}I", codes))


def test_host_codes_are_larbins() -> None:
    """Each host has the code that larbin gives it."""
    good = [row for row in rows("larbin-url-vectors.tsv") if row[0] == b"OK"]
    expected = [int(row[3]) for row in good]
    assert expected == [larbinhash.host_code(parts(row[4])[0]) for row in good]


def test_page_codes_are_larbins() -> None:
    """Each page has the code that larbin gives it."""
    table = rows("larbin-page-vectors.tsv")
    expected = [int(code) for code, _ in table]
    actual = [larbinhash.page_code(text.replace(rb"\n", b"\n")) for _, text in table]
    assert len(expected) == 13
    assert expected == actual
