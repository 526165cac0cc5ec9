"""The places of seeds bound a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from larbinpy import wiring

if TYPE_CHECKING:
    from pathlib import Path


def test_sites_are_kept(tmp_path: Path) -> None:
    """Sorted, replaced as a whole; none before the first crawl."""
    assert wiring.read_sites(tmp_path) == set()
    wiring.write_sites(tmp_path, {b"b.test/", b"a.test/d/"})
    assert (tmp_path / "sites").read_bytes() == b"a.test/d/\nb.test/\n"
    assert wiring.read_sites(tmp_path) == {b"a.test/d/", b"b.test/"}
    (tmp_path / "sites").write_bytes(b"a.test\n")  # as an earlier version wrote it
    assert wiring.read_sites(tmp_path) == {b"a.test/"}
