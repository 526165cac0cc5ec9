/* The traps of the synthetic web: hosts that have an answer to every URL and never an end of links.
 *
 * Trap hosts are numbered behind the honest ones, `traps` of each kind, in the order of the enum.
 * Nobody but the seeds leads to them, and they lead nowhere else.  They are called NAMEn.localhost,
 * so that no name server is needed for their subdomains, and each is a registered domain of its own.
 * The first page, `/`, is that of index 0.  What a page says follows from its host and index; each
 * has TRAP_LINKS links (calendar and path: few) to pages that were not there before.
 */
#ifndef LARBINPY_WEBTRAPS_H
#define LARBINPY_WEBTRAPS_H

#include "webtext.h"

enum { /* what the index of a page is */
    TRAP_CALENDAR,   /* months since January 2000: each page leads to the next month */
    TRAP_SID_PATH,   /* session * TRAP_PAGES + page: each link starts a new session, in the path */
    TRAP_SID_QUERY,  /* the same, in the query */
    TRAP_PATH,       /* how often `more/` stands in the path: a relative link that grows */
    TRAP_SEARCH,     /* two words of 20 bits: each answer is a link to a search for its own words */
    TRAP_SOFT,       /* 0: the same bytes for every path, with relative links */
    TRAP_SOFT_ECHO,  /* hash of the path, which the page repeats, and leads to paths that are made up */
    TRAP_SUBDOMAINS, /* number of the subdomain: each leads to others */
    TRAP_KINDS
};

enum { TRAP_LINKS = 10, TRAP_PAGES = 32, TRAP_TEXT = 3000 };

typedef struct {
    const char *text;
    size_t size;
} trap_name;

#define NAME(literal) {literal, sizeof(literal) - 1}

static const trap_name trap_names[TRAP_KINDS] = {
    NAME("calendar"), NAME("sid-path"), NAME("sid-query"), NAME("path"),
    NAME("search"), NAME("soft"), NAME("soft-echo"), NAME("subdomains"),
};

static inline int trap_kind(const web_spec *w, uint64_t host) {
    return (int)((host - w->hosts) / w->traps);
}

/* --- names ------------------------------------------------------------------------------- */

static char *put_trap_host(const web_spec *w, char *p, uint64_t host) {
    const trap_name *name = trap_names + trap_kind(w, host);
    p = put_number(put_bytes(p, name->text, name->size), (host - w->hosts) % w->traps);
    return PUT(p, ".localhost");
}

/* The number of the subdomain that `name` begins with ("s7."); 0 and no bytes when it has none. */
static size_t take_label(const char *name, size_t n, uint64_t *number) {
    const char *end = name + n, *p;
    *number = 0;
    if (n < 3 || (*name | 32) != 's' || name[1] < '0' || name[1] > '9') return 0;
    p = take_number(name + 1, end, number);
    return p < end && *p == '.' ? (size_t)(p + 1 - name) : 0;
}

/* The trap host with this name (no port), or -1. */
static int64_t trap_find_host(const web_spec *w, const char *name, size_t n) {
    uint64_t number, label;
    if (!w->traps) return -1;
    size_t skipped = take_label(name, n, &label);
    name += skipped;
    n -= skipped;
    for (int kind = skipped ? TRAP_SUBDOMAINS : 0; kind < TRAP_KINDS; kind++) {
        size_t size = trap_names[kind].size;
        if (n <= size || memcmp(name, trap_names[kind].text, size) || name[size] < '0' || name[size] > '9')
            continue;
        const char *p = take_number(name + size, name + n, &number);
        if (number < w->traps && (size_t)(name + n - p) == 10 && !memcmp(p, ".localhost", 10))
            return (int64_t)(w->hosts + (uint64_t)kind * w->traps + number);
    }
    return -1;
}

/* --- from a request to a page ------------------------------------------------------------ */

static uint64_t trap_hash(const char *text, size_t n) { /* FNV-1a, of 47 bits */
    uint64_t h = 0xcbf29ce484222325ULL;
    for (size_t k = 0; k < n; k++) h = (h ^ (uint8_t)text[k]) * 0x100000001b3ULL;
    return h >> 17;
}

static uint64_t take_letters(const char *p) { /* what put_letters wrote */
    uint64_t value = 0;
    for (int k = 4; k >= 0; k--) {
        const char *found = (const char *)memchr("bcdfghjklmnpqrst", p[k], 16);
        value = value << 4 | (found ? (uint64_t)(found - "bcdfghjklmnpqrst") & 15 : 0);
    }
    return value;
}

static char *put_letters(char *p, uint64_t value) { /* five, for 20 bits */
    for (int k = 0; k < 5; k++, value >>= 4) *p++ = "bcdfghjklmnpqrst"[value & 15];
    return p;
}

/* The numbers in a path, one behind the other. */
static void take_numbers(const char *p, const char *end, uint64_t *numbers, int n) {
    for (int k = 0; k < n; k++) {
        while (p < end && (*p < '0' || *p > '9')) p++;
        p = take_number(p, end, numbers + k);
    }
}

/* The page of a trap host with this name (no port) and path. */
static web_place trap_find(const web_spec *w, uint64_t host, const char *name, size_t name_len,
                           const char *path, size_t n) {
    const char *end = path + n;
    uint64_t part[2] = {0, 0};
    web_place at = web_at(host, WEB_TRAP, 0);
    if (n == 11 && !memcmp(path, "/robots.txt", 11)) return web_at(host, WEB_ROBOTS, 0);
    int kind = trap_kind(w, host);
    if (kind == TRAP_SUBDOMAINS) take_label(name, name_len, &at.index);
    if (n == 1) return at;
    switch (kind) {
    case TRAP_CALENDAR:
        take_numbers(path, end, part, 2);
        at.index = (part[0] - 2000) * 12 + part[1] - 1;
        break;
    case TRAP_SID_PATH:
        take_numbers(path, end, part, 2);
        at.index = part[0] * TRAP_PAGES + part[1] % TRAP_PAGES;
        break;
    case TRAP_SID_QUERY:
        take_numbers(path, end, part, 2);
        at.index = part[1] * TRAP_PAGES + part[0] % TRAP_PAGES;
        break;
    case TRAP_PATH:
        for (; path < end; path++) at.index += *path == '/';
        at.index--;
        break;
    case TRAP_SEARCH:
        if (n == 21) at.index = take_letters(path + 10) << 20 | take_letters(path + 16);
        break;
    case TRAP_SOFT_ECHO: at.index = trap_hash(path, n); break;
    }
    return at;
}

/* --- pages ------------------------------------------------------------------------------- */

static char *put_trap_link(const web_spec *w, char *p, web_place at, uint64_t x) {
    uint64_t session = x & 0xffffffffff, page = (x >> 40) % TRAP_PAGES;
    p = PUT(p, "<p><a href=\"");
    switch (trap_kind(w, at.host)) {
    case TRAP_SID_PATH:
        return PUT(put_number(PUT(put_number(PUT(p, "/sid-"), session), "/p"), page), ".html\">there</a>\n");
    case TRAP_SID_QUERY:
        return PUT(put_number(PUT(put_number(PUT(p, "/p"), page), ".html?PHPSESSID="), session), "\">there</a>\n");
    case TRAP_SEARCH:
        p = put_letters(PUT(put_letters(PUT(p, "/search?q="), at.index & 0xfffff), "+"), x & 0xfffff);
        return PUT(put_letters(PUT(p, "\">"), x & 0xfffff), "</a>\n");
    case TRAP_SOFT_ECHO:
        return PUT(put_letters(PUT(put_letters(PUT(p, "/"), x), "/"), x >> 20), ".html\">there</a>\n");
    default: /* TRAP_SUBDOMAINS */
        p = put_trap_host(w, PUT(put_number(PUT(p, "http://s"), session), "."), at.host);
        return PUT(put_number(PUT(p, ":"), w->port), "/\">there</a>\n");
    }
}

static char *put_month(char *p, uint64_t month) {
    p = PUT(put_number(p, 2000 + month / 12), "/");
    if (month % 12 < 9) *p++ = '0';
    return put_number(p, month % 12 + 1);
}

static char *put_trap_links(const web_spec *w, char *p, web_place at) {
    switch (trap_kind(w, at.host)) {
    case TRAP_CALENDAR:
        for (int day = 1; day <= 30; day++) p = put_number(PUT(p, " "), (uint64_t)day);
        return PUT(put_month(PUT(p, "\n<p><a href=\"/"), at.index + 1), ".html\">next month</a>\n");
    case TRAP_PATH: return PUT(p, "<p><a href=\"more/\">more</a>\n");
    case TRAP_SOFT:
        for (uint64_t k = 0; k < TRAP_LINKS; k++)
            p = PUT(put_number(PUT(p, "<p><a href=\"section"), k), "/\">section</a>\n");
        return p;
    default:
        for (uint64_t k = 0; k < TRAP_LINKS; k++)
            p = put_trap_link(w, p, at, web_draw(w, SALT_TRAP, at.host, at.index * TRAP_LINKS + k));
        return p;
    }
}

/* What the page calls itself; of sessions and the same bytes for all, that says nothing. */
static char *put_trap_title(const web_spec *w, char *p, web_place at) {
    switch (trap_kind(w, at.host)) {
    case TRAP_CALENDAR: return put_month(PUT(p, "Events of "), at.index);
    case TRAP_SID_PATH:
    case TRAP_SID_QUERY: return put_number(PUT(p, "Page "), at.index % TRAP_PAGES);
    case TRAP_SEARCH:
        p = PUT(put_letters(PUT(p, "You searched for "), at.index >> 20), " ");
        return put_letters(p, at.index & 0xfffff);
    case TRAP_SOFT: return PUT(p, "Sorry, there is no such page");
    case TRAP_SOFT_ECHO: return put_number(PUT(p, "Sorry, there is no page "), at.index);
    default: return put_number(PUT(p, "Welcome to number "), at.index);
    }
}

/* The text of a trap is that of its host, but sessions show different pages. */
static char *put_trap(const web_spec *w, char *p, web_place at) {
    int kind = trap_kind(w, at.host);
    uint64_t page = kind == TRAP_SID_PATH || kind == TRAP_SID_QUERY ? at.index % TRAP_PAGES : 0;
    p = put_trap_title(w, PUT(p, "<!DOCTYPE html>\n<html><head><title>"), at);
    p = put_trap_title(w, PUT(p, "</title></head>\n<body><h1>"), at);
    p = put_words(w, PUT(p, "</h1>\n<p>"), web_draw(w, SALT_TEXT, at.host, page), TRAP_TEXT);
    return PUT(put_trap_links(w, PUT(p, "\n"), at), "</body></html>\n");
}

#endif
