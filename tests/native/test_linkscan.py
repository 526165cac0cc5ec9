"""The link scanner against its oracle, on soup; and the rules that it must not lose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larbinpy._native import linkscan
from tests.reference import linkscan as reference
from tests.reference.css import css_urls
from tests.reference.htmlmeta import is_bare_refresh, refresh_url
from tests.reference.linkbuffers import read_found
from tests.reference.linkscan import fields, words

ELEMENTS = words(
    "a area link base frame iframe img image script source meta embed object video audio track form"
    " html head body title textarea style xmp noembed noframes noscript plaintext template frameset"
    " svg math foreignobject desc mi mtext annotation-xml font p br div table x-a SCRIPT A"
)
ATTRIBUTES = words(
    "href src srcset content data poster action style alt rel http-equiv name charset lang hreflang"
    " xlink:href encoding color HREF class"
)
VALUES = [
    *words(
        "x /y?a=b&amp;c=d &copy= &copy &copyx &notit; &#0; &#x80 &#128; &#xD800; &#1114112; &nGt;"
        " &lt a&#10;b nofollow ugc&#9;Canonical stylesheet robots refresh content-type"
        " ,UGC,canonical,sponsored"
        " content-language 0;url=z .5,'q'r 1;u text/html text/html;charset=koi8-r charset=\"x;y"
        " text/html;charset='a refre&#115;h é \U0001f600"
    ),
    "a 1x, b 2x,c",
    "d 5w 3h,(e f 1x",
    "g (a,b) 1x, h -1x, i 1e2x,",
    "color:red;background:url(x\\26 y ) url('z)",
    "\0\r\nz",
]
GLUE = [
    "<", ">", "/>", "</", "<!--", "-->", "--!>", "<!-->", "<!--->", "<!---", "-", "--", "<!", "<?",
    "<![CDATA[", "]]>", '"', "'", "=", "&", " ", "\n", "\r", "\f", "\0", "/", "text", "</script",
    "</script ", "<script", "<!--<script>", "</p>", "</br>", "</svg>", "</title>", "</template>",
    "</frameset>", "<!doctype html>", "&#", "&#x", "é", "<br>", "&#32;", "&Tab;", "&#0;",
    "<frame src=f>",
]  # fmt: skip

names = st.sampled_from(ELEMENTS)
attributes = st.builds(
    "{}{}={}{}{}{}".format,
    st.sampled_from([" ", "\n", "/", "", "\r\n"]),
    st.sampled_from(ATTRIBUTES),
    st.sampled_from(['"', "'", "", " "]),
    st.sampled_from(VALUES),
    st.sampled_from(['"', "'", "", " "]),
    st.sampled_from(["", " "]),
)
good_attributes = st.builds(
    ' {}="{}"'.format,
    st.sampled_from(ATTRIBUTES),
    st.sampled_from(VALUES).map(lambda value: value.replace('"', "&quot;")),
)
tags = st.builds(
    "<{}{}{}>".format,
    names,
    st.lists(good_attributes | attributes, max_size=4).map("".join),
    st.sampled_from(["", "", "/", " /"]),
)
good_tags = st.builds("<{}{}>".format, names, st.lists(good_attributes, max_size=4).map("".join))
end_tags = st.builds("</{}{}>".format, names, st.sampled_from(["", " ", "/", " a='>'"]))
pieces = (tags | good_tags | good_tags | end_tags | st.sampled_from(GLUE)).map(
    str.encode
) | st.binary(max_size=4)
soup = st.lists(pieces, max_size=25).map(b"".join)


def links(html: bytes, max_links: int = 50_000) -> list[tuple[int, int, int, bytes]]:
    """The found links as (element, attribute, rel, value)."""
    return read_found(linkscan.scan(html, max_links).links)


@settings(max_examples=400, deadline=None)
@given(soup)
def test_soup_gives_what_the_standard_says(html: bytes) -> None:
    """Whatever the bytes, kernel and oracle agree in every field."""
    assert fields(reference.scan(html)) == fields(linkscan.scan(html))


@settings(max_examples=400, deadline=None)
@given(soup)
def test_soup_gives_the_same_with_all_that_can_be_asked(html: bytes) -> None:
    """The same with the URLs in CSS, and what is told of each link beside it."""
    found = linkscan.scan(html, styles=True, details=True)
    found_details = [(tag.lower(), *rest) for tag, *rest in found.details]
    expected = reference.scan(html, styles=True, details=True)
    expected.details, expected_details = [], expected.details
    assert expected_details == found_details
    assert fields(expected) == fields(found) | {"details": []}


CSS = [
    "url(", "URL(", "url (", "1url(", "u\\72l(", "@import", "@import ", "@IMPORT\n", ")", "'", '"',
    "\\", "\n", "\r\n", "\f", " ", "/*", "*/", "//", "x", "-a_b", "#", "\\26", "\\0 ", "\\110000",
    "\\d800 ", "\\)", "\\'", "\0", "é", "(", "{", ";", "\x0b", "\x7f",
]  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(CSS), max_size=12).map("".join), st.binary(max_size=2))
def test_css_gives_what_the_standard_says(text: str, tail: bytes) -> None:
    """Whatever the bytes of a style sheet, kernel and oracle find the same URLs."""
    css = text.encode() + tail
    lines = css.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    expected = [url.encode() for url in css_urls(lines.replace("\0", "\ufffd"))]
    found = read_found(linkscan.scan_css(css).links)
    assert expected == [value for *_, value in found]
    assert {(19, 0, 0)}.issuperset(link[:3] for link in found)


def test_css_has_urls_in_functions_and_imports() -> None:
    """url() with and without quotes, @import with a string; no comment and no other string."""
    css = b"""@import 'a.css' screen; @import url(b.css); p { background: URL( "c d.png" ) }
    /* url(no) */ q::after { content: "url(no)"; x: url(e\\)f) url(bad "x") } f{src:url(g"""
    expected = [b"a.css", b"b.css", b"c d.png", b"e)f", b"g"]
    assert expected == [value for *_, value in read_found(linkscan.scan_css(css).links)]


def test_css_in_a_page_comes_at_its_place() -> None:
    """Style elements and attributes are read on request, behind the links of their tag."""
    html = b'<style>a{b:url(1)}</style><a href=2 style="b:url(&quot;3&quot;)"></a><img src=4>'
    assert [b"2", b"4"] == [value for *_, value in links(html)]
    found = read_found(linkscan.scan(html, styles=True).links)
    expected = [(19, 0, b"1"), (1, 1, b"2"), (19, 8, b"3"), (7, 2, b"4")]
    assert expected == [(element, attribute, value) for element, attribute, _, value in found]


def test_details_tell_what_a_reader_sees() -> None:
    """Tag, rel, text and hreflang of each link; an anchor's text ends with it or the next one."""
    html = (
        b'<A rel="x nofollow" href=1>t<b>ex</b>t &lt;</a>no<img alt=al hreflang=no src=2>'
        b"<a href=3>u<a>no<link rel=alternate hreflang=de&#45;CH href=4>"
    )
    expected = [
        (b"A", b"x nofollow", b"text <", None),
        (b"img", None, b"al", None),
        (b"a", None, b"u", None),
        (b"link", b"alternate", None, b"de-CH"),
    ]
    assert expected == linkscan.scan(html, details=True).details


@settings(max_examples=200, deadline=None)
@given(st.lists(good_attributes, max_size=6).map("".join), st.sampled_from(["meta", "img", "link"]))
def test_attributes_give_what_the_standard_says(text: str, name: str) -> None:
    """The same for single tags with many attributes, twice in a page."""
    html = f"<{name}{text}><{name}{text}><a href=last>".encode()
    assert fields(reference.scan(html)) == fields(linkscan.scan(html))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789.-+eExwh,() ;'\"urlURL=\ta", max_size=20))
def test_small_languages_give_what_the_standard_says(value: str) -> None:
    """The same for what stands in srcset, refresh and charset."""
    text = value.replace('"', "&quot;")
    html = (
        f'<img srcset="u {text}, v"><meta http-equiv=refresh content="0{text}">'
        f'<meta http-equiv=refresh content="{text}">'
        f'<meta http-equiv=content-type content="charset={text}">'
    ).encode()
    assert fields(reference.scan(html)) == fields(linkscan.scan(html))


@settings(max_examples=200)
@given(st.text("0.;,' \"\turlURL=x\xe9"))
def test_a_refresh_is_read_alike_wherever_it_stands(text: str) -> None:
    """A header field says it as an attribute does."""
    url = None if is_bare_refresh(text) else refresh_url(text)
    assert linkscan.refresh_url(text.encode()) == (None if url is None else url.encode())


def test_links_come_in_document_order_with_their_rel() -> None:
    """Element, attribute, rel bits and value of each link."""
    html = (
        b'<A HREF=/a REL="nofollow UGC">x</a><img srcset="b 2x" src=c><link rel=canonical href=d>'
    )
    expected = [(1, 1, 3, b"/a"), (7, 2, 0, b"c"), (7, 3, 0, b"b"), (3, 1, 8, b"d")]
    assert expected == links(html)


@pytest.mark.parametrize(
    ("rel", "bits"),
    [
        (b"nofollow,ugc", 3),
        (b"NoFollow, external ,sponsored", 5),
        (b",ugc,,", 2),
        (b"stylesheet,canonical", 0),
        (b"nofollows,x", 0),
    ],
)
def test_commas_stand_between_words_that_ask_not_to_be_followed(rel: bytes, bits: int) -> None:
    """Search engines take such lists; what the HTML standard defines stands between spaces."""
    assert links(b'<a rel="%b" href=x>' % rel) == [(1, 1, bits, b"x")]


def test_head_elements_fill_the_fields() -> None:
    """Title, base, canonical, robots, charset and language are reported beside the links."""
    found = linkscan.scan(
        b"<html lang=de><meta charset=utf-8><title>a &lt; b</title><base target=x><base href=/b/>"
        b"<meta name=ROBOTS content=noindex><meta name=robots content='nofollow,x'>"
        b"<link rel=canonical href=/c>"
    )
    assert (found.title, found.base, found.canonical) == (b"a < b", b"/b/", b"/c")
    assert (found.robots, found.charset, found.language) == (b"noindex,nofollow,x", b"utf-8", b"de")


def test_a_silent_page_has_none() -> None:
    """What a page does not say is None; text fields are empty."""
    found = linkscan.scan(b"<p>text")
    assert (found.base, found.canonical, found.charset, found.language) == (None, None, None, None)
    assert (found.links, found.title, found.robots, found.count) == (b"", b"", b"", 0)


@pytest.mark.parametrize("coded", [b"&amp;", b"\r\n", b"\0", b"\xff", "é".encode()])
def test_values_of_any_length_are_decoded_wherever_that_is_needed(coded: bytes) -> None:
    """They are looked at some bytes at a time."""
    values = [b"x" * before + coded + b"y" * behind for before in range(40) for behind in (0, 9)]
    html = b"".join(b'<a href="%b"><area href="%b">' % (v, b"z" * len(v)) for v in values)
    assert fields(reference.scan(html)) == fields(linkscan.scan(html))


def test_names_are_whole() -> None:
    """Neither longer nor shorter ones are taken for them, nor those with other bytes in front."""
    known = [b"a", b"area", b"noscript", b"foreignobject", b"annotation-xml"]
    names = [w for name in known for w in (name, name.upper(), name[1:], name + b"a", b"\0" + name)]
    tags = [b"<%b \0href=1 xhref=2 hre=3 =href=4 href=5 HREF=6>" % name for name in names]
    pages = [b"<svg><a href=s>" + tag + b"<a href=b>" for tag in tags] + tags
    pages += [b"<%b><a href=x></%b><a href=y>" % (name, name) for name in names]
    for page in pages:
        assert fields(reference.scan(page)) == fields(linkscan.scan(page)), page


@pytest.mark.parametrize(
    "empty",
    [b"<script src=x />", b"<script/>", b"<title/>", b"<style/>", b"<textarea/>",
     b"<iframe src=x />", b"<noscript/>", b"<template/>", b"<xmp/>", b"<plaintext/>"],
)  # fmt: skip
def test_an_empty_element_of_xhtml_swallows_no_link(empty: bytes) -> None:
    """In HTML there are none: what follows is its text."""
    page = empty + b"<a href=found></a>"
    assert b"found" in linkscan.scan(page, is_xml=True).links
    is_hidden = empty != b"<noscript/>"  # which holds ordinary elements
    assert (b"found" not in linkscan.scan(page).links) == is_hidden


def test_xhtml_is_read_as_html_but_for_empty_elements() -> None:
    """Scripts have their text, and what is not well-formed has its links."""
    page = b"<script>'<a href=no>'</script><a href=yes>"
    links = linkscan.scan(page, is_xml=True).links
    assert b"yes" in links
    assert b"no" not in links


def test_links_beyond_the_limit_are_counted() -> None:
    """Links behind max_links are dropped and counted, the rest of the page is still read."""
    html = b"<a href=1><img srcset='2, 3'><a href=4><title>t</title>"
    found = linkscan.scan(html, 2)
    assert (found.count, found.dropped, found.title) == (2, 2, b"t")
    assert [value for *_, value in links(html, 2)] == [b"1", b"2"]


def test_every_named_reference_is_known() -> None:
    """All names of the standard decode, with and without a semicolon, in text and attributes."""
    from html.entities import html5  # noqa: PLC0415 - only this test needs the table

    html = b"".join(b'<a href="&%b"><title>&%b</title>' % (n, n) for n in map(str.encode, html5))
    assert fields(reference.scan(html)) == fields(linkscan.scan(html))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(b"<div>" * 200_000 + b"<a href=x>", id="nesting"),
        pytest.param(
            b"<svg><desc>" * 100_000 + b"</desc></svg>" * 100_000 + b"<a href=x>", id="svg"
        ),
        pytest.param(b"<template>" * 5 + b"</template>" * 100_000 + b"<a href=x>", id="template"),
        pytest.param(b"<svg>" * 64 + b"</desc>" * 100_000 + b"<p><a href=x>", id="ends"),
        pytest.param(b"<font size=1>" * 80_000 + b"<a href=x>", id="formatting"),
        pytest.param(b"<p " + b"a=b " * 250_000 + b"><a href=x>", id="attributes"),
        pytest.param(b"<title>" + b"</titl" * 160_000 + b"</title><a href=x>", id="raw"),
        pytest.param(
            b"<script><!--" + b"<script" * 140_000 + b"--></script><a href=x>", id="script"
        ),
        pytest.param(b"<!--" + b"->" * 500_000 + b"--><a href=x>", id="comment"),
        pytest.param(b"<![CDATA[" + b"]" * 1_000_000 + b"><a href=x>", id="cdata"),
        pytest.param(b"<a href=x title=" + b"&" * 1_000_000 + b">", id="ampersands"),
        pytest.param(b"<a href=x><img srcset='" + b"(" * 1_000_000 + b"'>", id="srcset"),
        pytest.param(
            b"<style>" + b"url(" * 100_000 + b"/*" * 100_000 + b"</style><a href=x>", id="css"
        ),
        pytest.param(b"<<" * 500_000 + b"<a href=x>", id="less-than"),
    ],
)
def test_a_megabyte_of_malice_hides_no_link(page: bytes) -> None:
    """Deep, long and unclosed things take linear time and lose nothing."""
    assert (1, 1, 0, b"x") in links(page)
    everything = linkscan.scan(page, styles=True, details=True)
    assert (1, 1, 0, b"x") in read_found(everything.links)


@pytest.mark.parametrize(
    "opener", [b"<a href='", b"<!--", b"<script>", b"<title>", b"<a ", b"<![", b"&"]
)
def test_a_million_unclosed_things_end(opener: bytes) -> None:
    """What never closes ends the page; it is not searched again from each opener."""
    assert links(opener * (1_000_000 // len(opener))) == []


def test_deeper_contexts_than_are_kept_still_close() -> None:
    """Contexts beyond the stack are counted, so that what is outside is outside again."""
    html = (
        b"<svg>" * 100 + b"<a href=s>" + b"</svg>" * 100 + b"<iframe><a href=no></iframe><a href=x>"
    )
    assert [value for *_, value in links(html)] == [b"s", b"x"]


def test_a_raw_text_end_tag_closes_nothing_else() -> None:
    """The end tag of an HTML title inside an SVG title leaves the latter open."""
    html = b"<svg><title><title>x</title><xmp></svg><a href=no></xmp><a href=x>"
    assert [value for *_, value in links(html)] == [b"x"]


def test_output_stays_in_bounds_when_references_grow() -> None:
    """The longest growth of a reference is covered by what is reserved."""
    html = b"<a href='" + b"&nGt;" * 10_000 + b"'>" + b"<a href='" + b"\0\xff" * 10_000 + b"'>"
    expected = ["\u226b\u20d2" * 10_000, "\ufffd" * 20_000]
    assert expected == [value.decode() for *_, value in links(html)]
