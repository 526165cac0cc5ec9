"""``larbinpy links`` on documents that are no HTML."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy.cli import main

if TYPE_CHECKING:
    from pathlib import Path

OWN = "http://h.example/dir/1?a=1&b=2#f"
MAP = b"<urlset><url><loc> http://h.example/dir/1?a=1&amp;b=2#f </loc></url><url><loc>http://o.example/</loc></url></urlset>"
ATOM = b"<feed xml:base=/b/><link rel=alternate href=x /><a:link rel=enclosure href=m /></feed>"
SITEMAPS = ("--set", "useSitemaps", "--set", "getCGI")


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command on a document; XML, unless the options say something else."""

    def ran(body: bytes, *options: str, type_: str = "application/xml") -> list[dict[str, Any]]:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "file").write_bytes(body)
        words = ["links", "--url", "http://h.example/dir/p", "--type", type_, *options, "file"]
        assert main(words) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return ran


def verdicts(found: list[dict[str, Any]]) -> list[str]:
    return [one["verdict"] for one in found]


def test_a_sitemap_may_list_its_own_host(run: Any) -> None:
    """Element as it is called, value as it stands there, URL in full, verdict of the parser."""
    first, other = run(MAP, *SITEMAPS)
    assert first == {
        "element": "loc", "attribute": None, "value": OWN, "url": OWN, "rel": None, "text": None,
        "verdict": "followed",
    }  # fmt: skip
    assert (other["url"], other["verdict"]) == ("http://o.example/", "outSite")


def test_what_is_not_read_names_its_key(run: Any) -> None:
    """Its links are printed all the same."""
    assert verdicts(run(MAP)) == ["useSitemaps"] * 2
    assert verdicts(run(MAP, "--sitemap")) == ["useSitemaps"] * 2
    assert verdicts(run(ATOM, "--set", "useFeeds=no")) == ["useFeeds"]
    assert verdicts(run(b"<x href=/1 />")) == ["plainLinks"]
    assert verdicts(run(b"see http://o.example/", type_="text/plain")) == ["plainLinks"]


def test_feeds_and_other_xml(run: Any) -> None:
    """Relative to their xml:base; attribute and rel as written."""
    (link,) = run(ATOM, type_="application/atom+xml; charset=utf-8")
    assert link == {
        "element": "link", "attribute": "href", "value": "x", "url": "http://h.example/b/x",
        "rel": "alternate", "text": None, "verdict": "followed",
    }  # fmt: skip
    nested = ATOM.replace(b"<link", b"<link href=1 /><entry xml:base=c/><link")
    found = run(nested, type_="application/atom+xml; charset=utf-8")
    assert [one["url"] for one in found] == ["http://h.example/b/1", "http://h.example/b/c/x"]
    found = run(b"<a><b:img src='1'/><c>http://o.example/</c></a>", "--set", "plainLinks")
    assert [(one["element"], one["attribute"], one["value"]) for one in found] == [
        ("img", "src", "1"), ("c", None, "http://o.example/")
    ]  # fmt: skip


def test_texts(run: Any) -> None:
    """Each absolute URL; they have neither element nor attribute."""
    (found,) = run(b"see http://o.example/x.", "--set", "plainLinks", type_="text/plain")
    assert (found["element"], found["url"]) == (None, "http://o.example/x")
    assert found["verdict"] == "followed"


@pytest.mark.parametrize("body", [MAP, gzip.compress(MAP), OWN.encode() + b"\nhttp://o.example/\n"])
def test_a_sitemap_in_any_form(run: Any, body: bytes) -> None:
    """Packed, or a text, whatever its type, when it is said to be one."""
    found = run(body, "--sitemap", *SITEMAPS, type_="application/octet-stream")
    assert [(one["value"], one["verdict"]) for one in found] == [
        (OWN, "followed"), ("http://o.example/", "outSite")
    ]  # fmt: skip


def test_links_behind_the_limit_are_printed(run: Any) -> None:
    """With the key that is the limit."""
    assert verdicts(run(MAP, *SITEMAPS, "--set", "linksPerPage=1")) == ["followed", "linksPerPage"]


def test_what_is_no_sitemap_is_refused(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """As the crawl would refuse it."""
    run(b"")
    assert main(["links", "--url", "http://h.example/", "--sitemap", "file"]) == 2
    assert "a crawl would not read this page: badType" in capsys.readouterr().err
