/* The normal form in which robots patterns and paths are compared, and looks at such texts. */
#ifndef LARBINPY_ROBOTSTEXT_H
#define LARBINPY_ROBOTSTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "percent.h"

/* How many bytes normalising may make of one. */
#define ROBOTS_GROWTH 3
#define ROBOTS_PATH "/robots.txt"

/* Whether a byte is unreserved, or one that a rule can only say in its encoded form. */
static inline int robots_is_decoded(uint8_t byte) {
    uint8_t lower = byte | 32;
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') || byte == '-'
        || byte == '.' || byte == '_' || byte == '~' || byte == '*' || byte == '$';
}

/* Whether normalising changes nothing; without an early end, so that it is vectorised. */
static inline int robots_is_plain(const uint8_t *text, size_t size) {
    uint8_t odd = 0;
    for (size_t i = 0; i < size; i++) odd |= (text[i] == '%') | (text[i] >> 7);
    return !odd;
}

/* Write the normal form, at most ROBOTS_GROWTH * size bytes; return its size.  Hex digits become
 * upper case, bytes over 127 are encoded, and what robots_is_decoded names is decoded. */
static inline size_t robots_normalise(const uint8_t *text, size_t size, uint8_t *out) {
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = text[i];
        int is_encoded = byte == '%' && size - i > 2
            && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
        if (is_encoded) {
            byte = (uint8_t)(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
            i += 2;
        }
        if (byte >= 128 || (is_encoded && !robots_is_decoded(byte))) {
            put_percent(out + used, byte, UPPER_HEX);
            used += 3;
        } else {
            out[used++] = byte;
        }
    }
    return used;
}

/* The set of the pairs of neighbours in a text, by a hash of 6 bits. */
static inline uint64_t robots_pairs(const uint8_t *text, size_t size) {
    uint64_t pairs = 0;
    for (size_t i = 1; i < size; i++)
        pairs |= (uint64_t)1 << ((text[i - 1] * 33 + text[i]) & 63);
    return pairs;
}

/* How many bytes both texts of this size begin with. */
static inline size_t robots_common(const uint8_t *one, const uint8_t *other, size_t size) {
    size_t i = 0;
    while (i < size && one[i] == other[i]) i++;
    return i;
}

#endif
