/* Writers of the synthetic web's text: numbers, words, addresses.
 *
 * Writers take a pointer to free room and return the end of what they wrote; the caller sees to the
 * room (`web_room`).
 */
#ifndef LARBINPY_WEBTEXT_H
#define LARBINPY_WEBTEXT_H

#include "webmodel.h"

static inline char *put_bytes(char *p, const char *text, size_t n) {
    memcpy(p, text, n);
    return p + n;
}

#define PUT(p, literal) put_bytes(p, literal, sizeof(literal) - 1)

static inline char *put_text(char *p, const char *text) { return put_bytes(p, text, strlen(text)); }

static char *put_number(char *p, uint64_t value) {
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n) *p++ = digits[--n];
    return p;
}

static char *put_word(char *p, uint64_t value) { /* 16 letters, one for each half byte */
    for (int k = 0; k < 16; k++, value >>= 4) *p++ = "bcdfghjklmnpqrst"[value & 15];
    return p;
}

/* Fills the pool with words of 2 to 9 letters. */
static void web_fill_pool(const web_spec *w) {
    uint64_t x = web_draw(w, SALT_POOL, 0, 0);
    for (uint32_t at = 0; at < POOL_BYTES;) {
        x = web_mix(x);
        uint32_t n = 2 + x % 8;
        for (uint32_t k = 0; k < n && at < POOL_BYTES; k++) w->pool[at++] = 'a' + (x >> (8 + 5 * k)) % 26;
        if (at < POOL_BYTES) w->pool[at++] = ' ';
    }
}

static char *put_words(const web_spec *w, char *p, uint64_t x, uint64_t n) {
    while (n) {
        x = web_mix(x);
        uint64_t part = web_least(n, POOL_BYTES / 2);
        p = put_bytes(p, w->pool + x % (POOL_BYTES / 2), part);
        n -= part;
    }
    return p;
}

static char *put_address(char *p, uint32_t address) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        p = put_number(p, (address >> shift) & 0xff);
        if (shift) *p++ = '.';
    }
    return p;
}

static const char *take_number(const char *p, const char *end, uint64_t *value) {
    uint64_t v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) v = v * 10 + (uint64_t)(*p - '0');
    *value = v;
    return p;
}

#endif
