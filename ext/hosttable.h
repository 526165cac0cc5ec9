/* Host hash -> hash of its registered domain: open addressing, emptied when it holds `limit`. */
#ifndef LARBINPY_HOSTTABLE_H
#define LARBINPY_HOSTTABLE_H

#include <stdint.h>
#include <string.h>

#include "largepages.h"
#include "mix.h"
#include "siphash.h"

typedef struct {
    uint64_t host; /* hash_of_host, 0 = empty */
    uint64_t domain;
} host_domain;

typedef struct {
    host_domain *slots;
    uint64_t size; /* a power of 2, at least twice the limit */
    uint64_t used;
    uint64_t limit;
} host_table;

static inline uint64_t hash_of_host(const uint8_t *key, const uint8_t *host, size_t size) {
    return siphash13(key, host, size) | 1; /* 0 marks an empty slot */
}

/* -1 when there is no memory. */
static inline int hosts_init(host_table *hosts, uint64_t limit) {
    hosts->limit = limit;
    hosts->used = 0;
    hosts->size = 2;
    while (hosts->size < 2 * limit) hosts->size *= 2;
    hosts->slots = table_alloc(hosts->size * sizeof(host_domain));
    return hosts->slots ? 0 : -1;
}

/* What was never made, too, if it is all zero. */
static inline void hosts_free(host_table *hosts) {
    table_free(hosts->slots, hosts->size * sizeof(host_domain));
}

/* Where to look first for a host. */
static inline host_domain *hosts_slot(const host_table *hosts, uint64_t host) {
    return &hosts->slots[mix64(host) & (hosts->size - 1)];
}

/* The slot of a host, or the empty one where it belongs. */
static inline host_domain *hosts_find(const host_table *hosts, uint64_t host) {
    uint64_t slot = mix64(host) & (hosts->size - 1);
    while (hosts->slots[slot].host != host && hosts->slots[slot].host != 0) {
        slot = (slot + 1) & (hosts->size - 1);
    }
    return &hosts->slots[slot];
}

static inline void hosts_put(host_table *hosts, uint64_t host, uint64_t domain) {
    if (hosts->used == hosts->limit) {
        memset(hosts->slots, 0, hosts->size * sizeof(host_domain));
        hosts->used = 0;
    }
    host_domain *slot = hosts_find(hosts, host);
    hosts->used += slot->host == 0;
    *slot = (host_domain){host, domain};
}

#endif
