/* What a host has shown last, in 16 bytes: there is one for each host that was asked.
 *
 * The four latest digests are kept by 20 bits of each, oldest first out.  A text is taken for one of
 * four others once in 260,000 pages, and a limit is many of them in a row.
 */
#ifndef LARBINPY_CONTENTS_H
#define LARBINPY_CONTENTS_H

#include <stdint.h>

enum { CONTENTS_KEPT = 4, CONTENTS_EVERY = 16, CONTENTS_CLOSE = 32, CONTENTS_MOST = 65535 };

typedef struct {
    uint16_t low[CONTENTS_KEPT]; /* 16 bits of each digest */
    uint16_t high;               /* 4 more of each; a digest of 0 is none */
    uint16_t in_a_row;           /* pages that said nothing new; stays at CONTENTS_MOST */
    uint32_t shown : 27;         /* good pages; stays at its highest */
    uint32_t next : 2;           /* the oldest digest */
    uint32_t is_met : 1, is_left : 1, has_crowd : 1; /* free for the owner */
} host_contents;

_Static_assert(sizeof(host_contents) == 16, "a host's contents are 16 bytes");

static inline uint32_t contents_kept(const host_contents *c, uint32_t i) {
    return c->low[i] | (uint32_t)(c->high >> 4 * i & 15) << 16;
}

static inline void contents_keep(host_contents *c, uint32_t digest) {
    uint32_t shift = 4 * c->next;
    c->low[c->next] = digest & 0xFFFF;
    c->high = (c->high & ~(15u << shift)) | digest >> 16 << shift;
    c->next = (c->next + 1) % CONTENTS_KEPT;
}

static inline void contents_grow(host_contents *c) { c->in_a_row += c->in_a_row < CONTENTS_MOST; }

/* A page was shown; see `HostContents.add`. */
static inline void contents_note(
    host_contents *c, uint32_t first, int is_near, int leads_on, int watched
) {
    uint32_t digest = first & 0xFFFFF;
    digest += digest == 0;
    c->shown += c->shown < (1u << 27) - 1;
    for (uint32_t i = 0; i < CONTENTS_KEPT; i++) {
        if (contents_kept(c, i) == digest) {
            contents_grow(c);
            return;
        }
    }
    if (is_near) {
        if (leads_on) contents_grow(c);
        return;
    }
    if (watched) c->in_a_row = 0;
    contents_keep(c, digest);
}

/* Whether the next page is to be compared with earlier ones of its host; see `HostContents.watch`. */
static inline int contents_watch(const host_contents *c, uint32_t after, uint32_t most) {
    if (after == 0) return 4;
    if (c->shown < after) return 0;
    uint32_t close = most / 2 < CONTENTS_CLOSE ? most / 2 : CONTENTS_CLOSE;
    return c->in_a_row >= close || c->shown % CONTENTS_EVERY == 0;
}

#endif
