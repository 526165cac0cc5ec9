# From bytes of the page to the text they mean, header only: character references (13.2.5.72 to
# 13.2.5.80 of the HTML standard), line ends, NUL, and invalid UTF-8, all to valid UTF-8.
#
# The output is never longer than three times the input (one invalid byte becomes U+FFFD; the worst
# reference, &nGt;, makes six bytes of five), so that a caller reserves once and nothing is checked
# per byte.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from htmlbase cimport (
    BLOCK, HALF, IS_ALPHA, IS_CODED, IS_DIGIT, Names, Span, find_name, has_coded_block,
    has_coded_half, html_c1, html_class, name_hash,
)

cdef enum:
    TEXT_GROWTH = 3  # bytes of output per byte of input, at most
    LONGEST_ENTITY = 31
    LONGEST_LEGACY = 6  # of the names that need no semicolon
    REPLACEMENT = 0xFFFD
    BEYOND_UNICODE = 0x110000


cdef struct Entity:
    uint8_t size  # bytes of UTF-8
    uint8_t text[6]
    bint is_legacy  # also known without its semicolon


cdef struct Entities:
    Names names  # without their semicolons
    Entity *values  # by the index of the name


cdef inline size_t put_code_point(uint32_t c, uint8_t *to) noexcept nogil:
    if c < 0x80:
        to[0] = <uint8_t>c
        return 1
    if c < 0x800:
        to[0] = <uint8_t>(0xC0 | (c >> 6))
        to[1] = <uint8_t>(0x80 | (c & 0x3F))
        return 2
    if c < 0x10000:
        to[0] = <uint8_t>(0xE0 | (c >> 12))
        to[1] = <uint8_t>(0x80 | ((c >> 6) & 0x3F))
        to[2] = <uint8_t>(0x80 | (c & 0x3F))
        return 3
    to[0] = <uint8_t>(0xF0 | (c >> 18))
    to[1] = <uint8_t>(0x80 | ((c >> 12) & 0x3F))
    to[2] = <uint8_t>(0x80 | ((c >> 6) & 0x3F))
    to[3] = <uint8_t>(0x80 | (c & 0x3F))
    return 4


cdef inline uint32_t remapped(uint32_t c) noexcept nogil:
    """The code point that a numeric reference to `c` means."""
    if c == 0 or c >= BEYOND_UNICODE or 0xD800 <= c <= 0xDFFF:
        return REPLACEMENT
    if 0x80 <= c <= 0x9F and html_c1[c - 0x80]:
        return html_c1[c - 0x80]
    return c


cdef inline int digit_value(uint8_t c) noexcept nogil:
    """0 to 15, or 16 when it is no hexadecimal digit."""
    if c'0' <= c <= c'9':
        return c - c'0'
    if c'a' <= (c | 0x20) <= c'f':
        return (c | 0x20) - c'a' + 10
    return 16


cdef inline size_t put_numeric(Span *rest, uint8_t *to) noexcept nogil:
    """Decode the reference behind "&#"; 0 and an untouched `rest` when there is no digit."""
    cdef const uint8_t *p = rest.data
    cdef const uint8_t *end = p + rest.size
    cdef int base = 10
    cdef uint32_t c = 0
    if p < end and (p[0] | 0x20) == c'x':
        base = 16
        p += 1
    if p >= end or digit_value(p[0]) >= base:
        return 0
    while p < end and digit_value(p[0]) < base:
        c = min(c * base + digit_value(p[0]), <uint32_t>BEYOND_UNICODE)
        p += 1
    if p < end and p[0] == c';':
        p += 1
    rest.data = p
    rest.size = end - p
    return put_code_point(remapped(c), to)


cdef inline size_t put_entity(
    const Entities *entities, uint16_t index, size_t used, Span *rest, uint8_t *to
) noexcept nogil:
    cdef size_t i
    for i in range(entities.values[index].size):
        to[i] = entities.values[index].text[i]
    rest.data += used
    rest.size -= used
    return entities.values[index].size


cdef inline size_t put_named(
    const Entities *entities, Span *rest, uint8_t *to, bint in_attribute
) noexcept nogil:
    """Decode the reference behind "&"; 0 and an untouched `rest` when it is to be left alone.

    Names are letters and digits, and a semicolon can only follow the whole run of them: so the
    longest match is either the run with its semicolon, or one of the short old names at its start.
    In an attribute an old name counts only when it is the whole run and no "=" follows.
    """
    cdef uint64_t hashes[LONGEST_ENTITY + 1]
    cdef size_t size = 0
    cdef uint16_t index
    hashes[0] = 0
    while (
        size < rest.size and size < LONGEST_ENTITY
        and html_class[rest.data[size]] & (IS_ALPHA | IS_DIGIT)
    ):
        hashes[size + 1] = name_hash(hashes[size], rest.data[size])
        size += 1
    if size < rest.size and rest.data[size] == c';':
        index = find_name(&entities.names, hashes[size], Span(rest.data, size), False)
        if index:
            return put_entity(entities, index, size + 1, rest, to)
    if in_attribute and (size > LONGEST_LEGACY or (size < rest.size and rest.data[size] == c'=')):
        return 0
    size = min(size, <size_t>LONGEST_LEGACY)
    while size >= 2:
        index = find_name(&entities.names, hashes[size], Span(rest.data, size), False)
        if index and entities.values[index].is_legacy:
            return put_entity(entities, index, size, rest, to)
        if in_attribute:
            return 0
        size -= 1
    return 0


cdef inline size_t sequence_size(
    const uint8_t *p, const uint8_t *end, bint *is_valid
) noexcept nogil:
    """Bytes of the UTF-8 sequence at `p`, or of what one U+FFFD stands for when it is none."""
    cdef uint8_t lowest = 0x80
    cdef uint8_t highest = 0xBF
    cdef size_t size, i
    is_valid[0] = False
    if 0xC2 <= p[0] <= 0xDF:
        size = 2
    elif 0xE0 <= p[0] <= 0xEF:
        size = 3
        lowest = 0xA0 if p[0] == 0xE0 else 0x80
        highest = 0x9F if p[0] == 0xED else 0xBF
    elif 0xF0 <= p[0] <= 0xF4:
        size = 4
        lowest = 0x90 if p[0] == 0xF0 else 0x80
        highest = 0x8F if p[0] == 0xF4 else 0xBF
    else:
        return 1
    for i in range(1, size):
        if p + i >= end or p[i] < lowest or p[i] > highest:
            return i
        lowest = 0x80
        highest = 0xBF
    is_valid[0] = True
    return size


cdef inline size_t put_sequence(Span *rest, uint8_t *to) noexcept nogil:
    cdef bint is_valid
    cdef size_t i
    cdef size_t size = sequence_size(rest.data, rest.data + rest.size, &is_valid)
    if is_valid:
        for i in range(size):
            to[i] = rest.data[i]
    rest.data += size
    rest.size -= size
    return size if is_valid else put_code_point(REPLACEMENT, to)


cdef inline size_t put_coded(
    const Entities *entities, Span *rest, uint8_t *to, bint in_attribute
) noexcept nogil:
    """Decode what stands at the start of `rest`, a byte of class IS_CODED."""
    cdef uint8_t c = rest.data[0]
    cdef size_t size = 0
    if c >= 0x80:
        return put_sequence(rest, to)
    rest.data += 1
    rest.size -= 1
    if c == 0:
        return put_code_point(REPLACEMENT, to)
    if c == c'\r':
        if rest.size and rest.data[0] == c'\n':
            rest.data += 1
            rest.size -= 1
        to[0] = c'\n'
        return 1
    if rest.size and rest.data[0] == c'#':
        rest.data += 1
        rest.size -= 1
        size = put_numeric(rest, to)
        if size == 0:
            rest.data -= 1
            rest.size += 1
    elif rest.size:
        size = put_named(entities, rest, to, in_attribute)
    if size:
        return size
    to[0] = c'&'
    return 1


cdef inline size_t put_raw(Span text, uint8_t *to) noexcept nogil:
    """The same as ``put_text`` for text without character references."""
    cdef uint8_t *start = to
    cdef const uint8_t *end = text.data + text.size
    while text.data < end:
        if text.data[0] >= 0x80:
            text.size = end - text.data
            to += put_sequence(&text, to)
            continue
        if text.data[0] == 0:
            to += put_code_point(REPLACEMENT, to)
        elif text.data[0] != c'\r':
            to[0] = text.data[0]
            to += 1
        elif text.data + 1 == end or text.data[1] != c'\n':
            to[0] = c'\n'
            to += 1
        text.data += 1
    return to - start


cdef inline size_t put_text(
    const Entities *entities, Span text, uint8_t *to, bint in_attribute
) noexcept nogil:
    """Decode `text` to `to`, which has room for TEXT_GROWTH times its size; the bytes written."""
    cdef uint8_t *start = to
    cdef const uint8_t *end = text.data + text.size
    while end - text.data >= BLOCK and not has_coded_block(text.data):
        memcpy(to, text.data, BLOCK)
        to += BLOCK
        text.data += BLOCK
    if end - text.data >= HALF and not has_coded_half(text.data):
        memcpy(to, text.data, HALF)
        to += HALF
        text.data += HALF
    while text.data < end:
        if html_class[text.data[0]] & IS_CODED:
            text.size = end - text.data
            to += put_coded(entities, &text, to, in_attribute)
        else:
            to[0] = text.data[0]
            to += 1
            text.data += 1
    return to - start
