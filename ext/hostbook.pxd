# All that a shard knows of its hosts, header only: their names, their states, and the URLs that
# wait for each.
#
# Invariant: `waiting` of the book is the sum of `waiting` of its hosts.
#
# Cost.  O(1) a URL; arrivals go in blocks whose cache misses overlap.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from tables cimport (
    HASH_KEY_BYTES, NONE, STATE_BUSY, arrival, arrivals_find, host_at, host_fail, host_leave,
    host_record, host_woken, index_cell, index_size, later, name_add, name_find, name_hash,
    name_table, piece_pool, queue_pop, queue_push, record_read, schedule, schedule_bytes,
    schedule_free, schedule_init, slabs_free,
)


cdef enum:
    BLOCK = 16  # records of book_put() whose cache misses overlap


cdef struct host_book:
    schedule plan
    name_table names
    piece_pool pieces
    uint32_t busy
    uint64_t waiting
    bint from_tail  # the newest URL of a level goes first


cdef inline void book_init(host_book *book, const char *key, bint from_tail) noexcept nogil:
    """Make a zeroed book an empty one; `key` hashes the names."""
    schedule_init(&book.plan)
    memcpy(book.names.key, key, HASH_KEY_BYTES)
    book.from_tail = from_tail


cdef inline void book_free(host_book *book) noexcept nogil:
    schedule_free(&book.plan)
    slabs_free(&book.names.slabs)
    slabs_free(&book.pieces.slabs)
    free(book.names.index.cells)


cdef inline size_t book_bytes(const host_book *book) noexcept nogil:
    """Bytes that were allocated."""
    cdef size_t cells = index_size(&book.names.index) * sizeof(index_cell)
    cdef size_t urls = book.pieces.slabs.nbytes
    return schedule_bytes(&book.plan) + book.names.slabs.nbytes + cells + urls


# --- hosts --------------------------------------------------------------------------------------
cdef inline uint32_t book_find(const host_book *book, const uint8_t *name,
                               uint8_t size) noexcept nogil:
    """The number of a host, NONE if it is not known."""
    return name_find(&book.names, &book.plan, name, size, name_hash(&book.names, name, size))


cdef inline uint32_t book_add(host_book *book, const uint8_t *name, uint8_t size) noexcept nogil:
    """The number of a host, known or new; NONE when there is no memory, and nothing changed."""
    cdef uint32_t hash = name_hash(&book.names, name, size)
    cdef uint32_t number = name_find(&book.names, &book.plan, name, size, hash)
    if number == NONE:
        number = name_add(&book.names, &book.plan, name, size, hash)
    return number


cdef inline void book_give_up(host_book *book, uint32_t number, uint8_t code,
                              uint64_t until_ns) noexcept nogil:
    """Let a host fail, at its release if it is BUSY; an earlier time does not shorten its wait."""
    cdef host_record *host = host_at(&book.plan, number)
    if host.state != STATE_BUSY:
        host_leave(&book.plan, number)
    host.code = code
    host.next_ns = later(host.next_ns, until_ns)
    if host.state != STATE_BUSY:
        host_fail(&book.plan, number)


# --- URLs ---------------------------------------------------------------------------------------
cdef inline uint64_t book_pop(host_book *book, host_record *host) noexcept nogil:
    """Take the next URL of a host that has some."""
    book.waiting -= 1
    host.waiting -= 1
    return queue_pop(&book.pieces, &host.urls, book.from_tail)


cdef inline int book_append(host_book *book, uint32_t number, uint32_t level, uint64_t position,
                            bint at_head) noexcept nogil:
    """Let a URL wait; -1 when there is no memory, and nothing changed."""
    cdef host_record *host = host_at(&book.plan, number)
    if queue_push(&book.pieces, &host.urls, level, position, at_head) < 0:
        return -1
    book.waiting += 1
    host.waiting += 1
    if host.waiting == 1:
        host_woken(&book.plan, number)
    return 0


cdef inline int put_block(host_book *book, arrival *block, size_t count) noexcept nogil:
    cdef size_t i
    if arrivals_find(&book.names, &book.plan, &book.pieces, block, count) < 0:
        return -1
    for i in range(count):
        if book_append(book, block[i].host, block[i].level, block[i].position, False) < 0:
            return -1
    return 0


cdef inline int book_put(host_book *book, const uint8_t *records, size_t size,
                         const uint8_t *offsets, const uint8_t *positions,
                         size_t count) noexcept nogil:
    """Append the URLs of well-formed records; -1 when there is no memory for some one."""
    cdef arrival block[BLOCK]
    cdef size_t i, used = 0
    cdef uint32_t offset
    for i in range(count):
        memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset))
        memcpy(&block[used].position, positions + i * sizeof(uint64_t), sizeof(uint64_t))
        record_read(records + offset, size - offset, &block[used])
        used += 1
        if used == BLOCK or i + 1 == count:
            if put_block(book, block, used) < 0:
                return -1
            used = 0
    return 0
