# The synthetic web of webmodel.h, webtraps.h, webpage.h, webhttp.h and weblog.h: declarations only.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "webhttp.h" nogil:
    enum: REQUEST_MAX, REQUEST_PARTIAL, REQUEST_OK, METHOD_HEAD
    ctypedef struct web_request:
        const char *host
        const char *path
        size_t host_len
        size_t path_len
        size_t size
        uint64_t agent
        uint8_t method
        uint8_t is_last
    uint64_t web_agent_hash(const char *text, size_t n)
    int web_parse(const char *data, size_t n, web_request *r)


cdef extern from "webmodel.h" nogil:
    enum: SHARE_COUNT, POOL_BYTES, LINKS_MAX, HOST_CHILDREN, WEB_UNKNOWN, WEB_OFF, SALT_LATENCY
    ctypedef struct web_spec:
        uint64_t seed
        uint64_t hosts
        uint64_t pages
        uint64_t roots
        uint64_t notes
        uint64_t chain
        uint32_t links
        uint32_t branch
        uint32_t port
        uint32_t layered
        uint32_t keep_alive
        uint32_t names_per_address
        uint32_t page_bytes
        uint32_t page_spread
        uint32_t large_bytes
        uint32_t latency_ms
        uint32_t latency_spread_ms
        uint32_t traps
        double share[32]
        char *pool
    ctypedef struct web_place:
        uint64_t host
        uint64_t index
        uint8_t kind
    ctypedef struct web_link:
        web_place to
        uint8_t element
    ctypedef struct web_facts:
        uint16_t status
        uint8_t type
        uint8_t flags
        web_place target
    uint64_t web_draw(const web_spec *w, uint64_t salt, uint64_t host, uint64_t index)
    uint32_t web_address(const web_spec *w, uint64_t host)
    bint web_is_trap(const web_spec *w, uint64_t host)
    bint web_is_named(const web_spec *w, uint64_t host)
    int web_robots(const web_spec *w, uint64_t host)
    bint web_is_private(const web_spec *w, web_place at)
    web_facts web_facts_of(const web_spec *w, web_place at)
    uint32_t web_links(const web_spec *w, web_place at, const web_facts *f, web_link *out)
    web_place web_at(uint64_t host, int kind, uint64_t index)


cdef extern from "webtraps.h" nogil:
    enum: TRAP_KINDS
    ctypedef struct trap_name:
        const char *text
        size_t size
    const trap_name *trap_names
    web_place trap_find(const web_spec *w, uint64_t host, const char *name, size_t name_len,
                        const char *path, size_t n)


cdef extern from "webpage.h" nogil:
    enum: LINK_ROOM
    size_t web_room(const web_spec *w)
    void web_fill_pool(const web_spec *w)
    char *put_address(char *p, uint32_t address)
    char *put_host(const web_spec *w, char *p, uint64_t host)
    char *put_url(const web_spec *w, char *p, web_place at)
    char *put_link(const web_spec *w, char *p, web_place at, bint is_from_root, const web_link *l)
    char *put_location(const web_spec *w, char *p, web_place at, const web_facts *f)
    char *put_body(const web_spec *w, char *p, web_place at, const web_facts *f, web_link *links)
    char *put_response(const web_spec *w, char *p, web_place at, const web_facts *f,
                       web_link *links, bint is_head, bint is_last)
    int64_t web_find_host(const web_spec *w, const char *name, size_t n)
    web_place web_find(const web_spec *w, uint64_t host, const char *path, size_t n)


cdef extern from "weblog.h" nogil:
    ctypedef struct log_entry:
        uint64_t start_ns
        uint64_t end_ns
        uint64_t agent
        int64_t host
        uint64_t index
        uint32_t address
        uint32_t connection
        uint32_t path_len
        uint16_t status
        uint8_t kind
        uint8_t method
    ctypedef struct web_log:
        log_entry *entries
        size_t len
    log_entry *log_add(web_log *log)
    int log_path(web_log *log, log_entry *e, const char *path, size_t n)
    void log_free(web_log *log)
    int log_write(const web_spec *w, const web_log *log, const char *path)
