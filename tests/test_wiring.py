"""What the configuration makes of the parts of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from larbinpy import url as urls
from larbinpy import wiring
from larbinpy.config import Config, to_json
from larbinpy.links.found import ELEMENT_SEED, LINK_SEED, found_link
from larbinpy.parse.page import HTML_TYPES
from larbinpy.records import PAGE_WATCHED, Directive, Filtered, Outcome
from larbinpy.shared import NEAR_BYTES, CrawlMemory
from larbinpy.state import SUFFIX_LIST
from larbinpy.store.base import Nothing
from larbinpy.store.files import Files
from larbinpy.url import psl_bytes
from larbinpy.wiring import Start
from tests.records import page
from tests.starts import start

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_message_is_read_back(tmp_path: Path) -> None:
    """As it was sent, by way of JSON."""
    config = Config(start_urls=(b"http://a/",), depth_in_site=9)
    fields = {
        "verb": "start", "config": to_json(config), "index": 2, "state": str(tmp_path),
        "uuid": "ab" * 16, "shards": 3, "parsers": 4, "is_trusted": True,
    }  # fmt: skip
    assert Start.read(fields) == Start(config, 2, tmp_path, b"\xab" * 16, 3, 4)


def test_sites_are_kept(tmp_path: Path) -> None:
    """Sorted, replaced as a whole; none before the first crawl."""
    assert wiring.read_sites(tmp_path) == set()
    wiring.write_sites(tmp_path, {b"b.test/", b"a.test/d/"})
    assert (tmp_path / "sites").read_bytes() == b"a.test/d/\nb.test/\n"
    assert wiring.read_sites(tmp_path) == {b"a.test/d/", b"b.test/"}
    (tmp_path / "sites").write_bytes(b"a.test\n")  # as an earlier version wrote it
    assert wiring.read_sites(tmp_path) == {b"a.test/"}


def filtered(start_: Start, url: bytes, flags: int = 0) -> dict[int, int]:
    """Why a link of ``a.test`` is refused."""
    found = found_link(ELEMENT_SEED if flags else 1, url)
    resolved = urls.resolve(urls.Base(b"http://a.test/"), found)
    batch = wiring.make_links(start_).run(resolved, host=b"a.test", depth=0, left=1, flags=flags)
    return dict(batch.filtered)


@pytest.mark.parametrize(
    ("keys", "url", "reason"),
    [
        ({}, b"http://b.test/x", None),
        ({}, b"/x?q", Filtered.CGI),
        ({"get_cgi": True}, b"/x?q", None),
        ({"no_external_links": True}, b"http://b.test/", Filtered.OUT_SITE),
        ({"limit_to_domain": ("b.test",)}, b"/x", Filtered.OUT_SITE),
        ({"forbidden_extensions": (".zip",)}, b"/x.zip", Filtered.EXTENSION),
        ({"lock_site": True}, b"http://b.test/", Filtered.OUT_SITE),
        ({"scope": "host"}, b"http://www.a.test/", Filtered.OUT_SITE),
        ({"scope": "host"}, b"/x", None),
        ({"scope": "domain"}, b"http://www.a.test/", None),
        ({"scope": "domain"}, b"http://b.test/", Filtered.OUT_SITE),
        ({"scope": "domain", "lock_site": True}, b"http://www.a.test/", Filtered.OUT_SITE),
        ({"include": (b"/d/",)}, b"/d/x", None),
        ({"include": (b"/d/",)}, b"/x", Filtered.NOT_INCLUDED),
        ({"exclude": (b"x$",)}, b"/d/x", Filtered.EXCLUDED),
        ({"scope": "prefix"}, b"/d/x", None),
        ({"scope": "prefix"}, b"/x", Filtered.OUT_SITE),
    ],
)
def test_keys_of_the_filter(
    tmp_path: Path, keys: dict[str, Any], url: bytes, reason: int | None
) -> None:
    """Each key reaches the rule that it names."""
    (tmp_path / SUFFIX_LIST).write_bytes(psl_bytes())
    wiring.write_sites(tmp_path, {b"a.test/d/"})
    expected = {} if reason is None else {reason: 1}
    assert filtered(start(tmp_path, **keys), url) == expected


def test_seeds_pass_a_filter_of_their_sites(tmp_path: Path) -> None:
    """``lockSite`` does not refuse what it was made of."""
    wiring.write_sites(tmp_path, {b"b.test/"})
    assert filtered(start(tmp_path, lock_site=True), b"http://b.test/", LINK_SEED) == {}


@pytest.mark.parametrize(
    ("key", "directive"),
    [
        ("ignore_nofollow", Directive.NOFOLLOW),
        ("ignore_noindex", Directive.NOINDEX),
        ("ignore_noarchive", Directive.NOARCHIVE),
    ],
)
def test_each_directive_can_be_switched_off(key: str, directive: Directive) -> None:
    """All are obeyed but those."""
    everything = Directive.NOFOLLOW | Directive.NOINDEX | Directive.NOARCHIVE
    assert wiring.obeyed(Config()) == everything
    off: Any = {key: True}
    assert wiring.obeyed(Config(**off)) == everything & ~directive


def test_rel_can_be_switched_off(tmp_path: Path) -> None:
    """A page's own nofollow can, too; each alone."""
    link, meta = b"<a rel=ugc href=/x>", b"<meta name=larbin content=nofollow><a href=/x>"
    for keys, body, count in [
        ({}, link, 0),
        ({"ignore_rel": True}, link, 1),
        ({"ignore_nofollow": True}, link, 0),
        ({}, meta, 0),
        ({"ignore_rel": True}, meta, 0),
        ({"ignore_nofollow": True}, meta, 1),
    ]:
        start_ = start(tmp_path, **keys)
        reading = wiring.make_reader(start_, wiring.make_links(start_)).read(page(body=body))
        assert reading.links is not None
        assert reading.links.counts == [count]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, HTML_TYPES),
        ({"any_type": True}, ()),
        ({"specific_set": ((b"application/PDF", "pdf"),)}, (*HTML_TYPES, b"application/pdf")),
        ({"get_image": True}, (*HTML_TYPES, b"image/")),
    ],
)
def test_accepted_types(keys: dict[str, Any], expected: tuple[bytes, ...]) -> None:
    """HTML always, and what else is asked for; lower case, as types are compared."""
    assert wiring.accepted_types(Config(**keys)) == expected


def test_specific_types() -> None:
    """Only with ``specificSearch`` is the output restricted to them."""
    pdf: Any = ((b"application/PDF", "pdf"),)
    assert wiring.specific_types(Config(specific_set=pdf)) == frozenset()
    wanted = wiring.specific_types(Config(specific_set=pdf, specific_search=True))
    assert wanted == {b"application/pdf"}


def test_the_url_mode() -> None:
    """Seeds and links are read in the same way."""
    assert wiring.base_maker(Config(url_mode="larbin")) is urls.LarbinBase
    assert wiring.url_parser(Config(url_mode="larbin")) is urls.parse_larbin
    assert wiring.url_parser(Config()) is urls.parse


@pytest.mark.parametrize(
    ("key", "url", "expected"),
    [
        ("ignore_trailing_slash", b"/a/", b"/a"),
        ("ignore_index", b"/index.html", b"/"),
        ("sort_query", b"/?b&a", b"/?a&b"),
        ("drop_session_ids", b"/;jsessionid=1", b"/"),
        ("drop_tracking", b"/?gclid=1", b"/"),
    ],
)
def test_urls_that_are_taken_for_one(key: str, url: bytes, expected: bytes) -> None:
    """Each key does what it says, and nothing is done without."""
    host = b"http://a.test"
    plain = wiring.base_maker(Config())(host)
    on: Any = {key: True}
    assert urls.resolve(plain, found_link(1, url))[urls.ITEM_BYTES :] == host + url
    base = wiring.base_maker(Config(**on))(host)
    assert urls.resolve(base, found_link(1, url))[urls.ITEM_BYTES :] == host + expected


def test_limits_reach_the_reader(tmp_path: Path) -> None:
    """Sizes and redirections."""
    start_ = start(tmp_path, max_page_size_bytes=40, max_redirects=0)
    reader = wiring.make_reader(start_, wiring.make_links(start_))
    limit = start_.config.max_decoded_bytes
    assert reader.read(page(body=bytes(limit))).is_good
    assert reader.read(page(body=bytes(limit + 1))).parsed.outcome == Outcome.TOO_BIG
    moved = page(outcome=Outcome.ERR_30X, headers=b"Location: /x\r\n\r\n")
    assert reader.read(moved).parsed.filtered == {Filtered.REDIRECTS: 1}


@pytest.mark.parametrize(
    ("mode", "is_plain", "nears"),
    [
        ("watch", True, [0, 0]),
        ("no", True, [0, 0]),
        ("log", False, [0, 1]),
        ("leave", False, [0, 1]),
    ],
)
def test_near_duplicates(tmp_path: Path, mode: str, is_plain: bool, nears: list[int]) -> None:
    """A crawl that compares every page has no short way; others compare what they are asked to."""
    start_ = start(tmp_path, near_duplicates=mode)
    memory = CrawlMemory.create(1, 1, page_bytes=NEAR_BYTES)
    parts = wiring.make_links(start_), None, wiring.make_near(start_, memory)
    assert (wiring.make_plain(start_, *parts) is not None) == is_plain
    reader = wiring.make_reader(start_, *parts)
    text = b" ".join(b"word%d" % number for number in range(40))
    assert [reader.read(page(id=n, body=text)).parsed.near for n in (1, 2)] == nears
    asked = [reader.read(page(id=n, body=text, flags=PAGE_WATCHED)).parsed.near for n in (3, 4)]
    assert asked == {"watch": [0, 3], "no": [0, 0]}.get(mode, [1, 1])


@pytest.mark.parametrize(("mode", "kind"), [(0, Nothing), (1, Files), (2, Files)])
def test_outputs(tmp_path: Path, mode: int, kind: type) -> None:
    """By ``outputMode``."""
    store = wiring.make_store(start(tmp_path, output_mode=mode, output_dir=tmp_path / "save"))
    assert isinstance(store, kind)
    store.close()
