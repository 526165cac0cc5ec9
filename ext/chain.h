/* Chains of log positions: 8 bytes a URL, in and out at both ends in O(1).
 *
 * A chain is a doubly linked list of chunks of 3, 7, 15, ... 511 positions (a piece of slabs.h: 8
 * bytes of links, then the positions).  Only the first chunk may have a gap at its front and only
 * the last one at its end, so two numbers in the chain say what is filled.  A new chunk holds about
 * a fifth of what waits: little is wasted on a small host, little is spent on links by a large one.
 *
 * A url_queue is the chains of one host by level.  `levels` has a bit for each level that is not
 * empty.  One level (nearly every host) stands in the host itself; more stand sorted in a piece,
 * the chain of a level at the number of bits below its own, and `one.head` names that piece.
 */
#ifndef LARBINPY_CHAIN_H
#define LARBINPY_CHAIN_H

#include "slabs.h"

#define LEVELS 64

typedef struct {
    uint32_t next, prev;
    uint64_t items[];
} chunk;

typedef struct {
    uint32_t head, tail; /* chunks; 0 when empty */
    uint32_t count;
    uint16_t first, end; /* first filled of head, one behind the last filled of tail */
} chain;

typedef struct {
    uint64_t levels;
    chain one;
} url_queue;

static inline uint16_t chunk_room(uint32_t piece) {
    return (uint16_t)((4u << piece_class(piece)) - 1);
}

static inline chunk *chunk_at(const piece_pool *pool, uint32_t piece) {
    return (chunk *)piece_at(pool, piece);
}

/* A chunk for a chain that holds `count` positions. */
static inline uint32_t chunk_new(piece_pool *pool, uint32_t count) {
    uint32_t size = 0;
    while (size < TOP_CLASS && ((4ull << size) - 1) * 5 < count + 15ull) size++;
    uint32_t piece = piece_new(pool, size);
    if (piece) chunk_at(pool, piece)->next = chunk_at(pool, piece)->prev = 0;
    return piece;
}

static inline int chain_push_tail(piece_pool *pool, chain *c, uint64_t position) {
    if (!c->count || c->end == chunk_room(c->tail)) {
        uint32_t piece = chunk_new(pool, c->count);
        if (!piece) return -1;
        if (c->count) {
            chunk_at(pool, c->tail)->next = piece;
            chunk_at(pool, piece)->prev = c->tail;
        } else {
            c->head = piece;
            c->first = 0;
        }
        c->tail = piece;
        c->end = 0;
    }
    chunk_at(pool, c->tail)->items[c->end++] = position;
    c->count++;
    return 0;
}

static inline int chain_push_head(piece_pool *pool, chain *c, uint64_t position) {
    if (!c->count) return chain_push_tail(pool, c, position);
    if (c->first == 0) {
        uint32_t piece = chunk_new(pool, c->count);
        if (!piece) return -1;
        chunk_at(pool, c->head)->prev = piece;
        chunk_at(pool, piece)->next = c->head;
        c->head = piece;
        c->first = chunk_room(piece);
    }
    chunk_at(pool, c->head)->items[--c->first] = position;
    c->count++;
    return 0;
}

/* The chain must not be empty. */
static inline uint64_t chain_pop_head(piece_pool *pool, chain *c) {
    chunk *at = chunk_at(pool, c->head);
    uint64_t position = at->items[c->first++];
    if (--c->count == 0) {
        piece_free(pool, c->head);
        memset(c, 0, sizeof *c);
    } else if (c->first == chunk_room(c->head)) {
        uint32_t next = at->next;
        piece_free(pool, c->head);
        chunk_at(pool, next)->prev = 0;
        c->head = next;
        c->first = 0;
    }
    return position;
}

/* The chain must not be empty. */
static inline uint64_t chain_pop_tail(piece_pool *pool, chain *c) {
    chunk *at = chunk_at(pool, c->tail);
    uint64_t position = at->items[--c->end];
    if (--c->count == 0) {
        piece_free(pool, c->tail);
        memset(c, 0, sizeof *c);
    } else if (c->end == 0) {
        uint32_t prev = at->prev;
        piece_free(pool, c->tail);
        chunk_at(pool, prev)->next = 0;
        c->tail = prev;
        c->end = chunk_room(prev);
    }
    return position;
}

/* Bits that are set; nearly always none or one, and a call is dear without the instruction. */
static inline uint32_t bits_in(uint64_t levels) {
    if (!(levels & (levels - 1))) return levels != 0;
    return (uint32_t)__builtin_popcountll(levels);
}

static inline chain *queue_chains(const piece_pool *pool, url_queue *q) {
    int is_several = (q->levels & (q->levels - 1)) != 0;
    return is_several ? (chain *)piece_at(pool, q->one.head) : &q->one;
}

static inline uint32_t levels_in(uint32_t piece) { return 2u << piece_class(piece); }

/* Make room for one chain more at index `at`; -1 = no memory, the queue is then as before. */
static inline int queue_insert(piece_pool *pool, url_queue *q, uint32_t level, uint32_t at) {
    uint32_t n = bits_in(q->levels), piece = q->one.head;
    if (n) {
        chain *old = queue_chains(pool, q);
        if (n == 1 || n == levels_in(piece)) {
            uint32_t wider = piece_new(pool, n == 1 ? 0 : piece_class(piece) + 1);
            if (!wider) return -1;
            memcpy(piece_at(pool, wider), old, n * sizeof(chain));
            if (n > 1) piece_free(pool, piece);
            piece = wider;
        }
        chain *chains = (chain *)piece_at(pool, piece);
        memmove(chains + at + 1, chains + at, (n - at) * sizeof(chain));
        memset(chains + at, 0, sizeof(chain));
        q->one.head = piece;
    }
    q->levels |= 1ull << level;
    return 0;
}

/* Take out the empty chain at index `at`. */
static inline void queue_remove(piece_pool *pool, url_queue *q, uint32_t level, uint32_t at) {
    uint32_t n = bits_in(q->levels), piece = q->one.head;
    if (n > 1) {
        chain *chains = (chain *)piece_at(pool, piece);
        memmove(chains + at, chains + at + 1, (n - at - 1) * sizeof(chain));
        if (n == 2) {
            q->one = chains[0];
            piece_free(pool, piece);
        }
    }
    q->levels &= ~(1ull << level);
}

/* Put a position at the end (or the front) of the chain of `level`; -1 = no memory, unchanged. */
static inline int queue_push(piece_pool *pool, url_queue *q, uint32_t level, uint64_t position,
                             int at_head) {
    uint64_t bit = 1ull << level;
    uint32_t at = bits_in(q->levels & (bit - 1));
    if (!(q->levels & bit) && queue_insert(pool, q, level, at) < 0) return -1;
    chain *c = queue_chains(pool, q) + at;
    int status = at_head ? chain_push_head(pool, c, position) : chain_push_tail(pool, c, position);
    if (status < 0 && !c->count) queue_remove(pool, q, level, at);
    return status;
}

/* Take a position from the lowest level; the queue must not be empty. */
static inline uint64_t queue_pop(piece_pool *pool, url_queue *q, int from_tail) {
    chain *c = queue_chains(pool, q);
    uint64_t position = from_tail ? chain_pop_tail(pool, c) : chain_pop_head(pool, c);
    if (!c->count) queue_remove(pool, q, (uint32_t)__builtin_ctzll(q->levels), 0);
    return position;
}

/* Ask the processor for the chunk that the next append to this queue most likely writes. */
static inline void queue_prefetch(const piece_pool *pool, url_queue *q) {
    int is_one = q->levels && !(q->levels & (q->levels - 1));
    if (!is_one) return;
    __builtin_prefetch(chunk_at(pool, q->one.tail)->items + q->one.end, 1);
}

#endif
