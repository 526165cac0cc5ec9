# The markup of XML as it is met on the web, header only: what a tag is called, the attributes of
# it that matter, and where declarations end.
#
# All that skips returns NULL when the document ends first, and looks at each byte once.
# Names are compared without their prefix and in any case: feeds are written by hand.

from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp

from htmlbase cimport (
    IS_ALPHA, IS_ATTRIBUTE_END, IS_SPACE, IS_TAG_NAME_END, Span, equals_fold, html_class,
)
from htmltag cimport read_value
from htmlvalue cimport skip_spaces


cdef struct Tag:
    Span name  # without its prefix
    Span prefix
    Span href
    Span src
    Span rel
    Span permalink  # isPermaLink
    Span base  # xml:base
    bint is_empty  # it ends with "/>"


cdef inline const uint8_t *behind_text(
    const uint8_t *p, const uint8_t *end, const char *text, size_t size
) noexcept nogil:
    """The byte behind the next `text`, whose last byte is ">"."""
    cdef const uint8_t *start = p
    while True:
        p = <const uint8_t *>memchr(p, c'>', end - p)
        if p == NULL:
            return NULL
        p += 1
        if <size_t>(p - start) >= size and memcmp(p - size, text, size) == 0:
            return p


cdef inline bint begins(
    const uint8_t *p, const uint8_t *end, const char *text, size_t size
) noexcept nogil:
    return <size_t>(end - p) >= size and memcmp(p, text, size) == 0


cdef inline const uint8_t *skip_declaration(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Skip a declaration from behind "<!", with the internal subset that a doctype may have.

    Entities that are declared there are never looked at, so none can grow.
    """
    cdef bint in_subset = False
    while p != NULL and p < end:
        if p[0] == c'"' or p[0] == c"'":
            p = <const uint8_t *>memchr(p + 1, p[0], end - p - 1)
            p = p + 1 if p != NULL else NULL
        elif begins(p, end, b"<!--", 4):
            p = behind_text(p + 4, end, b"-->", 3)
        elif begins(p, end, b"<?", 2):
            p = behind_text(p + 2, end, b"?>", 2)
        elif p[0] == c'>' and not in_subset:
            return p + 1
        else:
            in_subset = (in_subset or p[0] == c'[') and p[0] != c']'
            p += 1
    return NULL


cdef inline bint begins_name(uint8_t c) noexcept nogil:
    return c >= 0x80 or c == c'_' or c == c':' or (html_class[c] & IS_ALPHA) != 0


cdef inline Span local_part(Span name, Span *prefix) noexcept nogil:
    """The name behind its last colon, and what stands before that."""
    cdef size_t at = name.size
    while at and name.data[at - 1] != c':':
        at -= 1
    prefix[0] = Span(name.data, at - 1 if at else 0)
    return Span(name.data + at, name.size - at)


cdef inline void note(Span *known, Span value) noexcept nogil:
    """Of equal attributes the first counts."""
    if known.data == NULL:
        known[0] = value


cdef inline void take_attribute(Tag *tag, Span name, Span value) noexcept nogil:
    cdef Span prefix
    cdef Span local = local_part(name, &prefix)
    if equals_fold(local, b"href", 4):
        note(&tag.href, value)
    elif equals_fold(local, b"src", 3):
        note(&tag.src, value)
    elif equals_fold(local, b"rel", 3):
        note(&tag.rel, value)
    elif equals_fold(local, b"ispermalink", 11):
        note(&tag.permalink, value)
    elif equals_fold(name, b"xml:base", 8):
        note(&tag.base, value)


cdef inline const uint8_t *read_tag(
    const uint8_t *p, const uint8_t *end, Tag *tag
) noexcept nogil:
    """Read a start tag from its name on; NULL when the document ends in it."""
    cdef const uint8_t *start = p
    cdef Span name, value
    while p < end and not html_class[p[0]] & IS_TAG_NAME_END:
        p += 1
    tag.name = local_part(Span(start, p - start), &tag.prefix)
    while p != NULL:
        start = p
        while p < end and (p[0] == c'/' or html_class[p[0]] & IS_SPACE):
            p += 1
        if p >= end:
            return NULL
        if p[0] == c'>':  # a "/" before it may be the end of a value without quotes
            tag.is_empty = p > start and (p - 1)[0] == c'/'
            return p + 1
        start = p
        p += 1  # whatever it is, so that the loop ends
        while p < end and not html_class[p[0]] & IS_ATTRIBUTE_END:
            p += 1
        name = Span(start, p - start)
        p = skip_spaces(p, end)
        if p < end and p[0] == c'=':
            value = Span(NULL, 0)
            p = read_value(p + 1, end, &value)
            take_attribute(tag, name, value)
    return NULL
