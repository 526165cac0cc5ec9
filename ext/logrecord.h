/* Entries of DONE records and the size of records, for the kernels that read the URL log.
 *
 * docs/format-queue.md is the contract.  Totals are what a batch of DONE entries adds to the
 * counters; larbinpy/stats.py gives the numbers their names.
 */
#ifndef LARBINPY_LOGRECORD_H
#define LARBINPY_LOGRECORD_H

#include "layout.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAX_PAYLOAD = 65536, MIN_RECORD = 24, SEGMENT_HEADER = 64 };

typedef struct PACKED {
    uint64_t id_lsn;
    uint8_t outcome;
    uint8_t filters;
    uint16_t status;
    uint32_t body_bytes;
    uint32_t links;
    uint32_t duplicates;
    uint8_t digest[16];
} done_entry;

typedef struct PACKED {
    uint8_t reason;
    uint32_t count;
} filter_entry;

enum { CODES = 32 }; /* outcomes and filter reasons that have a counter of their own */

enum {
    TOTAL_ENTRIES = 0,
    TOTAL_RESPONSES = 1, /* entries with an HTTP status */
    TOTAL_BODY_BYTES = 2,
    TOTAL_LINKS = 3,
    TOTAL_DUPLICATES = 4,
    TOTAL_OUTCOMES = 5,
    TOTAL_FILTERED = TOTAL_OUTCOMES + CODES,
    TOTALS = TOTAL_FILTERED + CODES
};

/* Bytes of a whole record on disk, padding included. */
static inline size_t record_size(size_t payload) {
    return (sizeof(record_head) + payload + 7) & ~(size_t)7;
}

/* Bytes of the DONE entry at `at`, 0 when `left` bytes do not hold it. */
static inline size_t done_size(const uint8_t *at, size_t left) {
    if (left < sizeof(done_entry)) return 0;
    size_t size = sizeof(done_entry) + ((const done_entry *)at)->filters * sizeof(filter_entry);
    return size <= left ? size : 0;
}

/* Add a whole DONE entry to `totals`; codes without a counter count in TOTAL_ENTRIES only. */
static inline void done_add(uint64_t *totals, const uint8_t *at) {
    const done_entry *entry = (const done_entry *)at;
    const filter_entry *filter = (const filter_entry *)(at + sizeof(done_entry));
    totals[TOTAL_ENTRIES]++;
    totals[TOTAL_RESPONSES] += entry->status != 0;
    totals[TOTAL_BODY_BYTES] += entry->body_bytes;
    totals[TOTAL_LINKS] += entry->links;
    totals[TOTAL_DUPLICATES] += entry->duplicates;
    if (entry->outcome < CODES) totals[TOTAL_OUTCOMES + entry->outcome]++;
    for (unsigned i = 0; i < entry->filters; i++)
        if (filter[i].reason < CODES) totals[TOTAL_FILTERED + filter[i].reason] += filter[i].count;
}

/* Bytes that `a` and `b` have in common at their start. */
static inline size_t common_prefix(const uint8_t *a, const uint8_t *b, size_t limit) {
    size_t i = 0;
    for (; i + 8 <= limit; i += 8) {
        uint64_t x, y;
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y) return i + ((size_t)__builtin_ctzll(x ^ y) >> 3);
    }
    while (i < limit && a[i] == b[i]) i++;
    return i;
}

#endif
