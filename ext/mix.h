/* Spreading 64-bit keys over tables.
 *
 * All fingerprints of one shard share their top bits, so a table never indexes by a fingerprint
 * itself.  The mixer is a bijection: distinct keys stay distinct.
 */
#ifndef LARBINPY_MIX_H
#define LARBINPY_MIX_H

#include <stdint.h>

/* The finalizer of MurmurHash3 (public domain). */
static inline uint64_t mix64(uint64_t key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 33);
}

/* Map 64 random bits to [0, size) by their high bits: order is kept, and no division is needed. */
static inline uint64_t scale64(uint64_t bits, uint64_t size) {
    return (uint64_t)(((unsigned __int128)bits * size) >> 64);
}

#define PREFETCH_READ(address) __builtin_prefetch((address), 0)
#define PREFETCH_WRITE(address) __builtin_prefetch((address), 1)

#endif
