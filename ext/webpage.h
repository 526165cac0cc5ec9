/* The synthetic web as bytes: paths, URLs, the text of links, pages and whole responses.
 *
 * No page is stored: the words come from a pool, cut at places that the page's hash picks, behind a
 * title that no other page has (in letters too, since larbin's page hash reads letters only).
 */
#ifndef LARBINPY_WEBPAGE_H
#define LARBINPY_WEBPAGE_H

#include "webtraps.h"

enum { LINK_ROOM = 512, PAGE_ROOM = 8192, LENGTH_WIDTH = 10, PATH_ROOM = 64 };

/* Room that any response needs. */
static size_t web_room(const web_spec *w) {
    uint64_t body = (uint64_t)w->page_bytes + w->page_spread;
    if (w->large_bytes > body) body = w->large_bytes;
    return body + (size_t)(w->links + w->branch + 16) * LINK_ROOM + PAGE_ROOM;
}

/* --- names, paths, URLs ------------------------------------------------------------------ */

static char *put_host(const web_spec *w, char *p, uint64_t host) {
    if (web_is_trap(w, host)) return put_trap_host(w, p, host);
    if (!web_is_named(w, host)) return put_address(p, web_address(w, host));
    *p++ = 'h';
    for (uint64_t limit = 1000; limit > 1 && host < limit; limit /= 10) *p++ = '0';
    return PUT(put_number(p, host), ".web.test");
}

static char *put_authority(const web_spec *w, char *p, uint64_t host) {
    p = put_host(w, p, host);
    if (w->port != 80) p = put_number(PUT(p, ":"), w->port);
    return p;
}

static char *put_page_path(const web_spec *w, char *p, web_place at) {
    static const char *const endings[4] = {".html", ".txt", ".png", ".pdf"};
    if (!at.index) return PUT(p, "/");
    if (web_is_private(w, at))
        p = PUT(p, "/private/p");
    else
        p = PUT(put_number(PUT(p, "/s"), web_draw(w, SALT_DIRECTORY, at.host, at.index) % DIRECTORIES),
                "/p");
    return put_text(put_number(p, at.index), endings[web_facts_of(w, at).type]);
}

/* Path and query; at most PATH_ROOM bytes. */
static char *put_path(const web_spec *w, char *p, web_place at) {
    static const char *const archives[4] = {".zip", ".tar.gz", ".exe", ".iso"};
    switch (at.kind) {
    case WEB_PAGE: return put_page_path(w, p, at);
    case WEB_CHAIN: return PUT(put_number(PUT(p, "/chain/c"), at.index), ".html");
    case WEB_NOTE: return PUT(put_number(PUT(p, "/notes/n"), at.index), ".html");
    case WEB_GONE: return PUT(put_number(PUT(p, "/gone/g"), at.index), ".html");
    case WEB_ARCHIVE: return put_text(put_number(PUT(p, "/files/a"), at.index), archives[at.index % 4]);
    case WEB_CGI: return PUT(put_number(PUT(put_number(PUT(p, "/cgi/q"), at.index), "?x="), at.index), "&y=1");
    case WEB_IMAGE: return PUT(put_number(PUT(p, "/img/i"), at.index), ".png");
    case WEB_ROBOTS: return PUT(p, "/robots.txt");
    default: return p;
    }
}

static char *put_foreign(char *p, web_place at) {
    static const char *const schemes[5] = {"mailto:m@web.test?n=", "javascript:void ", "tel:+", "ftp://127.0.0.1/f",
                                           "data:text/plain,"};
    if (at.kind == WEB_SCHEME) return put_number(put_text(p, schemes[at.index % 5]), at.index);
    p = PUT(put_number(PUT(p, "http://x"), at.index), ".elsewhere.invalid/p");
    return PUT(put_number(p, at.index), ".html");
}

/* The URL as a crawler knows it after normalising. */
static char *put_url(const web_spec *w, char *p, web_place at) {
    if (at.kind >= WEB_OFF) return put_foreign(p, at);
    return put_path(w, put_authority(w, PUT(p, "http://"), at.host), at);
}

/* --- from a request to a place ----------------------------------------------------------- */

/* The host with this name (no port), or -1. */
static int64_t web_find_host(const web_spec *w, const char *name, size_t n) {
    char own[PATH_ROOM];
    const char *p = name, *end = name + n;
    uint64_t host = 0, part;
    int64_t trap = trap_find_host(w, name, n);
    if (trap >= 0) return trap;
    if (n && (*p | 32) == 'h') {
        take_number(p + 1, end, &host);
    } else {
        for (int k = 0; k < 4; k++, p++) {
            p = take_number(p, end, &part);
            host = host << 8 | (part & 0xff);
        }
        host -= 0x7f000001;
    }
    if (host >= w->hosts) return -1;
    size_t size = (size_t)(put_host(w, own, host) - own);
    if (size != n) return -1;
    for (size_t k = 0; k < n; k++)
        if (own[k] != (name[k] >= 'A' && name[k] <= 'Z' ? name[k] | 32 : name[k])) return -1;
    return (int64_t)host;
}

static uint64_t web_count(const web_spec *w, int kind) { /* indexes are below this */
    switch (kind) {
    case WEB_PAGE: return w->pages;
    case WEB_CHAIN: return w->chain + 1;
    case WEB_NOTE: return w->notes;
    case WEB_ROBOTS: return 1;
    default: return 1000;
    }
}

/* The place whose path is exactly this; kind WEB_UNKNOWN when there is none. */
static web_place web_find(const web_spec *w, uint64_t host, const char *path, size_t n) {
    static const struct { char head[12]; uint8_t size, kind; } heads[] = {
        {"/private/", 9, WEB_PAGE}, {"/chain/", 7, WEB_CHAIN}, {"/notes/", 7, WEB_NOTE},
        {"/gone/", 6, WEB_GONE},    {"/files/", 7, WEB_ARCHIVE}, {"/cgi/", 5, WEB_CGI},
        {"/img/", 5, WEB_IMAGE},    {"/robots.txt", 8, WEB_ROBOTS},
    };
    char own[PATH_ROOM];
    web_place at = web_at(host, WEB_PAGE, 0);
    const char *number = path + 5; /* behind /s0/p */
    if (n < PATH_ROOM && n > 1) {
        for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
            if (n > heads[k].size && !memcmp(path, heads[k].head, heads[k].size)) {
                at.kind = heads[k].kind;
                number = path + heads[k].size + 1;
            }
        if (number < path + n) take_number(number, path + n, &at.index);
        if (at.kind == WEB_ROBOTS) at.index = 0;
    }
    if (n >= PATH_ROOM || at.index >= web_count(w, at.kind) || (at.kind == WEB_CHAIN && !at.index))
        return web_at(host, WEB_UNKNOWN, 0);
    size_t size = (size_t)(put_path(w, own, at) - own);
    if (size != n || memcmp(own, path, n)) return web_at(host, WEB_UNKNOWN, 0);
    return at;
}

/* --- the text of links ------------------------------------------------------------------- */

static char *put_upper(char *from, char *to) {
    for (; from < to; from++)
        if (*from >= 'a' && *from <= 'z') *from &= ~32;
    return to;
}

/* Path as a relative reference from a page in `own_path`, or from the root when the page says so. */
static char *put_relative(char *p, const char *own_path, int is_from_root, const char *path, size_t n) {
    const char *slash = strchr(own_path + 1, '/');
    size_t directory = slash && !is_from_root ? (size_t)(slash - own_path) + 1 : 1;
    if (n >= directory && !memcmp(path, own_path, directory)) {
        if (n == directory || (n & 1)) p = PUT(p, "./");
        return put_bytes(p, path + directory, n - directory);
    }
    return put_bytes(PUT(p, "../"), path + 1, n - 1);
}

/* The URL text of a link, as it stands in the attribute once character references are decoded. */
static char *put_link(const web_spec *w, char *p, web_place from, int is_from_root, const web_link *link) {
    char own[PATH_ROOM], path[PATH_ROOM];
    char *start = p;
    if (link->to.kind >= WEB_OFF) return put_foreign(p, link->to);
    size_t n = (size_t)(put_path(w, path, link->to) - path);
    if (link->form <= FORM_SCHEMELESS) {
        if (link->form == FORM_ABSOLUTE) p = PUT(p, "http:");
        p = put_authority(w, PUT(p, "//"), link->to.host);
        if (link->messy == 1) p = put_upper(start, p);
    }
    if (link->form == FORM_RELATIVE) {
        *put_path(w, own, from) = 0;
        p = put_relative(p, own, is_from_root, path, n);
    } else {
        if (link->messy == 2) p = PUT(p, "/.");
        if (link->messy == 3) p = PUT(p, "/zz/..");
        if (n > 1 || link->form == FORM_ROOT || link->messy != 4) p = put_bytes(p, path, n);
    }
    if (link->fragment) p = put_number(PUT(p, "#f"), link->fragment);
    return p;
}

static char *put_escaped(char *p, const char *text, const char *end) {
    for (; text < end; text++) {
        *p++ = *text;
        if (*text == '&') p = PUT(p, "amp;");
    }
    return p;
}

static char *put_element(const web_spec *w, char *p, web_place from, int is_from_root, const web_link *link) {
    static const char *const heads[6] = {"<a href=",  "<area href=", "<iframe src=", "<link rel=\"next\" href=",
                                         "<img alt=\"\" src=", "<meta http-equiv=\"refresh\" content="};
    static const char *const tails[6] = {">there</a>", ">", "></iframe>", ">", ">", ">\n"};
    char text[LINK_ROOM / 2];
    char *end = put_link(w, text, from, is_from_root, link);
    int quote = link->quote == 2 ? 0 : link->quote == 1 ? '\'' : '"';
    p = link->quote == 3 && link->element == LINK_A ? PUT(p, "<A class=x\nHREF = ") : put_text(p, heads[link->element]);
    if (quote) *p++ = (char)quote;
    if (link->element == LINK_REFRESH) p = PUT(p, "5; url=");
    if (quote && link->messy == 4 && link->element == LINK_A) p = PUT(p, " ");
    p = put_escaped(p, text, end);
    if (quote) *p++ = (char)quote;
    return put_text(p, tails[link->element]);
}

/* --- pages ------------------------------------------------------------------------------- */

static uint64_t web_size(const web_spec *w, web_place at) {
    uint64_t x = web_draw(w, SALT_SIZE, at.host, at.index * 16 + at.kind);
    if (at.kind == WEB_PAGE && web_has(w, SHARE_LARGE, web_draw(w, SALT_LARGE, at.host, at.index)))
        return w->large_bytes;
    return w->page_bytes - w->page_spread + x % (2 * (uint64_t)w->page_spread + 1);
}

static char *put_head(const web_spec *w, char *p, web_place at, const web_facts *facts,
                      const web_link *links, uint32_t n, uint64_t x) {
    p = PUT(p, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\n");
    if (facts->flags & FLAG_BASE) {
        p = PUT(p, "<base href=\"");
        if (x & 1) p = put_authority(w, PUT(p, "http://"), at.host);
        p = PUT(p, "/\">\n");
    }
    if (n && links[0].element == LINK_REFRESH)
        p = put_element(w, p, at, facts->flags & FLAG_BASE, links);
    p = put_word(PUT(p, "<title>"), x);
    p = put_number(PUT(put_number(PUT(p, " "), at.host), " "), at.index);
    return put_word(PUT(p, "</title></head>\n<body><h1>"), web_mix(x ^ w->seed));
}

/* An HTML page of the wanted size, or larger when its links need it. */
static char *put_html(const web_spec *w, char *p, web_place at, const web_facts *facts, web_link *links) {
    uint32_t n = web_links(w, at, facts, links);
    uint64_t x = web_draw(w, SALT_TEXT, at.host, at.index * 16 + at.kind), size = web_size(w, at);
    char *start = p;
    p = PUT(put_head(w, p, at, facts, links, n, x), "</h1>\n");
    if (facts->flags & FLAG_DECOY)
        p = PUT(p, "<!-- <a href=\"/trap/1.html\">no</a> -->\n"
                   "<script>var t = '<a href=\"/trap/2.html\">no</a>';</script>\n");
    uint64_t each = n ? size / n : 0, used = 96; /* what element and URL take, about */
    for (uint32_t k = n && links[0].element == LINK_REFRESH; k < n; k++) {
        p = PUT(p, "<p>");
        p = put_words(w, p, x + k, each > used ? each - used : 0);
        p = PUT(put_element(w, PUT(p, " "), at, facts->flags & FLAG_BASE, links + k), "\n");
    }
    uint64_t done = (uint64_t)(p - start) + sizeof("<p>\n</body></html>\n") - 1;
    p = put_words(w, PUT(p, "<p>"), x + n, done < size ? size - done : 0);
    return PUT(p, "\n</body></html>\n");
}

static char *put_error(const web_spec *w, char *p, web_place at, const web_facts *facts) {
    p = put_number(PUT(p, "<!DOCTYPE html>\n<html><head><title>"), facts->status);
    p = put_word(PUT(p, "</title></head>\n<body><p>"), web_draw(w, SALT_TEXT, at.host, at.index * 16 + at.kind));
    return PUT(p, " <a href=\"/trap/3.html\">no</a>\n</body></html>\n");
}

static char *put_robots(const web_spec *w, char *p, uint64_t host) {
    switch (web_robots(w, host)) {
    case ROBOTS_ALL: return PUT(p, "User-agent: *\nDisallow: /private/\n");
    case ROBOTS_NAMED: return PUT(p, "User-agent: larbin\nDisallow: /private/\n\nUser-agent: *\nDisallow:\n");
    case ROBOTS_OTHER: return PUT(p, "User-agent: otherbot\nDisallow: /\n\nUser-agent: *\nAllow: /\n");
    default: return p;
    }
}

static char *put_body(const web_spec *w, char *p, web_place at, const web_facts *facts, web_link *links) {
    static const char *const magics[5] = {"", "", "\x89PNG\r\n\x1a\n", "%PDF-1.4\n", "PK\x03\x04"};
    if (at.kind == WEB_TRAP) return put_trap(w, p, at);
    if (at.kind == WEB_ROBOTS && facts->status == 200) return put_robots(w, p, at.host);
    if (facts->status != 200) return put_error(w, p, at, facts);
    if (facts->type == TYPE_HTML) return put_html(w, p, at, facts, links);
    uint64_t x = web_draw(w, SALT_TEXT, at.host, at.index * 16 + at.kind);
    return put_words(w, put_word(put_text(p, magics[facts->type]), x), x, web_size(w, at));
}

/* --- responses --------------------------------------------------------------------------- */

static const char *web_reason(int status) {
    switch (status) {
    case 200: return "200 OK";
    case 301: return "301 Moved Permanently";
    case 302: return "302 Found";
    case 307: return "307 Temporary Redirect";
    case 308: return "308 Permanent Redirect";
    case 400: return "400 Bad Request";
    case 403: return "403 Forbidden";
    case 404: return "404 Not Found";
    case 405: return "405 Method Not Allowed";
    case 410: return "410 Gone";
    case 421: return "421 Misdirected Request";
    case 431: return "431 Request Header Fields Too Large";
    default: return "500 Internal Server Error";
    }
}

/* The Location of a redirection, in one of the forms of a link. */
static char *put_location(const web_spec *w, char *p, web_place at, const web_facts *facts) {
    web_link link = web_dress(w, at, facts->target, web_draw(w, SALT_TARGET, at.host, ~at.index));
    link.fragment = 0;
    return put_link(w, p, at, 0, &link);
}

/* A whole response; the length is filled in once the body is written.  OWS before it is legal. */
static char *put_response(const web_spec *w, char *p, web_place at, const web_facts *facts,
                          web_link *links, int is_head, int is_last) {
    static const char *const types[5] = {"text/html; charset=utf-8", "text/plain; charset=utf-8",
                                         "image/png", "application/pdf", "application/zip"};
    p = put_text(PUT(p, "HTTP/1.1 "), web_reason(facts->status));
    p = put_text(PUT(p, "\r\nServer: web.test\r\nContent-Type: "), types[facts->type]);
    if (facts->status / 100 == 3) p = put_location(w, PUT(p, "\r\nLocation: "), at, facts);
    if (is_last) p = PUT(p, "\r\nConnection: close");
    p = PUT(p, "\r\nContent-Length:");
    char *length = p;
    memset(length, ' ', LENGTH_WIDTH);
    char *body = PUT(p + LENGTH_WIDTH, "\r\n\r\n");
    char *end = put_body(w, body, at, facts, links);
    char digits[20];
    size_t n = (size_t)(put_number(digits, (uint64_t)(end - body)) - digits);
    memcpy(length + LENGTH_WIDTH - n, digits, n);
    return is_head ? body : end;
}

#endif
