/* The URL standard (url.spec.whatwg.org) for http and https: parse, resolve, serialise, in one pass.
 *
 * Where the standard walks a state machine over code points, this reads the parts in their order:
 * scheme, authority, path, query.  That is the same because in an http URL the first '#' always
 * begins the fragment, the first '?' before it the query, and the authority ends at the first
 * slash, backslash or '?'.
 *
 * Invariants: the output is ASCII, has neither fragment nor user info, and parses to itself.
 * Cost: O(input + base); nothing is allocated here.
 */
#ifndef LARBINPY_WHATWG_H
#define LARBINPY_WHATWG_H

#include "urlhost.h"

enum { MAX_URL_BYTES = 2083 /* records.py has it too */ };

#define URL_EXTRA_ROOM 32 /* more than scheme, port, first slash and question mark take */

/* A URL that was written to a url_out. */
typedef struct {
    uint8_t https;
    uint8_t host_start;
    uint8_t host_len;
    uint16_t port;
} url_parts;

/* A normalised URL that references resolve against. */
typedef struct {
    const uint8_t *url;
    size_t size;
    size_t path;  /* where the path begins: behind the authority */
    size_t name;  /* behind the path's last slash */
    size_t query; /* where the path ends */
    url_parts parts;
} url_base;

/* What a reference is read with. */
typedef struct {
    const url_base *base; /* or NULL */
    const url_text *host; /* what the host of the reference maps to, or NULL */
    int query_is_utf8;
} url_context;

enum { SCHEME_NONE, SCHEME_HTTP, SCHEME_HTTPS, SCHEME_OTHER };

/* Bytes that the output may take. */
static inline size_t url_room(const url_context *context, url_text text) {
    size_t host = context->host ? (size_t)(context->host->end - context->host->at) : 0;
    size_t base = context->base ? context->base->size : 0;
    return 3 * (size_t)(text.end - text.at) + host + base + IPV6_TEXT_BYTES +
           URL_EXTRA_ROOM;
}

/* Offsets of `base` from its bytes and parts. */
static void base_index(url_base *base) {
    size_t i = (size_t)base->parts.host_start + base->parts.host_len;
    while (base->url[i] != '/') i++;
    base->path = i;
    for (base->name = i; i < base->size && base->url[i] != '?'; i++)
        if (base->url[i] == '/') base->name = i + 1;
    base->query = i;
}

/* --- scheme -------------------------------------------------------------------------------------- */

static inline int scheme_is(url_text scheme, const char *name, ptrdiff_t size) {
    if (scheme.end - scheme.at != size) return 0;
    for (ptrdiff_t i = 0; i < size; i++)
        if ((scheme.at[i] | 0x20) != name[i]) return 0;
    return 1;
}

/* Read a scheme and its colon, if there is one. */
static inline int read_scheme(url_text *text) {
    const uint8_t *p = text->at;
    if (p == text->end || (*p | 0x20) < 'a' || (*p | 0x20) > 'z') return SCHEME_NONE;
    while (p < text->end && url_class[*p] & SCHEME_BYTE) p++;
    if (p == text->end || *p != ':') return SCHEME_NONE;
    url_text scheme = {text->at, p};
    text->at = p + 1;
    if (scheme_is(scheme, "http", 4)) return SCHEME_HTTP;
    return scheme_is(scheme, "https", 5) ? SCHEME_HTTPS : SCHEME_OTHER;
}

/* --- authority ----------------------------------------------------------------------------------- */

/* Read up to the path; `*host` and `*port` (empty at `at == end`) are what follows the last '@'. */
static inline void read_authority(url_text *text, url_text *host, url_text *port) {
    const uint8_t *p = text->at, *colon = NULL;
    int in_brackets = 0;
    host->at = p;
    for (;; p++) {
        while (p < text->end && !(url_class[*p] & AUTHORITY_MARK)) p++;
        if (p == text->end || is_slash(*p) || *p == '?') break;
        if (*p == '@') {
            host->at = p + 1;
            colon = NULL;
            in_brackets = 0;
        } else if (*p == ':') {
            if (!in_brackets && colon == NULL) colon = p;
        } else {
            in_brackets = *p == '[';
        }
    }
    host->end = colon ? colon : p;
    port->at = colon ? colon + 1 : p;
    port->end = p;
    text->at = p;
}

/* A port number, `standard` when the text is empty; -1 when it is none. */
static inline int32_t port_number(url_text text, int32_t standard) {
    int32_t port = 0;
    if (text.at == text.end) return standard;
    for (; text.at < text.end; text.at++) {
        if (*text.at < '0' || *text.at > '9') return -1;
        port = port * 10 + (*text.at - '0');
        if (port > UINT16_MAX) return -1;
    }
    return port;
}

static inline int put_authority(const url_context *context, url_text *text, int https,
                                url_out *out, url_parts *parts) {
    url_text host, port_text;
    int32_t standard = https ? 443 : 80;
    while (text->at < text->end && is_slash(*text->at)) text->at++;
    read_authority(text, &host, &port_text);
    int32_t port = port_number(port_text, standard);
    if (host.at == host.end || port < 0) return RESOLVED_INVALID;
    size_t start = out->size;
    out_bytes(out, "https://", https ? 5 : 4);
    out_bytes(out, "://", 3);
    size_t host_start = out->size;
    int status = host_put(context->host ? *context->host : host, out);
    parts->https = (uint8_t)https;
    parts->host_start = (uint8_t)(host_start - start);
    parts->port = (uint16_t)port;
    if (status != RESOLVED_OK) return status;
    parts->host_len = (uint8_t)(out->size - host_start);
    if (port != standard) {
        out_byte(out, ':');
        out_number(out, (uint32_t)port, 10);
    }
    return RESOLVED_OK;
}

/* --- path and query -------------------------------------------------------------------------------- */

/* 1 or 2 when the segment is "." or "..", each dot perhaps as %2e; else 0. */
static inline int count_dots(const uint8_t *segment, const uint8_t *end) {
    int dots = 0;
    while (segment < end) {
        if (*segment == '.') {
            segment += 1;
        } else if (end - segment >= 3 && segment[0] == '%' && segment[1] == '2' &&
                   (segment[2] | 0x20) == 'e') {
            segment += 3;
        } else {
            return 0;
        }
        if (++dots > 2) return 0;
    }
    return dots;
}

/* Copy plain bytes and escape the others, up to the end or a delimiter of paths. */
static inline uint8_t *put_segment(uint8_t *to, url_text *text) {
    const uint8_t *p = text->at, *end = text->end;
    for (;;) {
        while (p < end && url_class[*p] & PATH_PLAIN) *to++ = *p++;
        if (p == end || is_slash(*p) || *p == '?') break;
        to = put_percent(to, *p++, UPPER_HEX);
    }
    text->at = p;
    return to;
}

/* Write the segments of `text` behind the slash that `out` ends with; `root` is the first slash. */
static inline void put_path(url_text *text, const size_t root, url_out *out) {
    uint8_t *first = out->data + root + 1, *to = out->data + out->size;
    for (;;) {
        uint8_t *segment = to;
        to = put_segment(to, text);
        int dots = segment < to && (*segment == '.' || *segment == '%') ? count_dots(segment, to) : 0;
        int has_slash = text->at < text->end && is_slash(*text->at);
        if (dots > 0) to = segment;
        if (dots == 2 && to > first)
            for (to--; to[-1] != '/';) to--;
        if (!has_slash) break;
        if (dots == 0) *to++ = '/';
        text->at++;
    }
    out->size = (size_t)(to - out->data);
}

/* Write the query that begins here, if one does.  In another encoding than UTF-8 it is SLOW when it
 * has bytes that are not ASCII, or controls (those of ISO-2022-JP are not themselves). */
static inline int put_query(url_text text, int is_utf8, url_out *out) {
    if (text.at == text.end) return RESOLVED_OK;
    uint8_t *to = out->data + out->size, seen = 0;
    *to++ = '?';
    for (text.at++; text.at < text.end; text.at++) {
        uint8_t class = url_class[*text.at];
        if (class & QUERY_PLAIN) {
            *to++ = *text.at;
            continue;
        }
        seen |= class | (*text.at < 0x20 ? NOT_ASCII : 0);
        to = put_percent(to, *text.at, UPPER_HEX);
    }
    out->size = (size_t)(to - out->data);
    return seen & NOT_ASCII && !is_utf8 ? RESOLVED_SLOW : RESOLVED_OK;
}

/* --- the whole ----------------------------------------------------------------------------------- */

/* Write the parts that a reference without authority takes from its base, and its own path. */
static inline void put_relative(const url_base *base, url_text *text, size_t start, url_out *out) {
    int is_end = text->at == text->end, is_query = !is_end && *text->at == '?';
    int is_root = !is_end && is_slash(*text->at);
    size_t kept = is_end ? base->size : is_query ? base->query : is_root ? base->path : base->name;
    out_bytes(out, base->url, kept);
    if (is_end || is_query) return;
    if (is_root) {
        text->at++;
        out_byte(out, '/');
    }
    put_path(text, start + base->path, out);
}

static inline void put_root_path(url_text *text, url_out *out) {
    size_t root = out->size;
    out_byte(out, '/');
    if (text->at < text->end && is_slash(*text->at)) text->at++;
    put_path(text, root, out);
}

/* Whether `text` begins with the scheme and authority of `base` as they are written. */
static inline int has_same_origin(url_text text, const url_base *base) {
    size_t size = (size_t)(text.end - text.at);
    if (size < base->path || memcmp(text.at, base->url, base->path) != 0) return 0;
    return size == base->path || is_slash(text.at[base->path]) || text.at[base->path] == '?';
}

/* Whether a reference names a host (then its scheme is `*https`), or takes that of its base. */
static inline int has_authority(const url_base *base, url_text text, int scheme, int *https) {
    if (scheme != SCHEME_NONE) *https = scheme == SCHEME_HTTPS;
    if (base == NULL || (scheme != SCHEME_NONE && *https != base->parts.https)) return 1;
    return text.end - text.at >= 2 && is_slash(text.at[0]) && is_slash(text.at[1]);
}

/* Parse `text` (trimmed, without breaks) and write it normalised; wants url_room() bytes of room.
 * Unless the answer is RESOLVED_OK, what stands behind out->size on entry is not a URL. */
static inline int whatwg_parse(const url_context *context, url_text text, url_out *out,
                               url_parts *parts) {
    const url_base *base = context->base;
    size_t start = out->size;
    const uint8_t *hash = memchr(text.at, '#', (size_t)(text.end - text.at));
    if (hash != NULL) text.end = hash;
    int https = base ? base->parts.https : 0;
    if (base != NULL && has_same_origin(text, base)) {
        *parts = base->parts;
        out_bytes(out, base->url, base->path);
        text.at += base->path;
        put_root_path(&text, out);
    } else {
        int scheme = read_scheme(&text);
        if (scheme == SCHEME_OTHER) return RESOLVED_SCHEME;
        if (scheme == SCHEME_NONE && base == NULL) return RESOLVED_INVALID;
        if (has_authority(base, text, scheme, &https)) {
            int status = put_authority(context, &text, https, out, parts);
            if (status != RESOLVED_OK) return status;
            put_root_path(&text, out);
        } else {
            *parts = base->parts;
            put_relative(base, &text, start, out);
        }
    }
    int status = put_query(text, context->query_is_utf8, out);
    if (status != RESOLVED_OK) return status;
    return out->size - start > MAX_URL_BYTES ? RESOLVED_TOO_LONG : RESOLVED_OK;
}

#endif
