/* The simhash of a page (Charikar 2002; Manku, Jain and Das Sarma 2007): 64 bits of which few differ
 * between pages that differ in few words.
 *
 * Features are the different shingles of SHINGLE words; each is hashed to 64 bits and has one vote on
 * every bit of the result.  One that stands there again has none (as far as RECALLED slots tell), so
 * that thirty links called "more" do not outvote the text.  The votes of up to 255 features are summed
 * in the bytes of eight words.
 */
#ifndef LARBINPY_SIMHASH_H
#define LARBINPY_SIMHASH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <string.h>

#include "mix.h"

enum { SHINGLE = 3, FEWEST_FEATURES = 16, BYTE_VOTES = 255, RECALLED = 1024 };

typedef struct {
    uint64_t votes[8]; /* byte k of word i: votes for bit 8 * k + i */
    uint32_t counts[64];
    uint32_t words, features, in_votes;
    uint64_t last[SHINGLE];    /* hashes of the latest words, the newest first */
    uint64_t recalled[RECALLED]; /* features, each in the slot that its high bits name */
} simhash_state;

static void add_votes(simhash_state *s) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++) s->counts[8 * k + i] += (uint8_t)(s->votes[i] >> (8 * k));
    memset(s->votes, 0, sizeof s->votes);
    s->in_votes = 0;
}

static inline void add_feature(simhash_state *s, uint64_t hash) {
    uint64_t *slot = s->recalled + scale64(hash, RECALLED);
    if (*slot == hash) return;
    *slot = hash;
    for (int i = 0; i < 8; i++) s->votes[i] += (hash >> i) & 0x0101010101010101ULL;
    s->features++;
    if (++s->in_votes == BYTE_VOTES) add_votes(s);
}

static inline void add_word(simhash_state *s, uint64_t hash) {
    for (int i = SHINGLE - 1; i; i--) s->last[i] = s->last[i - 1];
    s->last[0] = hash;
    if (++s->words < SHINGLE) return;
    uint64_t all = 0;
    for (int i = SHINGLE - 1; i >= 0; i--) all = all * 0x9e3779b97f4a7c15ULL + s->last[i];
    add_feature(s, mix64(all));
}

/* --- text -------------------------------------------------------------------------------- */

/* Bytes of words in lower case, 0 for others. */
static const uint8_t word_byte[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 0, 0, 0, 0, 0, 0,
    0, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 0, 0, 0, 0, 0,
    0, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 0, 0, 0, 0, 0,
    128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143,
    144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
    160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175,
    176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191,
    192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207,
    208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223,
    224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239,
    240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255,
};

static inline int is_wide(uint8_t c) { return c >= 0xe3 && c < 0xf0; }

static inline uint64_t hash_byte(uint64_t hash, uint8_t c) { /* FNV-1a */
    return (hash ^ c) * 0x100000001b3ULL;
}

/* Add the words of a text: runs of letters, digits and what is not ASCII; of scripts that have no
 * spaces (from U+3000 on, three bytes a character) every character is one. */
static void add_text(simhash_state *s, const uint8_t *p, const uint8_t *end) {
    uint64_t hash;
    uint8_t c;
    while (p < end) {
        if (!(c = word_byte[*p])) {
            p++;
            continue;
        }
        hash = 0xcbf29ce484222325ULL;
        if (is_wide(c)) {
            const uint8_t *most = end - p > 3 ? p + 3 : end;
            do hash = hash_byte(hash, *p);
            while (++p < most && (*p & 0xc0) == 0x80);
        } else {
            do hash = hash_byte(hash, c);
            while (++p < end && (c = word_byte[*p]) && !is_wide(c));
        }
        add_word(s, hash);
    }
}

/* --- markup ------------------------------------------------------------------------------ */

static inline const uint8_t *find_behind(const uint8_t *p, const uint8_t *end, const char *text,
                                         size_t n) {
    const uint8_t *found = (const uint8_t *)memmem(p, (size_t)(end - p), text, n);
    return found ? found + n : NULL;
}

static inline int is_tag(const uint8_t *p, const uint8_t *end, const char *name, size_t n) {
    if ((size_t)(end - p) <= n) return 0;
    for (size_t k = 0; k < n; k++)
        if ((p[k] | 32) != (uint8_t)name[k]) return 0;
    return (p[n] | 32) < 'a' || (p[n] | 32) > 'z';
}

/* Behind the end tag of a script or a style that begins at `p`; NULL when there is none. */
static const uint8_t *skip_raw(const uint8_t *p, const uint8_t *end, const char *name, size_t n) {
    while ((p = find_behind(p, end, "</", 2)))
        if (is_tag(p, end, name, n)) return p;
    return NULL;
}

/* Behind the markup that begins with the "<" before `p`; NULL when the page ends in it. */
static const uint8_t *skip_markup(const uint8_t *p, const uint8_t *end) {
    if (end - p >= 3 && !memcmp(p, "!--", 3)) return find_behind(p + 3, end, "-->", 3);
    if (is_tag(p, end, "script", 6)) p = skip_raw(p, end, "script", 6);
    else if (is_tag(p, end, "style", 5)) p = skip_raw(p, end, "style", 5);
    return p ? find_behind(p, end, ">", 1) : NULL;
}

static inline int begins_markup(uint8_t c) {
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '/' || c == '!' || c == '?';
}

/* The simhash of an HTML page; 0 = too little text to tell.  O(bytes): a search that fails ends it. */
static uint64_t simhash_of(const uint8_t *p, size_t size) {
    const uint8_t *end = p + size, *text = p;
    simhash_state s;
    memset(&s, 0, sizeof s);
    while (p && p < end) {
        const uint8_t *mark = (const uint8_t *)memchr(p, '<', (size_t)(end - p));
        if (!mark) mark = end;
        if (mark + 1 < end && !begins_markup(mark[1])) {
            p = mark + 1;
            continue;
        }
        add_text(&s, text, mark);
        p = text = mark + 1 < end ? skip_markup(mark + 1, end) : NULL;
    }
    if (s.features < FEWEST_FEATURES) return 0;
    add_votes(&s);
    uint64_t hash = 0;
    for (int k = 0; k < 64; k++) hash |= (uint64_t)(2 * s.counts[k] > s.features) << k;
    return hash;
}

#endif
