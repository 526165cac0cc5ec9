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

Cost: about 0.3 us and then 0.2 ns per byte of text, 10 to 30 ns per tag, 60 ns per link.
One crossing and one nogil block per page.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memchr, memcmp, memset

from htmlbase cimport (
    IS_ALPHA, IS_ATTRIBUTE_END, IS_SPACE, IS_TAG_NAME_END, IS_UNQUOTED_END, Buffer, Name, Names,
    Span, add_name, append, equals_fold, find_name, html_class, html_lower, name_hash, release,
    reserve,
)
from htmlskip cimport behind, find_raw_end, find_script_end, skip_cdata, skip_comment
from htmltext cimport TEXT_GROWTH, Entities, Entity, put_coded, put_text
from htmlvalue cimport next_candidate, read_charset, read_refresh, rel_bits, skip_spaces
from layout cimport (
    ATTRIBUTE_ACTION, ATTRIBUTE_CONTENT, ATTRIBUTE_DATA, ATTRIBUTE_HREF, ATTRIBUTE_POSTER,
    ATTRIBUTE_SRC, ATTRIBUTE_SRCSET, ELEMENT_A, ELEMENT_AREA, ELEMENT_AUDIO, ELEMENT_BASE,
    ELEMENT_EMBED, ELEMENT_FORM, ELEMENT_FRAME, ELEMENT_IFRAME, ELEMENT_IMG, ELEMENT_LINK,
    ELEMENT_META, ELEMENT_OBJECT, ELEMENT_SCRIPT, ELEMENT_SOURCE, ELEMENT_TRACK, ELEMENT_VIDEO,
    REL_CANONICAL, found_link,
)

from html.entities import html5 as _HTML5


# --- what is known about elements and attributes ----------------------------------------------
cdef enum:
    # Attributes that are kept; the first seven are ATTRIBUTE_* of layout.h.
    SLOT_XLINK = 8
    SLOT_REL = 9
    SLOT_HTTP_EQUIV = 10
    SLOT_NAME = 11
    SLOT_CHARSET = 12
    SLOT_LANG = 13
    SLOT_ENCODING = 14
    SLOT_FONT = 15  # color, face or size: only that one of them is there matters
    SLOTS = 16

    WANTS_ATTRIBUTES = 1
    IS_RAW = 2  # content is text up to the end tag
    IS_RCDATA = 4  # the same, with character references
    IS_SCRIPT = 8  # the same, with script's own rules
    IS_PLAIN = 16  # all that follows is text
    BREAKS_OUT = 32  # ends svg and math
    ENDS_FRAMESET = 64  # after it, no frameset can come any more

    MAX_NAMES = 128
    NAME_SLOTS = 512
    MAX_ENTITIES = 2304
    ENTITY_SLOTS = 8192


cdef enum:  # elements that the code below treats by name
    NO_ROLE = 0
    ROLE_A
    ROLE_META
    ROLE_HTML
    ROLE_TITLE
    ROLE_FRAME
    ROLE_FRAMESET
    ROLE_NOFRAMES
    ROLE_TEMPLATE
    ROLE_FONT
    ROLE_P
    ROLE_BR
    ROLE_SVG
    ROLE_MATH
    ROLE_FOREIGN_OBJECT
    ROLE_DESC
    ROLE_MATH_TEXT  # mi and its four like, told apart by their index
    ROLE_ANNOTATION


cdef struct Element:
    uint8_t element  # ELEMENT_*, 0 = has no links
    uint8_t first  # slots of its one or two URL attributes
    uint8_t second
    uint8_t role
    uint8_t flags


cdef Name ELEMENT_NAMES[MAX_NAMES]
cdef uint16_t ELEMENT_SLOTS[NAME_SLOTS]
cdef Names ELEMENT_TABLE
cdef Element ELEMENTS[MAX_NAMES]

cdef Name ATTRIBUTE_NAMES[MAX_NAMES]
cdef uint16_t ATTRIBUTE_SLOTS[NAME_SLOTS]
cdef Names ATTRIBUTE_TABLE
cdef uint8_t SLOT_OF[MAX_NAMES]

cdef Name ENTITY_NAMES[MAX_ENTITIES]
cdef uint16_t ENTITY_INDEX[ENTITY_SLOTS]
cdef Entity ENTITY_VALUES[MAX_ENTITIES]
cdef Entities ENTITIES

_LINKS = {
    b"a": (ELEMENT_A, ATTRIBUTE_HREF),
    b"area": (ELEMENT_AREA, ATTRIBUTE_HREF),
    b"link": (ELEMENT_LINK, ATTRIBUTE_HREF),
    b"base": (ELEMENT_BASE, ATTRIBUTE_HREF),
    b"frame": (ELEMENT_FRAME, ATTRIBUTE_SRC),
    b"iframe": (ELEMENT_IFRAME, ATTRIBUTE_SRC),
    b"img": (ELEMENT_IMG, ATTRIBUTE_SRC, ATTRIBUTE_SRCSET),
    b"image": (ELEMENT_IMG, ATTRIBUTE_SRC, ATTRIBUTE_SRCSET),  # the tree builder renames it
    b"script": (ELEMENT_SCRIPT, ATTRIBUTE_SRC),
    b"source": (ELEMENT_SOURCE, ATTRIBUTE_SRCSET),
    b"embed": (ELEMENT_EMBED, ATTRIBUTE_SRC),
    b"object": (ELEMENT_OBJECT, ATTRIBUTE_DATA),
    b"video": (ELEMENT_VIDEO, ATTRIBUTE_SRC, ATTRIBUTE_POSTER),
    b"audio": (ELEMENT_AUDIO, ATTRIBUTE_SRC),
    b"track": (ELEMENT_TRACK, ATTRIBUTE_SRC),
    b"form": (ELEMENT_FORM, ATTRIBUTE_ACTION),
}
_ROLES = {
    b"a": ROLE_A, b"meta": ROLE_META, b"html": ROLE_HTML, b"title": ROLE_TITLE,
    b"frame": ROLE_FRAME, b"frameset": ROLE_FRAMESET, b"noframes": ROLE_NOFRAMES,
    b"template": ROLE_TEMPLATE, b"font": ROLE_FONT, b"p": ROLE_P, b"br": ROLE_BR,
    b"svg": ROLE_SVG, b"math": ROLE_MATH, b"foreignobject": ROLE_FOREIGN_OBJECT,
    b"desc": ROLE_DESC, b"mi": ROLE_MATH_TEXT, b"mo": ROLE_MATH_TEXT, b"mn": ROLE_MATH_TEXT,
    b"ms": ROLE_MATH_TEXT, b"mtext": ROLE_MATH_TEXT, b"annotation-xml": ROLE_ANNOTATION,
}
_FLAGS = {
    IS_RAW: b"style xmp iframe noembed noframes",
    IS_RCDATA: b"title textarea",
    IS_SCRIPT: b"script",
    IS_PLAIN: b"plaintext",
    BREAKS_OUT: (
        b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i"
        b" img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt"
        b" u ul var"
    ),
    ENDS_FRAMESET: (
        b"applet area body br button dd dt embed hr iframe image img input keygen li listing"
        b" marquee object pre select table textarea wbr xmp"
    ),
    WANTS_ATTRIBUTES: b"meta html font annotation-xml " + b" ".join(_LINKS),
}
_ATTRIBUTES = {
    b"href": ATTRIBUTE_HREF, b"src": ATTRIBUTE_SRC, b"srcset": ATTRIBUTE_SRCSET,
    b"content": ATTRIBUTE_CONTENT, b"data": ATTRIBUTE_DATA, b"poster": ATTRIBUTE_POSTER,
    b"action": ATTRIBUTE_ACTION, b"xlink:href": SLOT_XLINK, b"rel": SLOT_REL,
    b"http-equiv": SLOT_HTTP_EQUIV, b"name": SLOT_NAME, b"charset": SLOT_CHARSET,
    b"lang": SLOT_LANG, b"encoding": SLOT_ENCODING, b"color": SLOT_FONT, b"face": SLOT_FONT,
    b"size": SLOT_FONT,
}


cdef Span span_of(bytes text):
    return Span(<const uint8_t *><const char *>text, len(text))


def _fill_elements():
    names = sorted({*_LINKS, *_ROLES, *b" ".join(_FLAGS.values()).split()})
    cdef uint16_t index
    ELEMENT_TABLE.entries = &ELEMENT_NAMES[0]
    ELEMENT_TABLE.slots = &ELEMENT_SLOTS[0]
    ELEMENT_TABLE.mask = NAME_SLOTS - 1
    for index, name in enumerate(names, 1):
        element, first, second = (*_LINKS.get(name, (0, 0)), 0)[:3]
        flags = sum(flag for flag, members in _FLAGS.items() if name in members.split())
        ELEMENTS[index] = Element(element, first, second, _ROLES.get(name, NO_ROLE), flags)
        add_name(&ELEMENT_TABLE, index, span_of(name))


def _fill_attributes():
    cdef uint16_t index
    ATTRIBUTE_TABLE.entries = &ATTRIBUTE_NAMES[0]
    ATTRIBUTE_TABLE.slots = &ATTRIBUTE_SLOTS[0]
    ATTRIBUTE_TABLE.mask = NAME_SLOTS - 1
    for index, (name, slot) in enumerate(_ATTRIBUTES.items(), 1):
        SLOT_OF[index] = slot
        add_name(&ATTRIBUTE_TABLE, index, span_of(name))


def _fill_entities():
    cdef uint16_t index
    cdef Entity *entity
    ENTITIES.values = &ENTITY_VALUES[0]
    ENTITIES.names.entries = &ENTITY_NAMES[0]
    ENTITIES.names.slots = &ENTITY_INDEX[0]
    ENTITIES.names.mask = ENTITY_SLOTS - 1
    names = [name for name in _HTML5 if name.endswith(";")]
    for index, name in enumerate(names, 1):
        value = _HTML5[name].encode()
        entity = &ENTITY_VALUES[index]
        entity.size = len(value)
        for i in range(len(value)):
            entity.text[i] = value[i]
        entity.is_legacy = name.removesuffix(";") in _HTML5
        add_name(&ENTITIES.names, index, span_of(name.removesuffix(";").encode()))


_fill_elements()
_fill_attributes()
_fill_entities()


# --- the state of one scan --------------------------------------------------------------------
cdef enum:
    CONTEXTS = 64  # of svg, math, template, and of what holds HTML inside them

    # Kinds of content, in Context.
    IN_TEMPLATE = 0
    IN_SVG = 1
    IN_MATH = 2
    IN_POINT = 3  # HTML inside svg or math

    MAY_BE_FRAMESET = 0
    IN_BODY = 1
    IN_FRAMESET = 2
    AFTER_FRAMESET = 3


cdef struct Context:
    uint16_t name  # index of the element
    uint8_t kind


cdef struct Tag:
    uint32_t seen  # bit per slot
    bint is_self_closing
    Span values[SLOTS]


cdef struct Page:
    const uint8_t *end
    Tag tag
    Context contexts[CONTEXTS]
    int depth
    uint32_t lost  # contexts open beyond the last one of the stack
    int templates  # how many of the stack are templates
    int frames  # MAY_BE_FRAMESET to AFTER_FRAMESET
    uint32_t framesets  # that are open
    bint no_memory
    uint32_t max_links
    uint32_t count
    uint32_t dropped
    Buffer links, base, title, robots, canonical, charset, language, scratch


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


cdef inline bint has(Page *page, int slot) noexcept nogil:
    return (page.tag.seen >> slot) & 1


cdef void list_slot(Page *page, found_link head, int slot) noexcept nogil:
    """List what an attribute holds: a URL, or several in a srcset."""
    cdef Span rest, url
    if not has(page, slot):
        return
    head.attribute = slot
    if slot != ATTRIBUTE_SRCSET:
        list_value(page, head, page.tag.values[slot], False)
        return
    rest = decoded(page, slot)
    while next_candidate(&rest, &url):
        if not list_value(page, head, url, True):
            return


cdef void list_links(Page *page, const Element *element) noexcept nogil:
    cdef found_link head = found_link(element.element, 0, 0, 0, 0)
    if has(page, SLOT_REL):
        head.rel = rel_bits(decoded(page, SLOT_REL))
    list_slot(page, head, element.first)
    if element.second:
        list_slot(page, head, element.second)
    if not has(page, ATTRIBUTE_HREF):
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
    cdef Span pragma = decoded(page, SLOT_HTTP_EQUIV)
    cdef bint is_refresh = equals_fold(pragma, b"refresh", 7)
    cdef bint is_type = equals_fold(pragma, b"content-type", 12)
    cdef bint is_language = equals_fold(pragma, b"content-language", 16)
    cdef Span content = decoded(page, ATTRIBUTE_CONTENT)
    if is_refresh and read_refresh(content, &found):
        list_value(page, found_link(ELEMENT_META, ATTRIBUTE_CONTENT, 0, 0, 0), found, True)
    if is_type and not has(page, SLOT_CHARSET) and read_charset(content, &found):
        join(page, &page.charset, found)
    if is_language and not page.language.is_set and not append(&page.language, content):
        page.no_memory = True


cdef void read_meta(Page *page) noexcept nogil:
    if has(page, SLOT_HTTP_EQUIV) and has(page, ATTRIBUTE_CONTENT):
        read_pragma(page)
    if has(page, SLOT_CHARSET):
        join(page, &page.charset, decoded(page, SLOT_CHARSET))
    if has(page, SLOT_NAME) and has(page, ATTRIBUTE_CONTENT):
        if equals_fold(decoded(page, SLOT_NAME), b"robots", 6):
            join(page, &page.robots, decoded(page, ATTRIBUTE_CONTENT))


# --- inside tags ------------------------------------------------------------------------------
cdef void keep_attribute(Tag *tag, Span name, uint32_t hash, Span value) noexcept nogil:
    cdef uint8_t slot = SLOT_OF[find_name(&ATTRIBUTE_TABLE, hash, name, True)]
    if slot and not (tag.seen >> slot) & 1:
        tag.seen |= <uint32_t>1 << slot
        tag.values[slot] = value


cdef const uint8_t *read_value(const uint8_t *p, const uint8_t *end, Span *value) noexcept nogil:
    """Read an attribute value from behind its "="; NULL when the page ends in it."""
    cdef const uint8_t *start
    p = skip_spaces(p, end)
    if p >= end:
        return NULL
    if p[0] == c'"' or p[0] == c"'":
        start = p + 1
        p = <const uint8_t *>memchr(start, p[0], end - start)
        if p != NULL:
            value[0] = Span(start, p - start)
            p += 1
        return p
    start = p
    while p < end and not html_class[p[0]] & IS_UNQUOTED_END:
        p += 1
    value[0] = Span(start, p - start)
    return p


cdef const uint8_t *read_attributes(
    Tag *tag, const uint8_t *p, const uint8_t *end, bint is_kept
) noexcept nogil:
    """Read a tag from behind its name to behind its ">"; NULL when the page ends in it."""
    cdef Span name, value
    cdef uint32_t hash
    tag.seen = 0
    tag.is_self_closing = False
    while True:
        p = skip_spaces(p, end)
        if p >= end:
            return NULL
        if p[0] == c'>':
            return p + 1
        if p[0] == c'/':
            p += 1
            tag.is_self_closing = p < end and p[0] == c'>'
            continue
        name.data = p
        hash = 0
        while True:  # the first byte belongs to the name even if it is "="
            hash = name_hash(hash, html_lower(p[0]))
            p += 1
            if p >= end or html_class[p[0]] & IS_ATTRIBUTE_END:
                break
        name.size = p - name.data
        p = skip_spaces(p, end)
        value = Span(p, 0)
        if p < end and p[0] == c'=':
            p = read_value(p + 1, end, &value)
            if p == NULL:
                return NULL
        if is_kept:
            keep_attribute(tag, name, hash, value)


cdef const uint8_t *read_name(
    const uint8_t *p, const uint8_t *end, uint16_t *index
) noexcept nogil:
    """Read a tag's name; the byte that ends it."""
    cdef const uint8_t *start = p
    cdef uint32_t hash = 0
    while p < end and not html_class[p[0]] & IS_TAG_NAME_END:
        hash = name_hash(hash, html_lower(p[0]))
        p += 1
    index[0] = find_name(&ELEMENT_TABLE, hash, Span(start, p - start), True)
    return p


# --- raw text ---------------------------------------------------------------------------------
cdef const uint8_t *skip_raw(Page *page, uint16_t index, const uint8_t *p) noexcept nogil:
    """Skip the text and the end tag of a raw text element; NULL when the page ends first."""
    cdef const Element *element = &ELEMENTS[index]
    cdef const Name *name = &ELEMENT_NAMES[index]
    cdef const uint8_t *start = p
    if element.flags & IS_PLAIN:
        return NULL
    if element.flags & IS_SCRIPT:
        p = find_script_end(p, page.end, name)
    else:
        p = find_raw_end(p, page.end, name)
    if element.role == ROLE_TITLE and not page.title.is_set and page.templates == 0:
        decode(page, &page.title, Span(start, (page.end if p == NULL else p) - start), False)
    if p == NULL:
        return NULL
    return read_attributes(&page.tag, p + 2 + name.size, page.end, False)


# --- svg, math and template -------------------------------------------------------------------
cdef inline bint in_html(Page *page) noexcept nogil:
    """Whether a start tag here makes an HTML element."""
    cdef uint8_t kind
    if page.depth == 0:
        return True
    kind = page.contexts[page.depth - 1].kind
    return kind == IN_TEMPLATE or kind == IN_POINT


cdef void push(Page *page, uint16_t index, uint8_t kind) noexcept nogil:
    if page.depth == CONTEXTS:
        page.lost += 1
        return
    page.contexts[page.depth] = Context(index, kind)
    page.depth += 1
    page.templates += kind == IN_TEMPLATE


cdef void pop_to(Page *page, int depth) noexcept nogil:
    while page.depth > depth:
        page.depth -= 1
        page.templates -= page.contexts[page.depth].kind == IN_TEMPLATE
    page.lost = 0


cdef bint breaks_out(Page *page, const Element *element) noexcept nogil:
    """Whether this start tag ends svg and math around it."""
    if element.flags & BREAKS_OUT:
        return True
    return element.role == ROLE_FONT and has(page, SLOT_FONT)


cdef void break_out(Page *page) noexcept nogil:
    while not in_html(page):
        pop_to(page, page.depth - 1)


cdef bint holds_html(Page *page, const Element *element, uint8_t outer) noexcept nogil:
    """Whether this element of svg or math has HTML inside (the integration points)."""
    cdef Span encoding
    if outer == IN_SVG:
        return element.role in (ROLE_FOREIGN_OBJECT, ROLE_DESC, ROLE_TITLE)
    if element.role == ROLE_MATH_TEXT:
        return True
    if element.role != ROLE_ANNOTATION or not has(page, SLOT_ENCODING):
        return False
    encoding = decoded(page, SLOT_ENCODING)
    return (
        equals_fold(encoding, b"text/html", 9)
        or equals_fold(encoding, b"application/xhtml+xml", 21)
    )


cdef bint start_foreign(Page *page, uint16_t index) noexcept nogil:
    """Take a start tag inside svg or math; false when it makes an HTML element after all."""
    cdef const Element *element = &ELEMENTS[index]
    cdef Context outer = page.contexts[page.depth - 1]
    if breaks_out(page, element):
        break_out(page)
        return False
    if element.role == ROLE_SVG and ELEMENTS[outer.name].role == ROLE_ANNOTATION:
        return False
    if element.role == ROLE_A and outer.kind == IN_SVG and page.templates == 0:
        if not has(page, ATTRIBUTE_HREF) and has(page, SLOT_XLINK):
            page.tag.seen |= 1 << ATTRIBUTE_HREF
            page.tag.values[ATTRIBUTE_HREF] = page.tag.values[SLOT_XLINK]
        list_links(page, element)
    if page.tag.is_self_closing:
        return True
    if holds_html(page, element, outer.kind):
        push(page, index, IN_POINT)
    elif element.role in (ROLE_SVG, ROLE_MATH, ROLE_ANNOTATION):
        push(page, index, outer.kind)
    return True


cdef void end_context(Page *page, uint16_t index) noexcept nogil:
    """Take an end tag while the stack is not empty."""
    cdef uint8_t role = ELEMENTS[index].role
    cdef int i = page.depth
    if role == ROLE_P or role == ROLE_BR:
        break_out(page)
        return
    if role < ROLE_SVG and role != ROLE_TEMPLATE and role != ROLE_TITLE:
        return
    if page.lost:
        page.lost -= 1
        return
    while i > 0:
        i -= 1
        if page.contexts[i].name == index:
            pop_to(page, i)
            return
        if page.contexts[i].kind == IN_TEMPLATE and role != ROLE_TEMPLATE:
            return


# --- tags -------------------------------------------------------------------------------------
cdef const uint8_t *start_html(Page *page, uint16_t index, const uint8_t *p) noexcept nogil:
    """Take a start tag that makes an HTML element; behind its raw text, if it has that."""
    cdef const Element *element = &ELEMENTS[index]
    if page.templates == 0:
        if element.flags & ENDS_FRAMESET:
            page.frames = IN_BODY
        if element.element and element.role != ROLE_FRAME:
            list_links(page, element)
        elif element.role == ROLE_META:
            read_meta(page)
        elif element.role == ROLE_HTML and has(page, SLOT_LANG) and not page.language.is_set:
            decode(page, &page.language, page.tag.values[SLOT_LANG], True)
    if element.role == ROLE_TEMPLATE:
        push(page, index, IN_TEMPLATE)
    elif element.role == ROLE_SVG and not page.tag.is_self_closing:
        push(page, index, IN_SVG)
    elif element.role == ROLE_MATH and not page.tag.is_self_closing:
        push(page, index, IN_MATH)
    elif element.role == ROLE_FRAMESET and page.frames == MAY_BE_FRAMESET and page.depth == 0:
        page.frames = IN_FRAMESET
        page.framesets = 1
    if element.flags & (IS_RAW | IS_RCDATA | IS_SCRIPT | IS_PLAIN):
        return skip_raw(page, index, p)
    return p


cdef const uint8_t *start_in_frameset(
    Page *page, uint16_t index, const uint8_t *p
) noexcept nogil:
    """Take a start tag of a frameset document, which has frames and nothing else."""
    cdef const Element *element = &ELEMENTS[index]
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
    p = read_name(p, page.end, &index)
    p = read_attributes(
        &page.tag, p, page.end, ELEMENTS[index].flags & WANTS_ATTRIBUTES
    )
    if p == NULL or index == 0:
        return p
    if page.frames >= IN_FRAMESET:
        return start_in_frameset(page, index, p)
    if not in_html(page) and start_foreign(page, index):
        return p
    return start_html(page, index, p)


cdef const uint8_t *end_tag(Page *page, const uint8_t *p) noexcept nogil:
    """Take what follows "</"; NULL when the page ends in it."""
    cdef uint16_t index
    if p >= page.end:
        return NULL
    if not html_class[p[0]] & IS_ALPHA:
        return behind(p, page.end, c'>')
    p = read_name(p, page.end, &index)
    p = read_attributes(&page.tag, p, page.end, False)
    if p == NULL or index == 0:
        return p
    if page.frames == IN_FRAMESET and ELEMENTS[index].role == ROLE_FRAMESET:
        page.framesets -= 1
        if page.framesets == 0:
            page.frames = AFTER_FRAMESET
    elif page.depth:
        end_context(page, index)
    if ELEMENTS[index].role == ROLE_BR and page.frames == MAY_BE_FRAMESET and page.templates == 0:
        page.frames = IN_BODY  # </br> makes a line break
    return p


# --- the page ---------------------------------------------------------------------------------
cdef const uint8_t *skip_declaration(Page *page, const uint8_t *p) noexcept nogil:
    """Skip what "<!" began; NULL when the page ends in it."""
    cdef size_t left = page.end - p
    if left >= 2 and p[0] == c'-' and p[1] == c'-':
        return skip_comment(p + 2, page.end)
    if (
        page.depth and page.contexts[page.depth - 1].kind != IN_TEMPLATE
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
        if page.frames == MAY_BE_FRAMESET and page.templates == 0 and has_text(text, p):
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
            if page.frames == MAY_BE_FRAMESET and page.templates == 0:
                page.frames = IN_BODY


# --- the border to Python ---------------------------------------------------------------------
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
