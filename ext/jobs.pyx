"""What a shard asks for and what came of it: the records that exist once per page.

Idea: they are dataclasses to Python and structs to the other kernels (``larbinpy/_native/jobs.pxd``
has the fields), so that a batch of them is filled and read without a call per field.
No cycle can lead through them, so the garbage collector never looks at them.
"""

cimport cython

from larbinpy.codes import Kind


@cython.final
@cython.no_gc
@cython.freelist(256)
@cython.dataclasses.dataclass
cdef class FetchJob:
    """One request to make.

    Attributes:
        id: of the URL; ``ID_WITHOUT_ENQ`` is set for requests that stand in no log.
        host_id: number of the host in the shard's table.
        ip: 4 or 16 bytes, network order.
        flags: ``LINK_*`` bits of ``ext/layout.h``.
        attempt: how often its URL was tried in vain.
        position: where the ENQ or MOVE record lies; see ``docs/format-queue.md``.
    """

    id: cython.ulonglong
    url: bytes
    host: bytes
    port: cython.int
    https: cython.bint
    kind: object = Kind.PAGE
    host_id: cython.longlong = -1
    ip: bytes = b""
    depth: cython.int = 0
    left: cython.int = 0
    level: cython.int = 0
    hops: cython.int = 0
    flags: cython.int = 0
    attempt: cython.int = 0
    position: cython.ulonglong = 0
    score: cython.double = 0.0
    relevance: cython.double = 0.0
    via: bytes = b""
    tag: bytes = b""

    @property
    def origin(self):
        """``scheme://host:port``, the key of robots rules."""
        return b"%b://%b:%d" % (b"https" if self.https else b"http", self.host, self.port)

    @property
    def path(self):
        """Path and query, as robots rules see them."""
        return self.url[self.url.index(b"/", 8):]


@cython.final
@cython.no_gc
@cython.freelist(256)
@cython.dataclasses.dataclass
cdef class FetchResult:
    """What came of a ``FetchJob``: always one of these, never an exception.

    Attributes:
        outcome: ``SUCCESS`` means that a whole response arrived; the parser decides the rest.
        headers: header block of the final response, lines ended by CR LF.
        body: as received: content encodings are not removed.
        start_us: wall clock, microseconds since 1970.
        bytes_read: header and body bytes from the wire.
        reason: for humans, when the outcome alone does not say it.
        is_swallowed: the kept connection that it went out on was closed under it: nobody is to
            blame.
    """

    job: FetchJob
    outcome: object
    status: cython.int = 0
    headers: bytes = b""
    body: bytes = b""
    is_truncated: cython.bint = False
    start_us: cython.ulonglong = 0
    duration_us: cython.ulonglong = 0
    bytes_read: cython.ulonglong = 0
    bytes_written: cython.ulonglong = 0
    reason: str = ""
    is_swallowed: cython.bint = False
