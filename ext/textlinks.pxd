# The absolute URLs of a plain text, header only: one on each line, or anywhere in prose.

from libc.stdint cimport uint8_t
from libc.string cimport memchr

from htmlbase cimport IS_ALPHA, Span, html_class
from layout cimport ELEMENT_A
from linklist cimport LAST_BLANK, LinkList, is_absolute, list_value, trim

cdef enum:
    SCHEME_LETTERS = 6  # one more than https has


cdef inline void scan_text_lines(
    LinkList *found, const uint8_t *p, const uint8_t *end
) noexcept nogil:
    """List each line that is an absolute URL."""
    cdef const uint8_t *start
    cdef Span line
    while p < end and not found.no_memory:
        start = p
        while p < end and p[0] != c'\n' and p[0] != c'\r':
            p += 1
        line = trim(Span(start, p - start))
        if is_absolute(line):
            list_value(found, line, ELEMENT_A, 0, False)
        p += 1


cdef inline bint ends_url(uint8_t c) noexcept nogil:
    """Whether no URL that stands in a text goes on here."""
    return (c <= LAST_BLANK or c == c'<' or c == c'>' or c == c'"' or c == c'`' or c == c'{'
            or c == c'}' or c == c'|' or c == c'\\' or c == c'^' or c == 0x7F)


cdef inline bint is_punctuation(uint8_t c) noexcept nogil:
    """Whether this, at the end of a URL in a text, belongs to the text."""
    return (c == c'.' or c == c',' or c == c';' or c == c':' or c == c'!' or c == c'?'
            or c == c"'" or c == c')' or c == c']' or c == c'*' or c == c'_')


cdef inline void scan_prose(
    LinkList *found, const uint8_t *start, const uint8_t *end
) noexcept nogil:
    """List each absolute URL; the letters of its scheme stand before the colon that is found."""
    cdef const uint8_t *p = start
    cdef const uint8_t *url
    cdef Span value
    while not found.no_memory:
        p = <const uint8_t *>memchr(p, c':', end - p)
        if p == NULL:
            return
        url = p
        while url > start and p - url < SCHEME_LETTERS and html_class[(url - 1)[0]] & IS_ALPHA:
            url -= 1
        p += 1
        if is_absolute(Span(url, end - url)):
            while p < end and not ends_url(p[0]):
                p += 1
            value = Span(url, p - url)
            while is_punctuation(value.data[value.size - 1]):
                value.size -= 1
            list_value(found, value, ELEMENT_A, 0, False)
        start = p
