# What hosts.pyx, its headers and shared.pyx use of the tables in the C headers: declarations only.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "slabs.h" nogil:
    ctypedef struct slab_list:
        size_t nbytes

    ctypedef struct piece_pool:
        slab_list slabs

    void slabs_free(slab_list *list)


cdef extern from "chain.h" nogil:
    enum:
        LEVELS

    ctypedef struct url_queue:
        uint64_t levels

    int queue_push(piece_pool *pool, url_queue *q, uint32_t level, uint64_t position, int at_head)
    uint64_t queue_pop(piece_pool *pool, url_queue *q, int from_tail)


cdef extern from "heap.h" nogil:
    ctypedef struct heap_node:
        uint64_t key
        uint32_t id

    ctypedef void (*heap_moved)(void *owner, uint32_t id, uint32_t at) noexcept
    void heap_remove(heap_node *nodes, uint32_t *count, uint32_t at, void *owner, heap_moved moved)


cdef extern from "index.h" nogil:
    ctypedef struct index_cell:
        uint32_t hash
        uint32_t number

    ctypedef struct hash_index:
        index_cell *cells
        uint32_t count

    size_t index_size(const hash_index *ix)


cdef extern from "schedule.h" nogil:
    enum:
        STATE_NEW, STATE_RESOLVING, STATE_IDLE, STATE_SCHEDULED, STATE_BUSY, STATE_FAILED

    uint32_t NONE

    ctypedef struct host_record:
        url_queue urls
        uint64_t next_ns
        uint64_t wait_ns
        uint32_t ip
        uint32_t slot
        uint32_t other
        uint32_t waiting
        uint32_t name
        uint8_t name_len
        uint8_t state
        uint8_t code

    ctypedef struct ip_record:
        uint64_t key
        uint64_t next_ns
        uint32_t count
        uint16_t turns
        uint8_t is_busy

    ctypedef struct host_list:
        uint32_t head
        uint32_t count

    ctypedef struct schedule:
        hash_index by_ip
        heap_node *due
        uint32_t due_count
        host_list fresh
        host_list failing

    uint64_t later(uint64_t a, uint64_t b)
    host_record *host_at(const schedule *s, uint32_t host)
    ip_record *ip_at(const schedule *s, uint32_t ip)
    heap_node *ip_nodes(ip_record *ip)
    void host_moved(void *s, uint32_t host, uint32_t at) noexcept
    void schedule_init(schedule *s)
    void schedule_free(schedule *s)
    size_t schedule_bytes(const schedule *s)
    void list_add(schedule *s, host_list *list, uint32_t host)
    void list_remove(schedule *s, host_list *list, uint32_t host)
    void settle(schedule *s, uint32_t ip)
    void host_leave(schedule *s, uint32_t host)
    void host_woken(schedule *s, uint32_t host)
    void host_delay(schedule *s, uint32_t host, uint64_t until_ns)
    void host_fail(schedule *s, uint32_t host)
    void host_give_back(schedule *s, uint32_t host, uint64_t ip_next_ns)
    int host_move(schedule *s, uint32_t host, uint32_t to, uint64_t now_ns, uint64_t not_before_ns)
    uint32_t ip_entry(schedule *s, uint64_t key, uint32_t hash)


cdef extern from "arrivals.h" nogil:
    enum:
        HASH_KEY_BYTES

    ctypedef struct name_table:
        slab_list slabs
        hash_index index
        uint8_t key[16]

    ctypedef struct arrival:
        const uint8_t *name
        uint64_t position
        uint32_t host
        uint8_t level

    int record_read(const uint8_t *record, size_t size, arrival *found)
    size_t records_bad(const uint8_t *records, size_t size, const uint8_t *offsets, size_t count)
    uint32_t name_hash(const name_table *names, const uint8_t *name, uint8_t size)
    const char *name_at(const name_table *names, const host_record *host)
    uint32_t name_find(const name_table *names, const schedule *s, const uint8_t *name,
                       uint8_t size, uint32_t hash)
    uint32_t name_add(name_table *names, schedule *s, const uint8_t *name, uint8_t size,
                      uint32_t hash)
    int arrivals_find(name_table *names, schedule *s, const piece_pool *pieces, arrival *block,
                      size_t count)


cdef extern from "iptable.h" nogil:
    enum:
        SET_SLOTS

    ctypedef struct ip_slot:
        uint64_t key
        uint64_t free_at_ns

    uint64_t ip_mix(uint64_t x)
    uint64_t ip_key(const uint8_t *ip, size_t size)
    uint64_t ip_until(uint64_t now_ns, uint64_t lease_ns, uint64_t owner)
    uint64_t ip_claim(ip_slot *slots, size_t count, uint64_t key, uint64_t now_ns,
                      uint64_t lease_ns, uint64_t owner)
    void ip_forget(ip_slot *slots, size_t count, uint64_t owner, uint64_t now_ns,
                   uint64_t free_at_ns)
    void ip_release(ip_slot *slots, size_t count, uint64_t key, uint64_t until_ns,
                    uint64_t free_at_ns)
