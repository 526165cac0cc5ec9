# Small languages inside attribute values, header only: rel, srcset, meta refresh and meta charset,
# each by the HTML standard's algorithm, on values whose character references are decoded.

from libc.stdint cimport uint8_t
from libc.string cimport memchr

from htmlbase cimport IS_DIGIT, IS_SPACE, Span, equals_fold, html_class, html_lower
from layout cimport REL_CANONICAL, REL_NOFOLLOW, REL_SPONSORED, REL_STYLESHEET, REL_UGC


cdef inline const uint8_t *skip_spaces(const uint8_t *p, const uint8_t *end) noexcept nogil:
    while p < end and html_class[p[0]] & IS_SPACE:
        p += 1
    return p


cdef inline const uint8_t *skip_digits(const uint8_t *p, const uint8_t *end) noexcept nogil:
    while p < end and html_class[p[0]] & IS_DIGIT:
        p += 1
    return p


cdef inline uint8_t rel_bit(Span word) noexcept nogil:
    if equals_fold(word, b"nofollow", 8):
        return REL_NOFOLLOW
    if equals_fold(word, b"stylesheet", 10):
        return REL_STYLESHEET
    if equals_fold(word, b"canonical", 9):
        return REL_CANONICAL
    if equals_fold(word, b"ugc", 3):
        return REL_UGC
    if equals_fold(word, b"sponsored", 9):
        return REL_SPONSORED
    return 0


cdef enum:
    ANY_REL = 0xFF
    # What search engines invented may also be joined by commas, as they say and pages do.
    JOINED_RELS = REL_NOFOLLOW | REL_UGC | REL_SPONSORED


cdef inline uint8_t rel_bits(Span value) noexcept nogil:
    """The REL_* bits of a rel attribute."""
    cdef const uint8_t *p = value.data
    cdef const uint8_t *end = p + value.size
    cdef const uint8_t *start
    cdef uint8_t bits = 0
    cdef uint8_t known
    while True:
        start = p = skip_spaces(p, end)
        if p >= end:
            return bits
        known = ANY_REL
        while p < end and not html_class[p[0]] & IS_SPACE:
            if p[0] == c',':
                known = JOINED_RELS
                bits |= rel_bit(Span(start, p - start)) & known
                start = p + 1
            p += 1
        bits |= rel_bit(Span(start, p - start)) & known


# --- srcset -----------------------------------------------------------------------------------
cdef struct Descriptors:
    bint has_width
    bint has_density
    bint has_height
    bint is_wrong


cdef inline bint is_all_zero(const uint8_t *p, const uint8_t *end) noexcept nogil:
    while p < end and p[0] == c'0':
        p += 1
    return p == end


cdef inline bint is_density(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Whether this is a valid floating-point number that is not negative."""
    cdef const uint8_t *whole
    cdef const uint8_t *digits
    cdef bint is_negative = p < end and p[0] == c'-'
    whole = p + is_negative
    p = digits = skip_digits(whole, end)
    if p < end and p[0] == c'.':
        p = skip_digits(p + 1, end)
        if p == digits + 1:
            return False
    elif p == whole:
        return False
    if is_negative and not is_all_zero(whole, digits):
        return False
    if is_negative and p > digits and not is_all_zero(digits + 1, p):
        return False
    if p < end and (p[0] | 0x20) == c'e':
        p += 1
        if p < end and (p[0] == c'-' or p[0] == c'+'):
            p += 1
        digits = p
        p = skip_digits(p, end)
        if p == digits:
            return False
    return p == end


cdef inline void note_descriptor(Descriptors *seen, Span word) noexcept nogil:
    """Account for one descriptor of a candidate."""
    cdef const uint8_t *last
    cdef bint is_size
    cdef bint is_right = False
    if word.size == 0:
        return
    last = word.data + word.size - 1
    is_size = last > word.data and skip_digits(word.data, last) == last
    if last[0] == c'x':
        is_right = is_density(word.data, last) and not (
            seen.has_width or seen.has_density or seen.has_height
        )
        seen.has_density = True
    elif is_size and not is_all_zero(word.data, last) and last[0] == c'w':
        is_right = not (seen.has_width or seen.has_density)
        seen.has_width = True
    elif is_size and not is_all_zero(word.data, last) and last[0] == c'h':
        is_right = not (seen.has_height or seen.has_density)
        seen.has_height = True
    if not is_right:
        seen.is_wrong = True


cdef inline const uint8_t *read_descriptors(
    const uint8_t *p, const uint8_t *end, Descriptors *seen
) noexcept nogil:
    """Read to the comma that ends a candidate; the byte behind it, or the end."""
    cdef const uint8_t *start = p
    cdef bint in_parens = False
    while p < end:
        if in_parens:
            in_parens = p[0] != c')'
        elif html_class[p[0]] & IS_SPACE:
            note_descriptor(seen, Span(start, p - start))
            start = p + 1
        elif p[0] == c',':
            break
        elif p[0] == c'(':
            in_parens = True
        p += 1
    note_descriptor(seen, Span(start, p - start))
    return p + 1 if p < end else end


cdef inline bint next_candidate(Span *rest, Span *url) noexcept nogil:
    """Take the next valid image candidate of a srcset; false at the end."""
    cdef const uint8_t *end = rest.data + rest.size
    cdef const uint8_t *p = rest.data
    cdef Descriptors seen
    while True:
        while p < end and (p[0] == c',' or html_class[p[0]] & IS_SPACE):
            p += 1
        if p >= end:
            return False
        url.data = p
        while p < end and not html_class[p[0]] & IS_SPACE:
            p += 1
        url.size = p - url.data
        seen = Descriptors(False, False, False, False)
        if url.data[url.size - 1] == c',':
            while url.data[url.size - 1] == c',':
                url.size -= 1
        else:
            p = read_descriptors(p, end, &seen)
        rest.data = p
        rest.size = end - p
        if not seen.is_wrong and (seen.has_width or not seen.has_height):
            return True


# --- meta -------------------------------------------------------------------------------------
cdef inline const uint8_t *skip_url_key(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Behind `url =` and its spaces; NULL when the letters stand there without the sign."""
    cdef const char *key = b"url"
    cdef int i
    for i in range(3):
        if p >= end or html_lower(p[0]) != <uint8_t>key[i]:
            # Only a value that does not begin like the key at all may be quoted without it.
            if i:
                return NULL
            return p
        p += 1
    p = skip_spaces(p, end)
    if p >= end or p[0] != c'=':
        return NULL
    return skip_spaces(p + 1, end)


cdef inline Span refresh_target(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """The URL in what follows the time and its separator."""
    cdef const uint8_t *start = skip_url_key(p, end)
    cdef const uint8_t *close
    if start == NULL:
        return Span(p, end - p)
    if start < end and (start[0] == c'"' or start[0] == c"'"):
        close = <const uint8_t *>memchr(start + 1, start[0], end - start - 1)
        start += 1
        return Span(start, (close if close != NULL else end) - start)
    return Span(start, end - start)


cdef inline bint read_refresh(Span value, Span *url) noexcept nogil:
    """The URL part of a refresh; no data where it has none; false when it does not parse."""
    cdef const uint8_t *end = value.data + value.size
    cdef const uint8_t *start = skip_spaces(value.data, end)
    cdef const uint8_t *p = skip_digits(start, end)
    url[0] = Span(NULL, 0)
    if p == start and (p >= end or p[0] != c'.'):
        return False
    while p < end and (p[0] == c'.' or html_class[p[0]] & IS_DIGIT):
        p += 1
    if p >= end:
        return True
    if p[0] != c';' and p[0] != c',' and not html_class[p[0]] & IS_SPACE:
        return False
    p = skip_spaces(p, end)
    if p < end and (p[0] == c';' or p[0] == c','):
        p = skip_spaces(p + 1, end)
    if p < end:
        url[0] = refresh_target(p, end)
    return True


cdef inline const uint8_t *charset_value(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """Behind the first `charset =` and its spaces; NULL when there is none."""
    while p + 7 <= end:
        if not equals_fold(Span(p, 7), b"charset", 7):
            p += 1
            continue
        p = skip_spaces(p + 7, end)
        if p < end and p[0] == c'=':
            return skip_spaces(p + 1, end)
    return NULL


cdef inline bint read_charset(Span value, Span *label) noexcept nogil:
    """The label in a Content-Type as meta gives it; false when there is none."""
    cdef const uint8_t *end = value.data + value.size
    cdef const uint8_t *p = charset_value(value.data, end)
    cdef const uint8_t *close
    if p == NULL or p >= end:
        return False
    if p[0] == c'"' or p[0] == c"'":
        close = <const uint8_t *>memchr(p + 1, p[0], end - p - 1)
        if close == NULL:
            return False
        label[0] = Span(p + 1, close - p - 1)
        return True
    close = p
    while close < end and close[0] != c';' and not html_class[close[0]] & IS_SPACE:
        close += 1
    label[0] = Span(p, close - p)
    return True
