/* Which URLs are taken for one beyond what the standard says: rewriting of a normalised URL.
 *
 * Every rewriting only shortens or reorders, and leaves a URL that the standard leaves as it is; all
 * of them together done twice are the same as once:
 * - a query without dropped parameters has none to drop, and a sorted one stays;
 * - a segment that is "." or ".." without its session id keeps it, or the standard would collapse it;
 * - slashes and index files are taken from the end until neither is there.
 *
 * Cost: O(bytes), and O(n log n) for the n parameters of a query that is not sorted.
 */
#ifndef LARBINPY_URLEQUAL_H
#define LARBINPY_URLEQUAL_H

#include "whatwg.h"

enum { /* as larbinpy.url.Equal; they stand in MANIFEST, never renumber */
    EQUAL_SORT_QUERY = 1,
    EQUAL_DROP_SESSIONS = 2,
    EQUAL_DROP_TRACKING = 4,
    EQUAL_SLASH = 8,
    EQUAL_INDEX = 16
};

/* --- names ----------------------------------------------------------------------------------- */

enum {
    EXACTLY,
    BEGINS_SO,
    WITH_LONG_VALUE /* of letters and digits: the name alone could mean something else */
};

enum { LONG_VALUE_BYTES = 16 };

typedef struct {
    const char *name; /* lower case */
    uint8_t size;
    uint8_t how;
} equal_name;

#define EQUAL_NAME(name, how) {name, sizeof name - 1, how}
#define NAMES_END {NULL, 0, 0}

static const equal_name session_names[] = {
    EQUAL_NAME("jsessionid", EXACTLY),
    EQUAL_NAME("phpsessid", EXACTLY),
    EQUAL_NAME("aspsessionid", BEGINS_SO),
    EQUAL_NAME("asp.net_sessionid", EXACTLY),
    EQUAL_NAME("cfid", EXACTLY),
    EQUAL_NAME("cftoken", EXACTLY),
    EQUAL_NAME("oscsid", EXACTLY),
    EQUAL_NAME("zenid", EXACTLY),
    EQUAL_NAME("sessionid", EXACTLY),
    EQUAL_NAME("session_id", EXACTLY),
    EQUAL_NAME("sessid", EXACTLY),
    EQUAL_NAME("sid", WITH_LONG_VALUE),
    NAMES_END
};

static const equal_name tracking_names[] = {
    EQUAL_NAME("utm_", BEGINS_SO),
    EQUAL_NAME("mtm_", BEGINS_SO),
    EQUAL_NAME("gclid", EXACTLY),
    EQUAL_NAME("gclsrc", EXACTLY),
    EQUAL_NAME("dclid", EXACTLY),
    EQUAL_NAME("gbraid", EXACTLY),
    EQUAL_NAME("wbraid", EXACTLY),
    EQUAL_NAME("srsltid", EXACTLY),
    EQUAL_NAME("_ga", EXACTLY),
    EQUAL_NAME("_gl", EXACTLY),
    EQUAL_NAME("fbclid", EXACTLY),
    EQUAL_NAME("igshid", EXACTLY),
    EQUAL_NAME("msclkid", EXACTLY),
    EQUAL_NAME("yclid", EXACTLY),
    EQUAL_NAME("ysclid", EXACTLY),
    EQUAL_NAME("_openstat", EXACTLY),
    EQUAL_NAME("twclid", EXACTLY),
    EQUAL_NAME("ttclid", EXACTLY),
    EQUAL_NAME("li_fat_id", EXACTLY),
    EQUAL_NAME("epik", EXACTLY),
    EQUAL_NAME("mc_cid", EXACTLY),
    EQUAL_NAME("mc_eid", EXACTLY),
    EQUAL_NAME("mkt_tok", EXACTLY),
    EQUAL_NAME("vero_id", EXACTLY),
    EQUAL_NAME("oly_anon_id", EXACTLY),
    EQUAL_NAME("oly_enc_id", EXACTLY),
    EQUAL_NAME("_hsenc", EXACTLY),
    EQUAL_NAME("_hsmi", EXACTLY),
    EQUAL_NAME("wickedid", EXACTLY),
    EQUAL_NAME("irclickid", EXACTLY),
    NAMES_END
};

static const equal_name index_names[] = {
    EQUAL_NAME("index.html", EXACTLY),
    EQUAL_NAME("index.htm", EXACTLY),
    EQUAL_NAME("index.php", EXACTLY),
    EQUAL_NAME("index.asp", EXACTLY),
    EQUAL_NAME("index.aspx", EXACTLY),
    EQUAL_NAME("index.jsp", EXACTLY),
    EQUAL_NAME("default.html", EXACTLY),
    EQUAL_NAME("default.htm", EXACTLY),
    EQUAL_NAME("default.asp", EXACTLY),
    EQUAL_NAME("default.aspx", EXACTLY),
    NAMES_END
};

/* `name`, in lower case, at the start of the text in any case. */
static inline int begins_with(url_text text, const char *name, size_t size) {
    if ((size_t)(text.end - text.at) < size) return 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t c = text.at[i];
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != (uint8_t)name[i]) return 0;
    }
    return 1;
}

static inline int is_long_value(url_text value) {
    if (value.end - value.at < LONG_VALUE_BYTES) return 0;
    for (; value.at < value.end; value.at++) {
        uint8_t c = *value.at;
        if (!(url_class[c] & SCHEME_BYTE) || c == '+' || c == '-' || c == '.') return 0;
    }
    return 1;
}

static inline const uint8_t *end_of_name(url_text text) {
    const uint8_t *end = memchr(text.at, '=', (size_t)(text.end - text.at));
    return end ? end : text.end;
}

/* Whether NAME=VALUE, or a NAME alone, is one of these. */
static inline int is_listed(const equal_name *one, url_text text) {
    url_text name = {text.at, end_of_name(text)};
    url_text value = {name.end < text.end ? name.end + 1 : text.end, text.end};
    for (; one->name != NULL; one++) {
        if (!begins_with(name, one->name, one->size)) continue;
        if (one->how == BEGINS_SO) return 1;
        if (name.end - name.at != one->size) continue;
        if (one->how == EXACTLY || is_long_value(value)) return 1;
    }
    return 0;
}

/* --- query ----------------------------------------------------------------------------------- */

static int compare_parameters(const void *one, const void *two) {
    const url_text *a = one, *b = two;
    size_t size_a = (size_t)(end_of_name(*a) - a->at), size_b = (size_t)(end_of_name(*b) - b->at);
    int order = memcmp(a->at, b->at, size_a < size_b ? size_a : size_b);
    if (order) return order;
    if (size_a != size_b) return size_a < size_b ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at; /* those of one name stay in their order */
}

/* Rewrite the query behind the '?' at `query`; its new size, '?' included: 0 when none is left. */
static inline size_t equal_query(uint8_t *query, size_t size, int equal) {
    uint8_t text[MAX_URL_BYTES];
    url_text parameters[MAX_URL_BYTES + 1];
    size_t found = 0, kept = 0;
    memcpy(text, query, size);
    url_text rest = {text + 1, text + size};
    for (;; rest.at++, found++) {
        const uint8_t *end = memchr(rest.at, '&', (size_t)(rest.end - rest.at));
        url_text one = {rest.at, end ? end : rest.end};
        int is_dropped = (equal & EQUAL_DROP_SESSIONS && is_listed(session_names, one)) ||
                         (equal & EQUAL_DROP_TRACKING && is_listed(tracking_names, one));
        if (!is_dropped) parameters[kept++] = one;
        rest.at = one.end;
        if (end == NULL) break;
    }
    if (kept == 0) return 0;
    if (equal & EQUAL_SORT_QUERY) qsort(parameters, kept, sizeof *parameters, compare_parameters);
    uint8_t *to = query + 1;
    for (size_t i = 0; i < kept; i++) {
        if (i) *to++ = '&';
        memcpy(to, parameters[i].at, (size_t)(parameters[i].end - parameters[i].at));
        to += parameters[i].end - parameters[i].at;
    }
    return (size_t)(to - query);
}

/* --- path ------------------------------------------------------------------------------------ */

/* Copy the segment [from, end) without its session ids to `to`, which is not behind it. */
static inline uint8_t *put_without_sessions(uint8_t *to, const uint8_t *from, const uint8_t *end) {
    const uint8_t *piece = memchr(from, ';', (size_t)(end - from));
    if (piece == NULL || count_dots(from, piece) > 0) piece = end;
    memmove(to, from, (size_t)(piece - from));
    to += piece - from;
    while (piece < end) {
        const uint8_t *next = memchr(piece + 1, ';', (size_t)(end - piece - 1));
        url_text parameter = {piece + 1, next ? next : end};
        if (!is_listed(session_names, parameter)) {
            memmove(to, piece, (size_t)(parameter.end - piece));
            to += parameter.end - piece;
        }
        piece = parameter.end;
    }
    return to;
}

static inline size_t path_without_sessions(uint8_t *path, size_t size) {
    const uint8_t *end = path + size, *from = path;
    uint8_t *to = path;
    while (from < end) {
        *to++ = *from++; /* the slash */
        const uint8_t *next = memchr(from, '/', (size_t)(end - from));
        to = put_without_sessions(to, from, next ? next : end);
        from = next ? next : end;
    }
    return (size_t)(to - path);
}

/* The new size of a path, of which only the end changes. */
static inline size_t shortened_path(const uint8_t *path, size_t size, int equal) {
    for (;;) {
        size_t before = size;
        while (equal & EQUAL_SLASH && size > 1 && path[size - 1] == '/') size--;
        url_text name = {path + size, path + size};
        while (name.at[-1] != '/') name.at--;
        int is_index = is_listed(index_names, name) && end_of_name(name) == name.end;
        if (equal & EQUAL_INDEX && is_index) size = (size_t)(name.at - path);
        if (size == before) return size;
    }
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Rewrite a normalised URL of at most MAX_URL_BYTES, whose path begins at `path_at`; its new size. */
static inline size_t equal_url(uint8_t *url, size_t size, size_t path_at, int equal) {
    uint8_t *path = url + path_at, *query = memchr(path, '?', size - path_at);
    size_t path_size = query ? (size_t)(query - path) : size - path_at;
    size_t query_size = size - path_at - path_size;
    int query_changes = EQUAL_SORT_QUERY | EQUAL_DROP_SESSIONS | EQUAL_DROP_TRACKING;
    if (query && equal & query_changes) query_size = equal_query(query, query_size, equal);
    if (equal & EQUAL_DROP_SESSIONS) path_size = path_without_sessions(path, path_size);
    /* With a query, a program chooses the page, and the name may be the program's. */
    path_size = shortened_path(path, path_size, query_size ? equal & ~EQUAL_INDEX : equal);
    if (query_size) memmove(path + path_size, query, query_size);
    return path_at + path_size + query_size;
}

#endif
