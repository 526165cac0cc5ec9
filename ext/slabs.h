/* Memory of the host table: slabs that never move, and pieces of 32 bytes to 4 KiB cut from them.
 *
 * Nothing here is ever copied to grow, so a table of millions of hosts has no pause and no peak.
 * A piece is named by a 32-bit handle: number of its first 32-byte unit << 3 | class; class c has
 * 32 << c bytes.  Handle 0 is none (the first piece of the first slab is left out).  A class without
 * free pieces halves one of the next class; pieces are not joined again, because chains keep asking
 * for the sizes that they gave back.  29 bits of units make 16 GiB, over two thousand million URLs.
 */
#ifndef LARBINPY_SLABS_H
#define LARBINPY_SLABS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES 65536
#define CACHE_LINE 64

typedef struct {
    char **at;
    uint32_t count, room;
    size_t nbytes; /* everything that this list has allocated */
} slab_list;

/* A zeroed slab at the end of the list; NULL without memory, the list is then as before. */
static inline char *slabs_add(slab_list *list, size_t bytes) {
    if (list->count == list->room) {
        uint32_t room = list->room ? list->room * 2 : 16;
        char **at = (char **)realloc(list->at, room * sizeof(char *));
        if (!at) return NULL;
        list->nbytes += (room - list->room) * sizeof(char *);
        list->at = at;
        list->room = room;
    }
    char *slab = (char *)aligned_alloc(CACHE_LINE, bytes);
    if (!slab) return NULL;
    memset(slab, 0, bytes);
    list->at[list->count++] = slab;
    list->nbytes += bytes;
    return slab;
}

static inline void slabs_free(slab_list *list) {
    for (uint32_t i = 0; i < list->count; i++) free(list->at[i]);
    free(list->at);
    memset(list, 0, sizeof *list);
}

#define PIECE_CLASSES 8
#define PIECE_UNIT_SHIFT 5
#define PIECE_CLASS_BITS 3
#define SLAB_UNITS_SHIFT 11 /* 2,048 units of 32 bytes in a slab */
#define TOP_CLASS (PIECE_CLASSES - 1)
#define MAX_UNITS (1u << (32 - PIECE_CLASS_BITS))

typedef struct {
    slab_list slabs;
    uint32_t free[PIECE_CLASSES]; /* first free piece; its first word names the next */
} piece_pool;

static inline uint32_t piece_class(uint32_t piece) { return piece & TOP_CLASS; }

static inline void *piece_at(const piece_pool *pool, uint32_t piece) {
    uint32_t unit = piece >> PIECE_CLASS_BITS;
    uint32_t in_slab = unit & ((1u << SLAB_UNITS_SHIFT) - 1);
    return pool->slabs.at[unit >> SLAB_UNITS_SHIFT] + ((size_t)in_slab << PIECE_UNIT_SHIFT);
}

static inline void piece_free(piece_pool *pool, uint32_t piece) {
    uint32_t *first = &pool->free[piece_class(piece)];
    *(uint32_t *)piece_at(pool, piece) = *first;
    *first = piece;
}

/* Cut a new slab into pieces of the top class, so that the lowest is taken first; -1 = no memory. */
static inline int pieces_grow(piece_pool *pool) {
    uint32_t unit = pool->slabs.count << SLAB_UNITS_SHIFT, step = 1u << TOP_CLASS;
    if (unit >= MAX_UNITS || !slabs_add(&pool->slabs, SLAB_BYTES)) return -1;
    uint32_t lowest = unit ? unit : step; /* handle 0 must stay unused */
    for (uint32_t at = unit + (1u << SLAB_UNITS_SHIFT) - step; at >= lowest; at -= step) {
        piece_free(pool, at << PIECE_CLASS_BITS | TOP_CLASS);
        if (at == lowest) break;
    }
    return 0;
}

/* A piece of 32 << wanted bytes, not cleared; 0 = no memory. */
static inline uint32_t piece_new(piece_pool *pool, uint32_t wanted) {
    uint32_t size = wanted;
    while (size < PIECE_CLASSES && !pool->free[size]) size++;
    if (size == PIECE_CLASSES) {
        if (pieces_grow(pool) < 0) return 0;
        size = TOP_CLASS;
    }
    uint32_t piece = pool->free[size];
    pool->free[size] = *(uint32_t *)piece_at(pool, piece);
    uint32_t unit = piece >> PIECE_CLASS_BITS;
    while (size > wanted) {
        size--;
        piece_free(pool, (unit + (1u << size)) << PIECE_CLASS_BITS | size);
    }
    return unit << PIECE_CLASS_BITS | wanted;
}

#endif
