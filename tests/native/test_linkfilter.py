"""The link filter against its reference, rule by rule, and the values that decide a shard."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import linkfilter as native
from larbinpy._native.linkentry import fingerprint_of
from larbinpy.records import Filtered, Kind
from tests.reference import linkfilter as plain
from tests.reference.linkbuffers import Link, Resolved, read_links, resolved

KEY = bytes(range(16))
HTTPS, SEED, REDIRECT, FORCE = 1, 2, 4, 8
A, BASE, IMG, SCRIPT = 1, 4, 7, 8
DUPLICATE, ACCEPTED = 254, 255

SMALL: dict[str, Any] = {  # Any: the keywords of LinkFilter, of several types
    "key": KEY,
    "shards": 1,
    "cache_bits": 8,
}


def domain_of(host: bytes) -> bytes:
    """The last two labels."""
    return b".".join(host.split(b".")[-2:])


def make(**changes: object) -> native.LinkFilter:
    """A filter with larbin's defaults but for the changes."""
    return native.LinkFilter(domain_of=domain_of, **{**SMALL, **changes})


def pack(*links: Resolved | bytes) -> bytes:
    """Resolved links as the kernel reads them; URLs alone are ``a href``s."""
    records = [resolved(link) if isinstance(link, bytes) else link for link in links]
    return b"".join(record.pack() for record in records)


def u64s(*values: int) -> bytes:
    """Fingerprints as they travel."""
    return struct.pack(f"<{len(values)}Q", *values)


def run(links: bytes, *, flags: int = 0, **changes: object) -> native.LinkBatch:
    """Filter the links of ``http://www.a.org/``, a page at depth 1 with 4 links to go."""
    return make(**changes).run(links, host=b"www.a.org", depth=1, left=4, flags=flags)


def reasons(*links: Resolved | bytes, flags: int = 0, **changes: object) -> dict[int, int]:
    """What is refused of these links."""
    return run(pack(*links), flags=flags, **changes).filtered


def test_defaults_are_larbins() -> None:
    """Anything goes but programs."""
    urls = [b"http://a.fr/x.html", b"http://a.fr/x.zip", b"http://a.fr/?q", b"http://b.com/"]
    assert reasons(*urls) == {Filtered.CGI: 1}


# --- properties ---------------------------------------------------------------------------------

HOSTS = [b"www.a.org", b"a.org", b"b.a.org", b"c.net", b"d.co.uk", b"127.0.0.1"]
FILES = [
    b"/d/",
    b"/d/e/f",
    b"/a/b/a/",
    b"//a/a//a?",
    b"/x?a&b&c",
    b"/",
    b"/x",
    b"/a.html",
    b"/b.JPG",
    b"/c.jpg?d",
    b"/q?a=1",
    b"/s=*",
    b"/e.pdf",
    b"?z",
]


PREFIXES = [b"www.a.org/", b"a.org/d/", b"b.a.org:8080/d/e/", b"127.0.0.1:8080/", b"c.net/d/"]


def choose(urls: list[bytes], places: list[int]) -> bytes:
    """Answers of all kinds, which depend on what is asked."""
    marks = [(len(url) + place) % 4 for url, place in zip(urls, places, strict=True)]
    return bytes(31 if mark == 3 else 30 if mark == 2 else 255 for mark in marks)


@st.composite
def any_link(draw: st.DrawFn) -> Resolved:
    """Mostly a good link of few hosts and files, so that all rules and repeats come up."""
    scheme = draw(st.sampled_from([b"http://", b"https://"]))
    port = draw(st.sampled_from([b"", b":8080"]))
    tail = draw(st.sampled_from([b"", b"", b"", b"1", b"x" * 2100]))
    file = draw(st.sampled_from(FILES))
    link = resolved(scheme + draw(st.sampled_from(HOSTS)) + port + file + tail)
    link = replace(
        link,
        element=draw(st.sampled_from([1, 1, 1, 1, *range(19)])),
        rel=draw(st.sampled_from([0, 0, 0, 0, 0, *range(16)])),
    )
    status = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2, 3, 4]))
    if status:
        return Resolved(b"", status=status, element=link.element)
    return link


suffixes = st.lists(st.sampled_from([b".jpg", b".PDF", b"html", b"/", b".x"]), max_size=3)
settings_of_filter = st.fixed_dictionaries(
    {
        "shards": st.sampled_from([1, 2, 7, 256]),
        "cgi": st.booleans(),
        "external": st.booleans(),
        "depth_by_site": st.booleans(),
        "depth_in_site": st.integers(0, 6),
        "images": st.booleans(),
        "forms": st.booleans(),
        "rels": st.booleans(),
        "forbidden": suffixes,
        "priority": suffixes,
        "domains": st.lists(st.sampled_from([b".org", b"C.net", b".uk"]), max_size=2),
        "sites": st.none() | st.lists(st.sampled_from(HOSTS)),
        "site_domains": st.none() | st.lists(st.sampled_from([domain_of(h) for h in HOSTS])),
        "prefixes": st.none() | st.lists(st.sampled_from(PREFIXES)),
        "choose": st.none() | st.just(choose),
        "links_per_page": st.sampled_from([3, 50_000]),
        "path_segments": st.sampled_from([0, 0, 1, 4]),
        "segment_repeats": st.sampled_from([0, 0, 1, 2]),
        "query_parameters": st.sampled_from([0, 0, 1, 2]),
        "query_bytes": st.sampled_from([0, 0, 3]),
        "reverse": st.booleans(),
        "cache_bits": st.sampled_from([1, 10]),
        "known_hosts": st.sampled_from([1, 2, 100]),
    }
)
pages = st.lists(
    st.tuples(
        st.lists(any_link(), max_size=12).map(lambda links: pack(*links)),
        st.fixed_dictionaries(
            {
                "host": st.sampled_from(HOSTS),
                "depth": st.sampled_from([0, 3, 65_535]),
                "left": st.integers(0, 3),
                "hops": st.integers(0, 255),
                "kind": st.integers(0, 2),
                "other_host": st.none() | st.sampled_from(HOSTS),
                "nofollow": st.sampled_from([False, False, False, True]),
                "has_verdicts": st.booleans(),
                "choose": st.none() | st.just(choose),
                "flags": st.sampled_from([0, 0, SEED, REDIRECT, REDIRECT | SEED, FORCE, HTTPS]),
            }
        ),
    ),
    max_size=5,
)


def fields(batch: native.LinkBatch | plain.LinkBatch) -> tuple[object, ...]:
    """All that a batch says."""
    return (
        batch.entries,
        batch.counts,
        batch.fingerprints,
        batch.found,
        batch.duplicates,
        batch.filtered,
        batch.verdicts,
    )


@given(settings_of_filter, pages, st.booleans())
@settings(max_examples=150, deadline=None)
def test_equals_reference(
    changes: dict[str, Any], calls: list[tuple[bytes, dict[str, Any]]], forgets: bool
) -> None:
    """Page after page, with what was written noted, all is as in the reference."""
    arguments = {**SMALL, **changes}
    expected = plain.LinkFilter(domain_of=domain_of, **arguments)
    actual = native.LinkFilter(domain_of=domain_of, **arguments)
    for links, facts in calls:
        batch = expected.run(links, **facts)
        result = actual.run(links, **facts)
        assert fields(batch) == fields(result)
        assert result.found == (
            sum(result.counts) + result.duplicates + sum(result.filtered.values())
        )
        for known in (expected, actual):
            known.written(b"".join(batch.fingerprints)[:40])
            if forgets:
                known.forget(0)


queued = st.lists(
    st.tuples(
        st.sampled_from(HOSTS),
        st.sampled_from([b"http://%b%b", b"https://%b:8080%b"]),
        st.sampled_from(FILES),
        st.sampled_from([b"", *(b"https://%b/" % host for host in HOSTS), b"http://a.org:8/x"]),
        st.sampled_from([0, 0, SEED, REDIRECT, FORCE | HTTPS]),
        st.integers(0, 2),
    ).map(lambda url: (url[1] % (url[0], url[2]), url[0], *url[3:])),
    max_size=20,
)


@given(settings_of_filter, queued)
@settings(max_examples=150, deadline=None)
def test_judging_again_equals_reference(
    changes: dict[str, Any], urls: list[tuple[bytes, bytes, bytes, int, int]]
) -> None:
    """URLs that were queued before, under whatever rules."""
    arguments = {**SMALL, **changes}
    expected = plain.LinkFilter(domain_of=domain_of, **arguments)
    assert native.LinkFilter(domain_of=domain_of, **arguments).judge(urls) == expected.judge(urls)


# --- rule by rule -------------------------------------------------------------------------------


def test_entry_says_all_of_a_link() -> None:
    """Port, host, scheme, depth, left, level, kind, hops and flags are in the entry."""
    links = pack(b"https://www.a.org:8443/x.html")
    batch = make().run(links, host=b"www.a.org", depth=1, left=4, hops=3, kind=2, flags=FORCE)
    url = b"https://www.a.org:8443/x.html"
    fp = fingerprint_of(KEY, b"a.org", url)
    assert read_links(batch.entries[0]) == [Link(url, fp, 2, 3, 8443, 8, 9, 1, 2, 3, HTTPS | FORCE)]
    assert batch.fingerprints == [u64s(fp)]
    assert (batch.counts, batch.found, batch.duplicates, batch.filtered) == ([1], 1, 0, {})


def test_what_was_queued_is_judged_by_the_rules_of_today() -> None:
    """A byte each: why it is refused now, or 255; what an operator named is never refused."""
    url = (b"http://a.org/x.pdf?q", b"a.org", b"http://b.org/", 0, 0)
    seed = (*url[:3], SEED, 0)
    assert make(cgi=True).judge([url, seed]) == b"\xff\xff"
    assert make().judge([url, seed]) == bytes([Filtered.CGI, 255])
    assert make(cgi=True, forbidden=[b".pdf"]).judge([url]) == bytes([Filtered.EXTENSION])
    assert make(cgi=True, external=False).judge([url]) == bytes([Filtered.OUT_SITE])
    assert make(cgi=True, domains=[b".net"]).judge([url]) == bytes([Filtered.OUT_SITE])
    assert make(cgi=True, sites=[b"b.org"]).judge([url]) == bytes([Filtered.OUT_SITE])


@pytest.mark.parametrize(
    "url", [(b"", b"", b"", 0, 0), (b"http://a", b"a.org", b"", 0, 0), (b"h", b"", b"", 0, 0)]
)
def test_judging_what_is_no_url_is_safe(url: tuple[bytes, bytes, bytes, int, int]) -> None:
    """A host that leaves its URL is refused; nothing behind the URL is read."""
    assert make().judge([url]) == bytes([Filtered.INVALID])


def test_empty_page() -> None:
    """No links in, no links out, a buffer for each shard."""
    batch = run(b"", shards=3)
    assert batch.entries == [b"", b"", b""]
    assert batch.counts == [0, 0, 0]


def test_status_is_the_first_rule() -> None:
    """What the URL kernel refused is refused; a link that needs the slow path is invalid here."""
    links = [Resolved(b"", status=status, element=SCRIPT) for status in range(1, 6)]
    assert reasons(*links) == {
        Filtered.INVALID: 2, Filtered.SCHEME: 1, Filtered.EMPTY: 1, Filtered.TOO_LONG: 1,
    }  # fmt: skip


def test_links_that_ask_not_to_be_followed() -> None:
    """By rel nofollow, ugc or sponsored, or all of a page; a redirection is no such link."""
    links = [replace(resolved(b"http://www.a.org/%d" % rel), rel=rel) for rel in (1, 2, 4, 8, 16)]
    assert reasons(*links) == {Filtered.NOFOLLOW: 3}
    assert reasons(*links, rels=False) == {}
    assert reasons(*links, flags=REDIRECT) == reasons(*links, flags=SEED) == {}
    facts: dict[str, Any] = {"host": b"www.a.org", "depth": 1, "left": 4, "nofollow": True}
    assert make(rels=False).run(pack(*links), **facts).filtered == {Filtered.NOFOLLOW: 5}
    assert make().run(pack(*links), **facts, flags=REDIRECT).filtered == {}


def test_a_verdict_for_each_link() -> None:
    """In the order of the links, when it is asked for."""
    links = pack(b"http://www.a.org/1", b"http://www.a.org/?2", b"http://www.a.org/1")
    facts: dict[str, Any] = {"host": b"www.a.org", "depth": 1, "left": 4}
    batch = make().run(links, **facts, has_verdicts=True)
    assert batch.verdicts == bytes([ACCEPTED, Filtered.CGI, DUPLICATE])
    assert make().run(links, **facts).verdicts is None


def test_links_below_a_prefix() -> None:
    """Host, port and whole directories decide; a prefix is a directory, not the start of a name."""
    prefixes = [b"www.a.org/d/", b"b.a.org:8080/"]
    inside = [b"http://www.a.org/d/", b"https://www.a.org/d/e/f?x=/y", b"http://b.a.org:8080/"]
    outside = [
        b"http://www.a.org/d", b"http://www.a.org/", b"http://www.a.org/dd/", b"http://a.org/d/",
        b"http://www.a.org:81/d/", b"http://b.a.org/", b"http://www.a.org/?/d/",
    ]  # fmt: skip
    assert reasons(*inside, prefixes=prefixes, cgi=True) == {}
    assert reasons(*outside, prefixes=prefixes, cgi=True) == {Filtered.OUT_SITE: len(outside)}
    assert reasons(*outside, prefixes=prefixes, flags=SEED) == {}
    assert reasons(*inside, prefixes=[], cgi=True) == {Filtered.OUT_SITE: 3}
    facts: dict[str, Any] = {"host": b"www.a.org", "depth": 1, "left": 4}
    sitemaps = make(prefixes=prefixes).run(pack(*outside), **facts, kind=Kind.SITEMAP)
    assert sitemaps.filtered == {}


def test_links_of_a_domain() -> None:
    """The registered domain decides, whatever stands before it; first URLs are never refused."""
    urls = [b"http://a.org/", b"http://x.y.a.org/", b"http://xa.org/", b"http://c.net/"]
    assert reasons(*urls, site_domains=[b"a.org"]) == {Filtered.OUT_SITE: 2}
    assert reasons(*urls, site_domains=[]) == {Filtered.OUT_SITE: 4}
    assert reasons(*urls, site_domains=[], flags=SEED) == {}


def test_what_is_left_may_be_chosen_from() -> None:
    """Only new links that no rule refuses are asked about, once a page, with their places."""
    links = pack(
        b"http://www.a.org/?q", b"http://www.a.org/1", b"http://www.a.org/2", b"http://www.a.org/1"
    )
    asked: list[tuple[list[bytes], list[int]]] = []

    def second(urls: list[bytes], places: list[int]) -> bytes:
        asked.append((urls, places))
        return bytes([20, 255])

    facts: dict[str, Any] = {"host": b"www.a.org", "depth": 1, "left": 4, "has_verdicts": True}
    batch = make().run(links, **facts, choose=second)
    assert asked == [([b"http://www.a.org/1", b"http://www.a.org/2"], [1, 2])]
    assert [link.url for link in read_links(batch.entries[0])] == [b"http://www.a.org/2"]
    assert batch.filtered == {Filtered.CGI: 1, 20: 1}
    assert batch.verdicts == bytes([Filtered.CGI, 20, 255, DUPLICATE])
    make().run(b"", **facts, choose=second)
    make().run(links, **facts, choose=second, flags=SEED)
    make().run(links, **facts, choose=second, kind=Kind.SITEMAP)
    assert len(asked) == 1
    make(choose=second).run(links, **facts, choose=lambda urls, places: bytes([21]))
    assert len(asked) == 2


@pytest.mark.parametrize("answers", [b"", b"\xff\xff", b"\x20", b"\xfe"])
def test_a_wrong_answer_is_an_error(answers: bytes) -> None:
    """One too few or too many, or a number that is no reason."""
    with pytest.raises(ValueError, match=r"links|reason"):
        make().run(
            pack(b"http://a.org/"), host=b"a.org", depth=0, left=1, choose=lambda *_: answers
        )


def test_url_length() -> None:
    """2,083 bytes is the longest URL."""
    start = b"http://www.a.org/"
    fits, too_long = start.ljust(2083, b"x"), start.ljust(2084, b"x")
    assert reasons(fits, too_long) == {Filtered.TOO_LONG: 1}


@pytest.mark.parametrize(
    ("wanted", "refused"), [({}, {0, 4, *range(7, 10), *range(13, 19)}),
                            ({"images": True}, {0, 4, 8, *range(13, 19)}),
                            ({"forms": True}, {0, 4, *range(7, 10), *range(13, 18)})],
)  # fmt: skip
def test_elements(wanted: dict[str, bool], refused: set[int]) -> None:
    """Images and forms only when wanted; scripts, objects, media and base never."""
    for element in range(19):
        expected = {Filtered.ELEMENT: 1} if element in refused else {}
        link = resolved(b"http://www.a.org/", element=element)
        assert reasons(link, **wanted) == expected


def test_cgi() -> None:
    """``?``, ``=`` and ``*`` mark a program unless programs are wanted."""
    urls = [b"http://www.a.org/" + file for file in (b"a?b", b"a=b", b"*", b"ab")]
    assert reasons(*urls) == {Filtered.CGI: 3}
    assert reasons(*urls, cgi=True) == {}


def test_sitemaps_are_no_matter_of_taste() -> None:
    """What is no page is followed whatever its name, but not out of the scope."""
    links = pack(b"http://www.a.org/s.xml.gz", b"http://www.a.org/s?n=1", b"http://b.org/s")
    filtered = make(forbidden=[b".gz"], domains=[b"a.org"])
    batch = filtered.run(links, host=b"www.a.org", depth=1, left=4, kind=Kind.SITEMAP)
    assert (batch.counts, batch.filtered) == ([2], {Filtered.OUT_SITE: 1})


def test_links_to_two_hosts_only() -> None:
    """With another host given, links lead to it and to the page's, and nowhere else."""
    links = pack(b"http://www.a.org/1", b"http://b.org/2", b"http://c.org/3")
    batch = make().run(links, host=b"www.a.org", depth=1, left=4, other_host=b"b.org")
    assert (batch.counts, batch.filtered) == ([2], {Filtered.OUT_SITE: 1})


def test_extensions() -> None:
    """Suffixes of the path count, in any case; HTML and directories are never forbidden."""
    files = [b"a.jpg", b"a.JPG", b"a.jpg?x.html", b"a.html?x.jpg", b"a.jpeg", b"l.html", b""]
    urls = [b"http://www.a.org/" + file for file in files]
    forbidden = (b".JPG", b"html", b"/")
    assert reasons(*urls, cgi=True, forbidden=forbidden) == {Filtered.EXTENSION: 3}


def test_external_links() -> None:
    """Only the page's own host, but a redirection may lead elsewhere."""
    urls = [b"http://www.a.org/", b"https://www.a.org:8/", b"http://a.org/"]
    assert reasons(*urls, external=False) == {Filtered.OUT_SITE: 1}
    assert reasons(*urls, external=False, flags=REDIRECT) == {}


def test_seeds_pass() -> None:
    """What the operator asks for is fetched, whatever the filters say of found links."""
    urls = [b"http://www.a.org/q?x=1", b"http://b.org/a.jpg", b"http://c.org/"]
    strict = {"external": False, "forbidden": (b".jpg",), "domains": (b".fr",), "sites": ()}
    assert reasons(*urls, flags=SEED, **strict) == {}


def test_domains() -> None:
    """A host must end like one of the domains."""
    urls = [b"http://a.fr/", b"http://b.dk/", b"http://fr.com/"]
    assert reasons(*urls, domains=(b".fr", b".DK")) == {Filtered.OUT_SITE: 1}


def test_sites() -> None:
    """With a lock, only the hosts of the list; an empty list locks all out."""
    urls = [b"http://a.fr/", b"http://b.a.fr/"]
    assert reasons(*urls, sites=(b"A.fr",)) == {Filtered.OUT_SITE: 1}
    assert reasons(*urls, sites=()) == {Filtered.OUT_SITE: 2}


def depths(left: int, *, flags: int = 0, **changes: object) -> list[tuple[int, int]]:
    """Depth and left of a link inside and one outside of a page at depth 7."""
    links = pack(b"http://www.a.org/", b"http://b.org/")
    batch = make(**changes).run(links, host=b"www.a.org", depth=7, left=left, flags=flags)
    return [(link.depth, link.left) for link in read_links(batch.entries[0])]


def test_depth_counts_down() -> None:
    """A followed link has one left less; below 0 it is too deep."""
    assert depths(1) == [(8, 0), (8, 0)]
    assert depths(0) == []
    assert reasons(b"http://a.fr/") == {}


def test_depth_by_site() -> None:
    """A link to another host starts again with full depth."""
    assert depths(1, depth_by_site=True) == [(8, 0), (8, 5)]
    assert depths(0, depth_by_site=True) == [(8, 5)]


def test_depth_of_redirections_and_seeds() -> None:
    """A redirection keeps its depth, a seed has all of it before it."""
    assert depths(0, flags=REDIRECT, depth_by_site=True) == [(7, 0), (7, 0)]
    assert depths(0, flags=SEED) == [(0, 5), (0, 5)]


def test_links_per_page() -> None:
    """Links behind the limit are refused unseen, whatever they are."""
    urls = [b"http://a.fr/%d" % i for i in range(4)]
    expected = {Filtered.INVALID: 1, Filtered.LINKS_PER_PAGE: 3}
    assert reasons(Resolved(b"", status=1), *urls, links_per_page=2) == expected


def shaped(*files: bytes, **limits: int) -> list[bool]:
    """Whether links to these paths and queries are followed."""
    urls = (b"http://a.fr" + file for file in files)
    return [not reasons(url, cgi=True, **limits) for url in urls]


def test_path_segments() -> None:
    """Slashes count, those of the query do not; what is refused is counted."""
    files = (b"/a/b/c", b"/a/b/c/", b"////", b"/a?/b/c/d/e")
    assert shaped(*files, path_segments=3) == [True, False, False, True]
    assert reasons(b"http://a.fr////", path_segments=3) == {Filtered.PATH_SEGMENTS: 1}


def test_path_segments_of_any_length() -> None:
    """Slashes are counted wherever they stand, and so are those of long paths."""
    for size in range(1, 30):
        paths = [b"/" + b"x" * at + b"/" + b"x" * (size - at) for at in range(size)]
        assert shaped(*paths, path_segments=1) == [False] * size
        assert shaped(*paths, path_segments=2) == [True] * size
    assert shaped(b"/" * 2000, path_segments=1999) == [False]
    assert shaped(b"/" * 2000, path_segments=2000) == [True]


def test_segment_repeats() -> None:
    """One segment more often than allowed, wherever it stands; empty ones and queries are none."""
    files = (b"/a/b/a", b"/a/b/a/c/a/", b"/aa/a/b/A/", b"/////", b"/a/?/a/a/a")
    assert shaped(*files, segment_repeats=2) == [True, False, True, True, True]
    url = b"http://a.fr" + b"/a/b" * 5
    assert reasons(url, segment_repeats=4) == {Filtered.SEGMENT_REPEATS: 1}


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"x" * 99]), max_size=1000))
def test_segments_of_long_paths_are_counted(segments: list[bytes]) -> None:
    """As many as a URL can hold."""
    file = (b"/" + b"/".join(segments))[:2000]
    counts = [file.split(b"/").count(one) for one in {*file.split(b"/")} - {b""}]
    most = max(counts, default=0)
    assert shaped(file, segment_repeats=max(most, 1)) == [True]
    assert most < 2 or shaped(file, segment_repeats=most - 1) == [False]


def test_queries() -> None:
    """Their parameters and bytes are limited; an empty query has none."""
    files = (b"/?a=1&b=2", b"/?a&b&c", b"/?", b"/a&b&c")
    assert shaped(*files, query_parameters=2) == [True, False, True, True]
    assert shaped(b"/?abcd", b"/?abcde", query_bytes=4) == [True, False]
    assert reasons(b"http://a.fr/?aa", cgi=True, query_bytes=1) == {Filtered.QUERY: 1}


def test_the_operator_and_redirections_have_shapes_too() -> None:
    """A first URL may have any; a redirection is a link like any other."""
    url = b"http://a.fr/a/a/a/a"
    assert reasons(url, flags=SEED, segment_repeats=2) == {}
    assert reasons(url, flags=REDIRECT, segment_repeats=2) == {Filtered.SEGMENT_REPEATS: 1}


def test_priority() -> None:
    """Wanted extensions are served first."""
    links = pack(b"http://a.fr/a.PDF?x", b"http://a.fr/a.html")
    batch = run(links, priority=(b".pdf",), cgi=True)
    assert [link.level for link in read_links(batch.entries[0])] == [0, 1]


def test_reverse() -> None:
    """Depth-first order takes the last link of a page first; of equal links the first counts."""
    urls = [b"http://a.fr/1", b"http://a.fr/2", b"http://a.fr/1"]
    batch = run(pack(*urls), reverse=True)
    assert [link.url for link in read_links(batch.entries[0])] == [urls[1], urls[0]]
    assert batch.duplicates == 1


def test_written_links_are_dropped_until_forgotten() -> None:
    """What a shard has written is not sent again, but is after that shard's restart."""
    links = pack(b"http://a.fr/", b"http://b.fr/")
    known = make(shards=2)
    fps = b"".join(known.run(links, host=b"", depth=0, left=5).fingerprints)
    known.written(fps)
    batch = known.run(links, host=b"", depth=0, left=5)
    assert (batch.counts, batch.duplicates) == ([0, 0], 2)
    known.forget(0)
    known.forget(1)
    assert known.run(links, host=b"", depth=0, left=5).duplicates == 0


def test_forced_links_pass_the_cache() -> None:
    """A link that is to be queued even if seen is sent though it is written."""
    links = pack(b"http://a.fr/", b"http://a.fr/")
    known = make()
    known.written(known.run(links, host=b"", depth=0, left=5).fingerprints[0])
    batch = known.run(links, host=b"", depth=0, left=5, flags=SEED | FORCE)
    assert (batch.counts, batch.duplicates) == ([1], 1)


def test_domain_is_asked_once_a_host() -> None:
    """Hosts are remembered between links and pages; a full memory is emptied."""
    asked: list[bytes] = []

    def ask(host: bytes) -> bytes:
        asked.append(host)
        return host

    known = native.LinkFilter(domain_of=ask, **{**SMALL, "known_hosts": 3})
    for _ in range(2):
        known.run(
            pack(b"http://a/", b"http://b/", b"http://a/2", b"http://c/"),
            host=b"", depth=0, left=5,
        )  # fmt: skip
    assert asked == [b"a", b"b", b"c"]
    known.run(pack(b"http://d/", b"http://a/"), host=b"", depth=0, left=5)
    known.run(pack(b"http://a/", b"http://b/"), host=b"", depth=0, left=5)
    assert asked == [b"a", b"b", b"c", b"d", b"a", b"b"]


def test_fault_of_domain_of_passes_through() -> None:
    """The filter is usable after ``domain_of`` raised."""

    def ask(host: bytes) -> bytes:
        if not asked:
            asked.append(host)
            raise KeyError(host)
        return host

    asked: list[bytes] = []
    known = native.LinkFilter(domain_of=ask, **SMALL)
    with pytest.raises(KeyError):
        known.run(pack(b"http://a/"), host=b"", depth=0, left=5)
    assert known.run(pack(b"http://a/"), host=b"", depth=0, left=5).counts == [1]


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 11, 13, 20])
def test_torn_records_are_refused(cut: int) -> None:
    """A buffer that ends within a record raises."""
    link = pack(b"http://www.a.org/")
    with pytest.raises(ValueError, match="do not fill"):
        run(link + link[:cut])


@pytest.mark.parametrize(
    "link", [Resolved(b"http://a/", host_start=7, host_len=3), Resolved(b"http://a/")]
)
def test_good_record_needs_its_host(link: Resolved) -> None:
    """A host outside of its URL, or none, raises."""
    with pytest.raises(ValueError, match="do not fill"):
        run(link.pack())


@pytest.mark.parametrize(
    "changes",
    [
        {"key": b"short"},
        {"shards": 0},
        {"shards": 257},
        {"depth_in_site": 65_536},
        {"links_per_page": -1},
        {"forbidden": [b""]},
        {"cache_bits": 0},
        {"known_hosts": 0},
    ],
    ids=str,
)
def test_bad_settings_are_refused(changes: dict[str, object]) -> None:
    """Settings out of range raise."""
    with pytest.raises(ValueError, match=r"key|shards|depth|links_per|suffix|cache|known"):
        make(**changes)


@pytest.mark.parametrize("facts", [{"depth": -1}, {"left": 65_536}, {"hops": 256}, {"flags": -1}])
def test_bad_page_facts_are_refused(facts: dict[str, int]) -> None:
    """Numbers that do not fit an entry raise."""
    with pytest.raises(ValueError, match=r"not within|bytes"):
        make().run(b"", **{"host": b"", "depth": 0, "left": 0, **facts})  # type: ignore[arg-type]


def test_torn_fingerprints_are_refused() -> None:
    """A buffer of fingerprints has a multiple of 8 bytes."""
    with pytest.raises(ValueError, match="8 bytes each"):
        make().written(b"1234567")
