/* Byte classes of the HTML tokenizer, one by one and in blocks, and its one hash of names. */
#ifndef LARBINPY_HTMLCLASS_H
#define LARBINPY_HTMLCLASS_H

#include <stdint.h>
#include <string.h>

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

/* Bytes of names in lower case, 0 for those that end the name of a tag; a NUL is in no name that we
 * know, and ends none. */
static const uint8_t html_name[256] = {
    255, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 11, 0, 0, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    0, '!', '"', '#', '$', '%', '&', '\'', '(', ')', '*', '+', ',', '-', '.', 0,
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ':', ';', '<', '=', 0, '?',
    '@', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', '[', '\\', ']', '^', '_',
    '`', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', '{', '|', '}', '~', 127,
    128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143,
    144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
    160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175,
    176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191,
    192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207,
    208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223,
    224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239,
    240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255,
};

/* Add one byte to the hash of a name: its last eight bytes, so a name of up to HASHED is its hash. */
enum { HASHED = 8 };
static inline uint64_t name_hash(uint64_t hash, uint8_t c) { return hash << 8 | c; }

/* Whether one of so many bytes is IS_CODED: not from 1 to 127, or & or CR. */
typedef int8_t html_block __attribute__((vector_size(16)));
typedef int8_t html_half __attribute__((vector_size(8)));
enum { BLOCK = sizeof(html_block), HALF = sizeof(html_half) };

static inline int has_coded_block(const uint8_t *p) {
    html_block bytes;
    uint64_t coded[2];
    memcpy(&bytes, p, BLOCK);
    bytes = (bytes < 1) | (bytes == '&') | (bytes == '\r');
    memcpy(coded, &bytes, BLOCK);
    return (coded[0] | coded[1]) != 0;
}

static inline int has_coded_half(const uint8_t *p) {
    html_half bytes;
    uint64_t coded;
    memcpy(&bytes, p, HALF);
    bytes = (bytes < 1) | (bytes == '&') | (bytes == '\r');
    memcpy(&coded, &bytes, HALF);
    return coded != 0;
}

#endif
