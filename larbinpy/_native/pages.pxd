# Fields of the records of ``ext/pages.pyx``, for the kernels that read and fill them.


cdef class Page:
    cdef public unsigned long long id
    cdef public unsigned int epoch
    cdef public int attempt
    cdef public int kind
    cdef public int outcome
    cdef public int flags
    cdef public int status
    cdef public int depth
    cdef public int left
    cdef public int level
    cdef public int hops
    cdef public double score
    cdef public double relevance
    cdef public unsigned long long start_us
    cdef public unsigned int duration_us
    cdef public bytes ip
    cdef public bytes url
    cdef public bytes via
    cdef public bytes tag
    cdef public bytes reason
    cdef public bytes headers
    cdef public object body


cdef class ParsedPage:
    cdef public unsigned long long id
    cdef public unsigned int epoch
    cdef public object outcome
    cdef public int status
    cdef public unsigned int body_bytes
    cdef public unsigned int links
    cdef public unsigned int duplicates
    cdef public bytes digest
    cdef public dict filtered
    cdef public unsigned long long near
    cdef public unsigned long long simhash
    cdef public object directives
    cdef public bytes canonical
    cdef public bytes reason


cdef class Reading:
    cdef public Page page
    cdef public ParsedPage parsed
    cdef public bytes mime
    cdef public bytes body
    cdef public object links
    cdef public bytes via
