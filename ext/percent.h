/* Bytes written as %XX. */
#ifndef LARBINPY_PERCENT_H
#define LARBINPY_PERCENT_H

#include <stdint.h>

#define UPPER_HEX "0123456789ABCDEF"
#define LOWER_HEX "0123456789abcdef"

/* Value of a hex digit, -1 for any other byte. */
static inline int hex_value(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Write one byte as %XX with these digits; behind it. */
static inline uint8_t *put_percent(uint8_t *to, uint8_t c, const char *digits) {
    to[0] = '%';
    to[1] = (uint8_t)digits[c >> 4];
    to[2] = (uint8_t)digits[c & 15];
    return to + 3;
}

#endif
