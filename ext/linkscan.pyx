"""Find the links of an HTML page, and what else a crawler wants to know of it, in one pass.

Idea: a tokenizer by the rules of the HTML standard (13.2.5) that builds nothing. Between tags it
runs on memchr; of a tag it keeps pointers to the few attributes that matter; only values that are
listed are decoded, straight into the output. What a tree builder would tell the tokenizer is kept
in a few words of state: raw text elements, a short stack of svg, math and template, and whether
this is a frameset document. Scripting is off, so noscript is parsed like anything else.

Invariants:
1. Every byte of input is looked at a constant number of times: a search that fails ends the page.
2. No recursion, no tree; the state has a fixed size, and the output is bounded by the input.
3. Tags count when their ">" has been seen, never before; of two equal attributes the first counts.
4. Output is valid UTF-8, whatever the input is: what is invalid in a value became U+FFFD.

The parts stand in header-only files: bytes and names in ``htmlbase.pxd``, a tag in ``htmltag.pxd``,
what it does in ``htmltree.pxd``, what is noted of a page in ``htmlpage.pxd``.

Cost: O(bytes); 2 to 3 us for 7.6 kB with 30 links (tests/bench/micro_linkscan.py).
One crossing and one nogil block per page.
"""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memchr, memcmp, memset, strlen

from htmlbase cimport IS_ALPHA, IS_SPACE, Buffer, Name, Names, Span, add_name, append, html_class
from htmlcontext cimport IN_TEMPLATE
from htmlpage cimport (
    IN_BODY, Detail, Page, Part, Tables, close_anchor, decode, list_css, may_be_frameset,
    release_all,
)
from htmlskip cimport behind, skip_cdata, skip_comment
from htmltag cimport HTML_ATTRIBUTES, HTML_ELEMENTS, html_attributes, html_elements
from htmltext cimport TEXT_GROWTH, Entity, put_coded
from htmltree cimport end_tag, start_tag
from htmlvalue cimport read_refresh

from html.entities import html5 as _html5


# --- tables of names, filled at import --------------------------------------------------------
cdef enum:
    NAME_SLOTS = 512
    MAX_ENTITIES = 2304
    ENTITY_SLOTS = 8192


cdef Name ELEMENT_NAMES[HTML_ELEMENTS]
cdef uint16_t ELEMENT_SLOTS[NAME_SLOTS]
cdef Name ATTRIBUTE_NAMES[HTML_ATTRIBUTES]
cdef uint16_t ATTRIBUTE_SLOTS[NAME_SLOTS]
cdef Name ENTITY_NAMES[MAX_ENTITIES]
cdef uint16_t ENTITY_INDEX[ENTITY_SLOTS]
cdef Entity ENTITY_VALUES[MAX_ENTITIES]
cdef Tables TABLES


cdef Span span_of(const char *text) noexcept:
    return Span(<const uint8_t *>text, strlen(text))


def _fill_names():
    cdef uint16_t index
    TABLES.elements = Names(&ELEMENT_NAMES[0], &ELEMENT_SLOTS[0], NAME_SLOTS - 1)
    for index in range(1, HTML_ELEMENTS):
        add_name(&TABLES.elements, index, span_of(html_elements[index].name))
    TABLES.attributes = Names(&ATTRIBUTE_NAMES[0], &ATTRIBUTE_SLOTS[0], NAME_SLOTS - 1)
    for index in range(1, HTML_ATTRIBUTES):
        add_name(&TABLES.attributes, index, span_of(html_attributes[index].name))


def _fill_entities():
    cdef uint16_t index
    cdef Entity *entity
    TABLES.entities.values = &ENTITY_VALUES[0]
    TABLES.entities.names = Names(&ENTITY_NAMES[0], &ENTITY_INDEX[0], ENTITY_SLOTS - 1)
    names = [name.removesuffix(";") for name in _html5 if name.endswith(";")]
    if len(names) >= MAX_ENTITIES:
        raise ImportError("more character references than the table can hold")
    for index, name in enumerate(names, 1):
        value = _html5[name + ";"].encode()
        entity = &ENTITY_VALUES[index]
        entity.size = len(value)
        for i in range(len(value)):
            entity.text[i] = value[i]
        entity.is_legacy = name in _html5
        add_name(&TABLES.entities.names, index, span_of(name.encode()))


_fill_names()
_fill_entities()


# --- the page ---------------------------------------------------------------------------------
cdef const uint8_t *skip_declaration(Page *page, const uint8_t *p) noexcept nogil:
    """Skip what "<!" began; NULL when the page ends in it."""
    cdef size_t left = page.end - p
    if left >= 2 and p[0] == c'-' and p[1] == c'-':
        return skip_comment(p + 2, page.end)
    if (
        page.contexts.depth and page.contexts.items[page.contexts.depth - 1].kind != IN_TEMPLATE
        and left >= 7 and memcmp(p, b"[CDATA[", 7) == 0
    ):
        return skip_cdata(p + 7, page.end)
    return behind(p, page.end, c'>')


cdef bint has_text(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Whether there is more than spaces here, also when they are written as references."""
    cdef uint8_t meant[TEXT_GROWTH * 2]  # the longest value of a reference has six bytes
    cdef Span rest
    while p < end:
        if p[0] == c'&':
            rest = Span(p, end - p)
            if put_coded(&TABLES.entities, &rest, meant, False) != 1:
                return True
            if not html_class[meant[0]] & IS_SPACE:
                return True
            p = rest.data
        elif p[0] == 0 or html_class[p[0]] & IS_SPACE:
            p += 1
        else:
            return True
    return False


cdef void scan_page(Page *page, const uint8_t *p) noexcept nogil:
    cdef const uint8_t *text
    cdef const uint8_t *text_end
    while p != NULL and not page.no_memory:
        text = p
        p = <const uint8_t *>memchr(p, c'<', page.end - p)
        if page.anchor:
            text_end = page.end if p == NULL else p
            decode(page, &page.anchor_text, Span(text, text_end - text), False)
        if p == NULL or p + 1 >= page.end or (p + 2 == page.end and p[1] == c'/'):
            if page.anchor and p != NULL:
                decode(page, &page.anchor_text, Span(p, page.end - p), False)
            return
        if may_be_frameset(page) and has_text(text, p):
            page.frames = IN_BODY
        if html_class[p[1]] & IS_ALPHA:
            p = start_tag(page, p + 1)
        elif p[1] == c'/':
            p = end_tag(page, p + 2)
        elif p[1] == c'!':
            p = skip_declaration(page, p + 2)
        elif p[1] == c'?':
            p = behind(p, page.end, c'>')
        else:
            if page.anchor and not append(&page.anchor_text, Span(p, 1)):
                page.no_memory = True
            p += 1
            if may_be_frameset(page):
                page.frames = IN_BODY


cdef void scan_into(Page *page, const uint8_t *html, size_t size) noexcept nogil:
    """Scan a page; of ``page`` everything is set but what is found, and that is empty."""
    page.tables = &TABLES
    page.end = html + size
    scan_page(page, html)
    close_anchor(page)


# --- the border to Python ---------------------------------------------------------------------
@cython.final
cdef class Scan:
    """What ``scan`` found in a page.

    ``links`` holds ``found_link`` items (docs/protocol.md, section 6) in the order of the start
    tags, ``count`` of them; ``dropped`` more were found behind the limit.
    ``base`` is the href of the first base that has one, ``canonical`` of the first link of that
    kind; ``title`` the text of the first title. ``robots`` and ``charset`` join with commas what
    all meta elements say that are for us. ``language`` is that of html, else of meta.
    ``None`` means that the page does not say.
    ``details`` has for each link, when they were asked for: the name of its tag as written, its rel
    attribute, its text (that of an ``a``, up to its end or the next ``a``, and the alt of img and
    area), and its hreflang (of ``a``, area and link); None = it has none.
    """

    cdef readonly bytes links
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t dropped
    cdef readonly bytes base
    cdef readonly bytes title
    cdef readonly bytes robots
    cdef readonly bytes canonical
    cdef readonly bytes charset
    cdef readonly bytes language
    cdef readonly list details


cdef bytes text_of(const Buffer *buffer):
    return buffer.data[:buffer.size] if buffer.size else b""


cdef bytes text_or_none(const Buffer *buffer):
    return text_of(buffer) if buffer.is_set else None


cdef bytes part_of(const Page *page, const Part *part):
    return page.texts.data[part.start:part.start + part.size] if part.is_set else None


cdef list details_of(const Page *page):
    cdef const Detail *detail = <const Detail *>page.details.data
    cdef size_t i
    return [
        (part_of(page, &detail[i].tag), part_of(page, &detail[i].rel),
         part_of(page, &detail[i].text), part_of(page, &detail[i].hreflang))
        for i in range(page.details.size // sizeof(Detail))
    ]


cdef Scan take_results(const Page *page):
    cdef Scan found = Scan.__new__(Scan)
    found.links = text_of(&page.links)
    found.count = page.count
    found.dropped = page.dropped
    found.base = text_or_none(&page.base)
    found.title = text_of(&page.title)
    found.robots = text_of(&page.robots)
    found.canonical = text_or_none(&page.canonical)
    found.charset = text_or_none(&page.charset)
    found.language = text_or_none(&page.language)
    found.details = details_of(page)
    return found


cdef Scan scan_any(
    bytes text, uint32_t max_links, bint is_css, bint styles, bint details, bytes agent,
    bint is_xml=False,
):
    cdef Page page
    cdef const uint8_t *start = <const uint8_t *><const char *>text
    cdef size_t size = len(text)
    if size >= 1 << 30:
        raise ValueError(f"a page of {size} bytes; the limit is 1 GiB")
    memset(&page, 0, sizeof(page))
    page.agent = Span(<const uint8_t *><const char *>agent, len(agent))
    page.max_links = max_links
    page.is_xml = is_xml
    page.wants_styles = styles
    page.wants_details = details
    with nogil:
        if is_css:
            page.tables = &TABLES
            list_css(&page, Span(start, size), 0)
        else:
            scan_into(&page, start, size)
    try:
        if page.no_memory:
            raise MemoryError
        return take_results(&page)
    finally:
        release_all(&page)


def scan_css(bytes css not None, uint32_t max_links=50_000):
    """Find the URLs of a style sheet: those of url( ) and of @import.

    Args:
        css: UTF-8; may be invalid.

    Raises, Cost: as ``scan``.
    """
    return scan_any(css, max_links, True, False, False, b"robots")


def scan(
    bytes html not None, uint32_t max_links=50_000, *, bytes agent not None=b"robots",
    bint styles=False, bint details=False, bint is_xml=False
):
    """Find the links of a page, and what it says about itself.

    Args:
        html: UTF-8, or anything that agrees with ASCII; may be invalid.
        max_links: links beyond these are counted in ``dropped`` and not listed.
        agent: our name, not empty and in lower case; a meta with it counts as one named robots.
        styles: list the URLs in CSS too, those of style elements and attributes.
        details: fill ``details``.
        is_xml: it is XHTML, where "<script/>" is an element without content; all else is as in
            HTML, also what is not well-formed.

    Returns:
        a ``Scan``; every page has one.

    Raises:
        ValueError: the page has a gigabyte or more.

    Cost: O(bytes of the page), memory too.
    """
    return scan_any(html, max_links, False, styles, details, agent, is_xml)


def refresh_url(bytes value not None):
    """Read the URL of a refresh, as a meta element or a header field says when and where to go.

    Returns:
        what stands there for it; None when the value has none, or does not parse.
    """
    cdef Span url
    if not read_refresh(Span(<const uint8_t *><const char *>value, len(value)), &url):
        return None
    return None if url.data == NULL else url.data[:url.size]
