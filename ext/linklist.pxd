# The found links of a document that is no HTML, header only: items are written where they will
# stay, piece by piece, and taken back when they turn out to be none.
#
# The output is valid UTF-8, at most TEXT_GROWTH bytes for one of input, and bounded by it.

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr, memcpy, memmove

from htmlbase cimport IS_CODED, Buffer, Span, equals_fold, html_class, reserve
from htmltext cimport (
    BEYOND_UNICODE, REPLACEMENT, TEXT_GROWTH, digit_value, put_code_point, put_sequence,
)
from layout cimport found_link

cdef enum:
    LONGEST_REFERENCE = 9  # &#1114111 and &#x10FFFF, without the semicolon
    LAST_BLANK = 0x20  # all up to here is cut off at the ends of a value


cdef struct LinkList:
    Buffer links
    size_t start  # of the open item
    uint32_t count
    uint32_t dropped  # behind the limit
    uint32_t max_links
    bint is_open
    bint no_memory


# --- text ---------------------------------------------------------------------------------------
cdef inline uint32_t numeric_value(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """What the digits of a reference mean, from behind "&#"; BEYOND_UNICODE if they are none."""
    cdef uint32_t value = 0
    cdef int base = 10
    if p < end and p[0] == c'x':
        base = 16
        p += 1
    if p >= end:
        return BEYOND_UNICODE
    while p < end:
        if digit_value(p[0]) >= base:
            return BEYOND_UNICODE
        value = value * base + digit_value(p[0])
        p += 1
    if value == 0 or value >= BEYOND_UNICODE or 0xD800 <= value <= 0xDFFF:
        return REPLACEMENT
    return value


cdef inline uint32_t named_value(Span name) noexcept nogil:
    """One of the five that every XML document has; BEYOND_UNICODE if it is none."""
    if name.size == 3 and equals_exactly(name, b"amp"):
        return c'&'
    if name.size == 2 and equals_exactly(name, b"lt"):
        return c'<'
    if name.size == 2 and equals_exactly(name, b"gt"):
        return c'>'
    if name.size == 4 and equals_exactly(name, b"quot"):
        return c'"'
    if name.size == 4 and equals_exactly(name, b"apos"):
        return c"'"
    return BEYOND_UNICODE


cdef inline bint equals_exactly(Span span, const char *text) noexcept nogil:
    cdef size_t i
    for i in range(span.size):
        if span.data[i] != <uint8_t>text[i]:
            return False
    return True


cdef inline size_t put_reference(Span *rest, uint8_t *to) noexcept nogil:
    """Decode the reference at the start of `rest`; what is none stays as it is."""
    cdef size_t longest = min(rest.size - 1, <size_t>LONGEST_REFERENCE + 1)
    cdef const uint8_t *p = rest.data + 1
    cdef const uint8_t *end = <const uint8_t *>memchr(p, c';', longest)
    cdef uint32_t value = BEYOND_UNICODE
    if end != NULL and end > p:
        value = numeric_value(p + 1, end) if p[0] == c'#' else named_value(Span(p, end - p))
    if value == BEYOND_UNICODE:
        to[0] = c'&'
        end = rest.data
        value = c'&'
    rest.size -= end + 1 - rest.data
    rest.data = end + 1
    return put_code_point(value, to)


cdef inline size_t put_coded_text(Span text, uint8_t *to, bint has_references) noexcept nogil:
    """Decode `text` to `to`, which has room for TEXT_GROWTH times its size; the bytes written."""
    cdef uint8_t *start = to
    cdef const uint8_t *end = text.data + text.size
    cdef uint8_t c
    while text.data < end:
        c = text.data[0]
        if not html_class[c] & IS_CODED:
            to[0] = c
            to += 1
            text.data += 1
            continue
        text.size = end - text.data
        if c == c'&' and has_references:
            to += put_reference(&text, to)
        elif c >= 0x80:
            to += put_sequence(&text, to)
        else:
            to += put_code_point(REPLACEMENT if c == 0 else <uint32_t>c, to)
            text.data += 1
    return to - start


# --- items --------------------------------------------------------------------------------------
cdef inline void open_item(LinkList *found) noexcept nogil:
    """Begin an item; one that is open already is dropped."""
    drop_item(found)
    if not reserve(&found.links, sizeof(found_link)):
        found.no_memory = True
        return
    found.start = found.links.size
    found.links.size += sizeof(found_link)
    found.is_open = True


cdef inline void add_text(LinkList *found, Span text, bint has_references) noexcept nogil:
    """Append to the value of the open item, if there is one."""
    if not found.is_open or text.size == 0:
        return
    if not reserve(&found.links, TEXT_GROWTH * text.size):
        found.no_memory = True
        return
    found.links.size += put_coded_text(text, found.links.data + found.links.size, has_references)


cdef inline void drop_item(LinkList *found) noexcept nogil:
    if found.is_open:
        found.links.size = found.start
        found.is_open = False


cdef inline Span trim(Span text) noexcept nogil:
    while text.size and text.data[0] <= LAST_BLANK:
        text.data += 1
        text.size -= 1
    while text.size and text.data[text.size - 1] <= LAST_BLANK:
        text.size -= 1
    return text


cdef inline bint is_absolute(Span text) noexcept nogil:
    """Whether this begins like a URL that we could fetch."""
    if text.size >= 7 and equals_fold(Span(text.data, 7), b"http://", 7):
        return True
    return text.size >= 8 and equals_fold(Span(text.data, 8), b"https://", 8)


cdef inline void close_item(
    LinkList *found, uint8_t element, uint8_t attribute, bint is_sure
) noexcept nogil:
    """End the item: it stays if it has a value, and, unless `is_sure`, if that is absolute."""
    cdef uint8_t *start
    cdef Span value
    cdef found_link head
    if not found.is_open:
        return
    start = found.links.data + found.start + sizeof(found_link)
    value = trim(Span(start, found.links.size - found.start - sizeof(found_link)))
    if value.size == 0 or not (is_sure or is_absolute(value)):
        drop_item(found)
        return
    if found.count == found.max_links:
        found.dropped += 1
        drop_item(found)
        return
    memmove(start, value.data, value.size)
    head = found_link(element, attribute, 0, 0, <uint32_t>value.size)
    memcpy(found.links.data + found.start, &head, sizeof(found_link))
    found.links.size = found.start + sizeof(found_link) + value.size
    found.count += 1
    found.is_open = False


cdef inline void list_value(
    LinkList *found, Span value, uint8_t element, uint8_t attribute, bint has_references
) noexcept nogil:
    """List a whole value."""
    open_item(found)
    add_text(found, value, has_references)
    close_item(found, element, attribute, True)
