# Where things end that hold no tags, header only: comments, CDATA, text of raw text elements.
#
# All return NULL when the page ends first, and look at each byte once.

from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp

from htmlbase cimport IS_ALPHA, IS_TAG_NAME_END, Name, Span, equals_fold, html_class


# --- comments ----------------------------------------------------------------------------------
cdef inline const uint8_t *behind(
    const uint8_t *p, const uint8_t *end, uint8_t c
) noexcept nogil:
    """The byte behind the next `c`."""
    p = <const uint8_t *>memchr(p, c, end - p)
    if p != NULL:
        p += 1
    return p


cdef inline const uint8_t *skip_comment(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Skip a comment from behind "<!--"; NULL when the page ends in it."""
    cdef const uint8_t *start = p
    if p < end and p[0] == c'>':
        return p + 1
    if end - p >= 2 and p[0] == c'-' and p[1] == c'>':
        return p + 2
    while True:
        p = behind(p, end, c'>')
        if p == NULL:
            return NULL
        if p - start >= 3 and memcmp(p - 3, b"--", 2) == 0:
            return p
        if p - start >= 4 and memcmp(p - 4, b"--!", 3) == 0:
            return p


cdef inline const uint8_t *skip_cdata(const uint8_t *p, const uint8_t *end) noexcept nogil:
    cdef const uint8_t *start = p
    while True:
        p = behind(p, end, c'>')
        if p == NULL or (p - start >= 3 and memcmp(p - 3, b"]]", 2) == 0):
            return p


# --- raw text ---------------------------------------------------------------------------------
cdef inline bint ends_raw(
    const uint8_t *p, const uint8_t *end, const Name *name
) noexcept nogil:
    """Whether "</" at `p` begins the end tag of this element."""
    if <size_t>(end - p) < <size_t>name.size + 3 or p[1] != c'/':
        return False
    if not html_class[p[2 + name.size]] & IS_TAG_NAME_END:
        return False
    return equals_fold(Span(p + 2, name.size), <const char *>name.text, name.size)


cdef inline const uint8_t *find_raw_end(
    const uint8_t *p, const uint8_t *end, const Name *name
) noexcept nogil:
    """The "<" of the end tag, NULL when there is none."""
    while True:
        p = <const uint8_t *>memchr(p, c'<', end - p)
        if p == NULL or ends_raw(p, end, name):
            return p
        p += 1


cdef inline const uint8_t *skip_script_word(
    const uint8_t *p, const uint8_t *end, bint *is_script
) noexcept nogil:
    """Skip letters and the byte behind them, if it could end a tag's name; were they "script"?"""
    cdef const uint8_t *start = p
    while p < end and html_class[p[0]] & IS_ALPHA:
        p += 1
    is_script[0] = False
    if p < end and html_class[p[0]] & IS_TAG_NAME_END:
        is_script[0] = equals_fold(Span(start, p - start), b"script", 6)
        p += 1
    return p


cdef inline const uint8_t *find_escape_end(
    const uint8_t *p, const uint8_t *end, const Name *name, bint *is_tag
) noexcept nogil:
    """From behind "<!--" in a script: to behind "-->", or to the "<" of the end tag, or NULL.

    A script element inside hides its own end tag (script data double escaped).
    """
    cdef bint is_double = False
    cdef bint is_script
    cdef int dashes = 2
    is_tag[0] = False
    while p < end:
        if p[0] == c'-':
            dashes += dashes < 2
        elif p[0] == c'>' and dashes == 2:
            return p + 1
        else:
            dashes = 0
        if p[0] != c'<':
            p += 1
        elif not is_double and ends_raw(p, end, name):
            is_tag[0] = True
            return p
        elif is_double and p + 1 < end and p[1] == c'/':
            p = skip_script_word(p + 2, end, &is_script)
            is_double = not is_script
        elif not is_double and p + 1 < end and html_class[p[1]] & IS_ALPHA:
            p = skip_script_word(p + 1, end, &is_script)
            is_double = is_script
        else:
            p += 1
    return NULL


cdef inline const uint8_t *find_script_end(
    const uint8_t *p, const uint8_t *end, const Name *name
) noexcept nogil:
    """The "<" of a script's end tag, NULL when there is none."""
    cdef bint is_tag
    while True:
        p = <const uint8_t *>memchr(p, c'<', end - p)
        if p == NULL or ends_raw(p, end, name):
            return p
        if end - p >= 4 and memcmp(p, b"<!--", 4) == 0:
            p = find_escape_end(p + 4, end, name, &is_tag)
            if p == NULL or is_tag:
                return p
        else:
            p += 1
