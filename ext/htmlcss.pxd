# URLs in CSS, header only: the tokens of url( ) and @import, by the CSS Syntax standard (4.3), on
# text that is valid UTF-8 with its line ends made LF.
#
# Short cuts: the names url and import are known when they are written without escapes, as they are;
# strings elsewhere, such as in image-set( ), are no URLs here.
#
# Each byte is looked at once, but for those of a word that ends in "(".

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr

from htmlbase cimport IS_ALPHA, IS_DIGIT, IS_SPACE, Span, equals_fold, html_class
from htmltext cimport BEYOND_UNICODE, REPLACEMENT, digit_value, put_code_point
from htmlvalue cimport skip_spaces

cdef enum:
    ESCAPE_DIGITS = 6


cdef inline bint is_word_byte(uint8_t c) noexcept nogil:
    return (
        (html_class[c] & (IS_ALPHA | IS_DIGIT)) != 0 or c >= 0x80 or c == c'-' or c == c'_'
    )


cdef inline const uint8_t *skip_css_comment(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Behind the comment whose "/*" ends at `p`, or the end."""
    while True:
        p = <const uint8_t *>memchr(p, c'*', end - p)
        if p == NULL:
            return end
        p += 1
        if p < end and p[0] == c'/':
            return p + 1


cdef inline const uint8_t *skip_word(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Behind a word, escapes included."""
    while p < end:
        if p[0] == c'\\' and p + 1 < end and p[1] != c'\n':
            p += 2
        elif is_word_byte(p[0]):
            p += 1
        else:
            break
    return p


cdef inline const uint8_t *skip_string(
    const uint8_t *p, const uint8_t *end, Span *text
) noexcept nogil:
    """Behind the string whose opening quote is at `p`; no data in `text` when a line end cut it."""
    cdef uint8_t quote = p[0]
    cdef const uint8_t *start = p + 1
    p += 1
    while p < end and p[0] != quote:
        if p[0] == c'\n':
            text[0] = Span(NULL, 0)
            return p
        p += 2 if p[0] == c'\\' and p + 1 < end else 1
    text[0] = Span(start, p - start)
    return p + 1 if p < end else end


cdef inline const uint8_t *skip_bare_url(
    const uint8_t *p, const uint8_t *end, Span *text
) noexcept nogil:
    """Behind the ")" of a URL without quotes; no data in `text` when it is none."""
    cdef const uint8_t *start = p
    cdef const uint8_t *close = NULL  # where spaces began
    cdef bint is_good = True
    while p < end and p[0] != c')':
        if html_class[p[0]] & IS_SPACE:
            if close == NULL:
                close = p
        elif close != NULL or p[0] == c'"' or p[0] == c"'" or p[0] == c'(' or p[0] < 0x20 \
                or p[0] == 0x7F or (p[0] == c'\\' and p + 1 < end and p[1] == c'\n'):
            is_good = False
        p += 2 if p[0] == c'\\' and p + 1 < end else 1
    text[0] = Span(start, (p if close == NULL else close) - start)
    if not is_good:
        text[0] = Span(NULL, 0)
    return p + 1 if p < end else end


cdef inline const uint8_t *skip_url(
    const uint8_t *p, const uint8_t *end, Span *text
) noexcept nogil:
    """From behind "url(" to behind the URL in it."""
    p = skip_spaces(p, end)
    if p < end and (p[0] == c'"' or p[0] == c"'"):
        return skip_string(p, end, text)
    return skip_bare_url(p, end, text)


cdef inline bint next_css_url(Span *rest, bint *after_import, Span *url) noexcept nogil:
    """Take the next URL of a style sheet, its escapes not decoded; false at the end."""
    cdef const uint8_t *end = rest.data + rest.size
    cdef const uint8_t *p = rest.data
    cdef const uint8_t *start
    cdef bint is_wanted
    while p < end:
        is_wanted = after_import[0]
        url.data = NULL
        if html_class[p[0]] & IS_SPACE:
            p += 1
            continue
        if p[0] == c'/' and p + 1 < end and p[1] == c'*':
            p = skip_css_comment(p + 2, end)
            continue
        after_import[0] = False
        if p[0] == c'"' or p[0] == c"'":
            p = skip_string(p, end, url)
        elif is_word_byte(p[0]) or p[0] == c'\\' or p[0] == c'@' or p[0] == c'#':
            start = p
            p = skip_word(p + 1 if p[0] == c'@' or p[0] == c'#' else p, end)
            if p == start:
                p += 1  # a backslash before a line end
            after_import[0] = equals_fold(Span(start, p - start), b"@import", 7)
            is_wanted = p < end and p[0] == c'(' and equals_fold(Span(start, p - start), b"url", 3)
            if is_wanted:
                p = skip_url(p + 1, end, url)
        else:
            p += 1
        if is_wanted and url.data != NULL:
            rest[0] = Span(p, end - p)
            return True
    rest[0] = Span(end, 0)
    return False


cdef inline const uint8_t *put_css_escape(
    const uint8_t *p, const uint8_t *end, uint8_t **to
) noexcept nogil:
    """Decode the escape behind a backslash."""
    cdef uint32_t c = 0
    cdef int digits = 0
    if p[0] == c'\n':
        return p + 1
    if digit_value(p[0]) == 16:
        to[0][0] = p[0]
        to[0] += 1
        return p + 1
    while p < end and digits < ESCAPE_DIGITS and digit_value(p[0]) < 16:
        c = c * 16 + digit_value(p[0])
        digits += 1
        p += 1
    if c == 0 or c >= BEYOND_UNICODE or 0xD800 <= c <= 0xDFFF:
        c = REPLACEMENT
    to[0] += put_code_point(c, to[0])
    return p + 1 if p < end and html_class[p[0]] & IS_SPACE else p


cdef inline size_t put_css(Span text, uint8_t *to) noexcept nogil:
    """Decode the escapes of `text`; `to` has room for twice its size. Returns the bytes written."""
    cdef uint8_t *start = to
    cdef const uint8_t *p = text.data
    cdef const uint8_t *end = p + text.size
    while p < end:
        if p[0] == c'\\' and p + 1 < end:
            p = put_css_escape(p + 1, end, &to)
        elif p[0] == c'\\':
            p += 1  # the last byte of a string: the page ended in it
        else:
            to[0] = p[0]
            to += 1
            p += 1
    return to - start
