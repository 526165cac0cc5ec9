/* Entries of PAGE and PARSED frames, byte for byte as in docs/protocol.md, 4.1 and 4.3. */
#ifndef LARBINPY_PAGEENTRY_H
#define LARBINPY_PAGEENTRY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ID_LSN ((1ull << 56) - 1)

#pragma pack(push, 1)

/* Followed by url, via, tag, reason, headers and the body, or its place in the memory (u64). */
typedef struct {
    uint32_t size; /* of what follows this field */
    uint64_t id;
    uint32_t epoch;
    uint8_t attempt, kind, outcome, flags;
    uint16_t status, depth, left;
    uint8_t level, hops;
    float score, relevance;
    uint64_t start_us;
    uint32_t duration_us;
    uint8_t family;
    uint8_t ip[16];
    uint16_t url_len, via_len, tag_len, reason_len;
    uint32_t headers_len, body_len;
} page_entry;

/* Followed by ``filters`` entries of FILTER_BYTES. */
typedef struct {
    uint64_t id;
    uint32_t epoch;
    uint8_t outcome, filters;
    uint16_t status;
    uint32_t body_bytes, links, duplicates;
    uint8_t digest[16];
    uint64_t near;
} parsed_entry;

#pragma pack(pop)

#define FILTER_BYTES 5

/* Whether a page has links that went to the shards: neither filtered nor dropped as known. */
static inline int leads_on(const parsed_entry *entry) {
    const uint8_t *filter = (const uint8_t *)(entry + 1);
    uint64_t left_out = entry->duplicates;
    for (int k = 0; k < entry->filters; k++, filter += FILTER_BYTES) {
        uint32_t count;
        memcpy(&count, filter + 1, sizeof count);
        left_out += count;
    }
    return entry->links > left_out;
}

/* Bytes of the entry that begins there; 0 = it is cut short. */
static inline size_t parsed_size(const uint8_t *at, size_t left) {
    if (left < sizeof(parsed_entry)) return 0;
    size_t size = sizeof(parsed_entry) + ((const parsed_entry *)at)->filters * FILTER_BYTES;
    return size <= left ? size : 0;
}

/* Write the DONE entry of an answer: the same without epoch and near, and the id without its shard. */
static inline size_t parsed_to_done(uint8_t *out, const uint8_t *at, size_t size) {
    uint64_t id;
    memcpy(&id, at, sizeof id);
    id &= ID_LSN;
    memcpy(out, &id, sizeof id);
    const size_t from = offsetof(parsed_entry, outcome), kept = offsetof(parsed_entry, near) - from;
    memcpy(out + sizeof id, at + from, kept);
    memcpy(out + sizeof id + kept, at + sizeof(parsed_entry), size - sizeof(parsed_entry));
    return sizeof id + kept + size - sizeof(parsed_entry);
}

#endif
