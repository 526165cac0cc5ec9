# What a tag does to a page, header only: as much of the tree builder as tells which start tags make
# HTML elements, which text holds no tags, and whether this is a frameset document.
#
# Short cuts, all of them unable to hide a link of a sane page: elements inside svg and math are not
# matched one by one, only those that change how content is read; beyond CONTEXTS of these, inner
# ones are counted and not told apart; template contents say nothing about framesets.

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from htmlbase cimport IS_ALPHA, Name, Span, equals_fold, html_class
from htmlcontext cimport (
    IN_MATH, IN_POINT, IN_SVG, IN_TEMPLATE, Context, break_out, end_context, in_html, push,
)
from htmlpage cimport (
    AFTER_FRAMESET, IN_BODY, IN_FRAMESET, Page, close_anchor, decode, decoded, list_css, list_links,
    may_be_frameset, note_details, open_anchor, read_meta,
)
from htmlskip cimport behind, find_raw_end, find_script_end
from htmltag cimport (
    BREAKS_OUT, ENDS_FRAMESET, IS_PLAIN, IS_RAW, IS_RCDATA, IS_SCRIPT, ROLE_A, ROLE_ANNOTATION,
    ROLE_BR, ROLE_DESC, ROLE_FONT, ROLE_FOREIGN_OBJECT, ROLE_FRAME, ROLE_FRAMESET, ROLE_HTML,
    ROLE_MATH, ROLE_MATH_TEXT, ROLE_META, ROLE_NOFRAMES, ROLE_STYLE, ROLE_SVG, ROLE_TEMPLATE,
    ROLE_TITLE,
    SLOT_ENCODING, SLOT_FONT, SLOT_LANG, SLOT_XLINK, WANTS_ATTRIBUTES, has, html_element,
    html_elements, read_attributes, read_name,
)
from layout cimport ATTRIBUTE_HREF, ATTRIBUTE_STYLE, ELEMENT_A


# --- raw text ---------------------------------------------------------------------------------
cdef inline const uint8_t *skip_raw(Page *page, uint16_t index, const uint8_t *p) noexcept nogil:
    """Skip the text and the end tag of a raw text element; NULL when the page ends first."""
    cdef const html_element *element = &html_elements[index]
    cdef const Name *name = &page.tables.elements.entries[index]
    cdef const uint8_t *start = p
    cdef Span text
    if element.flags & IS_PLAIN:
        return NULL
    if element.flags & IS_SCRIPT:
        p = find_script_end(p, page.end, name)
    else:
        p = find_raw_end(p, page.end, name)
    text = Span(start, (page.end if p == NULL else p) - start)
    if page.contexts.templates == 0:
        if element.role == ROLE_TITLE and not page.title.is_set:
            decode(page, &page.title, text, False)
        elif element.role == ROLE_STYLE and page.wants_styles:
            list_css(page, text, 0)
    if p == NULL:
        return NULL
    return read_attributes(&page.tag, p + 2 + name.size, page.end, NULL)


# --- svg, math and template -------------------------------------------------------------------
cdef inline void list_anchor(Page *page, const html_element *element) noexcept nogil:
    """List what an ``a`` links to; its text follows."""
    cdef uint32_t before = page.count
    list_links(page, element)
    if page.wants_details:
        open_anchor(page, before)


cdef inline bint breaks_out(Page *page, const html_element *element) noexcept nogil:
    """Whether this start tag ends svg and math around it."""
    if element.flags & BREAKS_OUT:
        return True
    return element.role == ROLE_FONT and has(&page.tag, SLOT_FONT)


cdef inline bint holds_html(Page *page, const html_element *element, uint8_t outer) noexcept nogil:
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


cdef inline bint start_foreign(Page *page, uint16_t index) noexcept nogil:
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
        list_anchor(page, element)
    if page.tag.is_self_closing:
        return True
    if holds_html(page, element, outer.kind):
        push(&page.contexts, index, IN_POINT)
    elif element.role in (ROLE_SVG, ROLE_MATH, ROLE_ANNOTATION):
        push(&page.contexts, index, outer.kind)
    return True


# --- tags -------------------------------------------------------------------------------------
cdef inline bint is_empty(const Page *page) noexcept nogil:
    """Whether this start tag ends its element, too: in HTML none does, in XHTML "<script/>"."""
    return page.is_xml and page.tag.is_self_closing


cdef inline const uint8_t *start_html(Page *page, uint16_t index, const uint8_t *p) noexcept nogil:
    """Take a start tag that makes an HTML element; behind its raw text, if it has that."""
    cdef const html_element *element = &html_elements[index]
    if page.contexts.templates == 0:
        if element.flags & ENDS_FRAMESET:
            page.frames = IN_BODY
        if element.role == ROLE_A:
            list_anchor(page, element)
        elif element.element and element.role != ROLE_FRAME:
            list_links(page, element)
        elif element.role == ROLE_META:
            read_meta(page)
        elif element.role == ROLE_HTML and has(&page.tag, SLOT_LANG) and not page.language.is_set:
            decode(page, &page.language, page.tag.values[SLOT_LANG], True)
    if is_empty(page):
        return p
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


cdef inline const uint8_t *start_in_frameset(
    Page *page, uint16_t index, const uint8_t *p
) noexcept nogil:
    """Take a start tag of a frameset document, which has frames and nothing else."""
    cdef const html_element *element = &html_elements[index]
    if element.role == ROLE_NOFRAMES:
        return p if is_empty(page) else skip_raw(page, index, p)
    if page.frames == IN_FRAMESET:
        if element.role == ROLE_FRAMESET:
            page.framesets += 1
        elif element.role == ROLE_FRAME:
            list_links(page, element)
    return p


cdef inline const uint8_t *start_tag(Page *page, const uint8_t *p) noexcept nogil:
    """Take a start tag from its name on; NULL when the page ends in it or in its text."""
    cdef uint16_t index
    cdef Span name = Span(p, 0)
    p = read_name(p, page.end, &page.tables.elements, &index)
    name.size = p - name.data
    p = read_attributes(
        &page.tag, p, page.end,
        &page.tables.attributes
        if html_elements[index].flags & WANTS_ATTRIBUTES or page.wants_styles else NULL,
    )
    if p == NULL:
        return NULL
    if page.wants_details:
        note_details(page, &html_elements[index], name)
    if page.wants_styles and has(&page.tag, ATTRIBUTE_STYLE):
        return start_styled(page, index, p)
    return start_known(page, index, p) if index else p


cdef inline const uint8_t *start_styled(
    Page *page, uint16_t index, const uint8_t *p
) noexcept nogil:
    """Take a start tag with a style attribute, whose URLs follow its own."""
    cdef Span style = page.tag.values[ATTRIBUTE_STYLE]
    cdef bint is_listed = page.frames < IN_FRAMESET and page.contexts.templates == 0
    if index:
        p = start_known(page, index, p)
    if is_listed:
        list_css(page, style, ATTRIBUTE_STYLE)
    return p


cdef inline const uint8_t *start_known(
    Page *page, uint16_t index, const uint8_t *p
) noexcept nogil:
    """Take a start tag of an element that has a row."""
    if page.frames >= IN_FRAMESET:
        return start_in_frameset(page, index, p)
    if not in_html(&page.contexts) and start_foreign(page, index):
        return p
    return start_html(page, index, p)


cdef inline const uint8_t *end_tag(Page *page, const uint8_t *p) noexcept nogil:
    """Take what follows "</"; NULL when the page ends in it."""
    cdef uint16_t index
    if p >= page.end:
        return NULL
    if not html_class[p[0]] & IS_ALPHA:
        return behind(p, page.end, c'>')
    p = read_name(p, page.end, &page.tables.elements, &index)
    p = read_attributes(&page.tag, p, page.end, NULL)
    if p == NULL or index == 0:
        return p
    if html_elements[index].element == ELEMENT_A:
        close_anchor(page)
    if page.frames == IN_FRAMESET and html_elements[index].role == ROLE_FRAMESET:
        page.framesets -= 1
        if page.framesets == 0:
            page.frames = AFTER_FRAMESET
    elif page.contexts.depth:
        end_context(&page.contexts, index)
    if html_elements[index].role == ROLE_BR and may_be_frameset(page):
        page.frames = IN_BODY  # </br> makes a line break
    return p
