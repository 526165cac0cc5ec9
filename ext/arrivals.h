/* From log records to hosts: reading host and level of a record, finding or making the host.
 *
 * Names stand one behind the other in slabs; the index leads from the hash of a name to its host.
 * Hashes are keyed by a secret of the table, so the web cannot choose names that collide.
 * A block of arrivals is hashed first, so that the cache misses of its hosts overlap; what belongs to
 * the same host as the one before it is not looked up.
 */
#ifndef LARBINPY_ARRIVALS_H
#define LARBINPY_ARRIVALS_H

#include "layout.h"
#include "schedule.h"
#include "siphash.h"

#define HASH_KEY_BYTES 16
#define NAMES_SHIFT 16 /* SLAB_BYTES of names in a slab */
#define MAX_NAME_SLABS (1u << (32 - NAMES_SHIFT))

typedef struct {
    slab_list slabs;
    hash_index index;
    uint32_t end; /* bytes used in the last slab */
    uint8_t key[HASH_KEY_BYTES];
} name_table;

typedef struct {
    const uint8_t *name;
    uint64_t position;
    uint32_t hash;
    uint32_t host;
    uint8_t name_len;
    uint8_t level;
    uint8_t is_next; /* of the same host as the one before: most links stay at home */
} arrival;

/* Find host name and level of one ENQ or MOVE record of at most `size` bytes; -1 = malformed. */
static inline int record_read(const uint8_t *record, size_t size, arrival *found) {
    record_head head;
    enq_payload enq;
    size_t at = sizeof head;
    if (size < at) return -1;
    memcpy(&head, record, at);
    if (head.len > size - at) return -1;
    size_t end = at + head.len;
    if (head.type == RECORD_MOVE) at += sizeof(uint64_t);
    else if (head.type != RECORD_ENQ) return -1;
    if (end < at + sizeof enq) return -1;
    memcpy(&enq, record + at, sizeof enq);
    at += sizeof enq;
    if (enq.url_len > end - at || enq.host_start + enq.host_len > enq.url_len) return -1;
    if (!enq.host_len || enq.level >= LEVELS) return -1;
    found->name = record + at + enq.host_start;
    found->name_len = enq.host_len;
    found->level = enq.level;
    return 0;
}

/* Number of the first malformed record, `count` if there is none. */
static inline size_t records_bad(const uint8_t *records, size_t size, const uint8_t *offsets,
                                 size_t count) {
    for (size_t i = 0; i < count; i++) {
        arrival found;
        uint32_t offset;
        memcpy(&offset, offsets + i * sizeof offset, sizeof offset);
        if (offset > size || record_read(records + offset, size - offset, &found) < 0) return i;
    }
    return count;
}

static inline uint32_t name_hash(const name_table *names, const uint8_t *name, uint8_t size) {
    return (uint32_t)siphash13(names->key, name, size);
}

static inline char *name_at(const name_table *names, const host_record *host) {
    return names->slabs.at[host->name >> NAMES_SHIFT] + (host->name & (SLAB_BYTES - 1));
}

/* Number of the host of that name, NONE if there is none. */
static inline uint32_t name_find(const name_table *names, const schedule *s, const uint8_t *name,
                                 uint8_t size, uint32_t hash) {
    const hash_index *ix = &names->index;
    if (!ix->count) return NONE;
    for (uint32_t at = index_start(ix, hash);; at = index_next(ix, at)) {
        const index_cell *cell = &ix->cells[at];
        if (!cell->number) return NONE;
        if (cell->hash != hash) continue;
        const host_record *host = host_at(s, cell->number - 1);
        if (host->name_len == size && !memcmp(name_at(names, host), name, size))
            return cell->number - 1;
    }
}

/* Make a NEW host without URLs; NONE = no memory. */
static inline uint32_t name_add(name_table *names, schedule *s, const uint8_t *name, uint8_t size,
                                uint32_t hash) {
    uint32_t number = names->index.count;
    if (!names->slabs.count || names->end + size > SLAB_BYTES) {
        if (names->slabs.count == MAX_NAME_SLABS || !slabs_add(&names->slabs, SLAB_BYTES))
            return NONE;
        names->end = 0;
    }
    if (index_reserve(&names->index) < 0) return NONE;
    if (number >> RECORDS_SHIFT == s->hosts.count &&
        !slabs_add(&s->hosts, sizeof(host_record) << RECORDS_SHIFT))
        return NONE;
    host_record *host = host_at(s, number);
    host->ip = host->slot = host->other = NONE;
    host->name = (names->slabs.count - 1) << NAMES_SHIFT | names->end;
    host->name_len = size;
    memcpy(name_at(names, host), name, size);
    names->end += size;
    index_add(&names->index, hash, number);
    return number;
}

static inline void arrivals_hash(const name_table *names, arrival *block, size_t count) {
    for (size_t i = 0; i < count; i++) {
        arrival *one = &block[i];
        one->is_next = i && one->name_len == one[-1].name_len &&
                       !memcmp(one->name, one[-1].name, one->name_len);
        if (!one->is_next) one->hash = name_hash(names, one->name, one->name_len);
    }
}

/* Ask the processor for the memory that finding the hosts of a block will read. */
static inline void arrivals_prefetch(const name_table *names, const schedule *s,
                                     const arrival *block, size_t count) {
    const hash_index *ix = &names->index;
    if (!ix->count) return;
    for (size_t i = 0; i < count; i++)
        if (!block[i].is_next) __builtin_prefetch(&ix->cells[index_start(ix, block[i].hash)]);
    for (size_t i = 0; i < count; i++) {
        if (block[i].is_next) continue;
        uint32_t number = ix->cells[index_start(ix, block[i].hash)].number;
        if (number) __builtin_prefetch(host_at(s, number - 1), 1);
    }
}

/* Find or make the hosts of a block, ask for the chunks that will be written; -1 = no memory. */
static inline int arrivals_find(name_table *names, schedule *s, const piece_pool *pieces,
                                arrival *block, size_t count) {
    arrivals_hash(names, block, count);
    arrivals_prefetch(names, s, block, count);
    for (size_t i = 0; i < count; i++) {
        arrival *one = &block[i];
        if (one->is_next) {
            one->host = one[-1].host;
            continue;
        }
        one->host = name_find(names, s, one->name, one->name_len, one->hash);
        if (one->host == NONE)
            one->host = name_add(names, s, one->name, one->name_len, one->hash);
        if (one->host == NONE) return -1;
        queue_prefetch(pieces, &host_at(s, one->host)->urls);
    }
    return 0;
}

#endif
