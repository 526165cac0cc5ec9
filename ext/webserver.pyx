"""Serve the synthetic web, and tell what is in it.

``Web`` is the model of ``webmodel.h`` for Python; ``Server`` answers requests from the same code,
so that what is expected and what is served cannot differ.

The server is one thread around epoll.  Invariants:
1. A connection is registered once, edge triggered, and its input is read until there is no more, or
   until its response must wait for room or for the latency to pass; then it is marked readable.
2. Responses are made in one shared buffer and sent at once; only what the socket does not take is
   copied.  Likewise only half requests are kept.  An idle connection costs 128 bytes.
3. Requests of one connection are answered in order, one at a time.
4. One log entry a request, in the order of their starts, written as text only when asked.

Cost: two system calls a request beside epoll_wait; O(log waiting) for latency; no Python call.
"""

from libc.errno cimport EAGAIN, EINTR, EMFILE, ENFILE, errno
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove, memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport close

from webpages cimport (
    HOST_CHILDREN, LINK_ROOM, LINKS_MAX, METHOD_HEAD, POOL_BYTES, REQUEST_MAX, REQUEST_OK,
    REQUEST_PARTIAL, SALT_LATENCY, SHARE_COUNT, WEB_OFF, WEB_UNKNOWN, log_add, log_entry, log_free,
    log_path, log_write, put_address, put_body, put_host, put_link, put_location, put_response,
    put_url, web_address, web_agent_hash, web_at, web_draw, web_facts, web_facts_of,
    web_fill_pool, web_find, web_find_host, web_is_named, web_is_private, web_link, web_links,
    web_log, web_parse, web_place, web_request, web_robots, web_room, web_spec,
)


cdef extern from *:
    """
    #include <arpa/inet.h>
    #include <fcntl.h>
    #include <netinet/in.h>
    #include <sys/epoll.h>
    #include <sys/socket.h>
    #include <unistd.h>

    /* Accepted descriptor and the address it came to, host byte order; -1 like accept4. */
    static int web_accept(int listener, uint32_t *address) {
        struct sockaddr_in own = {0};
        socklen_t n = sizeof own;
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && getsockname(fd, (struct sockaddr *)&own, &n)) own.sin_addr.s_addr = 0;
        *address = ntohl(own.sin_addr.s_addr);
        return fd;
    }
    static int web_watch(int epoll, int fd, uint32_t events, uint64_t tag) {
        struct epoll_event event = {.events = events, .data.u64 = tag};
        return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
    static int web_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }
    """
    enum: EPOLLIN, EPOLLOUT, EPOLLET, EPOLLRDHUP, EPOLLHUP, EPOLLERR, EPOLL_CTL_DEL
    enum: EPOLL_CLOEXEC, MSG_NOSIGNAL
    ctypedef union epoll_data_t:
        uint64_t u64
    struct epoll_event:
        uint32_t events
        epoll_data_t data
    int epoll_create1(int flags) nogil
    int epoll_wait(int epoll, epoll_event *events, int n, int timeout) nogil
    int epoll_ctl(int epoll, int op, int fd, epoll_event *event) nogil
    ssize_t send(int fd, const void *data, size_t n, int flags) nogil
    ssize_t recv(int fd, void *data, size_t n, int flags) nogil
    int web_accept(int listener, uint32_t *address) nogil
    int web_watch(int epoll, int fd, uint32_t events, uint64_t tag) nogil
    int web_spare() nogil


SHARES = (
    "dead", "archive", "cgi", "image", "off_scope", "not_http", "duplicate", "cross", "fragment",
    "messy", "error", "redirect", "typed", "private", "large", "base", "refresh", "decoy", "named",
    "robots",
)
"""Names of the shares that ``Web`` takes, in its order."""

cdef enum:
    INPUT_ROOM = 2 * REQUEST_MAX
    EVENTS = 512
    ACCEPTS = 64  # connections accepted in a row, so that open ones are not starved
    LOOPBACK = 127
    IS_CONTROL = 1 << 30  # in the tag of a control descriptor

ctypedef struct conn:
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

ctypedef struct timer:
    uint64_t due_ns
    uint32_t number
    int fd


cdef inline uint64_t now_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return <uint64_t>t.tv_sec * 1000000000 + <uint64_t>t.tv_nsec


cdef class Web:
    """The model of one synthetic web.

    A place is ``(host, kind, index)``; kinds count from 0: page, chain, note, gone, archive, cgi,
    image, robots, off-scope URL, URL that is not HTTP.

    Args:
        shares: one number in [0, 1] for each name of ``SHARES``.

    Cost: one link array and one page buffer; no place is stored.
    """

    cdef web_spec w
    cdef web_link *links
    cdef char *room

    def __cinit__(
        self, *, uint64_t seed, uint64_t hosts, uint64_t pages, uint64_t roots, uint64_t notes,
        uint64_t chain, uint32_t links, uint32_t branch, uint32_t port, bint layered,
        bint keep_alive, uint32_t names_per_address, uint32_t page_bytes, uint32_t page_spread,
        uint32_t large_bytes, uint32_t latency_ms, uint32_t latency_spread_ms, shares,
    ):
        if len(shares) != SHARE_COUNT:
            raise ValueError(f"{len(shares)} shares, {SHARE_COUNT} wanted")
        if not (1 <= roots <= hosts < 1 << 24 and 1 <= pages < 1 << 48 and notes <= 1000):
            raise ValueError("hosts, roots, pages or notes out of range")
        if not (2 <= branch <= 16 and links < LINKS_MAX and names_per_address >= 1):
            raise ValueError("branch, links or names_per_address out of range")
        if chain >= 1 << 32 or port > 65535 or page_spread > page_bytes:
            raise ValueError("chain, port or page_spread out of range")
        self.w.seed, self.w.hosts, self.w.pages, self.w.roots = seed, hosts, pages, roots
        self.w.notes, self.w.chain, self.w.links, self.w.branch = notes, chain, links, branch
        self.w.port, self.w.layered, self.w.keep_alive = port, layered, keep_alive
        self.w.names_per_address = names_per_address
        self.w.page_bytes, self.w.page_spread = page_bytes, page_spread
        self.w.large_bytes = large_bytes
        self.w.latency_ms, self.w.latency_spread_ms = latency_ms, latency_spread_ms
        for k in range(SHARE_COUNT):
            self.w.share[k] = shares[k]
        self.w.pool = <char *>malloc(POOL_BYTES)
        self.links = <web_link *>malloc((links + branch + HOST_CHILDREN + 4) * sizeof(web_link))
        self.room = <char *>malloc(web_room(&self.w))
        if not self.w.pool or not self.links or not self.room:
            raise MemoryError()
        web_fill_pool(&self.w)

    def __dealloc__(self):
        free(self.w.pool)
        free(self.links)
        free(self.room)

    cdef web_place place(self, uint64_t host, int kind, uint64_t index) except *:
        if host >= self.w.hosts or not 0 <= kind < WEB_OFF or index >= 1 << 48:
            raise IndexError(f"no place {(host, kind, index)} on the server")
        return web_at(host, kind, index)

    def host(self, uint64_t host):
        """Name or address in URLs, address, whether it has a name, variant of its robots.txt."""
        self.place(host, 0, 0)
        cdef char name[64]
        cdef char address[64]
        return (
            name[:put_host(&self.w, name, host) - name],
            address[:put_address(address, web_address(&self.w, host)) - address],
            web_is_named(&self.w, host),
            web_robots(&self.w, host),
        )

    def url(self, uint64_t host, int kind, uint64_t index):
        """The URL of a place, normalised; also of places that are not on the server."""
        cdef char text[256]
        return text[:put_url(&self.w, text, web_at(host, kind, index)) - text]

    def find(self, bytes host, bytes path):
        """The place with this host (no port) and path, or None."""
        cdef int64_t number = web_find_host(&self.w, host, len(host))
        if number < 0 or not path:
            return None
        cdef web_place at = web_find(&self.w, number, path, len(path))
        return None if at.kind == WEB_UNKNOWN else (at.host, at.kind, at.index)

    def facts(self, uint64_t host, int kind, uint64_t index):
        """Status, number of the type, flags, is private, (target place, Location) or None."""
        cdef web_place at = self.place(host, kind, index)
        cdef web_facts f = web_facts_of(&self.w, at)
        cdef char text[LINK_ROOM]
        moved = None
        if 300 <= f.status < 400:
            location = text[:put_location(&self.w, text, at, &f) - text]
            moved = ((f.target.host, f.target.kind, f.target.index), location)
        return f.status, f.type, f.flags, web_is_private(&self.w, at), moved

    def edges(self, uint64_t host, int kind, uint64_t index):
        """``(host, kind, index, element)`` of each link of a place, in order."""
        cdef web_place at = self.place(host, kind, index)
        cdef web_facts f = web_facts_of(&self.w, at)
        cdef uint32_t n = web_links(&self.w, at, &f, self.links)
        return [
            (self.links[k].to.host, self.links[k].to.kind, self.links[k].to.index,
             self.links[k].element)
            for k in range(n)
        ]

    def texts(self, uint64_t host, int kind, uint64_t index):
        """The URL text of each link of a place, character references decoded, in order."""
        cdef web_place at = self.place(host, kind, index)
        cdef web_facts f = web_facts_of(&self.w, at)
        cdef uint32_t n = web_links(&self.w, at, &f, self.links)
        cdef char text[LINK_ROOM]
        return [
            text[:put_link(&self.w, text, at, f.flags & 1, self.links + k) - text]
            for k in range(n)
        ]

    def body(self, uint64_t host, int kind, uint64_t index):
        """The body that the server sends for a place."""
        cdef web_place at = self.place(host, kind, index)
        cdef web_facts f = web_facts_of(&self.w, at)
        return self.room[:put_body(&self.w, self.room, at, &f, self.links) - self.room]


def agent_hash(bytes agent):
    """The number that the log gives for this User-Agent."""
    return web_agent_hash(agent, len(agent))


cdef class Server:
    """Answer requests for a web on a listening socket.

    Args:
        web: what is served; its port must be the listener's.
        listener: descriptor of a non-blocking listening IPv4 socket; stays the caller's.

    *Thread*: one; ``serve`` runs without the GIL.
    """

    cdef Web web
    cdef int listener, epoll, spare
    cdef conn **conns  # by descriptor
    cdef size_t conns_room
    cdef timer *timers  # binary heap by due_ns
    cdef size_t timers_len, timers_room
    cdef web_log log
    cdef char *input
    cdef char *output
    cdef uint32_t accepted
    cdef uint64_t refused_count

    def __cinit__(self, Web web not None, int listener):
        self.web = web
        self.listener = listener
        self.epoll = epoll_create1(EPOLL_CLOEXEC)
        self.spare = web_spare()
        self.input = <char *>malloc(INPUT_ROOM)
        self.output = <char *>malloc(web_room(&web.w))
        if not self.input or not self.output:
            raise MemoryError()
        if self.epoll < 0 or web_watch(self.epoll, listener, EPOLLIN, listener) < 0:
            raise OSError(errno, "the listener cannot be watched")

    def __dealloc__(self):
        for fd in range(self.conns_room):
            if self.conns[fd]:
                self.drop(self.conns[fd])
        free(self.conns)
        free(self.timers)
        log_free(&self.log)
        free(self.input)
        free(self.output)
        if self.epoll > 0:
            close(self.epoll)
        if self.spare > 0:
            close(self.spare)

    @property
    def requests(self):
        """Requests taken so far."""
        return self.log.len

    @property
    def refused(self):
        """Connections closed unread because they came to an address outside 127.0.0.0/8."""
        return self.refused_count

    def serve(self, control):
        """Serve until one of the descriptors ``control`` can be read; returns that one.

        Raises:
            MemoryError: the log or the table of connections cannot grow.
        """
        cdef int fd
        cdef int found
        for fd in control:
            if web_watch(self.epoll, fd, EPOLLIN, IS_CONTROL | <uint64_t>fd) < 0:
                raise OSError(errno, "a control descriptor cannot be watched")
        with nogil:
            found = self.loop()
        for fd in control:
            epoll_ctl(self.epoll, EPOLL_CTL_DEL, fd, NULL)
        if found < 0:
            raise MemoryError()
        return found

    # --- the loop ---------------------------------------------------------------------------

    cdef int loop(self) noexcept nogil:
        """The control descriptor that can be read, or -1 when memory is out."""
        cdef epoll_event events[EVENTS]
        cdef int n, k, found = -2
        cdef uint64_t tag
        while found == -2:
            n = epoll_wait(self.epoll, events, EVENTS, self.wait_ms())
            for k in range(n):
                tag = events[k].data.u64
                if tag & IS_CONTROL:
                    found = <int>(tag & (IS_CONTROL - 1))
                elif tag == <uint64_t>self.listener:
                    if self.accept() < 0:
                        return -1
                elif self.wake(self.conns[tag], events[k].events) < 0:
                    return -1
            if self.timers_len and self.fire(now_ns()) < 0:
                return -1
        return found

    cdef int wait_ms(self) noexcept nogil:
        if not self.timers_len:
            return -1
        cdef uint64_t now = now_ns(), due = self.timers[0].due_ns
        return <int>((due - now + 999999) // 1000000) if due > now else 0

    cdef int accept(self) noexcept nogil:
        cdef uint32_t address
        cdef int fd
        for _ in range(ACCEPTS):
            fd = web_accept(self.listener, &address)
            if fd < 0:
                if errno == EMFILE or errno == ENFILE:
                    self.shed()
                return 0
            if address >> 24 != LOOPBACK:
                self.refused_count += 1
                close(fd)
            elif self.open(fd, address) < 0:
                return -1
        return 0

    cdef void shed(self) noexcept nogil:
        """Close a connection that no descriptor is left for: the spare one is lent to it."""
        cdef uint32_t address
        cdef int fd
        close(self.spare)
        fd = web_accept(self.listener, &address)
        if fd >= 0:
            close(fd)
        self.spare = web_spare()

    cdef int open(self, int fd, uint32_t address) noexcept nogil:
        cdef size_t room = self.conns_room
        cdef conn **grown
        if <size_t>fd >= room:
            room = 2 * <size_t>fd + 64
            grown = <conn **>realloc(self.conns, room * sizeof(conn *))
            if not grown:
                close(fd)
                return -1
            memset(grown + self.conns_room, 0, (room - self.conns_room) * sizeof(conn *))
            self.conns, self.conns_room = grown, room
        cdef conn *c = <conn *>calloc(1, sizeof(conn))
        if not c:
            close(fd)
            return -1
        self.conns[fd] = c
        c.fd, c.address, c.number = fd, address, self.accepted
        self.accepted += 1
        if web_watch(self.epoll, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, fd) < 0:
            self.drop(c)
        return 0

    cdef void drop(self, conn *c) noexcept nogil:
        self.conns[c.fd] = NULL
        close(c.fd)
        free(c.rest)
        free(c.out)
        free(c)

    # --- one connection ---------------------------------------------------------------------

    cdef int wake(self, conn *c, uint32_t events) noexcept nogil:
        if events & (EPOLLERR | EPOLLHUP):
            self.drop(c)
            return 0
        if events & (EPOLLIN | EPOLLRDHUP):
            # Two when the end may follow the data: then a short read proves nothing.
            c.is_readable = 2 if events & EPOLLRDHUP else 1
        return self.advance(c)

    cdef int advance(self, conn *c) noexcept nogil:
        """Go as far as input, room in the socket and latency allow; -1 when memory is out."""
        cdef size_t n = c.rest_len, at = 0
        cdef web_request request
        cdef int status
        if n:
            memcpy(self.input, c.rest, n)
        while self.flush(c) == 1:
            if c.is_waiting:
                return self.keep(c, at, n)
            if c.is_last:
                recv(c.fd, self.input, INPUT_ROOM, 0)  # unread input would turn close into a reset
                break
            status = web_parse(self.input + at, n - at, &request)
            if status == REQUEST_PARTIAL:
                if not c.is_readable:
                    return self.keep(c, at, n)
                memmove(self.input, self.input + at, n - at)
                n, at = n - at, 0
                if not self.receive(c, &n):
                    break
            else:
                if self.begin(c, status, &request) < 0:
                    return -1
                at += request.size
        else:
            if c.out:
                return self.keep(c, at, n)
        self.drop(c)
        return 0

    cdef int keep(self, conn *c, size_t at, size_t n) noexcept nogil:
        """Save the input that is not used yet."""
        c.rest_len = n - at
        if n > at:
            if not c.rest:
                c.rest = <char *>malloc(INPUT_ROOM)
                if not c.rest:
                    return -1
            memcpy(c.rest, self.input + at, n - at)
        return 0

    cdef bint receive(self, conn *c, size_t *n) noexcept nogil:
        """Read what there is behind the first ``n`` bytes; False when the client is gone."""
        cdef size_t room = INPUT_ROOM - n[0]
        cdef ssize_t got = recv(c.fd, self.input + n[0], room, 0)
        if got < 0:
            if errno == EAGAIN:
                c.is_readable = 0
            return errno == EAGAIN or errno == EINTR
        if <size_t>got < room and c.is_readable == 1:
            c.is_readable = 0
        n[0] += <size_t>got
        return got > 0

    cdef int begin(self, conn *c, int status, web_request *r) noexcept nogil:
        """Take a request: find its place, log it, answer now or after the latency."""
        cdef web_spec *w = &self.web.w
        cdef int64_t host = -1
        cdef uint64_t delay
        c.at = web_at(0, WEB_UNKNOWN, 0)
        if status == REQUEST_OK:
            host = web_find_host(w, r.host, r.host_len) if r.host else -1
            if host < 0 or web_address(w, <uint64_t>host) != c.address:
                status = 421
            else:
                c.at = web_find(w, <uint64_t>host, r.path, r.path_len)
        c.facts = web_facts_of(w, c.at)
        if status != REQUEST_OK:
            c.facts.status = <uint16_t>status
        c.is_head = r.method == METHOD_HEAD
        c.is_last = r.is_last or not w.keep_alive
        if self.note(c, host, r) < 0:
            return -1
        if w.latency_ms or w.latency_spread_ms:
            delay = 1000000 * <uint64_t>w.latency_ms
            if w.latency_spread_ms:
                delay += web_draw(w, SALT_LATENCY, c.at.host, c.at.index) \
                    % (1000000 * <uint64_t>w.latency_spread_ms)
            c.is_waiting = 1
            return self.push(c, self.log.entries[c.entry].start_ns + delay)
        return self.respond(c)

    cdef int respond(self, conn *c) noexcept nogil:
        cdef char *end = put_response(
            &self.web.w, self.output, c.at, &c.facts, self.web.links, c.is_head, c.is_last
        )
        cdef size_t n = <size_t>(end - self.output)
        cdef ssize_t sent = send(c.fd, self.output, n, MSG_NOSIGNAL)
        if sent == <ssize_t>n:
            self.log.entries[c.entry].end_ns = now_ns()
            return 0
        if sent < 0:
            sent = 0  # a broken connection is found by flush
        c.out_len, c.out_pos = n - <size_t>sent, 0
        c.out = <char *>malloc(c.out_len)
        if not c.out:
            return -1
        memcpy(c.out, self.output + sent, c.out_len)
        return 0

    cdef int flush(self, conn *c) noexcept nogil:
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
        self.log.entries[c.entry].end_ns = now_ns()
        return 1

    # --- latency ----------------------------------------------------------------------------

    cdef int push(self, conn *c, uint64_t due_ns) noexcept nogil:
        cdef size_t k = self.timers_len, up
        cdef timer *grown
        if k == self.timers_room:
            grown = <timer *>realloc(self.timers, (2 * k + 64) * sizeof(timer))
            if not grown:
                return -1
            self.timers, self.timers_room = grown, 2 * k + 64
        self.timers_len += 1
        while k:
            up = (k - 1) // 2
            if self.timers[up].due_ns <= due_ns:
                break
            self.timers[k] = self.timers[up]
            k = up
        self.timers[k].due_ns, self.timers[k].fd = due_ns, c.fd
        self.timers[k].number = c.number
        return 0

    cdef timer pop(self) noexcept nogil:
        cdef timer first = self.timers[0]
        self.timers_len -= 1
        cdef timer last = self.timers[self.timers_len]
        cdef size_t n = self.timers_len, k = 0, down
        while 2 * k + 1 < n:
            down = 2 * k + 1
            if down + 1 < n and self.timers[down + 1].due_ns < self.timers[down].due_ns:
                down += 1
            if last.due_ns <= self.timers[down].due_ns:
                break
            self.timers[k] = self.timers[down]
            k = down
        self.timers[k] = last
        return first

    cdef int fire(self, uint64_t now) noexcept nogil:
        cdef timer t
        cdef conn *c
        while self.timers_len and self.timers[0].due_ns <= now:
            t = self.pop()
            c = self.conns[t.fd]
            if c and c.number == t.number:
                c.is_waiting = 0
                if self.respond(c) < 0 or self.advance(c) < 0:
                    return -1
        return 0

    # --- the log ----------------------------------------------------------------------------

    cdef int note(self, conn *c, int64_t host, web_request *r) noexcept nogil:
        cdef log_entry *e = log_add(&self.log)
        if not e:
            return -1
        c.entry = self.log.len - 1
        e.start_ns, e.agent, e.method = now_ns(), r.agent, r.method
        e.host, e.index, e.kind = host, c.at.index, c.at.kind
        e.address, e.connection, e.status = c.address, c.number, c.facts.status
        if c.at.kind == WEB_UNKNOWN and r.path:
            return log_path(&self.log, e, r.path, r.path_len)
        return 0

    def write_log(self, bytes path):
        """Write one line a request, in the order of their starts; returns their number.

        Columns, tab separated: start and end in monotonic ns (end 0: not answered), host index (-1:
        none of this web), path, status, address that was asked, connection, hash of the
        User-Agent, method.
        """
        cdef const char *name = path
        cdef int bad
        with nogil:
            bad = log_write(&self.web.w, &self.log, name)
        if bad:
            raise OSError(errno, "the access log cannot be written", path)
        return self.log.len
