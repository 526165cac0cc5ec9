# The connections of the synthetic web's server, header only: read a request, find its place, note
# it, answer it now or when its latency has passed.
#
# Invariants:
# 1. `input` and `output` are shared by all connections and hold nothing between two calls; what is
#    not used yet of the one, and not sent yet of the other, is copied to the connection.
# 2. Requests of one connection are answered in order, one at a time.
# 3. A connection that is dropped may leave a timer behind: its number tells that it is stale.

from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memmove
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport close

from webpages cimport (
    METHOD_HEAD, REQUEST_MAX, REQUEST_OK, REQUEST_PARTIAL, SALT_LATENCY, WEB_UNKNOWN, log_add,
    log_entry, log_path, put_response, trap_find, web_address, web_at, web_draw, web_facts,
    web_facts_of, web_find, web_find_host, web_is_trap, web_link, web_log, web_parse, web_place,
    web_request, web_spec,
)


cdef extern from "sys/socket.h" nogil:
    enum: MSG_NOSIGNAL
    ssize_t send(int fd, const void *data, size_t n, int flags)
    ssize_t recv(int fd, void *data, size_t n, int flags)

cdef extern from "heap.h" nogil:
    ctypedef struct heap_node:
        uint64_t key
        uint32_t turn
        uint32_t id
    ctypedef void (*heap_moved)(void *owner, uint32_t id, uint32_t at) noexcept
    void heap_push(heap_node *nodes, uint32_t *count, heap_node node, void *owner,
                   heap_moved moved)
    void heap_remove(heap_node *nodes, uint32_t *count, uint32_t at, void *owner,
                     heap_moved moved)

cdef enum:
    INPUT_ROOM = 2 * REQUEST_MAX


cdef struct conn:
    int fd
    uint32_t number
    uint32_t address
    uint8_t is_readable
    uint8_t is_waiting
    uint8_t is_last
    uint8_t is_head
    web_place at
    web_facts facts
    uint64_t entry
    char *rest  # input that is not used yet
    size_t rest_len
    char *out  # output that the socket has not taken
    size_t out_len
    size_t out_pos


cdef struct web_server:
    const web_spec *spec
    web_link *links  # room for those of one page
    int listener
    int epoll
    int spare
    conn **conns  # by descriptor
    size_t conns_room
    heap_node *timers  # key: when due; turn: number of the connection; id: its descriptor
    uint32_t timers_count
    uint32_t timers_room
    web_log log
    char *input
    char *output
    uint32_t accepted
    uint64_t refused


cdef inline uint64_t now_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return <uint64_t>t.tv_sec * 1000000000 + <uint64_t>t.tv_nsec


cdef inline void drop(web_server *s, conn *c) noexcept nogil:
    s.conns[c.fd] = NULL
    close(c.fd)
    free(c.rest)
    free(c.out)
    free(c)


# --- latency ------------------------------------------------------------------------------------
cdef inline void timer_moved(void *owner, uint32_t fd, uint32_t at) noexcept nogil:
    """Nobody asks where a timer is."""


cdef inline int start_timer(web_server *s, const conn *c, uint64_t due_ns) noexcept nogil:
    """-1 when memory is out."""
    cdef uint32_t room = 2 * s.timers_room + 64
    cdef heap_node *grown
    if s.timers_count == s.timers_room:
        grown = <heap_node *>realloc(s.timers, room * sizeof(heap_node))
        if not grown:
            return -1
        s.timers, s.timers_room = grown, room
    heap_push(s.timers, &s.timers_count, heap_node(due_ns, c.number, <uint32_t>c.fd), NULL,
              timer_moved)
    return 0


cdef inline conn *take_timer(web_server *s) noexcept nogil:
    """Take the next timer; its connection, NULL when that is gone."""
    cdef heap_node first = s.timers[0]
    cdef conn *c = s.conns[first.id]
    heap_remove(s.timers, &s.timers_count, 0, NULL, timer_moved)
    return c if c and c.number == first.turn else NULL


# --- input --------------------------------------------------------------------------------------
cdef inline int keep(web_server *s, conn *c, size_t at, size_t n) noexcept nogil:
    """Save the input that is not used yet."""
    c.rest_len = n - at
    if n > at:
        if not c.rest:
            c.rest = <char *>malloc(INPUT_ROOM)
            if not c.rest:
                return -1
        memcpy(c.rest, s.input + at, n - at)
    return 0


cdef inline bint receive(web_server *s, conn *c, size_t *n) noexcept nogil:
    """Read what there is behind the first ``n`` bytes; False when the client is gone."""
    cdef size_t room = INPUT_ROOM - n[0]
    cdef ssize_t got = recv(c.fd, s.input + n[0], room, 0)
    if got < 0:
        if errno == EAGAIN:
            c.is_readable = 0
        return errno == EAGAIN or errno == EINTR
    if <size_t>got < room and c.is_readable == 1:
        c.is_readable = 0
    n[0] += <size_t>got
    return got > 0


# --- output -------------------------------------------------------------------------------------
cdef inline int respond(web_server *s, conn *c) noexcept nogil:
    cdef char *end = put_response(
        s.spec, s.output, c.at, &c.facts, s.links, c.is_head, c.is_last
    )
    cdef size_t n = <size_t>(end - s.output)
    cdef ssize_t sent = send(c.fd, s.output, n, MSG_NOSIGNAL)
    if sent == <ssize_t>n:
        s.log.entries[c.entry].end_ns = now_ns()
        return 0
    if sent < 0:
        sent = 0  # a broken connection is found by flush
    c.out_len, c.out_pos = n - <size_t>sent, 0
    c.out = <char *>malloc(c.out_len)
    if not c.out:
        return -1
    memcpy(c.out, s.output + sent, c.out_len)
    return 0


cdef inline int flush(web_server *s, conn *c) noexcept nogil:
    """1 when nothing is left to send, 0 when the socket is full, -1 when it is broken."""
    cdef ssize_t sent
    if not c.out:
        return 1
    while c.out_pos < c.out_len:
        sent = send(c.fd, c.out + c.out_pos, c.out_len - c.out_pos, MSG_NOSIGNAL)
        if sent < 0:
            if errno == EAGAIN:
                return 0
            free(c.out)
            c.out = NULL
            return -1
        c.out_pos += <size_t>sent
    free(c.out)
    c.out = NULL
    s.log.entries[c.entry].end_ns = now_ns()
    return 1


# --- a request ----------------------------------------------------------------------------------
cdef inline int note(web_server *s, conn *c, int64_t host, const web_request *r) noexcept nogil:
    """Log the start of a request; -1 when memory is out."""
    cdef log_entry *e = log_add(&s.log)
    if not e:
        return -1
    c.entry = s.log.len - 1
    e.start_ns, e.agent, e.method = now_ns(), r.agent, r.method
    e.host, e.index, e.kind = host, c.at.index, c.at.kind
    e.address, e.connection, e.status = c.address, c.number, c.facts.status
    if c.at.kind >= WEB_UNKNOWN and r.path:
        return log_path(&s.log, e, r.path, r.path_len)
    return 0


cdef inline uint64_t latency_ns(const web_spec *w, web_place at) noexcept nogil:
    cdef uint64_t delay = 1000000 * <uint64_t>w.latency_ms
    if w.latency_spread_ms:
        delay += web_draw(w, SALT_LATENCY, at.host, at.index) \
            % (1000000 * <uint64_t>w.latency_spread_ms)
    return delay


cdef inline int begin(web_server *s, conn *c, int status, const web_request *r) noexcept nogil:
    """Take a request: find its place, log it, answer now or after the latency."""
    cdef const web_spec *w = s.spec
    cdef int64_t host = -1
    c.at = web_at(0, WEB_UNKNOWN, 0)
    if status == REQUEST_OK:
        host = web_find_host(w, r.host, r.host_len) if r.host else -1
        if host < 0 or web_address(w, <uint64_t>host) != c.address:
            status = 421
        elif web_is_trap(w, <uint64_t>host):
            c.at = trap_find(w, <uint64_t>host, r.host, r.host_len, r.path, r.path_len)
        else:
            c.at = web_find(w, <uint64_t>host, r.path, r.path_len)
    c.facts = web_facts_of(w, c.at)
    if status != REQUEST_OK:
        c.facts.status = <uint16_t>status
    c.is_head = r.method == METHOD_HEAD
    c.is_last = r.is_last or not w.keep_alive
    if note(s, c, host, r) < 0:
        return -1
    if w.latency_ms or w.latency_spread_ms:
        c.is_waiting = 1
        return start_timer(s, c, s.log.entries[c.entry].start_ns + latency_ns(w, c.at))
    return respond(s, c)


cdef inline int advance(web_server *s, conn *c) noexcept nogil:
    """Go as far as input, room in the socket and latency allow; -1 when memory is out."""
    cdef size_t n = c.rest_len, at = 0
    cdef web_request request
    cdef int status
    if n:
        memcpy(s.input, c.rest, n)
    while flush(s, c) == 1:
        if c.is_waiting:
            return keep(s, c, at, n)
        if c.is_last:
            recv(c.fd, s.input, INPUT_ROOM, 0)  # unread input would turn close into a reset
            break
        status = web_parse(s.input + at, n - at, &request)
        if status == REQUEST_PARTIAL:
            if not c.is_readable:
                return keep(s, c, at, n)
            memmove(s.input, s.input + at, n - at)
            n, at = n - at, 0
            if not receive(s, c, &n):
                break
        else:
            if begin(s, c, status, &request) < 0:
                return -1
            at += request.size
    else:
        if c.out:
            return keep(s, c, at, n)
    drop(s, c)
    return 0
