/* A set of lower-case suffixes, chained by their last byte: most texts match none after one look.
 *
 * The owner keeps the texts alive and frees `entries`.
 */
#ifndef LARBINPY_SUFFIXES_H
#define LARBINPY_SUFFIXES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *text;
    size_t size;
    int32_t next; /* index of the next suffix with the same last byte, -1 = none */
} suffix;

typedef struct {
    suffix *entries;
    int32_t used;
    int32_t first[256];
} suffix_set;

static inline void suffixes_init(suffix_set *set, suffix *entries) {
    set->entries = entries;
    set->used = 0;
    for (int i = 0; i < 256; i++) set->first[i] = -1;
}

/* `text` is not empty and lower-case; there is room for it. */
static inline void suffixes_add(suffix_set *set, const uint8_t *text, size_t size) {
    int32_t *first = &set->first[text[size - 1]];
    set->entries[set->used] = (suffix){text, size, *first};
    *first = set->used++;
}

static inline uint8_t lower(uint8_t byte) {
    return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
}

/* Whether the text ends with one of the suffixes, in any case. */
static inline int suffixes_match(const suffix_set *set, const uint8_t *text, size_t size) {
    if (size == 0) return 0;
    for (int32_t i = set->first[lower(text[size - 1])]; i >= 0; i = set->entries[i].next) {
        const suffix *one = &set->entries[i];
        size_t left = one->size;
        if (left > size) continue;
        while (left && lower(text[size - one->size + left - 1]) == one->text[left - 1]) left--;
        if (left == 0) return 1;
    }
    return 0;
}

#endif
