"""A table of the latest different pages of each host, by simhash, that all parsers share.

Idea: hosts fall into buckets; a bucket is a ring of 63 pages. A page is compared with all of them
(one exclusive or and one population count each), and is remembered if it is near to none. A page
that others are near to moves to the front once it is among the older half: the copies of a trap are
told as long as there are some, however many other hosts share its bucket.

1. A simhash stands there combined with a keyed hash of its host: the pages of another host of the
   bucket look like chance (63 of them are near to a page with a chance of 10**-6), and nobody can
   craft a page that makes another host's look like a copy.
2. A page finds itself by its id: one that is read again, because a process died before it was
   done, is what it was. Near-duplicates are not remembered, so it is not compared with its copies.
3. Words are written one by one, without a lock. Two processes at work on one host at the same time
   may both take a page for new, or lose one; a process killed at any moment leaves a valid table.

Cost: O(1), 16 cache lines that lie together.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t

from checks cimport checked_key
from layout cimport siphash13


cdef extern from "mix.h" nogil:
    uint64_t scale64(uint64_t bits, uint64_t size)

cdef extern from * nogil:
    uint64_t fetch_add "__atomic_fetch_add" (uint64_t *word, uint64_t more, int order)
    uint64_t load_word "__atomic_load_n" (uint64_t *word, int order)
    void store_word "__atomic_store_n" (uint64_t *word, uint64_t value, int order)
    int count_bits "__builtin_popcountll" (uint64_t word)
    int RELAXED "__ATOMIC_RELAXED"

cdef enum:
    WORD_BYTES = 8
    PAGES = 63
    NONE = -1
    BUCKET_BYTES = 1024
    HASH_BITS = 64


cdef struct near_page:
    uint64_t simhash  # combined with the hash of the host
    uint64_t id       # 0 = nothing here


cdef struct near_bucket:
    uint64_t added
    uint64_t reserved
    near_page pages[PAGES]


cdef inline int nearest(near_bucket *bucket, uint64_t simhash, uint64_t page_id,
                        int bits) noexcept nogil:
    """The place of the page that is nearest and near enough, of the page itself, or ``NONE``."""
    cdef uint64_t other
    cdef int i, distance, found = NONE, least = bits + 1
    for i in range(PAGES):
        other = load_word(&bucket.pages[i].id, RELAXED)
        if other == 0:
            continue
        if other == page_id:
            return i
        distance = count_bits(load_word(&bucket.pages[i].simhash, RELAXED) ^ simhash)
        if distance < least:
            found, least = i, distance
    return found


cdef inline void remember(near_bucket *bucket, uint64_t simhash, uint64_t page_id) noexcept nogil:
    cdef near_page *page = &bucket.pages[fetch_add(&bucket.added, 1, RELAXED) % PAGES]
    store_word(&page.simhash, simhash, RELAXED)
    store_word(&page.id, page_id, RELAXED)


cdef inline void renew(near_bucket *bucket, int place) noexcept nogil:
    """Move a page to the front, when as many have come since as the older half holds."""
    cdef near_page found
    if (load_word(&bucket.added, RELAXED) + PAGES - 1 - place) % PAGES < PAGES // 2:
        return
    found.simhash = load_word(&bucket.pages[place].simhash, RELAXED)
    found.id = load_word(&bucket.pages[place].id, RELAXED)
    store_word(&bucket.pages[place].id, 0, RELAXED)
    if found.id:
        remember(bucket, found.simhash, found.id)


@cython.final
cdef class NearTable:
    """Pages by host, in a buffer that several processes may map.

    Args:
        buffer: writable, a multiple of 1,024 bytes, at an address that is one of 8; all zero =
            empty.
        key: the crawl's hash key, 16 bytes.
        bits: how many bits of near-duplicates differ at most.

    Process/thread: any number of processes and threads.
    """

    cdef uint8_t[::1] _buffer  # keeps the memory
    cdef bytes _key
    cdef near_bucket *_buckets
    cdef uint64_t _size
    cdef int _bits

    def __cinit__(self, uint8_t[::1] buffer not None, bytes key not None, int bits):
        checked_key(key)
        if not 0 <= bits <= HASH_BITS:
            raise ValueError(f"a simhash has {HASH_BITS} bits, not {bits}")
        if buffer.shape[0] == 0 or buffer.shape[0] % BUCKET_BYTES:
            raise ValueError(f"a near table has a multiple of {BUCKET_BYTES} bytes, "
                             f"not {buffer.shape[0]}")
        self._buffer = buffer
        self._key = key
        self._buckets = <near_bucket *>&buffer[0]
        self._size = buffer.shape[0] // BUCKET_BYTES
        self._bits = bits
        if <size_t>self._buckets % WORD_BYTES:
            raise ValueError(f"a near table begins at a multiple of {WORD_BYTES}")

    def near(self, bytes host not None, uint64_t simhash, uint64_t page_id):
        """Return the id of the earlier page of a host that this one is near to, 0 = of none.

        Then, and when this page was remembered before, it is the one to remember.
        """
        cdef const uint8_t *text = host
        cdef size_t size = len(host)
        cdef const uint8_t *key = self._key
        cdef uint64_t hashed, other = 0
        cdef near_bucket *bucket
        cdef int found
        if page_id == 0:
            raise ValueError("no page has the id 0")
        with nogil:
            hashed = siphash13(key, text, size)
            bucket = &self._buckets[scale64(hashed, self._size)]
            found = nearest(bucket, simhash ^ hashed, page_id, self._bits)
            if found == NONE:
                remember(bucket, simhash ^ hashed, page_id)
            else:
                other = load_word(&bucket.pages[found].id, RELAXED)
                if other != page_id:
                    renew(bucket, found)
        return 0 if other == page_id else other
