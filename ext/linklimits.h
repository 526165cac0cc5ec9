/* Limits on the shape of a URL: what traps grow, and honest sites keep small. */
#ifndef LARBINPY_LINKLIMITS_H
#define LARBINPY_LINKLIMITS_H

#include <stdint.h>
#include <string.h>

#include "siphash.h"

enum { SEGMENT_SLOTS = 4096 }; /* a power of 2; a URL of 2,083 bytes has at most 1,042 segments */

typedef struct { /* UINT32_MAX = no limit */
    uint32_t segments;   /* of the path, by its slashes, as the URL standard counts */
    uint32_t repeats;    /* of one segment of the path, wherever they stand; empty ones are none */
    uint32_t parameters; /* of the query, by its ampersands */
    uint32_t query_bytes;
} link_limits;

enum { WITHIN_LIMITS, OVER_SEGMENTS, OVER_REPEATS, OVER_QUERY };

typedef int8_t eight_bytes __attribute__((vector_size(8)));

/* Eight bytes at a time: paths are short. */
static inline uint32_t count_bytes(const uint8_t *text, size_t size, uint8_t byte) {
    uint32_t found = 0;
    for (; size >= 8; text += 8, size -= 8) {
        eight_bytes bytes;
        uint64_t equal;
        memcpy(&bytes, text, 8);
        bytes = bytes == (int8_t)byte;
        memcpy(&equal, &bytes, 8);
        found += (uint32_t)((equal & 0x0101010101010101ULL) * 0x0101010101010101ULL >> 56);
    }
    for (size_t i = 0; i < size; i++) found += text[i] == byte;
    return found;
}

/* Whether a segment of the path stands more than `repeats` times in it.
 *
 * Segments are told apart by a keyed 64-bit hash, so that nobody can make them collide: O(bytes of
 * the path).
 */
static int repeats_itself(const uint8_t *path, size_t size, uint32_t slashes, uint32_t repeats,
                          const uint8_t *key) {
    struct { uint64_t hash; uint32_t count; } slots[SEGMENT_SLOTS];
    uint32_t room = 16;
    while (room < 2 * slashes && room < SEGMENT_SLOTS) room *= 2;
    memset(slots, 0, room * sizeof *slots);
    const uint8_t *at = path, *end = path + size;
    while (at < end) {
        const uint8_t *slash = (const uint8_t *)memchr(at, '/', (size_t)(end - at));
        size_t n = (size_t)((slash ? slash : end) - at);
        if (n) {
            uint64_t hash = siphash13(key, at, n) | 1; /* 0 = a free slot */
            uint32_t slot = (uint32_t)(hash >> 32) & (room - 1);
            while (slots[slot].count && slots[slot].hash != hash) slot = (slot + 1) & (room - 1);
            slots[slot].hash = hash;
            if (++slots[slot].count > repeats) return 1;
        }
        at += n + 1;
    }
    return 0;
}

/* What a URL is over, given its path and what stands behind that: `?` and the query, or nothing. */
static inline int over_limits(const link_limits *limits, const uint8_t *path, size_t size,
                              const uint8_t *query, size_t query_size, const uint8_t *key) {
    uint32_t slashes = count_bytes(path, size, '/');
    if (slashes > limits->segments) return OVER_SEGMENTS;
    if (slashes > limits->repeats && repeats_itself(path, size, slashes, limits->repeats, key))
        return OVER_REPEATS;
    if (query_size > 1 && (query_size - 1 > limits->query_bytes ||
                           count_bytes(query, query_size, '&') >= limits->parameters))
        return OVER_QUERY;
    return WITHIN_LIMITS;
}

#endif
