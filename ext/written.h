/* A direct-mapped cache of the fingerprints that shards have answered "written".
 *
 * Invariant: what it says it has was added; what was added it may forget.
 * Cost: one look at one slot of 8 bytes; forgetting a shard looks at every slot.
 */
#ifndef LARBINPY_WRITTEN_H
#define LARBINPY_WRITTEN_H

#include <stdint.h>

#include "largepages.h"
#include "mix.h"
#include "siphash.h"

typedef struct {
    uint64_t *slots; /* a whole fingerprint each, 0 = empty */
    uint64_t size;
    int shift;
} written_cache;

/* An empty cache of 2**bits slots, of 1 to 32 bits; -1 when there is no memory. */
static inline int written_init(written_cache *cache, int bits) {
    cache->size = (uint64_t)1 << bits;
    cache->shift = 64 - bits;
    cache->slots = table_alloc(cache->size * sizeof(uint64_t));
    return cache->slots ? 0 : -1;
}

/* What was never made, too, if it is all zero. */
static inline void written_free(written_cache *cache) {
    table_free(cache->slots, cache->size * sizeof(uint64_t));
}

static inline uint64_t *written_slot(const written_cache *cache, uint64_t fp) {
    return &cache->slots[mix64(fp) >> cache->shift];
}

/* Whether a fingerprint is there; 0, which marks an empty slot, never is. */
static inline int written_has(const written_cache *cache, uint64_t fp) {
    return fp != 0 && *written_slot(cache, fp) == fp;
}

/* Remember fingerprints in place of what their slots held. */
static inline void written_add(written_cache *cache, const uint64_t *fps, int64_t count) {
    for (int64_t i = 0; i < count; i++) *written_slot(cache, fps[i]) = fps[i];
}

/* Forget the fingerprints of one shard. */
static inline void written_forget(written_cache *cache, uint32_t shard, uint32_t shards) {
    for (uint64_t i = 0; i < cache->size; i++)
        if (shard_of(cache->slots[i], shards) == shard) cache->slots[i] = 0;
}

#endif
