/* larbin's own URLs: http only, no escapes but those it needs, and its quirks.
 *
 * A host ends at the first '/' or ':' and is otherwise taken as it stands; the file (path and query
 * alike) is cleaned in one pass from left to right.  A byte that came out of a %XX is not looked at
 * again.  Two things go past larbin, for the sake of what reads the URLs later: a control character
 * anywhere, or a byte from 0x80 in the host, makes the URL invalid.
 */
#ifndef LARBINPY_LARBINURL_H
#define LARBINPY_LARBINURL_H

#include "whatwg.h"

enum {
    LARBIN_HOST_END = 256,   /* hosts are shorter */
    LARBIN_URL_END = 1024,   /* host + file + 18 is shorter */
    LARBIN_URL_EXTRA = 18,
    LARBIN_HTTP_PORT = 80
};

/* Offset of the file in a URL that was written. */
static inline size_t url_path_start(const uint8_t *url, const url_parts *parts) {
    size_t at = (size_t)parts->host_start + parts->host_len;
    while (url[at] != '/') at++;
    return at;
}

/* Offsets of a base; the directory goes up to the last slash, be it in the query. */
static void larbin_index(url_base *base) {
    base->path = url_path_start(base->url, &base->parts);
    for (base->name = base->size; base->url[base->name - 1] != '/';) base->name--;
    base->query = base->size;
}

/* Bytes that the output may take. */
static inline size_t larbin_room(const url_base *base, url_text text) {
    return 3 * ((size_t)(text.end - text.at) + (base ? base->size : 0)) + URL_EXTRA_ROOM;
}

/* Whether "http" in any case and then `rest` stand at the start. */
static inline int has_http(url_text text, const char *rest, ptrdiff_t size) {
    url_text name = {text.at, text.at + 4};
    return text.end - text.at >= 4 + size && scheme_is(name, "http", 4) &&
           memcmp(name.end, rest, (size_t)size) == 0;
}

/* Whether "name:" stands at the start, of letters and digits. */
static int has_protocol(url_text text) {
    const uint8_t *p = text.at;
    while (p < text.end && url_class[*p] & SCHEME_BYTE && *p != '+' && *p != '-' && *p != '.') p++;
    return p < text.end && *p == ':';
}

/* Read what collapses at the start of a segment ("", "." and ".." with their slash).
 * 1 when something did, 0 when a name begins here, -1 when it leads above the root. */
static int larbin_collapse(url_text *text, size_t root, url_out *out) {
    ptrdiff_t left = text->end - text->at, dots = 0;
    while (dots < left && dots < 3 && text->at[dots] == '.') dots++;
    if (dots > 2 || (dots < left ? text->at[dots] != '/' : dots == 0)) return 0;
    text->at += dots < left ? dots + 1 : dots;
    if (dots < 2) return 1;
    if (out->size == root + 1) return -1;
    for (out->size--; out->data[out->size - 1] != '/';) out->size--;
    return 1;
}

/* Read one %XX; -1 when it is not one of those that larbin takes. */
static int larbin_escape(url_text *text, url_out *out) {
    const uint8_t *p = text->at;
    if (text->end - p < 3 || hex_value(p[1]) < 0 || hex_value(p[2]) < 0) return -1;
    int c = hex_value(p[1]) << 4 | hex_value(p[2]);
    text->at += 3;
    if (c == ' ') out_bytes(out, p, 3);
    else if (c > 0x20 && c < 0x7f) out_byte(out, (uint8_t)c);
    else return -1;
    return 0;
}

/* Copy the name at the start of `text`, its slash included; -1 when that makes no URL. */
static int larbin_name(url_text *text, url_out *out) {
    while (text->at < text->end) {
        uint8_t c = *text->at;
        if (c == '%') {
            if (larbin_escape(text, out) < 0) return -1;
            continue;
        }
        if (c < 0x20 || c == 0x7f) return -1;
        text->at++;
        if (c < 0x80) out_byte(out, c);
        else out->size = (size_t)(put_percent(out->data + out->size, c, LOWER_HEX) - out->data);
        if (c == '/') break;
    }
    return 0;
}

/* Write a file behind the slash that `out` ends with; `root` is the file's first slash. */
static int larbin_put_file(url_text text, size_t root, url_out *out) {
    const uint8_t *hash = memchr(text.at, '#', (size_t)(text.end - text.at));
    if (hash != NULL) text.end = hash;
    while (text.at < text.end) {
        int collapsed = larbin_collapse(&text, root, out);
        if (collapsed < 0 || (collapsed == 0 && larbin_name(&text, out) < 0))
            return RESOLVED_INVALID;
    }
    return RESOLVED_OK;
}

/* Write "http://host[:port]" from the text behind "http://"; `*text` is left at the file. */
static int larbin_put_authority(url_text *text, url_out *out, url_parts *parts) {
    const uint8_t *p = text->at;
    uint16_t port = LARBIN_HTTP_PORT;
    out_bytes(out, "http://", 7);
    for (; p < text->end && *p != '/' && *p != ':'; p++) {
        if (*p < 0x20 || *p >= 0x7f) return RESOLVED_INVALID;
        out_byte(out, *p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p);
    }
    size_t size = (size_t)(p - text->at);
    if (size == 0 || size >= LARBIN_HOST_END) return RESOLVED_INVALID;
    if (p < text->end && *p == ':')
        for (port = 0, p++; p < text->end && *p >= '0' && *p <= '9'; p++)
            port = (uint16_t)(port * 10 + (*p - '0'));
    if (port != LARBIN_HTTP_PORT) {
        out_byte(out, ':');
        out_number(out, port, 10);
    }
    *parts = (url_parts){0, 7, (uint8_t)size, port};
    text->at = p;
    return RESOLVED_OK;
}

/* The same with its file, which is "/" unless a slash follows at once. */
static int larbin_put_absolute(url_text text, url_out *out, url_parts *parts) {
    int status = larbin_put_authority(&text, out, parts);
    size_t root = out->size;
    if (status != RESOLVED_OK) return status;
    out_byte(out, '/');
    if (text.at == text.end || *text.at != '/') return RESOLVED_OK;
    text.at++;
    return larbin_put_file(text, root, out);
}

static int larbin_put_relative(const url_base *base, url_text text, url_out *out) {
    size_t root = out->size + base->path;
    if (text.at < text.end && *text.at == '/') {
        out_bytes(out, base->url, base->path + 1);
        text.at++;
    } else {
        out_bytes(out, base->url, base->name);
    }
    return larbin_put_file(text, root, out);
}

/* Parse `text` and write it as "http://host[:port]file"; wants larbin_room() bytes of room.
 * Unless the answer is RESOLVED_OK, what stands behind out->size on entry is not a URL. */
static int larbin_url(const url_base *base, url_text text, url_out *out, url_parts *parts) {
    size_t start = out->size;
    int status;
    if (has_http(text, "://", 3)) {
        text.at += 7;
        status = larbin_put_absolute(text, out, parts);
    } else {
        int is_http = has_http(text, ":", 1);
        if (!is_http && has_protocol(text)) return RESOLVED_SCHEME;
        if (base == NULL) return RESOLVED_INVALID;
        text.at += is_http ? 5 : 0;
        *parts = base->parts;
        status = larbin_put_relative(base, text, out);
    }
    if (status != RESOLVED_OK) return status;
    size_t file = out->size - start - url_path_start(out->data + start, parts);
    return parts->host_len + file + LARBIN_URL_EXTRA < LARBIN_URL_END ? RESOLVED_OK
                                                                      : RESOLVED_INVALID;
}

#endif
