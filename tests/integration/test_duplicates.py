"""``pageNoDuplicate``: a page with the body of another is neither stored nor followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.sites import Crawls, Site

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b'<html><body>Page %d <a href="/next%d">next</a></body></html>'


@pytest.mark.parametrize(("digest", "equal"), [("exact", PAGE % (1, 1)), ("larbin", PAGE % (2, 2))])
def test_duplicates_are_dropped_and_known_after_a_restart(
    digest: str, equal: bytes, tmp_path: Path
) -> None:
    """By the bytes, or by larbin's hash, which does not see digits."""
    crawls = Crawls(
        tmp_path / "state",
        tmp_path / "save",
        {"pageNoDuplicate": "yes", "pageDigest": digest, "outputMode": "1"},
    )
    with Site({"/a": PAGE % (1, 1), "/b": equal, "/c": equal, "/d": b"<p>Other"}) as site:
        crawls.run(site.url("/a"))
        crawls.run(site.url("/b"))
        report = crawls.run(site.url("/c"), site.url("/d"))
    assert report["outcomes"] == {"success": 2, "err40X": 1, "duplicate": 2}
    assert sorted(site.asked) == ["/a", "/b", "/c", "/d", "/next1"]
    stored = [path.read_bytes() for path in sorted(tmp_path.glob("save/d*/f*"))]
    assert stored == [PAGE % (1, 1), b"<p>Other"]
    prefix = {line["digest"].partition(":")[0] for line in crawls.log() if line["digest"]}
    assert prefix == {"xxh3-128" if digest == "exact" else "larbin"}
