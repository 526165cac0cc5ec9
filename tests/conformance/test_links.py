"""The pages of the link corpus: every link of the listed kinds, in order, and their encodings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from larbinpy import url
from larbinpy.cli import main
from larbinpy.links.found import with_refreshes_to
from larbinpy.parse.charset import find_encoding
from larbinpy.parse.html import read
from tests.conformance.shared import data
from tests.reference.linkbuffers import read_found, read_resolved

if TYPE_CHECKING:
    from pathlib import Path

Page = dict[str, Any]  # as the JSON has it
ELEMENTS: Final = {
    1: "a", 2: "area", 3: "link", 4: "base", 5: "frame", 6: "iframe", 7: "img", 8: "script",
    9: "source", 10: "meta",
}  # fmt: skip
ATTRIBUTES: Final = {1: "href", 2: "src", 3: "srcset", 4: "content"}
REL_NOFOLLOW: Final = 1
OK: Final = 0
UNFETCHABLE: Final = (1, 4)


def pages() -> list[Page]:
    """All pages of the corpus."""
    found: list[Page] = json.loads(data("links/expected.json").read_bytes())
    return found


def body_of(page: Page) -> bytes:
    """The page's bytes."""
    return data(f"links/{page['file']}").read_bytes()


def merged_links(page: Page) -> list[list[str | None]]:
    """The page's links with those of SVG at their places; an xlink:href is listed as href."""
    merged: list[list[str | None]] = []
    svg = page.get("svg", [])
    for position in range(len(page["links"]) + 1):
        merged += [[tag, "href", *rest] for before, tag, _, *rest in svg if before == position]
        merged += page["links"][position : position + 1]
    return merged


def expected_links(page: Page) -> list[list[str | None]]:
    """Tag, attribute and value of each link of the page."""
    return [link[:3] for link in merged_links(page)]


def found_links(page: Page) -> list[list[str]]:
    """What larbinpy finds, without the kinds that the corpus leaves out."""
    reading = read(body_of(page), page["content_type"].encode())
    return [
        [ELEMENTS[element], ATTRIBUTES[attribute], value.decode()]
        for element, attribute, _, value in read_found(reading.links)
        if element in ELEMENTS
    ]


def test_every_link_is_found_in_order() -> None:
    """All pages give exactly the expected links."""
    wrong = [page["file"] for page in pages() if found_links(page) != expected_links(page)]
    assert wrong == []


def test_every_encoding_is_found() -> None:
    """All pages have the expected encoding, found in the expected place."""
    wrong = [
        (page["file"], found)
        for page in pages()
        if (found := find_encoding(page["content_type"].encode(), body_of(page)))
        != (page["encoding"], page["encoding_from"])
    ]
    assert wrong == []


def test_rel_nofollow_is_seen() -> None:
    """The nofollow bit stands exactly at the links whose rel has that word."""
    for page in pages():
        if "svg" in page:
            continue
        links = read_found(read(body_of(page), page["content_type"].encode()).links)
        listed = [rel for element, _, rel, _ in links if element in ELEMENTS]
        expected = [
            "nofollow" in page.get("rel", {}).get(str(index), "").lower().split()
            for index in range(len(listed))
        ]
        assert expected == [bool(rel & REL_NOFOLLOW) for rel in listed], page["file"]


def wrong_urls(page: Page) -> list[tuple[str, str | None, tuple[int, bytes]]]:
    """The links of a page that resolve to something else than they should, with those of SVG."""
    reading = read(body_of(page), page["content_type"].encode())
    items = read_found(reading.links)
    base = url.base_of(page["base_url"].encode())
    assert base is not None, page["file"]
    links = with_refreshes_to(page["url"].encode(), reading.links)
    packed = url.resolve(base, links, reading.encoding)
    resolved = [
        (link.status, link.url)
        for (element, *_), link in zip(items, read_resolved(packed), strict=True)
        if element in ELEMENTS and element != 4  # base resolves against the page itself
    ]
    expected = [link[3] for link in merged_links(page) if link[0] != "base"]
    pairs = zip(expected, resolved, strict=True)
    return [(page["file"], *pair) for pair in pairs if differ(*pair)]


def test_every_link_resolves() -> None:
    """All links resolve against their page's base to the expected URL."""
    assert [fault for page in pages() for fault in wrong_urls(page)] == []


@pytest.mark.parametrize("part", range(4))
def test_the_command_prints_the_corpus(
    part: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``larbinpy links`` prints value and url of every listed link exactly, in its order."""
    monkeypatch.chdir(tmp_path)
    wrong = []
    for page in pages()[part::4]:
        file = str(data(f"links/{page['file']}"))
        assert main(["links", "--url", page["url"], "--type", page["content_type"], file]) == 0
        printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        listed = [
            [line["element"], line["attribute"], line["value"], line["url"]]
            for line in printed
            if line["element"] in ELEMENTS.values()
            and line["attribute"] in ATTRIBUTES.values()
            and (line["element"], line["attribute"]) != ("source", "src")
        ]
        if listed != merged_links(page):
            wrong.append(page["file"])
        links = [line for line in printed if line["element"] in ("a", "area", "link")]
        rels = [line["rel"] for line in links if line["rel"] is not None]
        if "svg" not in page and rels != list(page.get("rel", {}).values()):
            wrong.append(page["file"])
    assert wrong == []


def without_user(url: str) -> str:
    """User information of found links is dropped, so that no page makes us log in anywhere."""
    scheme, slashes, rest = url.partition("//")
    authority, slash, path = rest.partition("/")
    return scheme + slashes + authority.rpartition("@")[2] + slash + path


def differ(expected: str | None, found: tuple[int, bytes]) -> bool:
    """Whether a resolved link is wrong: URLs of other schemes and too long ones are not kept."""
    status, url = found
    if status == OK:
        return expected is None or without_user(expected.split("#")[0]) != url.decode()
    if expected is None:
        return status not in UNFETCHABLE
    return expected.startswith(("http:", "https:")) and len(expected) <= 2083
