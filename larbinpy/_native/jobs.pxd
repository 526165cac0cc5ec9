# Fields of the records of ``ext/jobs.pyx``, for the kernels that read and fill them.


cdef class FetchJob:
    cdef public unsigned long long id
    cdef public bytes url
    cdef public bytes host
    cdef public int port
    cdef public bint https
    cdef public object kind
    cdef public long long host_id
    cdef public bytes ip
    cdef public int depth
    cdef public int left
    cdef public int level
    cdef public int hops
    cdef public int flags
    cdef public int attempt
    cdef public int failed
    cdef public int watch
    cdef public unsigned long long position
    cdef public double score
    cdef public double relevance
    cdef public bytes via
    cdef public bytes tag


cdef class FetchResult:
    cdef public FetchJob job
    cdef public object outcome
    cdef public int status
    cdef public bytes headers
    cdef public bytes body
    cdef public bint is_truncated
    cdef public unsigned long long start_us
    cdef public unsigned long long duration_us
    cdef public unsigned long long bytes_read
    cdef public unsigned long long bytes_written
    cdef public str reason
    cdef public bint is_swallowed
    cdef public bint is_unsent


cdef FetchResult new_result()
