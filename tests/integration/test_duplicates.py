"""Pages with the body of another are neither stored nor followed; near ones are told apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.cli import main
from tests.integration.sites import Crawls, Site

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b'<html><body>Page %d <a href="/next%d">next</a></body></html>'


@pytest.mark.parametrize(("digest", "equal"), [("exact", PAGE % (1, 1)), ("larbin", PAGE % (2, 2))])
def test_duplicates_are_dropped_and_known_after_a_restart(
    digest: str, equal: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
    repeats = asked(tmp_path / "state", site.url("/c"), capsys)["repeats"]
    assert repeats["url"] == site.url("/a")


def asked(state: Path, url: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What ``larbinpy why`` says of a URL."""
    capsys.readouterr()
    assert main(["why", "--state", str(state), "--json", url]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


TEXT = b" ".join(b"word%d" % number for number in range(200))
NEAR = {
    "/a": TEXT + b"<a href=/b></a><a href=/next1></a>",
    "/b": TEXT.replace(b"word100", b"other") + b"<a href=/next2></a>",
    "/next1": b"<p>Few words.",
    "/next2": TEXT[::-1],
}


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ("no", ["/a", "/b", "/next1", "/next2"]),
        ("log", ["/a", "/b", "/next1", "/next2"]),
        ("leave", ["/a", "/b", "/next1"]),
    ],
)
def test_near_duplicates_are_told(mode: str, asked: list[str], tmp_path: Path) -> None:
    """In crawl.log, and their links are left if that is wished; beside ``pageNoDuplicate``."""
    keys = {"nearDuplicates": mode, "pageNoDuplicate": "yes", "outputMode": "1"}
    crawls = Crawls(tmp_path / "state", tmp_path / "save", keys)
    with Site(NEAR) as site:
        report = crawls.run(site.url("/a"))
    assert sorted(site.asked) == asked
    assert report["outcomes"] == {"success": len(asked)}
    assert report["counters"]["near_duplicates"] == (mode != "no")
    lines = {line["url"].rpartition("/")[2]: line for line in crawls.log()}
    if mode == "no":
        assert {(line["simhash"], line["near"]) for line in lines.values()} == {(None, None)}
        return
    assert lines["b"]["near"] == lines["a"]["id"]
    assert [name for name, line in lines.items() if line["near"]] == ["b"]
    assert [name for name, line in lines.items() if not line["simhash"]] == ["next1"]
    values = [int(lines[name]["simhash"], 16) for name in "ab"]
    assert 0 < (values[0] ^ values[1]).bit_count() <= 10
