/* What the synthetic web reads of an HTTP/1.x request: one bounded scan, no allocation. */
#ifndef LARBINPY_WEBHTTP_H
#define LARBINPY_WEBHTTP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { REQUEST_MAX = 8192 };
enum { REQUEST_PARTIAL = 0, REQUEST_OK = 200 }; /* else the status of the refusal */
enum { METHOD_GET, METHOD_HEAD, METHOD_OTHER };

typedef struct {
    const char *host, *path; /* host without port; NULL when the request names none */
    size_t host_len, path_len, size;
    uint64_t agent; /* hash of the User-Agent */
    uint8_t method, is_last;
} web_request;

/* FNV-1a, 64 bits. */
static uint64_t web_agent_hash(const char *text, size_t n) {
    uint64_t h = 0xcbf29ce484222325ULL;
    for (size_t k = 0; k < n; k++) h = (h ^ (uint8_t)text[k]) * 0x100000001b3ULL;
    return h;
}

static int is_header(const char *line, size_t n, const char *name, size_t size) {
    return n > size && line[size] == ':' && !strncasecmp(line, name, size);
}

static void take_authority(web_request *r, const char *p, size_t n) {
    const char *colon = memchr(p, ':', n);
    r->host = p;
    r->host_len = colon ? (size_t)(colon - p) : n;
}

static void take_header(web_request *r, const char *line, size_t n) {
    size_t name;
    if (is_header(line, n, "host", name = 4) || is_header(line, n, "connection", name = 10) ||
        is_header(line, n, "user-agent", name = 10)) {
        const char *p = line + name + 1, *end = line + n;
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
        size_t size = (size_t)(end - p);
        if ((*line | 32) == 'h') {
            if (!r->host) take_authority(r, p, size); /* an absolute target wins */
        } else if ((*line | 32) == 'u') {
            r->agent = web_agent_hash(p, size);
        } else if (size == 5 && !strncasecmp(p, "close", 5)) {
            r->is_last = 1;
        } else if (size == 10 && !strncasecmp(p, "keep-alive", 10)) {
            r->is_last = 0;
        }
    }
}

static int take_request_line(web_request *r, const char *line, size_t n) {
    const char *end = line + n, *target = memchr(line, ' ', n);
    if (!target || n < 14 || memcmp(end - 9, " HTTP/1.", 8) || target >= end - 9) return 400;
    size_t name = (size_t)(target - line);
    r->method = name == 3 && !memcmp(line, "GET", 3)    ? METHOD_GET
                : name == 4 && !memcmp(line, "HEAD", 4) ? METHOD_HEAD
                                                        : METHOD_OTHER;
    r->is_last = end[-1] == '0';
    r->path = target + 1;
    r->path_len = (size_t)(end - 9 - r->path);
    if (r->path_len > 7 && !memcmp(r->path, "http://", 7)) {
        const char *host = r->path + 7, *slash = memchr(host, '/', r->path_len - 7);
        if (!slash) return 400;
        take_authority(r, host, (size_t)(slash - host));
        r->path_len -= (size_t)(slash - r->path);
        r->path = slash;
    }
    return *r->path == '/' ? REQUEST_OK : 400;
}

/* REQUEST_PARTIAL, REQUEST_OK or the status to refuse with; a refused request ends the connection. */
static int web_parse(const char *data, size_t n, web_request *r) {
    memset(r, 0, sizeof *r);
    const char *stop = memmem(data, n < REQUEST_MAX ? n : REQUEST_MAX, "\r\n\r\n", 4);
    if (!stop) return n >= REQUEST_MAX ? 431 : REQUEST_PARTIAL;
    r->size = (size_t)(stop - data) + 4;
    const char *line = data, *eol = memmem(line, r->size, "\r\n", 2);
    int status = take_request_line(r, line, (size_t)(eol - line));
    while (eol < stop) {
        line = eol + 2;
        eol = memmem(line, (size_t)(stop + 2 - line), "\r\n", 2);
        take_header(r, line, (size_t)(eol - line));
    }
    if (status == REQUEST_OK && r->method == METHOD_OTHER) status = 405; /* its body is not read */
    if (status != REQUEST_OK) r->is_last = 1;
    return status;
}

#endif
