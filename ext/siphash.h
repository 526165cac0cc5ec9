/* SipHash-1-3: a keyed 64-bit hash (Aumasson and Bernstein, 2012, with fewer rounds).
 *
 * Nobody who does not know the key can make two URLs collide, so the web cannot fill our tables.
 * The key is 16 bytes, read as two little-endian words.
 */
#ifndef LARBINPY_SIPHASH_H
#define LARBINPY_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIP_ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))
#define SIP_ROUND(v0, v1, v2, v3)                                                                  \
    do {                                                                                           \
        v0 += v1; v1 = SIP_ROTL(v1, 13); v1 ^= v0; v0 = SIP_ROTL(v0, 32);                          \
        v2 += v3; v3 = SIP_ROTL(v3, 16); v3 ^= v2;                                                 \
        v0 += v3; v3 = SIP_ROTL(v3, 21); v3 ^= v0;                                                 \
        v2 += v1; v1 = SIP_ROTL(v1, 17); v1 ^= v2; v2 = SIP_ROTL(v2, 32);                          \
    } while (0)

static inline uint64_t siphash13(const uint8_t *key, const uint8_t *data, size_t size) {
    uint64_t k0, k1, word, tail = (uint64_t)size << 56;
    memcpy(&k0, key, 8);
    memcpy(&k1, key + 8, 8);
    uint64_t v0 = k0 ^ 0x736f6d6570736575ULL, v1 = k1 ^ 0x646f72616e646f6dULL;
    uint64_t v2 = k0 ^ 0x6c7967656e657261ULL, v3 = k1 ^ 0x7465646279746573ULL;
    size_t whole = size & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        memcpy(&word, data + i, 8);
        v3 ^= word;
        SIP_ROUND(v0, v1, v2, v3);
        v0 ^= word;
    }
    for (size_t i = whole; i < size; i++) tail |= (uint64_t)data[i] << (8 * (i - whole));
    v3 ^= tail;
    SIP_ROUND(v0, v1, v2, v3);
    v0 ^= tail;
    v2 ^= 0xff;
    SIP_ROUND(v0, v1, v2, v3);
    SIP_ROUND(v0, v1, v2, v3);
    SIP_ROUND(v0, v1, v2, v3);
    return v0 ^ v1 ^ v2 ^ v3;
}

/* Fingerprint of a URL: 16 bits of its registered domain, 48 bits of the URL itself. */
static inline uint64_t fingerprint(uint64_t domain_hash, uint64_t url_hash) {
    return (domain_hash & 0xffff000000000000ULL) | (url_hash >> 16);
}

/* Shard of a fingerprint among `shards`. */
static inline uint32_t shard_of(uint64_t fp, uint32_t shards) {
    return (uint32_t)(((fp >> 48) * shards) >> 16);
}

#endif
