/* Hash index from 32-bit hashes to record numbers: open addressing, linear probing, 8 bytes a cell.
 *
 * The place of a cell is given by the top bits of its hash, so that growing walks the old and the
 * new cells in the same order, and never touches a record.  Nothing is ever taken out.  The caller
 * compares the records of cells whose hash is equal.
 */
#ifndef LARBINPY_INDEX_H
#define LARBINPY_INDEX_H

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint32_t hash;
    uint32_t number; /* record number + 1; 0 = empty */
} index_cell;

typedef struct {
    index_cell *cells;
    uint32_t bits, count;
} hash_index;

#define INDEX_MIN_BITS 6
#define INDEX_MAX_BITS 31

static inline size_t index_size(const hash_index *ix) {
    return ix->cells ? (size_t)1 << ix->bits : 0;
}

static inline uint32_t index_start(const hash_index *ix, uint32_t hash) {
    return hash >> (32 - ix->bits);
}

static inline uint32_t index_next(const hash_index *ix, uint32_t at) {
    return (at + 1) & (((uint32_t)1 << ix->bits) - 1);
}

static inline void index_place(hash_index *ix, uint32_t hash, uint32_t number) {
    uint32_t at = index_start(ix, hash);
    while (ix->cells[at].number) at = index_next(ix, at);
    ix->cells[at].hash = hash;
    ix->cells[at].number = number + 1;
}

/* Make room for one record more (at most three cells of four are used); -1 = no memory. */
static inline int index_reserve(hash_index *ix) {
    size_t size = index_size(ix);
    if (size && (uint64_t)(ix->count + 1) * 4 <= (uint64_t)size * 3) return 0;
    hash_index wider = {NULL, size ? ix->bits + 1 : INDEX_MIN_BITS, ix->count};
    if (wider.bits > INDEX_MAX_BITS) return -1;
    wider.cells = (index_cell *)calloc((size_t)1 << wider.bits, sizeof(index_cell));
    if (!wider.cells) return -1;
    for (size_t i = 0; i < size; i++)
        if (ix->cells[i].number) index_place(&wider, ix->cells[i].hash, ix->cells[i].number - 1);
    free(ix->cells);
    *ix = wider;
    return 0;
}

/* Room must have been reserved. */
static inline void index_add(hash_index *ix, uint32_t hash, uint32_t number) {
    index_place(ix, hash, number);
    ix->count++;
}

#endif
