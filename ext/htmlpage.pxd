# What is noted of a page while it is scanned, header only: its links, and what it says of itself.
#
# Invariant: when memory is out `no_memory` is set, and what was noted until then stays valid.

from libc.stdint cimport uint8_t, uint32_t

from htmlbase cimport Buffer, Names, Span, append, equals_fold, release, reserve
from htmlcontext cimport Contexts
from htmltag cimport (
    SLOT_CHARSET, SLOT_HTTP_EQUIV, SLOT_NAME, SLOT_REL, Tag, has, html_element,
)
from htmltext cimport TEXT_GROWTH, Entities, put_text
from htmlvalue cimport next_candidate, read_charset, read_refresh, rel_bits
from layout cimport (
    ATTRIBUTE_CONTENT, ATTRIBUTE_HREF, ATTRIBUTE_SRCSET, ELEMENT_BASE, ELEMENT_LINK, ELEMENT_META,
    REL_CANONICAL, REL_DOCUMENT, found_link,
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


cdef struct Page:
    const Tables *tables
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
        list_slot(page, head, element.second)
    if not has(&page.tag, ATTRIBUTE_HREF):
        return
    if element.element == ELEMENT_BASE and not page.base.is_set:
        decode(page, &page.base, page.tag.values[ATTRIBUTE_HREF], True)
    if element.element == ELEMENT_LINK and head.rel & REL_CANONICAL and not page.canonical.is_set:
        decode(page, &page.canonical, page.tag.values[ATTRIBUTE_HREF], True)


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
    if has(&page.tag, SLOT_HTTP_EQUIV) and has(&page.tag, ATTRIBUTE_CONTENT):
        read_pragma(page)
    if has(&page.tag, SLOT_CHARSET):
        join(page, &page.charset, decoded(page, SLOT_CHARSET))
    if has(&page.tag, SLOT_NAME) and has(&page.tag, ATTRIBUTE_CONTENT):
        if equals_fold(decoded(page, SLOT_NAME), b"robots", 6):
            join(page, &page.robots, decoded(page, ATTRIBUTE_CONTENT))


cdef inline void release_all(Page *page) noexcept nogil:
    release(&page.links)
    release(&page.base)
    release(&page.title)
    release(&page.robots)
    release(&page.canonical)
    release(&page.charset)
    release(&page.language)
    release(&page.scratch)
