# Fields of ``ext/transfer.pyx``, for the kernels that begin and end transfers.

from libc.stdint cimport int64_t, uint64_t


cdef class Transfer:
    cdef object _opened
    cdef tuple _types
    # the request
    cdef bytes _ip
    cdef int _port
    cdef uint64_t _limit
    cdef bint _check_type
    cdef bint _check_length
    # the response
    cdef char *_block
    cdef Py_ssize_t _block_len
    cdef Py_ssize_t _block_size
    cdef Py_ssize_t _type_start     # value of Content-Type in the block; 0: none
    cdef Py_ssize_t _type_end
    cdef uint64_t _length           # value of Content-Length
    cdef bint _has_length
    cdef int _fields
    cdef Py_ssize_t _header_bytes
    cdef uint64_t _body_bytes
    cdef bytes _first
    cdef bytearray _rest
    cdef readonly int status
    cdef readonly int abort
    cdef readonly bint is_complete  # the header block of the final response has ended
    cdef readonly bint has_location
    cdef readonly bint has_cookies  # it has a Set-Cookie field
    cdef readonly bint is_chunked   # it has a Transfer-Encoding field
    cdef readonly int64_t sent_ns   # monotonic; 0: the request did not go out
    cdef readonly int64_t first_ns  # 0: nothing came
    cdef readonly int64_t last_ns

    cpdef object reset(
        self, bytes ip, int port, uint64_t limit, bint check_type, bint check_length
    )
    cdef bytes header_block(self)
    cdef bytes whole_body(self)
    cdef bint _is_expected(self, str address) except -1
    cdef bint _is_new_block(self, const char *text, Py_ssize_t size) noexcept
    cdef void _forget_block(self) noexcept
    cdef int _shrink(self) except -1
    cdef int _append(self, bytes data) except -1
    cdef int _take_line(self, const char *text, Py_ssize_t size) except -1
    cdef int _reserve(self, Py_ssize_t size) except -1
    cdef void _note(self, Py_ssize_t start, Py_ssize_t size) noexcept
    cdef int _end_block(self) except -1
    cdef bint _is_acceptable(self) except -1
