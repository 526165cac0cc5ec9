/* The access log of the synthetic web: one entry a request in memory, text only when asked. */
#ifndef LARBINPY_WEBLOG_H
#define LARBINPY_WEBLOG_H

#include <stdio.h>
#include <stdlib.h>

#include "webhttp.h"
#include "webpage.h"

enum { LOG_LINE = 256, LOG_BLOCK = 1 << 18 }; /* longest line, its path not counted; one write */

typedef struct {
    uint64_t start_ns, end_ns, agent;
    int64_t host;   /* -1: none of this web */
    uint64_t index; /* of the place; of an unknown path and of a trap's its offset in the arena */
    uint32_t address, connection, path_len;
    uint16_t status;
    uint8_t kind, method;
} log_entry;

typedef struct {
    log_entry *entries;
    char *arena; /* paths of traps and unknown ones, as they were sent */
    size_t len, room, arena_len, arena_room;
} web_log;

/* A new zeroed entry, or NULL when memory is out. */
static log_entry *log_add(web_log *log) {
    if (log->len == log->room) {
        size_t room = 2 * log->len + 4096;
        log_entry *grown = (log_entry *)realloc(log->entries, room * sizeof *grown);
        if (!grown) return NULL;
        log->entries = grown;
        log->room = room;
    }
    log_entry *e = log->entries + log->len++;
    memset(e, 0, sizeof *e);
    return e;
}

/* Keeps the path of an entry whose place is unknown; -1 when memory is out. */
static int log_path(web_log *log, log_entry *e, const char *path, size_t n) {
    if (log->arena_len + n > log->arena_room) {
        size_t room = 2 * (log->arena_len + n) + 4096;
        char *grown = (char *)realloc(log->arena, room);
        if (!grown) return -1;
        log->arena = grown;
        log->arena_room = room;
    }
    memcpy(log->arena + log->arena_len, path, n);
    e->index = log->arena_len;
    e->path_len = (uint32_t)n;
    log->arena_len += n;
    return 0;
}

static void log_free(web_log *log) {
    free(log->entries);
    free(log->arena);
}

static char *put_column(char *p, uint64_t value) { return PUT(put_number(p, value), "\t"); }

static char *put_entry(const web_spec *w, const web_log *log, char *p, const log_entry *e) {
    static const char *const methods[3] = {"GET", "HEAD", "OTHER"};
    p = put_column(put_column(p, e->start_ns), e->end_ns);
    p = e->host < 0 ? PUT(p, "-1\t") : put_column(p, (uint64_t)e->host);
    char *path = p;
    if (e->kind >= WEB_UNKNOWN)
        p = put_bytes(p, log->arena + e->index, e->path_len);
    else
        p = put_path(w, p, web_at((uint64_t)e->host, e->kind, e->index));
    for (; path < p; path++)
        if ((uint8_t)*path <= ' ') *path = '?'; /* a tab would shift the columns */
    p = PUT(put_address(put_column(PUT(p, "\t"), e->status), e->address), "\t");
    p = put_column(put_column(p, e->connection), e->agent);
    return PUT(put_text(p, methods[e->method]), "\n");
}

/* 0, or -1 with errno. */
static int log_write(const web_spec *w, const web_log *log, const char *path) {
    FILE *f = fopen(path, "wb");
    char *block = f ? (char *)malloc(LOG_BLOCK + LOG_LINE + REQUEST_MAX) : NULL, *p = block;
    int bad = !block;
    for (size_t k = 0; k < log->len && !bad; k++) {
        p = put_entry(w, log, p, log->entries + k);
        if (p - block < LOG_BLOCK) continue;
        bad = fwrite(block, 1, (size_t)(p - block), f) != (size_t)(p - block);
        p = block;
    }
    if (!bad) bad = fwrite(block, 1, (size_t)(p - block), f) != (size_t)(p - block);
    free(block);
    if (f && fclose(f)) bad = 1;
    return bad ? -1 : 0;
}

#endif
