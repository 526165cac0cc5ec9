/* Byte classes of the HTML tokenizer, and its one hash of names; all of it constant. */
#ifndef LARBINPY_HTMLCLASS_H
#define LARBINPY_HTMLCLASS_H

#include <stdint.h>

enum {
    IS_SPACE = 1,          /* TAB LF FF CR SPACE; a CR is an LF to the tokenizer */
    IS_TAG_NAME_END = 2,   /* a space, or one of / > */
    IS_ATTRIBUTE_END = 4,  /* a space, or one of / > = */
    IS_UNQUOTED_END = 8,   /* a space, or > */
    IS_ALPHA = 16,
    IS_DIGIT = 32,
    IS_CODED = 64          /* not copied as it is: & CR NUL, and everything outside ASCII */
};

#define HTML_SPACE (IS_SPACE | IS_TAG_NAME_END | IS_ATTRIBUTE_END | IS_UNQUOTED_END)

static const uint8_t html_class[256] = {
    [0] = IS_CODED,
    ['\t'] = HTML_SPACE,
    ['\n'] = HTML_SPACE,
    ['\f'] = HTML_SPACE,
    ['\r'] = HTML_SPACE | IS_CODED,
    [' '] = HTML_SPACE,
    ['&'] = IS_CODED,
    ['/'] = IS_TAG_NAME_END | IS_ATTRIBUTE_END,
    ['0' ... '9'] = IS_DIGIT,
    ['='] = IS_ATTRIBUTE_END,
    ['>'] = IS_TAG_NAME_END | IS_ATTRIBUTE_END | IS_UNQUOTED_END,
    ['A' ... 'Z'] = IS_ALPHA,
    ['a' ... 'z'] = IS_ALPHA,
    [128 ... 255] = IS_CODED,
};

/* What numeric references to 0x80 to 0x9F mean (windows-1252); 0 = the number itself. */
static const uint16_t html_c1[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
    0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

static inline uint8_t html_lower(uint8_t c) { return (c >= 'A' && c <= 'Z') ? c | 0x20 : c; }

/* Add one byte to the hash of a name; good enough for tables that are known when they are built. */
static inline uint32_t name_hash(uint32_t hash, uint8_t c) { return hash * 31 + c; }

#endif
