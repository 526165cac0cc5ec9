# Tags, header only: the tables of elements and attributes, and reading of one tag (13.2.5.8 and
# 13.2.5.32 to 13.2.5.40 of the HTML standard) down to pointers into the page.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr

from htmlbase cimport (
    IS_UNQUOTED_END, Names, Span, find_name, html_class, html_lower, html_name, name_hash,
)
from htmlvalue cimport skip_spaces


cdef extern from "htmlelements.h" nogil:
    enum:
        SLOT_XLINK, SLOT_REL, SLOT_HTTP_EQUIV, SLOT_NAME, SLOT_CHARSET, SLOT_LANG, SLOT_ENCODING
        SLOT_FONT, SLOT_ALT, SLOT_HREFLANG, SLOTS
        WANTS_ATTRIBUTES, IS_RAW, IS_RCDATA, IS_SCRIPT, IS_PLAIN, BREAKS_OUT, ENDS_FRAMESET
        ROLE_NONE, ROLE_A, ROLE_META, ROLE_HTML, ROLE_TITLE, ROLE_FRAME, ROLE_FRAMESET
        ROLE_NOFRAMES, ROLE_TEMPLATE, ROLE_FONT, ROLE_P, ROLE_BR, ROLE_STYLE, ROLE_SVG, ROLE_MATH
        ROLE_FOREIGN_OBJECT, ROLE_DESC, ROLE_MATH_TEXT, ROLE_ANNOTATION
        HTML_ELEMENTS, HTML_ATTRIBUTES

    ctypedef struct html_element:
        const char *name
        uint8_t role
        uint8_t element
        uint8_t first
        uint8_t second
        uint8_t flags

    ctypedef struct html_attribute:
        const char *name
        uint8_t slot

    const html_element html_elements[]
    const html_attribute html_attributes[]


cdef struct Tag:
    uint32_t seen  # bit per slot
    bint is_self_closing
    Span values[SLOTS]


cdef inline bint has(const Tag *tag, int slot) noexcept nogil:
    return (tag.seen >> slot) & 1


cdef inline void keep_attribute(
    Tag *tag, const Names *names, Span name, uint64_t hash, Span value
) noexcept nogil:
    cdef uint8_t slot = html_attributes[find_name(names, hash, name, True)].slot
    if slot and not (tag.seen >> slot) & 1:
        tag.seen |= <uint32_t>1 << slot
        tag.values[slot] = value


cdef inline const uint8_t *read_value(
    const uint8_t *p, const uint8_t *end, Span *value
) noexcept nogil:
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


cdef inline const uint8_t *read_attributes(
    Tag *tag, const uint8_t *p, const uint8_t *end, const Names *kept
) noexcept nogil:
    """Read a tag from behind its name to behind its ">"; NULL when the page ends in it.

    Of the attributes in the table `kept` (NULL = none) the values are noted.
    """
    cdef Span name, value
    cdef uint64_t hash
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
        hash = html_lower(p[0])  # belongs to the name even if it is "="
        p += 1
        while p < end and html_name[p[0]] and p[0] != c'=':
            hash = name_hash(hash, html_name[p[0]])
            p += 1
        name.size = p - name.data
        p = skip_spaces(p, end)
        value = Span(p, 0)
        if p < end and p[0] == c'=':
            p = read_value(p + 1, end, &value)
            if p == NULL:
                return NULL
        if kept != NULL:
            keep_attribute(tag, kept, name, hash, value)


cdef inline const uint8_t *read_name(
    const uint8_t *p, const uint8_t *end, const Names *names, uint16_t *index
) noexcept nogil:
    """Read a tag's name; the byte that ends it."""
    cdef const uint8_t *start = p
    cdef uint64_t hash = 0
    while p < end and html_name[p[0]]:
        hash = name_hash(hash, html_name[p[0]])
        p += 1
    index[0] = find_name(names, hash, Span(start, p - start), True)
    return p
