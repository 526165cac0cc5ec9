# Fields of ``Words`` and ``Blame`` of ``ext/shared.pyx``, for the kernels that change words themselves.

from libc.stdint cimport uint64_t


cdef class Words:
    cdef unsigned char[::1] _memory
    cdef uint64_t *_words
    cdef Py_ssize_t _count
    cdef uint64_t *_at(self, Py_ssize_t i) except NULL


cdef class Blame:
    cdef unsigned char[::1] _memory
    cdef uint64_t *_words
    cdef void begin_now(self, uint64_t page_id) noexcept nogil
