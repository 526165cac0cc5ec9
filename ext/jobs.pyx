"""What a shard asks for and what came of it: the records that exist once per page.

Idea: they are dataclasses to Python and structs to the other kernels (``larbinpy/_native/jobs.pxd``
has the fields), so that a batch of them is filled and read without a call per field.
No cycle can lead through them, so the garbage collector never looks at them.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcpy

from digits cimport put_number

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
        failed: the ``Outcome`` that its host has failed with; 0 = it may be asked.
        position: where the ENQ or MOVE record lies; see ``docs/format-queue.md``.
        watch: what its page is to be compared with; see ``Contents.watch``.
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
    failed: cython.int = 0
    watch: cython.int = 0
    position: cython.ulonglong = 0
    score: cython.double = 0.0
    relevance: cython.double = 0.0
    via: bytes = b""
    tag: bytes = b""

    @property
    def origin(self):
        """``scheme://host:port``, the key of robots rules."""
        cdef uint8_t text[320]
        cdef uint8_t *out = text
        cdef Py_ssize_t size = PyBytes_GET_SIZE(self.host)
        if size > 255 or self.port < 0:
            raise ValueError("a host name has at most 255 bytes, a port is not below 0")
        memcpy(out, b"https", 5)
        out += 5 if self.https else 4
        memcpy(out, b"://", 3)
        memcpy(out + 3, PyBytes_AS_STRING(self.host), size)
        out += 3 + size
        out[0] = c":"
        out = put_number(out + 1, self.port)
        return PyBytes_FromStringAndSize(<char *>text, out - text)

    @property
    def path(self):
        """Path and query, as robots rules see them."""
        cdef const char *text = PyBytes_AS_STRING(self.url)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(self.url)
        cdef const char *slash = NULL
        if size > 8:
            slash = <const char *>memchr(text + 8, c"/", size - 8)
        if slash is NULL:
            raise ValueError("a URL without a path")
        return PyBytes_FromStringAndSize(slash, text + size - slash)


cdef FetchResult new_result():
    """One whose fields its maker fills, all of them."""
    return FetchResult.__new__(FetchResult)


cdef dict KINDS = {kind.value: kind for kind in Kind}


def jobs_of(list urls not None, list picked not None, unsigned long long shard,
            dict tries not None):
    """The jobs of URLs as the log tells them (``LoggedUrl``), whose hosts are known by number.

    Args:
        picked: of each URL, number of its host, position and ``failed``, as ``HostTable.acquire``
            gives them.
        shard: the shard's part of ids.
        tries: how often a URL was tried in vain, by id, where that is more than the log says.
    """
    cdef list jobs = []
    cdef Py_ssize_t at
    cdef int attempt = 0
    for at in range(len(urls)):
        url, (host_id, position, failed) = urls[at], picked[at]
        if tries:
            attempt = tries.get(url[0], 0)
        jobs.append(job_of(url, shard, host_id, position, attempt, failed))
    return jobs


cdef FetchJob job_of(
    tuple url, unsigned long long shard, long long host_id, unsigned long long position,
    int attempt, int failed,
):
    cdef FetchJob job = FetchJob.__new__(FetchJob)
    job.id = shard | <unsigned long long>url[0]
    job.url, job.via, job.tag, job.host = url[2], url[3], url[4], url[5]
    job.port, job.https, job.kind = url[6], url[7], KINDS[url[11]]
    job.host_id, job.position, job.ip = host_id, position, b""
    job.depth, job.left, job.level, job.hops = url[8], url[9], url[10], url[12]
    job.attempt, job.flags, job.failed = attempt or url[13], url[14], failed
    job.score, job.relevance = url[15], url[16]
    return job


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
        is_unsent: it found no way out of this machine, or none to its proxy.
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
    is_unsent: cython.bint = False
