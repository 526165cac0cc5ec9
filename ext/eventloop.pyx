"""The event loop of a process: one epoll for libcurl's sockets, its timer, and other sockets.

Idea: libcurl tells us through M_SOCKETFUNCTION which sockets it wants to hear of, and it adds and
removes a socket once per transfer, even when the connection stays open for the next request.
We do not follow every word: a removed socket stays in the epoll with the mask that it had, and only
when the mask really changes is there an epoll_ctl.  With keep-alive that is none per page.
Its timer is asked for, twice in a turn; through M_TIMERFUNCTION it would be told several times per
transfer.

Invariants:
1. ``armed`` is what the kernel watches (0: not in the epoll), ``wanted`` what the owner asked for.
   An event for a socket that nobody wants disarms it, so an idle connection that the peer closed
   wakes us once and not for ever.
2. The kernel forgets a descriptor that is closed, and its number comes back for another socket.
   Whoever opens one says so (``opened``, ``watch``): the mask is reset and the generation grows.
   The generation travels with each event: what a batch still holds for the old socket is dropped.
3. The callbacks never raise: libcurl would fail every transfer.  What went wrong is kept in
   ``curl_error``; from then on libcurl is left alone until a new multi handle is attached.
4. The timer runs at most once per ``poll``.

Cost: one epoll_wait per ``poll`` and up to 512 events; 8 bytes per descriptor number.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.errno cimport EEXIST, EINTR, ENOENT, ENOMEM, errno
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset, strerror
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport close

cdef extern from "<sys/epoll.h>" nogil:
    ctypedef union epoll_data_t:
        uint64_t u64
    struct epoll_event:
        uint32_t events
        epoll_data_t data
    enum:
        C_EPOLLIN "EPOLLIN"
        C_EPOLLOUT "EPOLLOUT"
        EPOLLERR, EPOLLHUP, EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL
    int epoll_create1(int flags)
    int epoll_ctl(int epfd, int op, int fd, epoll_event *event)
    int epoll_wait(int epfd, epoll_event *events, int maxevents, int timeout)

cdef extern from "<time.h>" nogil:
    enum:
        TIMER_ABSTIME
    int clock_nanosleep(int clock, int flags, const timespec *request, timespec *remain)

READ = C_EPOLLIN
WRITE = C_EPOLLOUT

cdef enum:
    BATCH = 512
    NOBODY = 0
    CURL = 1
    WATCHER = 2
    # libcurl's numbers: CURL_POLL_* in what it wants, CURL_CSELECT_* (the same) in what it gets
    POLL_IN = 1
    POLL_OUT = 2
    POLL_REMOVE = 4
    SOCKET_TIMEOUT = -1
    MILLISECOND = 1000000

ctypedef struct descriptor:
    uint32_t generation
    uint8_t owner
    uint8_t wanted
    uint8_t armed
    uint8_t reserved


cdef inline int64_t monotonic_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <int64_t>now.tv_sec * 1000000000 + now.tv_nsec


cdef class EventLoop:
    """One epoll for libcurl's sockets, its timer, and any other socket of the process.

    Process/thread: one thread; not to be used after a fork.
    """

    cdef int _epoll
    cdef descriptor *_table
    cdef int _table_len
    cdef epoll_event *_events
    cdef int64_t _polled_ns         # when ``poll`` returned last
    cdef int64_t _timer_ns          # when libcurl wanted to be called; -1: not at all
    cdef dict _callbacks            # descriptor -> callable(events), of the watched sockets
    cdef object _action             # socket_action of the attached multi handle, or None
    cdef object _timeout            # its timeout
    cdef readonly object curl_error

    def __cinit__(self):
        self._epoll = -1
        self._timer_ns = -1
        self._callbacks = {}
        self._events = <epoll_event *>malloc(BATCH * sizeof(epoll_event))
        if self._events == NULL:
            raise MemoryError
        self._epoll = epoll_create1(EPOLL_CLOEXEC)
        if self._epoll < 0:
            raise OSError(errno, "epoll_create1")

    def __dealloc__(self):
        if self._epoll >= 0:
            close(self._epoll)
        free(self._events)
        free(self._table)

    # -- other sockets ----------------------------------------------------------------------------

    def watch(self, int fd, int events, object callback):
        """Call ``callback(events)`` from ``poll`` whenever the descriptor is ready.

        Args:
            fd: a non-blocking descriptor that was opened since it was last unwatched.
            events: ``READ``, ``WRITE`` or both; errors are reported as all of what was asked.

        Raises:
            OSError: the kernel refused it.
        """
        self._fresh(fd, WATCHER)
        self._callbacks[fd] = callback
        if self._want(fd, events_to_mask(events)) < 0:
            error = errno
            self.unwatch(fd)
            raise OSError(error, f"cannot watch descriptor {fd}: {strerror(error).decode()}")

    def rewatch(self, int fd, int events):
        """Change what a watched descriptor waits for; 0 pauses it."""
        if fd not in self._callbacks:
            raise KeyError(fd)
        if self._want(fd, events_to_mask(events)) < 0:
            error = errno
            raise OSError(error, f"cannot watch descriptor {fd}: {strerror(error).decode()}")

    def unwatch(self, int fd):
        """Forget a watched descriptor; call it before closing. Harmless when it is not watched."""
        if self._callbacks.pop(fd, None) is not None:
            self._disarm(fd)
            self._table[fd].owner = NOBODY
            self._table[fd].wanted = 0

    # -- libcurl ----------------------------------------------------------------------------------

    def attach(self, object multi):
        """Serve this ``pycurl.CurlMulti`` from now on, instead of any earlier one."""
        import pycurl  # the kernel itself needs no libcurl: parsers use it without

        self.detach()
        multi.setopt(pycurl.M_SOCKETFUNCTION, self.socket_changed)
        self._action, self._timeout = multi.socket_action, multi.timeout

    def detach(self):
        """Leave libcurl alone: its sockets, its timer and ``curl_error`` are forgotten."""
        cdef int fd
        self._action = self._timeout = None
        self.curl_error = None
        for fd in range(self._table_len):
            if self._table[fd].owner == CURL:
                self._disarm(fd)
                self._table[fd].owner = NOBODY
                self._table[fd].wanted = 0

    def opened(self, int fd):
        """A socket for libcurl was opened under this number: whatever was known of it is void."""
        self._fresh(fd, CURL)

    def socket_changed(self, int what, int fd, object multi, object data):
        """M_SOCKETFUNCTION: libcurl wants to hear of a socket, or no longer."""
        if self._ensure(fd) < 0:
            self._fail(ENOMEM)
            return
        self._table[fd].owner = CURL
        if self._want(fd, 0 if what == POLL_REMOVE else what & (POLL_IN | POLL_OUT)) < 0:
            self._fail(errno)

    # -- the loop ------------------------------------------------------------------------------

    def poll(self, double timeout_s, double gather_s=0.0):
        """Wait for events at most this long and serve them; a negative time waits for ever.

        Args:
            gather_s: let events gather until so long after the last ``poll`` returned: many events
                at a time cost less than many times one. It is not longer than ``timeout_s``.

        Returns:
            The number of events served.

        Raises:
            OSError: epoll itself failed.
            Exception: the first one that a watcher's callback raised; the other events of the
                batch are served before. Faults of libcurl are not raised, see ``curl_error``.

        Cost: one epoll_wait; one call into libcurl per ready socket, one for the timer when due.
        """
        cdef int timeout_ms, count, number
        fault = None
        self._ask_timer()
        timeout_ms = self._wait_ms(timeout_s)
        if gather_s > 0 and timeout_ms:
            self._gather(gather_s if timeout_s < 0 else min(gather_s, timeout_s))
        with nogil:
            count = epoll_wait(self._epoll, self._events, BATCH, timeout_ms)
        if count < 0:
            if errno != EINTR:
                raise OSError(errno, "epoll_wait")
            count = 0
            PyErr_CheckSignals()
        for number in range(count):
            try:
                self._serve(&self._events[number])
            except Exception as error:
                fault = fault or error
        self._ask_timer()
        if self._timer_ns >= 0 and self._timer_ns <= monotonic_ns():
            self._act(SOCKET_TIMEOUT, 0)
        self._polled_ns = monotonic_ns()
        if fault is not None:
            raise fault
        return count

    def close(self):
        """Release the epoll; the sockets in it are their owners' to close."""
        self.detach()
        self._callbacks.clear()
        if self._epoll >= 0:
            close(self._epoll)
            self._epoll = -1

    cdef void _gather(self, double gather_s) noexcept:
        cdef int64_t until_ns = self._polled_ns + <int64_t>(gather_s * 1e9)
        cdef timespec until
        if self._timer_ns >= 0:
            until_ns = min(until_ns, self._timer_ns)
        if until_ns <= monotonic_ns():
            return
        until.tv_sec, until.tv_nsec = until_ns // 1000000000, until_ns % 1000000000
        with nogil:
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)

    cdef int _wait_ms(self, double timeout_s) noexcept:
        # Rounded up, or the last part of a millisecond would be spent turning round.
        cdef int64_t timer_ms
        cdef int64_t wait_ms = -1
        if timeout_s >= 0:
            wait_ms = <int64_t>(min(timeout_s, 1e6) * 1000 + 0.999)
        if self._timer_ns >= 0:
            timer_ms = (self._timer_ns - monotonic_ns() + MILLISECOND - 1) // MILLISECOND
            timer_ms = max(timer_ms, 0)
            if wait_ms < 0 or timer_ms < wait_ms:
                wait_ms = timer_ms
        return <int>wait_ms

    cdef int _serve(self, epoll_event *event) except -1:
        cdef int fd = <int>(event.data.u64 & 0xFFFFFFFF)
        cdef uint32_t ready = event.events
        cdef descriptor *entry = &self._table[fd]
        cdef uint8_t mask = 0
        if entry.generation != <uint32_t>(event.data.u64 >> 32):
            return 0
        if not entry.wanted:
            self._disarm(fd)
            return 0
        if ready & (EPOLLERR | EPOLLHUP):
            mask = entry.wanted
        if ready & C_EPOLLIN:
            mask |= POLL_IN
        if ready & C_EPOLLOUT:
            mask |= POLL_OUT
        mask &= entry.wanted
        if entry.owner == CURL:
            self._act(fd, mask)
        elif entry.owner == WATCHER:
            self._callbacks[fd](mask_to_events(mask))
        return 0

    cdef int _act(self, int fd, int mask) except -1:
        if self._action is not None and self.curl_error is None:
            try:
                self._action(fd, mask)
            except Exception as error:
                self.curl_error = error
        return 0

    cdef int _ask_timer(self) except -1:
        cdef long timeout_ms = -1
        if self._timeout is not None and self.curl_error is None:
            try:
                timeout_ms = self._timeout()
            except Exception as error:
                self.curl_error = error
        self._timer_ns = -1
        if timeout_ms >= 0:
            self._timer_ns = monotonic_ns() + <int64_t>timeout_ms * MILLISECOND
        return 0

    cdef int _fail(self, int error) except -1:
        if self.curl_error is None:
            self.curl_error = OSError(error, f"epoll_ctl: {strerror(error).decode()}")
        return 0

    # -- the table --------------------------------------------------------------------------------

    cdef int _ensure(self, int fd) noexcept:
        cdef int wanted = max(2 * self._table_len, 1024)
        cdef descriptor *grown
        if fd < self._table_len:
            return 0
        wanted = max(wanted, fd + 1)
        grown = <descriptor *>realloc(self._table, wanted * sizeof(descriptor))
        if grown == NULL:
            return -1
        memset(grown + self._table_len, 0, (wanted - self._table_len) * sizeof(descriptor))
        self._table = grown
        self._table_len = wanted
        return 0

    cdef int _fresh(self, int fd, uint8_t owner) except -1:
        if fd < 0:
            raise ValueError(f"no descriptor: {fd}")
        if self._ensure(fd) < 0:
            raise MemoryError
        self._callbacks.pop(fd, None)
        self._table[fd].generation += 1
        self._table[fd].owner = owner
        self._table[fd].wanted = 0
        self._table[fd].armed = 0
        return 0

    cdef int _want(self, int fd, uint8_t mask) noexcept:
        # 0 leaves the socket armed: see invariant 1.
        cdef descriptor *entry = &self._table[fd]
        entry.wanted = mask
        if mask == 0 or mask == entry.armed:
            return 0
        return self._arm(fd, mask)

    cdef int _arm(self, int fd, uint8_t mask) noexcept:
        # Our memory may be wrong about a number that was closed and opened behind our back: the
        # kernel then answers ENOENT or EEXIST, and the other operation is the right one.
        cdef descriptor *entry = &self._table[fd]
        cdef epoll_event event
        cdef int operation = EPOLL_CTL_MOD if entry.armed else EPOLL_CTL_ADD
        cdef int answer
        event.events = mask_to_events(mask)
        event.data.u64 = <uint64_t>entry.generation << 32 | <uint32_t>fd
        answer = epoll_ctl(self._epoll, operation, fd, &event)
        if answer < 0 and errno == ENOENT:
            answer = epoll_ctl(self._epoll, EPOLL_CTL_ADD, fd, &event)
        elif answer < 0 and errno == EEXIST:
            answer = epoll_ctl(self._epoll, EPOLL_CTL_MOD, fd, &event)
        if answer == 0:
            entry.armed = mask
        return answer

    cdef void _disarm(self, int fd) noexcept:
        # A number that was closed meanwhile (EBADF, ENOENT) is not in the epoll: nothing to do.
        cdef epoll_event unused
        if self._table[fd].armed:
            epoll_ctl(self._epoll, EPOLL_CTL_DEL, fd, &unused)
            self._table[fd].armed = 0


cdef inline uint32_t mask_to_events(uint8_t mask) noexcept nogil:
    return (C_EPOLLIN if mask & POLL_IN else 0) | (C_EPOLLOUT if mask & POLL_OUT else 0)


cdef inline uint8_t events_to_mask(int events) noexcept nogil:
    return (POLL_IN if events & C_EPOLLIN else 0) | (POLL_OUT if events & C_EPOLLOUT else 0)
