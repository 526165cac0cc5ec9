/* A set of URL ids by level: two words for 64 ids in a row, so that a host with millions of URLs,
 * whose ids lie close together, takes little more than a bit for each.
 *
 * Open addressing; a key is (id / 64, level) and never 0.  An id is in one level only.
 */
#ifndef LARBINPY_IDSET_H
#define LARBINPY_IDSET_H

#include "mix.h"

#include <stdint.h>
#include <stdlib.h>

enum { ID_LEVELS = 64, ID_BITS = 64 };

typedef struct {
    uint64_t key; /* 0: empty */
    uint64_t bits;
} id_cell;

typedef struct {
    id_cell *cells;
    size_t room; /* a power of two, or 0 */
    size_t used;
    uint64_t levels; /* a bit for each that has had an id */
} id_set;

static inline uint64_t id_key(uint64_t id, unsigned level) {
    return ((id / ID_BITS) * ID_LEVELS + level) + 1;
}

/* Where a key stands or would stand; there must be room. */
static inline id_cell *id_find(const id_set *set, uint64_t key) {
    size_t at = mix64(key) & (set->room - 1);
    while (set->cells[at].key && set->cells[at].key != key) at = (at + 1) & (set->room - 1);
    return set->cells + at;
}

static inline int id_grow(id_set *set) {
    id_set grown = {NULL, set->room ? 2 * set->room : 64, set->used, set->levels};
    grown.cells = (id_cell *)calloc(grown.room, sizeof(id_cell));
    if (!grown.cells) return -1;
    for (size_t i = 0; i < set->room; i++)
        if (set->cells[i].key) *id_find(&grown, set->cells[i].key) = set->cells[i];
    free(set->cells);
    *set = grown;
    return 0;
}

/* Add an id; -1 when there is no memory, and nothing changed. */
static inline int id_add(id_set *set, uint64_t id, unsigned level) {
    if (2 * (set->used + 1) > set->room && id_grow(set) < 0) return -1;
    id_cell *cell = id_find(set, id_key(id, level));
    if (!cell->key) {
        cell->key = id_key(id, level);
        set->used++;
        set->levels |= (uint64_t)1 << level;
    }
    cell->bits |= (uint64_t)1 << id % ID_BITS;
    return 0;
}

static inline void id_remove(id_set *set, uint64_t id) {
    for (uint64_t levels = set->levels; levels; levels &= levels - 1)
        id_find(set, id_key(id, (unsigned)__builtin_ctzll(levels)))->bits &=
            ~((uint64_t)1 << id % ID_BITS);
}

/* The bits of a cell whose ids are lower than `id`, or higher. */
static inline uint64_t id_beside(const id_cell *cell, uint64_t id, int is_higher) {
    uint64_t word = (cell->key - 1) / ID_LEVELS;
    if (word != id / ID_BITS) return (word > id / ID_BITS) == is_higher ? ~(uint64_t)0 : 0;
    uint64_t lower = ((uint64_t)1 << id % ID_BITS) - 1;
    return is_higher ? ~lower << 1 : lower;
}

/* How many ids there are in lower levels, and of this level below `id`, or above it. */
static inline uint64_t id_count(const id_set *set, uint64_t id, unsigned level, int is_higher) {
    uint64_t count = 0;
    for (size_t i = 0; i < set->room; i++) {
        const id_cell *cell = set->cells + i;
        unsigned of = (unsigned)((cell->key - 1) % ID_LEVELS);
        if (!cell->key || of > level) continue;
        uint64_t wanted = of == level ? id_beside(cell, id, is_higher) : ~(uint64_t)0;
        count += (uint64_t)__builtin_popcountll(cell->bits & wanted);
    }
    return count;
}

#endif
