"""What a robots.txt says: the tolerated, the limits, and what other crawlers got wrong.

The verdicts of whole files stand in ``tests/conformance/test_robots.py``.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from larbinpy.politeness.robots import (
    MAX_LINE_BYTES,
    MAX_TEXT_BYTES,
    Rules,
    agent_of,
    sitemaps_of,
)

ALL = b"User-agent: *\n"


def parse(text: bytes, token: bytes = b"larbinpy") -> Rules:
    """The rules of a text for us."""
    return Rules.parse(text, token)


def allowed(text: bytes, *paths: bytes, token: bytes = b"larbinpy") -> list[bool]:
    """What of these paths a text allows us."""
    rules = parse(text, token)
    return [rules.allows(path) for path in paths]


# --- groups and agents --------------------------------------------------------------------------


def test_no_text_says_nothing() -> None:
    """Everything is allowed, by no line."""
    rules = parse(b"")
    assert (rules.match(b"/a"), rules.crawl_delay_s) == ((True, 0), None)


def test_a_page_of_html_says_nothing() -> None:
    """A server that answers 200 with its error page has no rules."""
    html = b"<!doctype html>\r\n<title>Disallow: /</title>\r\n<p>Allow: nothing\r\n"
    assert allowed(html, b"/", b"/a") == [True, True]


@pytest.mark.parametrize("name", [b"larbinpy", b"LarbinPy", b"larbinpy/2.0 (+http://a.org)"])
def test_a_group_that_names_us_hides_the_one_for_everyone(name: bytes) -> None:
    """xroche/httrack#1695: whatever stands first."""
    ours = b"User-agent: " + name + b"\nDisallow: /ours\n"
    everyones = b"User-agent: *\nDisallow: /\n"
    for text in (ours + everyones, everyones + ours):
        assert allowed(text, b"/ours", b"/a") == [False, True]
        assert allowed(text, b"/ours", b"/a", token=b"other") == [False, False]


def test_all_names_above_the_rules_count() -> None:
    """us/crw#542: not only the last of several."""
    text = b"User-agent: a\nUser-agent: larbinpy\n\n# us\nUser-agent: b\nDisallow: /x\n"
    assert [allowed(text, b"/x", token=name) for name in (b"a", b"larbinpy", b"b", b"c")] == [
        [False], [False], [False], [True],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        (b"User-agent: LarbinPy\nDisallow: /a\nUser-agent: *\n", b"larbinpy"),
        (b"User-agent: other\nDisallow: /a\nUser-agent: * (all)\n", b"*"),
        (b"User-agent: other\nDisallow: /a\n", b""),
    ],
)
def test_the_group_that_counts_is_told(text: bytes, agent: bytes) -> None:
    """By its name in small letters; empty when no group is for us."""
    assert agent_of(text, b"LARBINPY") == agent


def test_groups_of_one_agent_are_one() -> None:
    """Their rules are merged."""
    text = b"User-agent: larbinpy\nDisallow: /a\nUser-agent: x\nDisallow: /b\n"
    text += b"User-agent: larbinpy\nDisallow: /c\n"
    assert allowed(text, b"/a", b"/b", b"/c") == [False, True, False]


@pytest.mark.parametrize("name", [b"5emeRue", b"", b"\xff\xfe", b"(none)", b"larbinpybot"])
def test_a_name_that_is_none_ends_the_group_above(name: bytes) -> None:
    """andreburgaud/robotspy#223: its rules are not everyone's."""
    text = ALL + b"Disallow: /a\n\nUser-agent: " + name + b"\nDisallow: /\n"
    assert allowed(text, b"/a", b"/b") == [False, True]


def test_rules_above_any_name_are_nobodys() -> None:
    """They are not for everyone."""
    assert allowed(b"Disallow: /\n" + ALL + b"Disallow: /a\n", b"/", b"/a") == [True, False]


def test_a_name_without_rules_is_allowed_everything() -> None:
    """It is named, so what is said to everyone is not said to it."""
    assert allowed(ALL + b"Disallow: /\nUser-agent: larbinpy\n", b"/a") == [True]


# --- crawl delay and sitemaps -------------------------------------------------------------------


def test_a_delay_above_any_name_is_nobodys() -> None:
    """seomoz/reppy#47: and forbids nothing."""
    rules = parse(b"Crawl-delay: 1\n" + ALL + b"Disallow: /a\n")
    assert (rules.crawl_delay_s, rules.allows(b"/"), rules.allows(b"/a")) == (None, True, False)


@pytest.mark.parametrize(
    ("text", "token", "delay_s"),
    [
        (b"User-agent: a\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /x\n", b"b", None),
        (b"User-agent: a\nCrawl-delay: 9\nUser-agent: *\nCrawl-delay: 2\n", b"b", 2.0),
        (b"User-agent: *\nCrawl-delay: 2\nUser-agent: a\nCrawl-delay: 9\n", b"b", 2.0),
        (b"User-agent: *\nDisallow: /\nUser-agent: a\nCrawl-delay: 9\n", b"b", None),
        (b"User-agent: *\nCrawl-delay: 2\nUser-agent: a\nDisallow: /\n", b"a", None),
        (b"User-agent: a\nUser-agent: *\nCrawl-delay: 3\nDisallow: /\n", b"b", 3.0),
        (b"User-agent: a\nCrawl-delay: 3\nUser-agent: a\nCrawl-delay: 2\n", b"a", 3.0),
    ],
)
def test_a_delay_is_only_for_those_it_stands_under(
    text: bytes, token: bytes, delay_s: float | None
) -> None:
    """ropensci/robotstxt#48: never another agent's; of several the longest."""
    assert parse(text, token).crawl_delay_s == delay_s


@pytest.mark.parametrize(
    ("value", "delay_s"),
    [
        (b"10", 10.0),
        (b"0.5", 0.5),
        (b".5 # s", 0.5),
        (b"2.", 2.0),
        (b"0", 0.0),
        (b"999999999", 999999999.0),
        (b"1e3", None),
        (b"-1", None),
        (b"+1", None),
        (b"1_0", None),
        (b"10s", None),
        (b"inf", None),
        (b"nan", None),
        (b"", None),
        (b"9" * 10, None),
        (b"\xd9\xa1", None),
    ],
)
def test_a_delay_is_a_plain_number_or_nothing(value: bytes, delay_s: float | None) -> None:
    """What is malformed is ignored; how much is too much, the caller knows."""
    assert parse(ALL + b"Crawl-Delay: " + value).crawl_delay_s == delay_s


def test_sitemaps_belong_to_nobody() -> None:
    """They are told wherever they stand, and end no group."""
    text = b"Sitemap: http://a.org/s.xml\nUser-agent: x\nSITEMAP:/t.xml # t\nUser-agent: larbinpy\n"
    text += b"Disallow: /a\nSite-map: u\nSitemap:\nDisallow: /b\n"
    assert sitemaps_of(text) == [b"http://a.org/s.xml", b"/t.xml", b"u"]
    assert not parse(text).allows(b"/b")


# --- bytes and lines ----------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_a_byte_order_mark_hides_nothing(mark: bytes) -> None:
    """BUbiNG#17, scrapy/scrapy#6195: whole or in part."""
    assert allowed(mark + ALL + b"Disallow: /", b"/a") == [False]


def test_a_byte_that_is_not_utf8_disables_nothing() -> None:
    """scrapy/scrapy#6292: here before, in and behind a rule."""
    text = b"# caf\xe9\n" + ALL + b"Disallow: /caf\xe9\nDisallow: /b\n\xff: \xfe\n"
    assert allowed(text, b"/caf%E9", b"/b", b"/c") == [False, False, True]


def test_letters_that_grow_when_folded_are_no_letters() -> None:
    """us/crw#542: ``İ`` in a line is only bytes."""
    text = ALL + "İDisallow: /a\nDisallow: /İ\nDİsallow: /b\n".encode()
    assert allowed(text, b"/a", b"/b", b"/%C4%B0", b"/%c4%b0x") == [True, True, False, False]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_are_counted_however_they_end(end: bytes) -> None:
    """The deciding line is the one an editor shows."""
    text = end.join([b"# rules", b"", b"User-agent: *", b"", b"Disallow: /a", b"Allow: /a/b"])
    rules = parse(text)
    assert [rules.match(path) for path in (b"/", b"/a", b"/a/b")] == [
        (True, 0), (False, 5), (True, 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        b"disallow:/a", b" DISALLOW : /a ", b"Disallow /a", b"Disalow: /a", b"Dissallow: /a",
        b"dissalow: /a", b"diasllow: /a", b"disallaw: /a", b"Disallowed: /a", b"Disallow: /a # no",
        b"Disallow: /a\0b", b"\vDisallow:\f/a",
    ],
)  # fmt: skip
def test_a_line_is_read_as_it_was_meant(line: bytes) -> None:
    """The tolerance that authors are used to."""
    assert allowed(ALL + line + b"\n", b"/a", b"/") == [False, True]


@pytest.mark.parametrize(
    "line",
    [b"X-Disallow: /a", b"Disallow", b"Disallow /a b", b"#Disallow: /a", b": /a", b"Dis: /a"],
)
def test_a_line_that_says_nothing_says_nothing(line: bytes) -> None:
    """And its neighbours are not touched."""
    assert allowed(ALL + line + b"\nDisallow: /b\n", b"/a", b"/b") == [True, False]


# --- matching -----------------------------------------------------------------------------------


def test_rules_see_the_query() -> None:
    """us/crw#542."""
    text = ALL + b"Disallow: /hide?\nDisallow: /*&x="
    paths = [b"/hide", b"/hide?a", b"/b?a&x=1"]
    assert allowed(text, *paths) == [True, False, False]


def test_an_encoded_slash_is_no_slash() -> None:
    """crawler-commons/crawler-commons#195: reserved characters are not decoded."""
    paths = [b"/a/b", b"/a%2Fb", b"/a%2fb"]
    assert allowed(ALL + b"Disallow: /*%2F*", *paths) == [True, False, False]


def test_a_rule_may_begin_with_a_star() -> None:
    """seomoz/reppy#83."""
    assert allowed(ALL + b"Disallow: */x", b"/x", b"/a/x", b"/ax") == [False, False, True]


def test_encoded_star_and_dollar_are_the_characters() -> None:
    """RFC 9309, section 2.2.3."""
    text = ALL + b"Disallow: /a%2Ab\nDisallow: /c%24\n"
    paths = [b"/a*b", b"/axb", b"/a%2ab", b"/c$d", b"/c"]
    assert allowed(text, *paths) == [False, True, False, False, True]


def test_rows_of_stars_cost_nothing() -> None:
    """yasserg/crawler4j#425, samclarke/robots-parser#12."""
    rules = parse(ALL + b"Disallow: /********************/\n" + b"Disallow: /" + b"*a" * 99 + b"b")
    start = time.process_time()
    assert rules.allows(b"/" + b"a" * 10_000)
    assert time.process_time() - start < 0.5


def test_an_allowed_index_page_allows_its_directory() -> None:
    """By the same line, and only the directory itself."""
    rules = parse(ALL + b"Disallow: /\nAllow: /x/index.html\n")
    assert [rules.match(path) for path in (b"/x/index.html", b"/x/", b"/x/a", b"/x")] == [
        (True, 3), (True, 3), (False, 2), (False, 2),
    ]  # fmt: skip


def test_robots_txt_itself_is_always_allowed() -> None:
    """RFC 9309, section 2.2.2: nothing decides it."""
    rules = parse(ALL + b"Disallow: /\n")
    assert rules.match(b"/robots.txt") == (True, 0)
    assert rules.allows(b"/robots.txt")
    assert not rules.allows(b"/robots.txt?a")


# --- limits -------------------------------------------------------------------------------------


def test_every_rule_is_kept() -> None:
    """xroche/httrack#1286, #1293, #1294: no limit but that of the text."""
    rules = parse(ALL + b"".join(b"Disallow: /%d/\n" % number for number in range(20_000)))
    assert rules.match(b"/19999/a") == (False, 20_001)
    assert rules.match(b"/20000/a") == (True, 0)


def cut_at_limit(last: bytes, kept: int) -> bytes:
    """A text with a last line of which ``kept`` bytes are within the limit."""
    return (ALL + b"Disallow: /a\n").ljust(MAX_TEXT_BYTES - kept - 1, b"#") + b"\n" + last


@pytest.mark.parametrize(
    ("last", "kept", "path", "is_allowed"),
    [
        (b"Disallow: /b/c\n", 14, b"/b/c", False),
        (b"Disallow: /b/c", 14, b"/b/c", False),
        (b"Disallow: /b/c", 12, b"/b/d", False),
        (b"Disallow: /b/c", 0, b"/b/c", True),
        (b"Allow: /a/b/c\n", 13, b"/a/b/c", True),
        (b"Allow: /a/b/c\r", 13, b"/a/b/c", True),
        (b"Allow: /a/b/c", 13, b"/a/b/c", True),
        (b"Allow: /a/b/c", 11, b"/a/b", False),
        (b"Allow: /a/b # c", 13, b"/a/b", True),
        (b"User-agent: larbinpy-x", 20, b"/a", False),
        (b"Allow: /a/b\nAllow: /a/c", 12, b"/a/b", True),
    ],
)
def test_what_the_limit_cuts_never_allows(
    last: bytes, kept: int, path: bytes, is_allowed: bool
) -> None:
    """apache/stormcrawler#2004: 500 KiB are read; a cut Disallow counts, all else is dropped."""
    assert allowed(cut_at_limit(last, kept), path) == [is_allowed]


def test_a_long_line_is_cut_and_the_next_is_read() -> None:
    """A cut Disallow forbids what it begins with; a cut Allow allows nothing."""
    long = b"/".ljust(MAX_LINE_BYTES, b"x")
    text = ALL + b"Disallow: %b\nAllow: %b\nDisallow: /end\n" % (long, long)
    cut = long[: MAX_LINE_BYTES - len(b"Disallow: ")]
    assert allowed(text, cut, cut[:-1], long, b"/end") == [False, True, False, False]


@pytest.mark.parametrize("part", [b"\xe9", b"*\xe9", b"*a"])
def test_the_longest_pattern_is_kept_however_it_grows(part: bytes) -> None:
    """Bytes over 127 take three when they are encoded, and each part behind a star its size."""
    pattern = part * (MAX_LINE_BYTES // len(part))
    rules = parse(ALL + b"Disallow:/" + pattern + b"\nDisallow: /end\n")
    path = b"/" + pattern.replace(b"*", b"")
    assert [rules.allows(path), rules.allows(b"/a"), rules.allows(b"/end")] == [False, True, False]


def test_a_line_that_only_its_comment_makes_long_is_whole() -> None:
    """What is cut then says nothing."""
    text = ALL + b"Disallow: /\nAllow: /a #" + b"x" * MAX_LINE_BYTES
    assert allowed(text, b"/a", b"/b") == [True, False]


# --- anything ----------------------------------------------------------------------------------

PIECES = [
    b"User-agent", b"larbinpy", b"*", b"Disallow", b"Allow", b"Crawl-delay", b"Sitemap", b":", b" ",
    b"\n", b"\r", b"\0", b"/", b"a", b"$", b"%", b"#", b"1", b".", b"\xff", b"/index.html", b"\xef",
]  # fmt: skip


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=3)).map(b"".join), st.binary())
@example(b"Allow:/index.htm", b"")
def test_no_text_is_an_error(text: bytes, path: bytes) -> None:
    """Any bytes give rules that answer any path alike."""
    rules = parse(ALL + text)
    is_allowed, line = rules.match(path)
    assert rules.allows(path) == is_allowed
    assert 0 <= line <= 1 + len(text.splitlines())
    assert is_allowed or line > 0
