# What is noted of a page while it is scanned, header only: its links, and what it says of itself.
#
# Invariant: when memory is out `no_memory` is set, and what was noted until then stays valid.

from libc.stdint cimport uint8_t, uint32_t

from htmlbase cimport Buffer, Names, Span, append, equals_fold, release, reserve
from htmlcontext cimport Contexts
from htmlcss cimport next_css_url, put_css
from htmltag cimport (
    SLOT_ALT, SLOT_CHARSET, SLOT_HREFLANG, SLOT_HTTP_EQUIV, SLOT_NAME, SLOT_REL, Tag, has,
    html_element,
)
from htmltext cimport TEXT_GROWTH, Entities, put_raw, put_text
from htmlvalue cimport next_candidate, read_charset, read_refresh, rel_bits
from layout cimport (
    ATTRIBUTE_CONTENT, ATTRIBUTE_HREF, ATTRIBUTE_SRCSET, ELEMENT_AREA, ELEMENT_BASE, ELEMENT_IMG,
    ELEMENT_LINK, ELEMENT_MEDIA, ELEMENT_META, ELEMENT_SOURCE, ELEMENT_STYLE, REL_CANONICAL,
    REL_DOCUMENT, found_link,
)


cdef struct Tables:  # of names, the same for all pages
    Names elements
    Names attributes
    Entities entities


cdef enum:  # Page.frames
    MAY_BE_FRAMESET = 0
    IN_BODY = 1
    IN_FRAMESET = 2
    AFTER_FRAMESET = 3


cdef enum:
    KEPT_BYTES = 1 << 16  # room that a buffer keeps for the next page


cdef struct Part:  # of Page.texts
    uint32_t start
    uint32_t size
    bint is_set


cdef struct Detail:  # of a link
    Part tag
    Part rel
    Part text
    Part hreflang


cdef struct Page:
    const Tables *tables
    const uint8_t *end
    Span agent  # our name, in lower case: a meta of that name is for us
    Tag tag
    Contexts contexts
    int frames
    uint32_t framesets  # that are open
    bint no_memory
    uint32_t max_links
    uint32_t count
    uint32_t dropped
    Buffer links, base, title, robots, canonical, charset, language, scratch
    bint is_xml  # an empty-element tag ends its element
    bint wants_styles  # URLs in CSS are listed
    Buffer css
    bint wants_details
    Detail detail  # of the links of this tag
    uint32_t anchor  # 1 + number of the link whose text is being read, 0 = none
    Buffer anchor_text, texts, details


cdef inline bint may_be_frameset(const Page *page) noexcept nogil:
    """Whether what comes now decides if this is a frameset document."""
    return page.frames == MAY_BE_FRAMESET and page.contexts.templates == 0


# --- values -----------------------------------------------------------------------------------
cdef inline bint decode(Page *page, Buffer *buffer, Span text, bint in_attribute) noexcept nogil:
    """Append what `text` means."""
    if not reserve(buffer, TEXT_GROWTH * text.size):
        page.no_memory = True
        return False
    buffer.size += put_text(&page.tables.entities, text, buffer.data + buffer.size, in_attribute)
    buffer.is_set = True
    return True


cdef inline Span decoded(Page *page, int slot) noexcept nogil:
    """The value of an attribute, until the next call."""
    page.scratch.size = 0
    if not decode(page, &page.scratch, page.tag.values[slot], True):
        return Span(NULL, 0)
    return Span(page.scratch.data, page.scratch.size)


# --- links ------------------------------------------------------------------------------------
cdef inline bint list_value(
    Page *page, found_link head, Span value, bint is_decoded
) noexcept nogil:
    """Append one link."""
    cdef size_t start = page.links.size
    if page.count >= page.max_links:
        page.dropped += 1
        return True
    page.count += 1
    if page.wants_details and not append(
        &page.details, Span(<uint8_t *>&page.detail, sizeof(Detail))
    ):
        page.no_memory = True
        return False
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


cdef inline void list_slot(Page *page, found_link head, int slot) noexcept nogil:
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


cdef inline void list_links(Page *page, const html_element *element) noexcept nogil:
    cdef found_link head = found_link(element.element, 0, 0, 0, 0)
    if has(&page.tag, SLOT_REL):
        head.rel = rel_bits(decoded(page, SLOT_REL))
    list_slot(page, head, element.first)
    if element.second:
        if element.element == ELEMENT_SOURCE:
            head.element = ELEMENT_MEDIA
        list_slot(page, head, element.second)
    if not has(&page.tag, ATTRIBUTE_HREF):
        return
    if element.element == ELEMENT_BASE and not page.base.is_set:
        decode(page, &page.base, page.tag.values[ATTRIBUTE_HREF], True)
    if element.element == ELEMENT_LINK and head.rel & REL_CANONICAL and not page.canonical.is_set:
        decode(page, &page.canonical, page.tag.values[ATTRIBUTE_HREF], True)


# --- CSS --------------------------------------------------------------------------------------
cdef inline void list_css(Page *page, Span css, uint8_t attribute) noexcept nogil:
    """List the URLs of a style sheet, or of a style attribute."""
    cdef Buffer *text = &page.css
    cdef Buffer *value = &page.scratch
    cdef Span rest, url
    cdef bint after_import = False
    text.size = 0
    if not reserve(text, TEXT_GROWTH * css.size):
        page.no_memory = True
        return
    if attribute:
        text.size = put_text(&page.tables.entities, css, text.data, True)
    else:
        text.size = put_raw(css, text.data)
    rest = Span(text.data, text.size)
    while next_css_url(&rest, &after_import, &url):
        value.size = 0
        if not reserve(value, 2 * url.size):
            page.no_memory = True
            return
        value.size = put_css(url, value.data)
        if not list_value(
            page, found_link(ELEMENT_STYLE, attribute, 0, 0, 0), Span(value.data, value.size), True
        ):
            return


# --- details ----------------------------------------------------------------------------------
cdef inline Part put_part(Page *page, Span text) noexcept nogil:
    """Keep a text, given in the page's own bytes."""
    cdef size_t start = page.texts.size
    if not decode(page, &page.texts, text, True):
        return Part(0, 0, False)
    return Part(<uint32_t>start, <uint32_t>(page.texts.size - start), True)


cdef inline void note_details(Page *page, const html_element *element, Span name) noexcept nogil:
    """Keep what is told of the links of this tag."""
    cdef bint is_named = element.element == ELEMENT_IMG or element.element == ELEMENT_AREA
    cdef Part nothing = Part(0, 0, False)
    page.detail = Detail(put_part(page, name), nothing, nothing, nothing)
    if has(&page.tag, SLOT_REL):
        page.detail.rel = put_part(page, page.tag.values[SLOT_REL])
    if is_named and has(&page.tag, SLOT_ALT):
        page.detail.text = put_part(page, page.tag.values[SLOT_ALT])
    if element.first == ATTRIBUTE_HREF and has(&page.tag, SLOT_HREFLANG):
        page.detail.hreflang = put_part(page, page.tag.values[SLOT_HREFLANG])


cdef inline void open_anchor(Page *page, uint32_t before) noexcept nogil:
    """An ``a`` begins; ``before`` links stood before it."""
    close_anchor(page)
    if page.count > before:
        page.anchor = page.count
        page.anchor_text.size = 0


cdef inline void close_anchor(Page *page) noexcept nogil:
    """The text of the latest ``a`` has ended."""
    cdef Detail *detail
    cdef Part text = Part(<uint32_t>page.texts.size, <uint32_t>page.anchor_text.size, True)
    if not page.anchor:
        return
    if not append(&page.texts, Span(page.anchor_text.data, page.anchor_text.size)):
        page.no_memory = True
        return
    detail = <Detail *>page.details.data + (page.anchor - 1)
    detail.text = text
    page.anchor = 0


# --- meta -------------------------------------------------------------------------------------
cdef inline void join(Page *page, Buffer *list, Span value) noexcept nogil:
    """Append to a list with commas."""
    if list.is_set and not append(list, Span(<const uint8_t *>b",", 1)):
        page.no_memory = True
    if not append(list, value):
        page.no_memory = True


cdef inline void read_pragma(Page *page) noexcept nogil:
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


cdef inline void read_meta(Page *page) noexcept nogil:
    cdef Span name
    if has(&page.tag, SLOT_HTTP_EQUIV) and has(&page.tag, ATTRIBUTE_CONTENT):
        read_pragma(page)
    if has(&page.tag, SLOT_CHARSET):
        join(page, &page.charset, decoded(page, SLOT_CHARSET))
    if has(&page.tag, SLOT_NAME) and has(&page.tag, ATTRIBUTE_CONTENT):
        name = decoded(page, SLOT_NAME)
        if (
            equals_fold(name, b"robots", 6)
            or equals_fold(name, <const char *>page.agent.data, page.agent.size)
        ):
            join(page, &page.robots, decoded(page, ATTRIBUTE_CONTENT))


# --- one page after the other -----------------------------------------------------------------
cdef inline void clear(Buffer *buffer) noexcept nogil:
    """Make it empty; it keeps its room unless that is much."""
    if buffer.capacity > KEPT_BYTES:
        release(buffer)
        buffer.capacity = 0
    buffer.size = 0
    buffer.is_set = False


cdef inline void clear_all(Page *page) noexcept nogil:
    """Make what was found empty, for the next page."""
    page.contexts.depth = page.contexts.templates = 0
    page.contexts.lost = page.framesets = page.count = page.dropped = page.anchor = 0
    page.frames = MAY_BE_FRAMESET
    page.no_memory = False
    clear(&page.links)
    clear(&page.base)
    clear(&page.title)
    clear(&page.robots)
    clear(&page.canonical)
    clear(&page.charset)
    clear(&page.language)
    clear(&page.scratch)
    clear(&page.css)
    clear(&page.anchor_text)
    clear(&page.texts)
    clear(&page.details)


cdef inline void release_all(Page *page) noexcept nogil:
    release(&page.links)
    release(&page.base)
    release(&page.title)
    release(&page.robots)
    release(&page.canonical)
    release(&page.charset)
    release(&page.language)
    release(&page.scratch)
    release(&page.css)
    release(&page.anchor_text)
    release(&page.texts)
    release(&page.details)
