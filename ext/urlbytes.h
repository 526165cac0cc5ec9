/* Bytes of URLs: their classes by the URL standard, and the buffer that URLs are written to.
 *
 * A class says what may be copied as it stands; everything else is written as %XX.  Bytes from 0x80
 * are never plain, so valid UTF-8 comes out as the standard says, and bytes that are no UTF-8 come
 * out as they stood, each as its own %XX.
 */
#ifndef LARBINPY_URLBYTES_H
#define LARBINPY_URLBYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "percent.h"

enum {
    PATH_PLAIN = 1,  /* copied within a path segment: neither a delimiter nor to be escaped */
    QUERY_PLAIN = 2, /* copied within the query of an http URL */
    HOST_BAD = 4,    /* a forbidden domain code point */
    SCHEME_BYTE = 8, /* may follow the first letter of a scheme */
    AUTHORITY_MARK = 16, /* ends the authority, or a part of it, or is a bracket */
    HOST_PLAIN = 32, /* copied within a host: neither forbidden nor a capital nor % */
    NOT_ASCII = 128
};

static uint8_t url_class[256];

static void url_class_clear(const char *bytes, uint8_t bit) {
    for (; *bytes; bytes++) url_class[(uint8_t)*bytes] &= (uint8_t)~bit;
}

static void url_class_set(const char *bytes, uint8_t bit) {
    for (; *bytes; bytes++) url_class[(uint8_t)*bytes] |= bit;
}

/* Fill the table; to be called once, before anything else here. */
static void url_classes_init(void) {
    for (int c = 0; c < 256; c++) {
        int is_alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        int is_graphic = c > 0x20 && c < 0x7f;
        url_class[c] = is_graphic ? PATH_PLAIN | QUERY_PLAIN : c < 0x80 ? HOST_BAD : NOT_ASCII;
        if (is_alnum) url_class[c] |= SCHEME_BYTE;
    }
    url_class_clear("\"#<>?^`{}/\\", PATH_PLAIN);
    url_class_clear("\"#<>'", QUERY_PLAIN);
    url_class_set("#/:<>?@[\\]^|%", HOST_BAD);
    url_class_set("+-.", SCHEME_BYTE);
    url_class_set("/\\?@:[]", AUTHORITY_MARK);
    for (int c = 0; c < 0x80; c++)
        if (!(url_class[c] & HOST_BAD) && !(c >= 'A' && c <= 'Z')) url_class[c] |= HOST_PLAIN;
}

static inline int is_slash(uint8_t c) { return c == '/' || c == '\\'; }

/* --- a text that is read from its start -------------------------------------------------------- */
typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} url_text;

/* Without the C0 controls and spaces at both ends. */
static inline url_text text_trimmed(url_text text) {
    while (text.at < text.end && *text.at <= 0x20) text.at++;
    while (text.at < text.end && text.end[-1] <= 0x20) text.end--;
    return text;
}

/* Whether a TAB, CR or LF may be inside (true for VT and FF too). */
static inline int text_has_breaks(url_text text) {
    typedef uint8_t eight_bytes __attribute__((vector_size(8)));
    uint64_t found = 0;
    const uint8_t *p = text.at;
    for (; text.end - p >= 8; p += 8) {
        eight_bytes bytes;
        uint64_t breaks;
        memcpy(&bytes, p, 8);
        bytes = (eight_bytes)(bytes - 9 < 5);
        memcpy(&breaks, &bytes, 8);
        found |= breaks;
    }
    for (; p < text.end; p++) found |= (uint8_t)(*p - 9) < 5;
    return found != 0;
}

/* --- growing output: one allocation serves a whole batch --------------------------------------- */
typedef struct {
    uint8_t *data;
    size_t size;
    size_t room;
} url_out;

/* Make room for `more` bytes; -1 when there is no memory (what is written so far stays). */
static inline int out_reserve(url_out *out, size_t more) {
    if (out->room - out->size >= more) return 0;
    size_t room = out->size + more > 2 * out->room ? out->size + more : 2 * out->room;
    uint8_t *data = (uint8_t *)realloc(out->data, room);
    if (data == NULL) return -1;
    out->data = data;
    out->room = room;
    return 0;
}

/* The writers below expect that out_reserve() was asked for what they write. */
static inline void out_byte(url_out *out, uint8_t c) { out->data[out->size++] = c; }

static inline void out_bytes(url_out *out, const void *bytes, size_t size) {
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

static inline void out_number(url_out *out, uint32_t value, uint32_t radix) {
    uint8_t digits[10];
    int n = 0;
    do {
        digits[n++] = (uint8_t)LOWER_HEX[value % radix];
        value /= radix;
    } while (value > 0);
    while (n > 0) out_byte(out, digits[--n]);
}

/* Copy `text` without TAB, CR and LF to the start of `out`; -1 when there is no memory. */
static inline int text_without_breaks(url_text *text, url_out *out) {
    out->size = 0;
    if (out_reserve(out, (size_t)(text->end - text->at)) < 0) return -1;
    for (const uint8_t *p = text->at; p < text->end; p++)
        if (*p != '\t' && *p != '\n' && *p != '\r') out_byte(out, *p);
    text->at = out->data;
    text->end = out->data + out->size;
    return 0;
}

#endif
