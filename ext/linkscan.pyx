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

Short cuts, all of them unable to hide a link of a sane page: elements inside svg and math are not
matched one by one, only those that change how content is read; beyond CONTEXTS of these, inner ones
are counted and not told apart; template contents say nothing about framesets.

Cost: O(bytes); 2 to 3 us for 7.6 kB with 30 links (tests/bench/micro_linkscan.py).
One crossing and one nogil block per page.
"""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memchr, memcmp, memset, strlen

from htmlbase cimport (
    IS_ALPHA, IS_SPACE, Buffer, Name, Names, Span, add_name, append, equals_fold, html_class,
    release, reserve,
)
from htmlcontext cimport (
    IN_MATH, IN_POINT, IN_SVG, IN_TEMPLATE, Context, Contexts, break_out, end_context, in_html,
    push,
)
from htmlskip cimport behind, find_raw_end, find_script_end, skip_cdata, skip_comment
from htmltag cimport (
    BREAKS_OUT, ENDS_FRAMESET, HTML_ATTRIBUTES, HTML_ELEMENTS, IS_PLAIN, IS_RAW, IS_RCDATA,
    IS_SCRIPT, ROLE_A, ROLE_ANNOTATION, ROLE_BR, ROLE_DESC, ROLE_FONT, ROLE_FOREIGN_OBJECT,
    ROLE_FRAME, ROLE_FRAMESET, ROLE_HTML, ROLE_MATH, ROLE_MATH_TEXT, ROLE_META, ROLE_NOFRAMES,
    ROLE_SVG, ROLE_TEMPLATE, ROLE_TITLE, SLOT_CHARSET, SLOT_ENCODING, SLOT_FONT, SLOT_HTTP_EQUIV,
    SLOT_LANG, SLOT_NAME, SLOT_REL, SLOT_XLINK, WANTS_ATTRIBUTES, Tag, has, html_attributes,
    html_element, html_elements, read_attributes, read_name,
)
from htmltext cimport TEXT_GROWTH, Entities, Entity, put_coded, put_text
from htmlvalue cimport next_candidate, read_charset, read_refresh, rel_bits
from layout cimport (
    ATTRIBUTE_CONTENT, ATTRIBUTE_HREF, ATTRIBUTE_SRCSET, ELEMENT_BASE, ELEMENT_LINK, ELEMENT_META,
    REL_CANONICAL, REL_DOCUMENT, found_link,
)

from html.entities import html5 as _html5


# --- tables of names, filled at import --------------------------------------------------------
cdef enum:
    NAME_SLOTS = 512
    MAX_ENTITIES = 2304
    ENTITY_SLOTS = 8192


cdef Name ELEMENT_NAMES[HTML_ELEMENTS]
cdef uint16_t ELEMENT_SLOTS[NAME_SLOTS]
cdef Names ELEMENTS

cdef Name ATTRIBUTE_NAMES[HTML_ATTRIBUTES]
cdef uint16_t ATTRIBUTE_SLOTS[NAME_SLOTS]
cdef Names ATTRIBUTES

cdef Name ENTITY_NAMES[MAX_ENTITIES]
cdef uint16_t ENTITY_INDEX[ENTITY_SLOTS]
cdef Entity ENTITY_VALUES[MAX_ENTITIES]
cdef Entities ENTITIES


cdef Span span_of(const char *text) noexcept:
    return Span(<const uint8_t *>text, strlen(text))


def _fill_names():
    cdef uint16_t index
    ELEMENTS.entries = &ELEMENT_NAMES[0]
    ELEMENTS.slots = &ELEMENT_SLOTS[0]
    ELEMENTS.mask = NAME_SLOTS - 1
    for index in range(1, HTML_ELEMENTS):
        add_name(&ELEMENTS, index, span_of(html_elements[index].name))
    ATTRIBUTES.entries = &ATTRIBUTE_NAMES[0]
    ATTRIBUTES.slots = &ATTRIBUTE_SLOTS[0]
    ATTRIBUTES.mask = NAME_SLOTS - 1
    for index in range(1, HTML_ATTRIBUTES):
        add_name(&ATTRIBUTES, index, span_of(html_attributes[index].name))


def _fill_entities():
    cdef uint16_t index
    cdef Entity *entity
    ENTITIES.values = &ENTITY_VALUES[0]
    ENTITIES.names.entries = &ENTITY_NAMES[0]
    ENTITIES.names.slots = &ENTITY_INDEX[0]
    ENTITIES.names.mask = ENTITY_SLOTS - 1
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
        add_name(&ENTITIES.names, index, span_of(name.encode()))


_fill_names()
_fill_entities()


# --- the state of one scan --------------------------------------------------------------------
cdef enum:  # Page.frames
    MAY_BE_FRAMESET = 0
    IN_BODY = 1
    IN_FRAMESET = 2
    AFTER_FRAMESET = 3


cdef struct Page:
    const uint8_t *end
    Tag tag
    Contexts contexts
    int frames
    uint32_t framesets  # that are open
    bint no_memory
    uint32_t max_links
    uint32_t count
    uint32_t dropped
    Buffer links, base, title, robots, canonical, charset, language, scratch


cdef inline bint may_be_frameset(const Page *page) noexcept nogil:
    """Whether what comes now decides if this is a frameset document."""
    return page.frames == MAY_BE_FRAMESET and page.contexts.templates == 0


# --- output -----------------------------------------------------------------------------------
cdef bint decode(Page *page, Buffer *buffer, Span text, bint in_attribute) noexcept nogil:
    """Append what `text` means."""
    if not reserve(buffer, TEXT_GROWTH * text.size):
        page.no_memory = True
        return False
    buffer.size += put_text(&ENTITIES, text, buffer.data + buffer.size, in_attribute)
    buffer.is_set = True
    return True


cdef Span decoded(Page *page, int slot) noexcept nogil:
    """The value of an attribute, until the next call."""
    page.scratch.size = 0
    if not decode(page, &page.scratch, page.tag.values[slot], True):
        return Span(NULL, 0)
    return Span(page.scratch.data, page.scratch.size)


cdef bint list_value(
    Page *page, found_link head, Span value, bint is_decoded
) noexcept nogil:
    """Append one link."""
    cdef size_t start = page.links.size
    if page.count >= page.max_links:
        page.dropped += 1
        return True
    page.count += 1
    if not append(&page.links, Span(<uint8_t *>&head, sizeof(found_link))):
        page.no_memory = True
        return False
    if is_decoded:
        if not append(&page.links, value):
            page.no_memory = True
            return False
    elif not decode(page, &page.links, value, True):
        return False
    (<found_link *>(page.links.data + start)).value_len = <uint32_t>(
        page.links.size - start - sizeof(found_link)
    )
    return True


cdef void list_slot(Page *page, found_link head, int slot) noexcept nogil:
    """List what an attribute holds: a URL, or several in a srcset."""
    cdef Span rest, url
    if not has(&page.tag, slot):
        return
    head.attribute = slot
    if slot != ATTRIBUTE_SRCSET:
        list_value(page, head, page.tag.values[slot], False)
        return
    rest = decoded(page, slot)
    while next_candidate(&rest, &url):
        if not list_value(page, head, url, True):
            return


cdef void list_links(Page *page, const html_element *element) noexcept nogil:
    cdef found_link head = found_link(element.element, 0, 0, 0, 0)
    if has(&page.tag, SLOT_REL):
        head.rel = rel_bits(decoded(page, SLOT_REL))
    list_slot(page, head, element.first)
    if element.second:
        list_slot(page, head, element.second)
    if not has(&page.tag, ATTRIBUTE_HREF):
        return
    if element.element == ELEMENT_BASE and not page.base.is_set:
        decode(page, &page.base, page.tag.values[ATTRIBUTE_HREF], True)
    if element.element == ELEMENT_LINK and head.rel & REL_CANONICAL and not page.canonical.is_set:
        decode(page, &page.canonical, page.tag.values[ATTRIBUTE_HREF], True)


cdef void join(Page *page, Buffer *list, Span value) noexcept nogil:
    """Append to a list with commas."""
    if list.is_set and not append(list, Span(<const uint8_t *>b",", 1)):
        page.no_memory = True
    if not append(list, value):
        page.no_memory = True


cdef void read_pragma(Page *page) noexcept nogil:
    """Do what meta http-equiv with a content says."""
    cdef Span found
    cdef uint8_t rel
    cdef Span pragma = decoded(page, SLOT_HTTP_EQUIV)
    cdef bint is_refresh = equals_fold(pragma, b"refresh", 7)
    cdef bint is_type = equals_fold(pragma, b"content-type", 12)
    cdef bint is_language = equals_fold(pragma, b"content-language", 16)
    cdef Span content = decoded(page, ATTRIBUTE_CONTENT)
    if is_refresh and read_refresh(content, &found):
        rel = 0 if found.data != NULL else REL_DOCUMENT
        list_value(page, found_link(ELEMENT_META, ATTRIBUTE_CONTENT, rel, 0, 0), found, True)
    if is_type and not has(&page.tag, SLOT_CHARSET) and read_charset(content, &found):
        join(page, &page.charset, found)
    if is_language and not page.language.is_set and not append(&page.language, content):
        page.no_memory = True


cdef void read_meta(Page *page) noexcept nogil:
    if has(&page.tag, SLOT_HTTP_EQUIV) and has(&page.tag, ATTRIBUTE_CONTENT):
        read_pragma(page)
    if has(&page.tag, SLOT_CHARSET):
        join(page, &page.charset, decoded(page, SLOT_CHARSET))
    if has(&page.tag, SLOT_NAME) and has(&page.tag, ATTRIBUTE_CONTENT):
        if equals_fold(decoded(page, SLOT_NAME), b"robots", 6):
            join(page, &page.robots, decoded(page, ATTRIBUTE_CONTENT))


# --- raw text ---------------------------------------------------------------------------------
cdef const uint8_t *skip_raw(Page *page, uint16_t index, const uint8_t *p) noexcept nogil:
    """Skip the text and the end tag of a raw text element; NULL when the page ends first."""
    cdef const html_element *element = &html_elements[index]
    cdef const Name *name = &ELEMENT_NAMES[index]
    cdef const uint8_t *start = p
    cdef Span text
    if element.flags & IS_PLAIN:
        return NULL
    if element.flags & IS_SCRIPT:
        p = find_script_end(p, page.end, name)
    else:
        p = find_raw_end(p, page.end, name)
    if element.role == ROLE_TITLE and not page.title.is_set and page.contexts.templates == 0:
        text = Span(start, (page.end if p == NULL else p) - start)
        decode(page, &page.title, text, False)
    if p == NULL:
        return NULL
    return read_attributes(&page.tag, p + 2 + name.size, page.end, NULL)


# --- svg, math and template -------------------------------------------------------------------
cdef bint breaks_out(Page *page, const html_element *element) noexcept nogil:
    """Whether this start tag ends svg and math around it."""
    if element.flags & BREAKS_OUT:
        return True
    return element.role == ROLE_FONT and has(&page.tag, SLOT_FONT)


cdef bint holds_html(Page *page, const html_element *element, uint8_t outer) noexcept nogil:
    """Whether this element of svg or math has HTML inside (the integration points)."""
    cdef Span encoding
    if outer == IN_SVG:
        return element.role in (ROLE_FOREIGN_OBJECT, ROLE_DESC, ROLE_TITLE)
    if element.role == ROLE_MATH_TEXT:
        return True
    if element.role != ROLE_ANNOTATION or not has(&page.tag, SLOT_ENCODING):
        return False
    encoding = decoded(page, SLOT_ENCODING)
    return (
        equals_fold(encoding, b"text/html", 9)
        or equals_fold(encoding, b"application/xhtml+xml", 21)
    )


cdef bint start_foreign(Page *page, uint16_t index) noexcept nogil:
    """Take a start tag inside svg or math; false when it makes an HTML element after all."""
    cdef const html_element *element = &html_elements[index]
    cdef Context outer = page.contexts.items[page.contexts.depth - 1]
    if breaks_out(page, element):
        break_out(&page.contexts)
        return False
    if element.role == ROLE_SVG and html_elements[outer.name].role == ROLE_ANNOTATION:
        return False
    if element.role == ROLE_A and outer.kind == IN_SVG and page.contexts.templates == 0:
        if not has(&page.tag, ATTRIBUTE_HREF) and has(&page.tag, SLOT_XLINK):
            page.tag.seen |= 1 << ATTRIBUTE_HREF
            page.tag.values[ATTRIBUTE_HREF] = page.tag.values[SLOT_XLINK]
        list_links(page, element)
    if page.tag.is_self_closing:
        return True
    if holds_html(page, element, outer.kind):
        push(&page.contexts, index, IN_POINT)
    elif element.role in (ROLE_SVG, ROLE_MATH, ROLE_ANNOTATION):
        push(&page.contexts, index, outer.kind)
    return True


# --- tags -------------------------------------------------------------------------------------
cdef const uint8_t *start_html(Page *page, uint16_t index, const uint8_t *p) noexcept nogil:
    """Take a start tag that makes an HTML element; behind its raw text, if it has that."""
    cdef const html_element *element = &html_elements[index]
    if page.contexts.templates == 0:
        if element.flags & ENDS_FRAMESET:
            page.frames = IN_BODY
        if element.element and element.role != ROLE_FRAME:
            list_links(page, element)
        elif element.role == ROLE_META:
            read_meta(page)
        elif element.role == ROLE_HTML and has(&page.tag, SLOT_LANG) and not page.language.is_set:
            decode(page, &page.language, page.tag.values[SLOT_LANG], True)
    if element.role == ROLE_TEMPLATE:
        push(&page.contexts, index, IN_TEMPLATE)
    elif element.role == ROLE_SVG and not page.tag.is_self_closing:
        push(&page.contexts, index, IN_SVG)
    elif element.role == ROLE_MATH and not page.tag.is_self_closing:
        push(&page.contexts, index, IN_MATH)
    elif element.role == ROLE_FRAMESET and page.contexts.depth == 0 and may_be_frameset(page):
        page.frames = IN_FRAMESET
        page.framesets = 1
    if element.flags & (IS_RAW | IS_RCDATA | IS_SCRIPT | IS_PLAIN):
        return skip_raw(page, index, p)
    return p


cdef const uint8_t *start_in_frameset(
    Page *page, uint16_t index, const uint8_t *p
) noexcept nogil:
    """Take a start tag of a frameset document, which has frames and nothing else."""
    cdef const html_element *element = &html_elements[index]
    if element.role == ROLE_NOFRAMES:
        return skip_raw(page, index, p)
    if page.frames == IN_FRAMESET:
        if element.role == ROLE_FRAMESET:
            page.framesets += 1
        elif element.role == ROLE_FRAME:
            list_links(page, element)
    return p


cdef const uint8_t *start_tag(Page *page, const uint8_t *p) noexcept nogil:
    """Take a start tag from its name on; NULL when the page ends in it or in its text."""
    cdef uint16_t index
    p = read_name(p, page.end, &ELEMENTS, &index)
    p = read_attributes(
        &page.tag, p, page.end,
        &ATTRIBUTES if html_elements[index].flags & WANTS_ATTRIBUTES else NULL,
    )
    if p == NULL or index == 0:
        return p
    if page.frames >= IN_FRAMESET:
        return start_in_frameset(page, index, p)
    if not in_html(&page.contexts) and start_foreign(page, index):
        return p
    return start_html(page, index, p)


cdef const uint8_t *end_tag(Page *page, const uint8_t *p) noexcept nogil:
    """Take what follows "</"; NULL when the page ends in it."""
    cdef uint16_t index
    if p >= page.end:
        return NULL
    if not html_class[p[0]] & IS_ALPHA:
        return behind(p, page.end, c'>')
    p = read_name(p, page.end, &ELEMENTS, &index)
    p = read_attributes(&page.tag, p, page.end, NULL)
    if p == NULL or index == 0:
        return p
    if page.frames == IN_FRAMESET and html_elements[index].role == ROLE_FRAMESET:
        page.framesets -= 1
        if page.framesets == 0:
            page.frames = AFTER_FRAMESET
    elif page.contexts.depth:
        end_context(&page.contexts, index)
    if html_elements[index].role == ROLE_BR and may_be_frameset(page):
        page.frames = IN_BODY  # </br> makes a line break
    return p


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
            if put_coded(&ENTITIES, &rest, meant, False) != 1:
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
    while p != NULL and not page.no_memory:
        text = p
        p = <const uint8_t *>memchr(p, c'<', page.end - p)
        if p == NULL or p + 1 >= page.end:
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
            p += 1
            if may_be_frameset(page):
                page.frames = IN_BODY


# --- the border to Python ---------------------------------------------------------------------
@cython.final
cdef class Scan:
    """What ``scan`` found in a page.

    ``links`` holds ``found_link`` items (docs/protocol.md, section 6) in the order of the start
    tags, ``count`` of them; ``dropped`` more were found behind the limit.
    ``base`` is the href of the first base that has one, ``canonical`` of the first link of that
    kind; ``title`` the text of the first title. ``robots`` and ``charset`` join with commas what
    all meta elements say. ``language`` is that of html, else of meta.
    ``None`` means that the page does not say.
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


cdef bytes text_of(const Buffer *buffer):
    return buffer.data[:buffer.size] if buffer.size else b""


cdef bytes text_or_none(const Buffer *buffer):
    return text_of(buffer) if buffer.is_set else None


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
    return found


cdef void release_all(Page *page) noexcept nogil:
    release(&page.links)
    release(&page.base)
    release(&page.title)
    release(&page.robots)
    release(&page.canonical)
    release(&page.charset)
    release(&page.language)
    release(&page.scratch)


def scan(bytes html not None, uint32_t max_links=50_000):
    """Find the links of a page, and what it says about itself.

    Args:
        html: UTF-8, or anything that agrees with ASCII; may be invalid.
        max_links: links beyond these are counted in ``dropped`` and not listed.

    Returns:
        a ``Scan``; every page has one.

    Raises:
        ValueError: the page has a gigabyte or more.

    Cost: O(bytes of the page), memory too.
    """
    cdef Page page
    cdef const uint8_t *start = <const uint8_t *><const char *>html
    if len(html) >= 1 << 30:
        raise ValueError(f"a page of {len(html)} bytes; the limit is 1 GiB")
    memset(&page, 0, sizeof(page))
    page.end = start + len(html)
    page.max_links = max_links
    with nogil:
        scan_page(&page, start)
    try:
        if page.no_memory:
            raise MemoryError
        return take_results(&page)
    finally:
        release_all(&page)
