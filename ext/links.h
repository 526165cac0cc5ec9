/* Walking over link entries that lie back to back (docs/protocol.md 4.2, no group heads). */
#ifndef LARBINPY_LINKS_H
#define LARBINPY_LINKS_H

#include "layout.h"

/* Number of entries, or -1 when they do not fill the buffer exactly or a host leaves its URL. */
static inline int64_t count_links(const uint8_t *data, size_t size) {
    int64_t links = 0;
    for (size_t at = 0; at < size; links++) {
        const link_entry *link = (const link_entry *)(data + at);
        if (size - at < sizeof(link_entry)) return -1;
        at += sizeof(link_entry);
        if (link->url_len > size - at) return -1;
        if ((size_t)link->host_start + link->host_len > link->url_len) return -1;
        at += link->url_len;
    }
    return links;
}

/* Where path and query begin: behind the host and the `:port` that may follow it. */
static inline size_t file_start(const uint8_t *url, size_t url_len, size_t host_end) {
    size_t at = host_end;
    if (at < url_len && url[at] == ':') {
        at++;
        while (at < url_len && url[at] >= '0' && url[at] <= '9') at++;
    }
    return at;
}

#endif
