/* The synthetic web as a pure function: what lies at each place, and where its links go.
 *
 * A place is (host, kind, index).  Every property is drawn by hashing the seed with the place, so
 * nothing is stored and the web may be as large as its numbers allow.  The server and the model that
 * Python asks are this same code, so they cannot disagree.
 *
 * Layered webs (`layered` set) have the same reachable set in whatever order pages are fetched, under
 * any depth limit, counted from the seed or by site:
 *   1. The pages of a host are a tree of factor `branch`; level = depth in it, page 0 is the root.
 *      The hosts are a forest of factor HOST_CHILDREN; tier = depth in it; the roots are the seeds.
 *   2. A link to a page of the same host goes one level down, or to page 0 of its own host.
 *   3. A link to another host goes to a page 0 whose tier is (own tier + own level + 1).
 *   4. A redirection goes to a page of the same host and level, or to a leaf.
 *   5. Everything else is a leaf: it has no links that lead on, so what depth it has cannot matter.
 * By 2 to 4 all paths from the seeds to a page are tier + level links long.  A host is entered through
 * its page 0 only, so a link back to it never discovers it.  By site, page 0 always has the full
 * depth and any other page that depth less its level.
 */
#ifndef LARBINPY_WEBMODEL_H
#define LARBINPY_WEBMODEL_H

#include <stdint.h>
#include <string.h>

enum { HOST_CHILDREN = 4, LINKS_MAX = 4096, POOL_BYTES = 65536, DIRECTORIES = 8 };

enum { /* kinds of places; those below WEB_OFF are on the server */
    WEB_PAGE, WEB_CHAIN, WEB_NOTE, WEB_GONE, WEB_ARCHIVE, WEB_CGI, WEB_IMAGE, WEB_ROBOTS,
    WEB_OFF, WEB_SCHEME, WEB_UNKNOWN, WEB_TRAP
};

enum { /* shares, in the order of SHARES in webserver.pyx; dead .. scheme are shares of links */
    SHARE_DEAD, SHARE_ARCHIVE, SHARE_CGI, SHARE_IMAGE, SHARE_OFF, SHARE_SCHEME, SHARE_DUPLICATE,
    SHARE_CROSS, SHARE_FRAGMENT, SHARE_MESSY,
    SHARE_ERROR, SHARE_REDIRECT, SHARE_TYPED, SHARE_PRIVATE, SHARE_LARGE, SHARE_BASE, SHARE_REFRESH,
    SHARE_DECOY, SHARE_NAME, SHARE_ROBOTS, SHARE_COUNT
};

enum { TYPE_HTML, TYPE_TEXT, TYPE_PNG, TYPE_PDF, TYPE_ZIP };
enum { LINK_A, LINK_AREA, LINK_IFRAME, LINK_NEXT, LINK_IMG, LINK_REFRESH };
enum { FORM_ABSOLUTE, FORM_SCHEMELESS, FORM_ROOT, FORM_RELATIVE };
enum { ROBOTS_NONE, ROBOTS_ALL, ROBOTS_NAMED, ROBOTS_OTHER };
enum { FLAG_BASE = 1, FLAG_REFRESH = 2, FLAG_DECOY = 4 };

enum { /* one salt for each independent draw */
    SALT_FATE = 1, SALT_DETAIL, SALT_DIRECTORY, SALT_PRIVATE, SALT_SIZE, SALT_LARGE, SALT_FLAGS,
    SALT_LINK, SALT_NAME, SALT_ROBOTS, SALT_TEXT, SALT_LATENCY, SALT_POOL, SALT_TARGET, SALT_TRAP
};

typedef struct {
    uint64_t seed, hosts, pages, roots, notes, chain;
    uint32_t links, branch, port, layered, keep_alive, names_per_address;
    uint32_t page_bytes, page_spread, large_bytes, latency_ms, latency_spread_ms;
    uint32_t traps; /* hosts of each kind of trap, numbered behind `hosts`; see webtraps.h */
    double share[SHARE_COUNT];
    char *pool; /* POOL_BYTES of words */
} web_spec;

typedef struct {
    uint64_t host, index;
    uint8_t kind;
} web_place;

typedef struct {
    web_place to;
    uint8_t element, form, quote, messy;
    uint32_t fragment; /* 0: none */
} web_link;

typedef struct {
    uint16_t status;
    uint8_t type, flags;
    web_place target; /* of a redirection */
} web_facts;

static inline uint64_t web_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static inline uint64_t web_draw(const web_spec *w, uint64_t salt, uint64_t host, uint64_t index) {
    return web_mix(web_mix(web_mix(w->seed ^ (salt << 56)) + host) + index);
}

static inline double web_unit(uint64_t x) { return (double)(x >> 11) * 0x1p-53; }

static inline int web_has(const web_spec *w, int share, uint64_t x) {
    return web_unit(x) < w->share[share];
}

static inline web_place web_at(uint64_t host, int kind, uint64_t index) {
    web_place at = {host, index, (uint8_t)kind};
    return at;
}

/* --- layers ------------------------------------------------------------------------------ */

typedef struct { /* layer `depth` holds [first, end), the next one [end, next_end) */
    uint32_t depth;
    uint64_t first, end, next_end;
} web_layer;

static inline uint64_t web_least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The layer of `index` in a tree of `factor` whose first layer holds `size` of `count` members. */
static web_layer web_layer_of(uint64_t index, uint64_t size, uint64_t factor, uint64_t count) {
    uint64_t first = 0, depth = 0;
    while (index >= first + size) {
        first += size;
        size *= factor;
        depth++;
    }
    web_layer layer = {(uint32_t)depth, first, web_least(first + size, count),
                       web_least(first + size + size * factor, count)};
    return layer;
}

/* The hosts [first, end) of a tier; empty when the web has no such tier. */
static web_layer web_tier(const web_spec *w, uint32_t tier) {
    uint64_t first = 0, size = w->roots;
    for (uint32_t k = 0; k < tier && first < w->hosts; k++) {
        first += size;
        size *= HOST_CHILDREN;
    }
    first = web_least(first, w->hosts);
    web_layer layer = {tier, first, web_least(first + size, w->hosts), 0};
    return layer;
}

/* --- hosts ------------------------------------------------------------------------------- */

static inline int web_is_named(const web_spec *w, uint64_t host) {
    return web_has(w, SHARE_NAME, web_draw(w, SALT_NAME, host, 0));
}

static inline int web_is_trap(const web_spec *w, uint64_t host) { return host >= w->hosts; }

/* Address in host byte order; named hosts may share one, traps share the first. */
static inline uint32_t web_address(const web_spec *w, uint64_t host) {
    if (web_is_trap(w, host)) return 0x7f000001;
    if (web_is_named(w, host)) host -= host % w->names_per_address;
    return (uint32_t)(0x7f000001 + host);
}

static inline int web_robots(const web_spec *w, uint64_t host) {
    uint64_t x = web_draw(w, SALT_ROBOTS, host, 0);
    if (web_is_trap(w, host)) return ROBOTS_NONE;
    if (!web_has(w, SHARE_ROBOTS, x)) return ROBOTS_NONE;
    uint64_t variant = web_mix(x) % 5;
    return variant < 3 ? ROBOTS_ALL : variant == 3 ? ROBOTS_NAMED : ROBOTS_OTHER;
}

/* --- facts of a place -------------------------------------------------------------------- */

static inline int web_is_private(const web_spec *w, web_place at) {
    return at.kind == WEB_PAGE && at.index &&
           web_has(w, SHARE_PRIVATE, web_draw(w, SALT_PRIVATE, at.host, at.index));
}

static web_place web_redirect(const web_spec *w, web_place at) {
    uint64_t x = web_draw(w, SALT_TARGET, at.host, at.index), pick = web_mix(x);
    web_layer layer = web_layer_of(at.index, 1, w->branch, w->pages);
    uint64_t later = (w->layered ? layer.end : w->pages) - at.index - 1;
    if (x % 4 && later) return web_at(at.host, WEB_PAGE, at.index + 1 + pick % later);
    if (!w->notes) return web_at(at.host, WEB_PAGE, 0);
    return web_at(x % 4 ? at.host : pick % w->hosts, WEB_NOTE, web_mix(pick) % w->notes);
}

static void web_page_facts(const web_spec *w, web_place at, web_facts *facts) {
    static const uint16_t errors[10] = {404, 404, 404, 404, 404, 500, 500, 500, 403, 410};
    static const uint16_t moves[4] = {301, 302, 307, 308};
    uint64_t detail = web_draw(w, SALT_DETAIL, at.host, at.index);
    double u = web_unit(web_draw(w, SALT_FATE, at.host, at.index));
    if ((u -= w->share[SHARE_ERROR]) < 0) {
        facts->status = errors[detail % 10];
    } else if ((u -= w->share[SHARE_REDIRECT]) < 0) {
        facts->status = moves[detail % 4];
        facts->target = web_redirect(w, at);
    } else if ((u -= w->share[SHARE_TYPED]) < 0) {
        facts->type = (uint8_t)(TYPE_TEXT + detail % 3);
    }
}

static web_facts web_facts_of(const web_spec *w, web_place at) {
    web_facts facts = {200, TYPE_HTML, 0, at};
    if (at.kind == WEB_PAGE && at.index) web_page_facts(w, at, &facts);
    if (at.kind == WEB_ARCHIVE) facts.type = TYPE_ZIP;
    if (at.kind == WEB_IMAGE) facts.type = TYPE_PNG;
    if (at.kind == WEB_ROBOTS) facts.type = TYPE_TEXT;
    if (at.kind == WEB_GONE || at.kind == WEB_UNKNOWN ||
        (at.kind == WEB_ROBOTS && web_robots(w, at.host) == ROBOTS_NONE)) {
        facts.status = 404;
        facts.type = TYPE_HTML;
    }
    if (at.kind == WEB_PAGE && facts.status == 200 && facts.type == TYPE_HTML) {
        uint64_t x = web_draw(w, SALT_FLAGS, at.host, at.index);
        if (web_has(w, SHARE_BASE, x)) facts.flags |= FLAG_BASE;
        if (web_has(w, SHARE_REFRESH, x = web_mix(x))) facts.flags |= FLAG_REFRESH;
        if (web_has(w, SHARE_DECOY, web_mix(x))) facts.flags |= FLAG_DECOY;
    }
    return facts;
}

/* --- links ------------------------------------------------------------------------------- */

static web_place web_cross(const web_spec *w, web_place at, uint32_t level, uint64_t pick) {
    if (!w->layered) return web_at(pick % w->hosts, WEB_PAGE, web_mix(pick) % w->pages);
    uint32_t tier = web_layer_of(at.host, w->roots, HOST_CHILDREN, w->hosts).depth;
    web_layer hosts = web_tier(w, tier + level + 1);
    if (hosts.first < hosts.end)
        return web_at(hosts.first + pick % (hosts.end - hosts.first), WEB_PAGE, 0);
    if (w->notes) return web_at(pick % w->hosts, WEB_NOTE, web_mix(pick) % w->notes);
    return web_at(at.host, WEB_PAGE, 0);
}

static web_place web_inside(const web_spec *w, web_place at, const web_layer *layer, uint64_t pick) {
    uint64_t other = web_mix(pick);
    if (w->notes && other % 16 == 0) return web_at(at.host, WEB_NOTE, pick % w->notes);
    if (!w->layered) return web_at(at.host, WEB_PAGE, pick % w->pages);
    if (layer->end < layer->next_end)
        return web_at(at.host, WEB_PAGE, layer->end + pick % (layer->next_end - layer->end));
    if (w->notes && other % 2) return web_at(at.host, WEB_NOTE, pick % w->notes);
    return web_at(at.host, WEB_PAGE, 0);
}

/* The target of link `j`; `out` holds the links before it. */
static web_place web_target(const web_spec *w, web_place at, const web_layer *layer, uint64_t x,
                            const web_link *out, uint32_t j) {
    static const uint8_t kinds[6] = {WEB_GONE, WEB_ARCHIVE, WEB_CGI, WEB_IMAGE, WEB_OFF, WEB_SCHEME};
    static const uint16_t ranges[6] = {1000, 50, 100, 50, 200, 1000};
    double u = web_unit(x);
    uint64_t pick = web_mix(x);
    for (int k = 0; k < 6; k++)
        if ((u -= w->share[SHARE_DEAD + k]) < 0)
            return web_at(at.host, kinds[k], pick % ranges[k]);
    if ((u -= w->share[SHARE_DUPLICATE]) < 0 && j) return out[pick % j].to;
    if (u < w->share[SHARE_CROSS]) return web_cross(w, at, layer->depth, pick);
    return web_inside(w, at, layer, pick);
}

/* How a link to `to` is written: element, form of the URL, quotes, fragment. */
static web_link web_dress(const web_spec *w, web_place at, web_place to, uint64_t x) {
    static const uint8_t elements[32] = {LINK_AREA, LINK_IFRAME, LINK_NEXT};
    web_link link = {to, elements[x % 32], FORM_ABSOLUTE, (x >> 8) % 8, 0, 0};
    if (to.kind == WEB_IMAGE) link.element = LINK_IMG;
    if (to.kind >= WEB_OFF) link.element = LINK_A;
    if (to.kind >= WEB_CGI && link.quote == 2) link.quote = 0; /* unquoted: plain paths only */
    link.form = at.host == to.host ? (x >> 16) % 4 : (x >> 16) % 8 == 0;
    if (to.kind >= WEB_OFF) return link;
    if (web_has(w, SHARE_FRAGMENT, x = web_mix(x))) link.fragment = 1 + (x & 0xff);
    if (web_has(w, SHARE_MESSY, x = web_mix(x))) link.messy = 1 + (x & 3);
    return link;
}

/* Fills `out` with the links of a place; it has room for `links` + branch + HOST_CHILDREN + 2. */
static uint32_t web_links(const web_spec *w, web_place at, const web_facts *facts, web_link *out) {
    uint32_t n = 0;
    uint64_t base = web_draw(w, SALT_LINK, at.host, at.index * 16 + at.kind);
#define ADD(place) (out[n] = web_dress(w, at, place, web_mix(base + 2 * n + 1)), n++)
    if (facts->status != 200 || facts->type != TYPE_HTML) return 0;
    if (at.kind == WEB_NOTE) ADD(at);
    if (at.kind == WEB_CHAIN) {
        if (at.index < w->chain) ADD(web_at(at.host, WEB_CHAIN, at.index + 1));
        ADD(web_at(at.host, WEB_PAGE, 0));
    }
    if (at.kind != WEB_PAGE) return n;
    for (uint64_t k = 1, child = at.index * w->branch + 1; k <= w->branch && child < w->pages;
         k++, child++)
        ADD(web_at(at.host, WEB_PAGE, child));
    if (at.index == 0) {
        uint64_t child = w->roots + at.host * HOST_CHILDREN;
        for (uint64_t k = 0; k < HOST_CHILDREN && child < w->hosts; k++, child++)
            ADD(web_at(child, WEB_PAGE, 0));
        if (w->chain) ADD(web_at(at.host, WEB_CHAIN, 1));
    }
    web_layer layer = web_layer_of(at.index, 1, w->branch, w->pages);
    while (n < w->links) {
        web_place to = web_target(w, at, &layer, web_mix(base + 2 * n), out, n);
        ADD(to);
    }
#undef ADD
    if (n && (facts->flags & FLAG_REFRESH)) {
        out[0].element = LINK_REFRESH; /* double quotes, as in the page's own markup */
        out[0].quote = 0;
    }
    return n;
}

#endif
