/* Atomic 64-bit words in memory that several processes share; all in one order for everybody.
 *
 * A sequence block is one writer's values behind a counter that is odd while they change: a reader
 * that saw the same even counter before and after has a state that was true at one moment.  A writer
 * that was killed in between leaves it odd; the next writer goes on from there.
 */
#ifndef LARBINPY_ATOMICS_H
#define LARBINPY_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t atomic_get(const uint64_t *at) {
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

static inline void atomic_set(uint64_t *at, uint64_t value) {
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}

static inline int atomic_swap(uint64_t *at, uint64_t old, uint64_t value) {
    return __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline uint64_t atomic_add(uint64_t *at, uint64_t delta) {
    return __atomic_fetch_add(at, delta, __ATOMIC_SEQ_CST);
}

/* Subtract n when at least n are there; 1 = done. */
static inline int atomic_take(uint64_t *at, uint64_t n) {
    uint64_t have = atomic_get(at);
    while (have >= n)
        if (__atomic_compare_exchange_n(at, &have, have - n, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return 1;
    return 0;
}

static inline void sequence_write(uint64_t *block, const uint64_t *values, size_t count) {
    uint64_t odd = atomic_get(block) | 1;
    atomic_set(block, odd);
    for (size_t i = 0; i < count; i++) atomic_set(block + 1 + i, values[i]);
    atomic_set(block, odd + 1);
}

/* 1 = values hold one state; 0 = a writer was at work all the time. */
static inline int sequence_read(const uint64_t *block, uint64_t *values, size_t count, int tries) {
    while (tries--) {
        uint64_t before = atomic_get(block);
        if (before & 1) continue;
        for (size_t i = 0; i < count; i++)
            values[i] = atomic_get(block + 1 + i);
        if (atomic_get(block) == before) return 1;
    }
    return 0;
}

#endif
