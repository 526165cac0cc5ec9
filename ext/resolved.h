/* Looking at resolved links that lie back to back (docs/protocol.md 6). */
#ifndef LARBINPY_RESOLVED_H
#define LARBINPY_RESOLVED_H

#include <string.h>

#include "layout.h"

static inline const uint8_t *url_of(const resolved_link *link) {
    return (const uint8_t *)link + sizeof(resolved_link);
}

static inline const uint8_t *host_of(const resolved_link *link) {
    return url_of(link) + link->host_start;
}

static inline int is_host(const resolved_link *link, const uint8_t *host, size_t host_len) {
    return link->host_len == host_len && memcmp(host_of(link), host, host_len) == 0;
}

/* Number of records, or -1 when they do not fill the buffer exactly or a good one has no host. */
static inline int64_t count_resolved(const uint8_t *data, size_t size) {
    int64_t links = 0;
    for (size_t at = 0; at < size; links++) {
        const resolved_link *link = (const resolved_link *)(data + at);
        if (size - at < sizeof(resolved_link)) return -1;
        at += sizeof(resolved_link);
        if (link->url_len > size - at) return -1;
        at += link->url_len;
        if (link->status != RESOLVED_OK) continue;
        if (!link->host_len || (size_t)link->host_start + link->host_len > link->url_len) return -1;
    }
    return links;
}

/* Whether one of the records, which fill the buffer exactly, was left to Python. */
static inline int has_slow(const uint8_t *data, size_t size) {
    for (size_t at = 0; at < size;) {
        const resolved_link *link = (const resolved_link *)(data + at);
        if (link->status == RESOLVED_SLOW) return 1;
        at += sizeof(resolved_link) + link->url_len;
    }
    return 0;
}

/* Whether path and query look like a program's; no early exit, so that it vectorises. */
static inline int has_query(const uint8_t *text, size_t size) {
    uint8_t found = 0;
    for (size_t i = 0; i < size; i++) {
        found |= (text[i] == '?') | (text[i] == '=') | (text[i] == '*');
    }
    return found;
}

/* Where the host of a normalised URL begins. */
static inline size_t host_at(const uint8_t *url, size_t size) {
    return size > 4 && url[4] == 's' ? 8 : 7;
}

/* Whether a normalised URL has this host. */
static inline int is_at_host(const uint8_t *url, size_t size, const uint8_t *host,
                             size_t host_len) {
    size_t end = host_at(url, size) + host_len;
    if (end > size || memcmp(url + end - host_len, host, host_len) != 0) return 0;
    return end == size || url[end] == ':' || url[end] == '/' || url[end] == '?';
}

static inline size_t length_of_path(const uint8_t *text, size_t size) {
    const uint8_t *query = memchr(text, '?', size);
    return query ? (size_t)(query - text) : size;
}

#endif
