"""Serve the synthetic web, and tell what is in it.

``Web`` is the model of ``webmodel.h`` for Python; ``Server`` answers requests from the same code,
so that what is expected and what is served cannot differ.

The server is one thread around epoll (``webloop.pxd``, ``webconn.pxd``).  Invariants:
1. Responses are made in one shared buffer and sent at once; only what the socket does not take is
   copied.  Likewise only half requests are kept.  An idle connection costs 128 bytes.
2. One log entry a request, in the order of their starts, written as text only when asked.

Cost: two system calls a request beside epoll_wait; O(log waiting) for latency; no Python call.
"""

from libc.errno cimport errno
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from posix.unistd cimport close

from webconn cimport INPUT_ROOM, drop, web_server
from webloop cimport (
    EPOLL_CLOEXEC, EPOLL_CTL_DEL, EPOLLIN, IS_CONTROL, epoll_create1, epoll_ctl, loop, web_spare,
    web_watch,
)
from webpages cimport (
    HOST_CHILDREN, LINK_ROOM, LINKS_MAX, POOL_BYTES, SHARE_COUNT, TRAP_KINDS, WEB_OFF, WEB_UNKNOWN,
    log_free, log_write, put_address, put_body, put_host, put_link, put_location, put_url,
    trap_names, web_address, web_agent_hash, web_at, web_facts, web_facts_of, web_fill_pool,
    web_find, web_find_host, web_is_named, web_is_private, web_is_trap, web_link, web_links,
    web_place, web_robots, web_room, web_spec,
)


SHARES = (
    "dead", "archive", "cgi", "image", "off_scope", "not_http", "duplicate", "cross", "fragment",
    "messy", "error", "redirect", "typed", "private", "large", "base", "refresh", "decoy", "named",
    "robots",
)
"""Names of the shares that ``Web`` takes, in its order."""
TRAPS = tuple(trap_names[kind].text[:trap_names[kind].size].decode() for kind in range(TRAP_KINDS))
"""Names of the kinds of traps, in the order of their hosts."""


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
        uint32_t large_bytes, uint32_t latency_ms, uint32_t latency_spread_ms, uint32_t traps,
        shares,
    ):
        if len(shares) != SHARE_COUNT:
            raise ValueError(f"{len(shares)} shares, {SHARE_COUNT} wanted")
        if not (1 <= roots <= hosts < 1 << 24 and 1 <= pages < 1 << 48 and notes <= 1000):
            raise ValueError("hosts, roots, pages or notes out of range")
        if not (2 <= branch <= 16 and links < LINKS_MAX and names_per_address >= 1):
            raise ValueError("branch, links or names_per_address out of range")
        if traps > 1000 or chain >= 1 << 32 or port > 65535 or page_spread > page_bytes:
            raise ValueError("traps, chain, port or page_spread out of range")
        self.w.seed, self.w.hosts, self.w.pages, self.w.roots = seed, hosts, pages, roots
        self.w.notes, self.w.chain, self.w.links, self.w.branch = notes, chain, links, branch
        self.w.port, self.w.layered, self.w.keep_alive = port, layered, keep_alive
        self.w.names_per_address = names_per_address
        self.w.page_bytes, self.w.page_spread = page_bytes, page_spread
        self.w.large_bytes = large_bytes
        self.w.latency_ms, self.w.latency_spread_ms = latency_ms, latency_spread_ms
        self.w.traps = traps
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

    def trap(self, uint64_t host):
        """The name of a trap host; hosts are numbered behind the honest ones."""
        if not self.w.hosts <= host < self.w.hosts + TRAP_KINDS * self.w.traps:
            raise IndexError(f"no trap {host}")
        cdef char name[64]
        return name[:put_host(&self.w, name, host) - name]

    def url(self, uint64_t host, int kind, uint64_t index):
        """The URL of a place, normalised; also of places that are not on the server."""
        cdef char text[256]
        return text[:put_url(&self.w, text, web_at(host, kind, index)) - text]

    def find(self, bytes host, bytes path):
        """The place with this host (no port) and path, or None."""
        cdef int64_t number = web_find_host(&self.w, host, len(host))
        if number < 0 or web_is_trap(&self.w, number) or not path:
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
    cdef web_server s

    def __cinit__(self, Web web not None, int listener):
        self.web = web
        self.s.spec, self.s.links = &web.w, web.links
        self.s.listener = listener
        self.s.epoll = epoll_create1(EPOLL_CLOEXEC)
        self.s.spare = web_spare()
        self.s.input = <char *>malloc(INPUT_ROOM)
        self.s.output = <char *>malloc(web_room(&web.w))
        if not self.s.input or not self.s.output:
            raise MemoryError()
        if self.s.epoll < 0 or web_watch(self.s.epoll, listener, EPOLLIN, listener) < 0:
            raise OSError(errno, "the listener cannot be watched")

    def __dealloc__(self):
        for fd in range(self.s.conns_room):
            if self.s.conns[fd]:
                drop(&self.s, self.s.conns[fd])
        free(self.s.conns)
        free(self.s.timers)
        log_free(&self.s.log)
        free(self.s.input)
        free(self.s.output)
        if self.s.epoll > 0:
            close(self.s.epoll)
        if self.s.spare > 0:
            close(self.s.spare)

    @property
    def requests(self):
        """Requests taken so far."""
        return self.s.log.len

    @property
    def refused(self):
        """Connections closed unread because they came to an address outside 127.0.0.0/8."""
        return self.s.refused

    def serve(self, control):
        """Serve until one of the descriptors ``control`` can be read; returns that one.

        Raises:
            MemoryError: the log or the table of connections cannot grow.
        """
        cdef int fd
        cdef int found
        for fd in control:
            if web_watch(self.s.epoll, fd, EPOLLIN, IS_CONTROL | <uint64_t>fd) < 0:
                raise OSError(errno, "a control descriptor cannot be watched")
        with nogil:
            found = loop(&self.s)
        for fd in control:
            epoll_ctl(self.s.epoll, EPOLL_CTL_DEL, fd, NULL)
        if found < 0:
            raise MemoryError()
        return found

    def write_log(self, bytes path):
        """Write one line a request, in the order of their starts; returns their number.

        Columns, tab separated: start and end in monotonic ns (end 0: not answered), host index (-1:
        none of this web), path, status, address that was asked, connection, hash of the
        User-Agent, method.
        """
        cdef const char *name = path
        cdef int bad
        with nogil:
            bad = log_write(&self.web.w, &self.s.log, name)
        if bad:
            raise OSError(errno, "the access log cannot be written", path)
        return self.s.log.len
