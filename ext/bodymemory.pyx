"""Memory of a shard that its parsers see, and in which the bodies of pages lie from the start.

Idea: a body is a ``bytes`` object that pycurl makes, and where objects of its size lie is ours to
say (``PyMem_SetAllocator``, CPython's C API).  They lie in memory that parsers map too, so a body
is written once, by libcurl, and a parser is only told where.  By a socket it was copied twice, and
pushed twice its size of other things out of the caches.

Invariants:
1. A body that lies here is what parsers see while its object lives; nobody writes to ``bytes``.
2. Whoever is told of a body by ``offset_of`` keeps its object until no reader looks at it.
3. An object that finds no room lies where it would lie without: that is slower, and nothing else.

Other objects of 2 KiB to 16 MiB lie here as well.  Nothing is given back to the system; there is
never more than ``size``, and what was needed at once.

The blocks stand in ``bodymemory.h``.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_SetFromErrno
from libc.stdint cimport int64_t

cdef extern from "bodymemory.h":
    ctypedef struct body_memory:
        char *base
        int fd
    int body_open(body_memory *m, size_t size)
    void body_serve(body_memory *m)
    bint lies_here(const body_memory *m, const void *at)

cdef enum:
    ELSEWHERE = -1

# It outlives all objects, those too that are freed when the interpreter ends.
cdef body_memory serving


@cython.final
cdef class BodyMemory:
    """Takes in all objects of its size that Python makes from now on, to the end of the process.

    Args:
        size: most bytes.

    Raises:
        RuntimeError: the process has one already.
        OSError: the system gives none.
    """

    def __init__(self, size_t size):
        if serving.base != NULL:
            raise RuntimeError("a process has one memory for bodies")
        if body_open(&serving, size) < 0:
            PyErr_SetFromErrno(OSError)
        body_serve(&serving)

    @property
    def fd(self):
        """Descriptor of the memory; it stays open."""
        return serving.fd

    def offset_of(self, bytes body not None):
        """Where the bytes of a body lie; -1 = not here."""
        return self.place_of(body)

    cdef int64_t place_of(self, bytes body) noexcept:
        cdef const char *at = PyBytes_AS_STRING(body)
        return at - serving.base if lies_here(&serving, at) else ELSEWHERE
