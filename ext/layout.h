/* Byte layouts that two or more kernels share; little endian, packed, no pointers.
 *
 * The documents are docs/protocol.md (link buffers, LINKS) and docs/format-queue.md (log records);
 * this header only gives their numbers names.  Never renumber, never reorder: LINKS crosses process
 * borders and log records lie on disk.
 */
#ifndef LARBINPY_LAYOUT_H
#define LARBINPY_LAYOUT_H

#include <stdint.h>

#define PACKED __attribute__((packed))

/* --- one link as the scanner found it; `value_len` bytes of UTF-8 follow ------------------- */
typedef struct PACKED {
    uint8_t element;   /* ELEMENT_* */
    uint8_t attribute; /* ATTRIBUTE_* */
    uint8_t rel;       /* REL_* bits */
    uint8_t reserved;
    uint32_t value_len;
} found_link;

/* --- one link after resolving and normalising; `url_len` bytes of ASCII follow ------------- */
typedef struct PACKED {
    uint8_t status;  /* RESOLVED_* */
    uint8_t https;   /* 1 when the scheme is https */
    uint8_t element; /* copied from found_link */
    uint8_t rel;     /* copied from found_link */
    uint8_t host_start;
    uint8_t host_len;
    uint16_t port; /* effective port, 80 or 443 where the URL names none */
    uint32_t url_len;
} resolved_link;

/* --- head of the links of one page in a LINKS frame; via, tag, then the links follow ------- */
typedef struct PACKED {
    uint16_t via_len;
    uint16_t tag_len;
    uint32_t links;      /* number of link_entry records */
    uint32_t links_bytes; /* their size, URLs included */
} link_group;

/* --- one link in a LINKS frame; `url_len` bytes of ASCII follow ---------------------------- */
typedef struct PACKED {
    uint64_t fingerprint;
    uint16_t url_len;
    uint16_t depth; /* links followed from the seed */
    uint16_t left;  /* links that may still be followed below it */
    uint16_t port;
    uint8_t host_start;
    uint8_t host_len;
    uint8_t level; /* 0 is served first */
    uint8_t kind;  /* KIND_* */
    uint8_t hops;  /* redirections since the last page */
    uint8_t flags; /* LINK_* bits */
    uint16_t reserved;
    float score;
    float relevance;
} link_entry;

/* --- head of a log record; payload and zero padding to 8 bytes follow ---------------------- */
typedef struct PACKED {
    uint32_t crc; /* crc32c over salt and everything behind this field */
    uint32_t len; /* payload bytes, padding not counted */
    uint8_t type; /* RECORD_* */
    uint8_t flags;
    uint16_t reserved;
    uint64_t lsn;
} record_head;

/* --- payload of ENQ; url, rest of via, tag follow ------------------------------------------ */
typedef struct PACKED {
    uint64_t fingerprint;
    uint16_t depth;
    uint16_t left;
    uint16_t port;
    uint8_t host_start;
    uint8_t host_len;
    uint8_t level;
    uint8_t kind;
    uint8_t hops;
    uint8_t attempts;
    uint8_t flags;
    uint8_t reserved[3];
    float score;
    float relevance;
    uint16_t url_len;
    uint16_t via_shared; /* bytes that via has in common with the start of url */
    uint16_t via_rest;   /* bytes of via that follow the url here */
    uint16_t tag_len;
} enq_payload;

/* --- payload of MOVE: the id that the URL keeps, then a whole ENQ payload ------------------ */
typedef struct PACKED {
    uint64_t id_lsn;
    enq_payload enq;
} move_payload;

enum {
    RESOLVED_OK = 0,
    RESOLVED_INVALID = 1,  /* does not parse */
    RESOLVED_SCHEME = 2,   /* parses, but is neither http nor https */
    RESOLVED_SLOW = 3,     /* needs the Python path: non-ASCII host, or query in another encoding */
    RESOLVED_EMPTY = 4,    /* an empty href or src that HTML never fetches */
    RESOLVED_TOO_LONG = 5  /* longer than a URL may be */
};

enum { KIND_PAGE = 0, KIND_ROBOTS = 1, KIND_SITEMAP = 2 };

enum { LINK_HTTPS = 1, LINK_SEED = 2, LINK_REDIRECT = 4, LINK_FORCE = 8 };

enum {
    REL_NOFOLLOW = 1,
    REL_UGC = 2,
    REL_SPONSORED = 4,
    REL_CANONICAL = 8,
    REL_STYLESHEET = 16,
    REL_DOCUMENT = 32 /* a refresh without a URL: it means the document itself */
};

enum {
    RECORD_ENQ = 1,
    RECORD_DONE = 2,
    RECORD_RETRY = 3,
    RECORD_MOVE = 4,
    RECORD_COUNTS = 5,
    RECORD_HOST = 6,
    RECORD_SYNCMARK = 7,
    RECORD_SEAL = 8
};

enum {
    ELEMENT_OTHER = 0, ELEMENT_A = 1, ELEMENT_AREA = 2, ELEMENT_LINK = 3, ELEMENT_BASE = 4,
    ELEMENT_FRAME = 5, ELEMENT_IFRAME = 6, ELEMENT_IMG = 7, ELEMENT_SCRIPT = 8,
    ELEMENT_SOURCE = 9, ELEMENT_META = 10, ELEMENT_REDIRECT = 11, ELEMENT_SEED = 12,
    ELEMENT_EMBED = 13, ELEMENT_OBJECT = 14, ELEMENT_VIDEO = 15, ELEMENT_AUDIO = 16,
    ELEMENT_TRACK = 17, ELEMENT_FORM = 18,
    ELEMENT_STYLE = 19, /* a URL in CSS; its attribute is STYLE, or 0 in a style element */
    ELEMENT_MEDIA = 20  /* the src of source: what a video or audio plays */
};

enum {
    ATTRIBUTE_HREF = 1, ATTRIBUTE_SRC = 2, ATTRIBUTE_SRCSET = 3, ATTRIBUTE_CONTENT = 4,
    ATTRIBUTE_DATA = 5, ATTRIBUTE_POSTER = 6, ATTRIBUTE_ACTION = 7, ATTRIBUTE_STYLE = 8
};

#endif
