"""``larbinpy links`` prints what a parser sees, and the verdicts of a crawl's own filter."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import url as urls
from larbinpy.cli import main
from larbinpy.cli.href import href
from tests.conformance.shared import data

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b"""<!doctype html><html><head><base href="/b/"><style>@import "s.css";</style></head><body>
<a href="x?a=1&amp;b=2#f" rel="nofollow  me">A <b>bold</b>
 text</a><img src=i.png alt="an image"><a href=mailto:a@b>m</a><form action=go></form>
<video src=v poster=p><source src=s></video><div style="background: url('d.png')">
<a href=e.zip>z</a><a href="http://[bad">bad</a><img src=""></div>"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command on a page, in a directory without a configuration or a state."""

    def ran(page: bytes, *options: str) -> list[dict[str, Any]]:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "page.html").write_bytes(page)
        assert main(["links", "--url", "http://h.example/dir/p", *options, "page.html"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return ran


def test_all_listed_elements_are_printed_in_order(run: Any) -> None:
    """Followed or not, ``base`` too, URLs in CSS at their places."""
    found = run(PAGE, "--set", "getCGI", "--set", "forbiddenExtensions=.zip")
    listed = [(one["element"], one["attribute"], one["value"], one["verdict"]) for one in found]
    assert listed == [
        ("base", "href", "/b/", "element"),
        ("style", None, "s.css", "element"),
        ("a", "href", "x?a=1&b=2#f", "nofollow"),
        ("img", "src", "i.png", "element"),
        ("a", "href", "mailto:a@b", "scheme"),
        ("form", "action", "go", "element"),
        ("video", "src", "v", "element"),
        ("video", "poster", "p", "element"),
        ("source", "src", "s", "element"),
        ("div", "style", "d.png", "element"),
        ("a", "href", "e.zip", "extension"),
        ("a", "href", "http://[bad", "invalid"),
        ("img", "src", "", "empty"),
    ]
    assert {tuple(one) for one in found} == {
        ("element", "attribute", "value", "url", "rel", "text", "verdict")
    }


def test_url_rel_and_text(run: Any) -> None:
    """The URL in full, rel as written, text without its line ends; null where there is none."""
    found = {one["value"]: one for one in run(PAGE)}
    assert found["x?a=1&b=2#f"]["url"] == "http://h.example/b/x?a=1&b=2#f"
    assert (found["x?a=1&b=2#f"]["rel"], found["x?a=1&b=2#f"]["text"]) == (
        "nofollow  me", "A bold text"
    )  # fmt: skip
    assert (found["i.png"]["rel"], found["i.png"]["text"]) == (None, "an image")
    assert found["mailto:a@b"]["url"] == "mailto:a@b"
    assert (found["http://[bad"]["url"], found[""]["url"]) == (None, None)
    assert (found["d.png"]["url"], found["d.png"]["text"]) == ("http://h.example/b/d.png", None)


def test_the_configuration_decides(run: Any, tmp_path: Path) -> None:
    """The default file, another one, and single keys, as for a crawl."""
    page = b"<a href=/x?y>1</a><a href=http://other.example/>2</a>"
    assert [one["verdict"] for one in run(page)] == ["cgi", "followed"]
    assert [one["verdict"] for one in run(page, "--set", "noExternalLinks")] == ["cgi", "outSite"]
    (tmp_path / "larbin.conf").write_text("getCGI\n")
    assert [one["verdict"] for one in run(page)] == ["followed", "followed"]
    (tmp_path / "other.conf").write_text("getCGI\nlimitToDomain .other.example other.example end\n")
    found = run(page, "--config", "other.conf")
    assert [one["verdict"] for one in found] == ["outSite", "followed"]


def test_links_behind_the_limit_are_printed(run: Any) -> None:
    """linksPerPage is a filter like others; URLs in CSS do not count for it."""
    page = b"<a href=1></a><div style='x:url(0)'></div><a href=2></a><a href=3></a>"
    found = run(page, "--set", "linksPerPage=2")
    verdicts = ["followed", "element", "followed", "linksPerPage"]
    assert verdicts == [one["verdict"] for one in found]


def test_a_link_that_is_repeated_is_followed(run: Any) -> None:
    """A verdict is that of the filters: that it stood there before is none of them."""
    assert [one["verdict"] for one in run(b"<a href=1></a><a href=1></a>")] == ["followed"] * 2


def test_the_type_gives_the_encoding(run: Any) -> None:
    """Queries are written in the encoding of the document, as the crawl does it."""
    page = b"<a href='?q=\xe9#\xe9'>\xe9</a>"
    (found,) = run(page, "--type", "text/html; charset=iso-8859-1")
    assert (found["value"], found["text"]) == ("?q=é#é", "é")
    assert found["url"] == "http://h.example/dir/p?q=%E9#%C3%A9"


def test_the_language_of_a_link_is_told(run: Any) -> None:
    """Behind the named fields, where there is one."""
    page = b'<link rel=alternate hreflang="de-AT" href=/de><a hreflang="" href=/x>x</a><a href=/y>'
    assert [one.get("hreflang") for one in run(page)] == ["de-AT", "", None]
    assert list(run(page)[0])[:7] == [
        "element", "attribute", "value", "url", "rel", "text", "verdict"
    ]  # fmt: skip


def test_what_a_page_says_of_itself(run: Any) -> None:
    """One line, null where it says nothing; robots by everybody's name and by ours."""
    page = (
        b"<html lang=fr><meta charset=iso-8859-1><title> \xe9t\xe9\n 1</title><base href=/b/>"
        b"<link rel=canonical href=/c><meta name=LARBIN content=nofollow>"
    )
    (found,) = run(page, "--about")
    assert found == {
        "encoding": "windows-1252", "encoding_from": "meta", "title": "été 1", "language": "fr",
        "canonical": "/c", "robots": "nofollow", "base": "/b/",
    }  # fmt: skip
    (nothing,) = run(b"", "--about")
    assert set(nothing.values()) == {nothing["encoding"], "none", None}


def test_style_sheets_are_read(run: Any) -> None:
    """With their type; they have neither element nor attribute."""
    (found,) = run(b"a { b: url(c.png) }", "--type", "text/css")
    assert (found["element"], found["url"]) == (None, "http://h.example/dir/c.png")


def test_standard_input(
    run: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``-`` reads it."""
    run(b"")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"<a href=x>")))
    assert main(["links", "--url", "http://h.example/", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["url"] == "http://h.example/x"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--url", "ftp://h.example/", "page.html"], "no http or https URL"),
        (["--url", "http://h.example/", "none.html"], "cannot be read"),
        (["--url", "http://h.example/", "--type", "image/png", "page.html"], "neither HTML, CSS"),
        (["page.html"], "--url"),
    ],
)
def test_what_cannot_be_used_is_named(
    words: list[str], text: str, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line on standard error, and the code of a usage error."""
    run(b"")
    assert main(["links", *words]) == 2
    assert text in capsys.readouterr().err


def test_full_urls_agree_with_the_crawls() -> None:
    """Without fragment and user info, both write every URL that a crawl would take alike."""
    wrong = []
    for case in json.loads(data("url/urltestdata.json").read_bytes()):
        if isinstance(case, str):
            continue
        base = case["base"] or "http://base.example/"
        found = urls.parse(case["input"], base.encode("utf-8", "replace"))
        if found is None or urls.base_of(base.encode("utf-8", "replace")) is None:
            continue
        value = case["input"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        full = href(value, base, "UTF-8")
        scheme, _, rest = (full or "").partition("#")[0].partition("//")
        authority, slash, path = rest.partition("/")
        if scheme + "//" + authority.rpartition("@")[2] + slash + path != found.url.decode():
            wrong.append((case["input"], base, full, found.url))
    assert wrong == []
