# The loop of the synthetic web's server, header only: one thread around epoll.
#
# Invariant: a connection is registered once, edge triggered, and its input is read until there is
# no more, or until its response must wait for room or for the latency to pass; then it is marked
# readable.
# Cost: two system calls a request beside epoll_wait; O(log waiting) for latency.

from libc.errno cimport EMFILE, ENFILE, errno
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, realloc
from libc.string cimport memset
from posix.unistd cimport close

from webconn cimport advance, conn, drop, now_ns, respond, take_timer, web_server


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
    enum: EPOLL_CLOEXEC
    ctypedef union epoll_data_t:
        uint64_t u64
    struct epoll_event:
        uint32_t events
        epoll_data_t data
    int epoll_create1(int flags) nogil
    int epoll_wait(int epoll, epoll_event *events, int n, int timeout) nogil
    int epoll_ctl(int epoll, int op, int fd, epoll_event *event) nogil
    int web_accept(int listener, uint32_t *address) nogil
    int web_watch(int epoll, int fd, uint32_t events, uint64_t tag) nogil
    int web_spare() nogil

cdef enum:
    EVENTS = 512
    ACCEPTS = 64  # connections accepted in a row, so that open ones are not starved
    LOOPBACK = 127
    IS_CONTROL = 1 << 30  # in the tag of a control descriptor


# --- new connections ----------------------------------------------------------------------------
cdef inline int open_conn(web_server *s, int fd, uint32_t address) noexcept nogil:
    cdef size_t room = s.conns_room
    cdef conn **grown
    if <size_t>fd >= room:
        room = 2 * <size_t>fd + 64
        grown = <conn **>realloc(s.conns, room * sizeof(conn *))
        if not grown:
            close(fd)
            return -1
        memset(grown + s.conns_room, 0, (room - s.conns_room) * sizeof(conn *))
        s.conns, s.conns_room = grown, room
    cdef conn *c = <conn *>calloc(1, sizeof(conn))
    if not c:
        close(fd)
        return -1
    s.conns[fd] = c
    c.fd, c.address, c.number = fd, address, s.accepted
    s.accepted += 1
    if web_watch(s.epoll, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, <uint64_t>fd) < 0:
        drop(s, c)
    return 0


cdef inline void shed(web_server *s) noexcept nogil:
    """Close a connection that no descriptor is left for: the spare one is lent to it."""
    cdef uint32_t address
    cdef int fd
    close(s.spare)
    fd = web_accept(s.listener, &address)
    if fd >= 0:
        close(fd)
    s.spare = web_spare()


cdef inline int accept_all(web_server *s) noexcept nogil:
    cdef uint32_t address
    cdef int fd
    for _ in range(ACCEPTS):
        fd = web_accept(s.listener, &address)
        if fd < 0:
            if errno == EMFILE or errno == ENFILE:
                shed(s)
            return 0
        if address >> 24 != LOOPBACK:
            s.refused += 1
            close(fd)
        elif open_conn(s, fd, address) < 0:
            return -1
    return 0


# --- the loop -----------------------------------------------------------------------------------
cdef inline int wake(web_server *s, conn *c, uint32_t events) noexcept nogil:
    if events & (EPOLLERR | EPOLLHUP):
        drop(s, c)
        return 0
    if events & (EPOLLIN | EPOLLRDHUP):
        # Two when the end may follow the data: then a short read proves nothing.
        c.is_readable = 2 if events & EPOLLRDHUP else 1
    return advance(s, c)


cdef inline int fire(web_server *s, uint64_t now) noexcept nogil:
    """Answer the requests whose latency has passed."""
    cdef conn *c
    while s.timers_count and s.timers[0].key <= now:
        c = take_timer(s)
        if c:
            c.is_waiting = 0
            if respond(s, c) < 0 or advance(s, c) < 0:
                return -1
    return 0


cdef inline int wait_ms(const web_server *s) noexcept nogil:
    if not s.timers_count:
        return -1
    cdef uint64_t now = now_ns(), due = s.timers[0].key
    return <int>((due - now + 999999) // 1000000) if due > now else 0


cdef inline int loop(web_server *s) noexcept nogil:
    """The control descriptor that can be read, or -1 when memory is out."""
    cdef epoll_event events[EVENTS]
    cdef int n, k, found = -2
    cdef uint64_t tag
    while found == -2:
        n = epoll_wait(s.epoll, events, EVENTS, wait_ms(s))
        for k in range(n):
            tag = events[k].data.u64
            if tag & IS_CONTROL:
                found = <int>(tag & (IS_CONTROL - 1))
            elif tag == <uint64_t>s.listener:
                if accept_all(s) < 0:
                    return -1
            elif wake(s, s.conns[tag], events[k].events) < 0:
                return -1
        if s.timers_count and fire(s, now_ns()) < 0:
            return -1
    return found
