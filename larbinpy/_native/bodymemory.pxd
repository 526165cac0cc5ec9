# Methods of ``ext/bodymemory.pyx``, for the kernels that use it.

from libc.stdint cimport int64_t


cdef class BodyMemory:
    cdef int64_t place_of(self, bytes body) noexcept
