"""Which table takes a URL for one that was seen, though its record was never written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from larbinpy._native.larbinhash import BitTable, url_code
from larbinpy.dedup.bitsfile import LARBIN_NAME, NAME, BitsFile
from larbinpy.dedup.bloom import BloomFiles
from larbinpy.dedup.taken import table_with
from tests.reference.linkbuffers import Link

if TYPE_CHECKING:
    from pathlib import Path

UUID, BOOT, HTTPS = bytes(range(16)), "0f1e2d3c", 1


def link(url: bytes, flags: int = 0) -> bytes:
    start = url.index(b"//") + 2
    return Link(url, 99, host_start=start, host_len=5, flags=flags).pack()


def keep(directory: Path, name: str, *files: bytes) -> None:
    table = BitTable()
    for file in files:
        table.add(url_code(b"a.org", file, 80))
    saved = BitsFile(directory, UUID, name=name)
    saved.save(table.to_bytes(), 1)
    saved.settle(wait=True)


ask = partial(table_with, key=UUID, seen_set="exact", is_larbin_form=False, boot_id=BOOT)


def test_nothing_takes_it_without_tables(tmp_path: Path) -> None:
    """Whatever the seen set is."""
    for kind in ("exact", "bits", "bloom"):
        assert ask(tmp_path, link=link(b"http://a.org/1"), seen_set=kind) is None


def test_the_seen_set_is_asked_when_it_is_bits(tmp_path: Path) -> None:
    """Its table is that of larbin's codes."""
    keep(tmp_path, NAME, b"/1")
    assert ask(tmp_path, link=link(b"http://a.org/1"), seen_set="bits") == tmp_path / NAME
    assert ask(tmp_path, link=link(b"http://a.org/2"), seen_set="bits") is None
    assert ask(tmp_path, link=link(b"http://a.org/1")) is None


@pytest.mark.parametrize("is_larbin_form", [False, True])
def test_larbins_table_is_asked_too(tmp_path: Path, is_larbin_form: bool) -> None:
    """Beside a seen set of another kind, and by larbin's form of the URL."""
    keep(tmp_path, LARBIN_NAME, b"/1")
    asked = partial(ask, tmp_path, is_larbin_form=is_larbin_form)
    assert asked(link=link(b"http://a.org/1")) == tmp_path / LARBIN_NAME
    assert asked(link=link(b"http://a.org/2")) is None


def test_larbin_knew_no_https(tmp_path: Path) -> None:
    """A URL that it could not ask for was not seen."""
    keep(tmp_path, LARBIN_NAME, b"/1")
    assert ask(tmp_path, link=link(b"https://a.org/1", HTTPS)) is None


def test_filters_are_asked_while_they_are_believed(tmp_path: Path) -> None:
    """Those of another boot will be made anew."""
    files = BloomFiles(tmp_path, capacity=1000, rate=0.001, boot_id=BOOT)
    files.add((99).to_bytes(8, "little"))
    files.trust()
    asked = partial(ask, tmp_path, link=link(b"http://a.org/1"), seen_set="bloom")
    assert asked() == tmp_path / "seen-0.bloom"
    assert asked(boot_id="another") is None
    files.close()
    (tmp_path / "seen-0.bloom").write_bytes(b"damaged")
    assert asked() is None
