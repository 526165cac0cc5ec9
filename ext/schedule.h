/* Hosts and addresses as records, the lists and heaps in which they stand, and the ways between.
 *
 * States of a host, and where it stands:
 *   NEW        in the list `fresh`, if it has URLs: it needs an address
 *   RESOLVING  nowhere: its address was asked for
 *   IDLE       nowhere: it has an address and no URLs
 *   SCHEDULED  in the heap of its IP entry, by next allowed time
 *   BUSY       nowhere: one of its URLs was handed out; it has a turn of its IP entry
 *   FAILED     in the list `failing`, if it has URLs: they go out with `code`
 *
 * Invariants.
 *   1. An IP entry is in the heap `due` exactly when it is not busy and has scheduled hosts; its key
 *      is the later of its own next time and that of its earliest host.
 *   2. `due` has room for all IP entries, the heap of an entry for all hosts attached to it.  So
 *      memory is needed only for a new address or a new host of an address, never to give back.
 *   3. `slot` and `other` of a host are its neighbours in a list (NEW, FAILED); else `slot` is its
 *      place in the heap (SCHEDULED) and `other` the entry that a BUSY host moves to at its release.
 *   4. Hosts and entries are never removed: their times must outlive their URLs.
 *
 * No function walks over hosts or entries; the dearest is O(log) of the two heaps.
 */
#ifndef LARBINPY_SCHEDULE_H
#define LARBINPY_SCHEDULE_H

#include "chain.h"
#include "heap.h"
#include "index.h"

#define NONE UINT32_MAX
#define RECORDS_SHIFT 10 /* 1,024 records in a slab */
#define MIN_DUE_ROOM 64

enum {
    STATE_NEW = 0, STATE_RESOLVING = 1, STATE_IDLE = 2, STATE_SCHEDULED = 3, STATE_BUSY = 4,
    STATE_FAILED = 5
};

typedef struct { /* one cache line */
    url_queue urls;
    uint64_t next_ns; /* not to be asked before; of a FAILED host: the end of the failure */
    uint64_t wait_ns; /* its own minimum between requests */
    uint32_t ip;
    uint32_t slot;
    uint32_t other;
    uint32_t waiting; /* positions in urls */
    uint32_t name;    /* place in the name slabs */
    uint8_t name_len;
    uint8_t state;
    uint8_t code; /* why it failed; of a BUSY host: why it will have failed at its release */
} host_record;

typedef struct {
    uint64_t key;     /* hash of the address */
    uint64_t next_ns; /* not to be asked before; while its one turn runs: when it was handed out */
    union {
        heap_node one;   /* its heap while there is room for one host only */
        heap_node *many;
    } nodes;
    uint32_t slot;     /* place in `due`, NONE when outside */
    uint32_t count;    /* scheduled hosts */
    uint32_t attached; /* hosts that have this address, or will have it at their release */
    uint16_t turns;    /* BUSY hosts */
    uint8_t shift;     /* the heap has room for 1 << shift */
    uint8_t is_busy;   /* as many BUSY hosts as there may be */
} ip_record;

_Static_assert(sizeof(host_record) == CACHE_LINE, "a host is one cache line");

typedef struct {
    uint32_t head, tail, count;
} host_list;

typedef struct {
    slab_list hosts, ips;
    hash_index by_ip;
    heap_node *due;
    uint32_t due_count, due_room;
    host_list fresh, failing;
    uint32_t turn;
    size_t heap_bytes; /* of the heaps of entries with several hosts */
} schedule;

static inline host_record *host_at(const schedule *s, uint32_t host) {
    uint32_t in_slab = host & ((1u << RECORDS_SHIFT) - 1);
    return (host_record *)s->hosts.at[host >> RECORDS_SHIFT] + in_slab;
}

static inline ip_record *ip_at(const schedule *s, uint32_t ip) {
    uint32_t in_slab = ip & ((1u << RECORDS_SHIFT) - 1);
    return (ip_record *)s->ips.at[ip >> RECORDS_SHIFT] + in_slab;
}

static inline heap_node *ip_nodes(ip_record *ip) {
    return ip->shift ? ip->nodes.many : &ip->nodes.one;
}

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void host_moved(void *s, uint32_t host, uint32_t at) {
    host_at((schedule *)s, host)->slot = at;
}

static void ip_moved(void *s, uint32_t ip, uint32_t at) { ip_at((schedule *)s, ip)->slot = at; }

static inline void schedule_init(schedule *s) {
    memset(s, 0, sizeof *s);
    s->fresh.head = s->fresh.tail = s->failing.head = s->failing.tail = NONE;
}

static inline void schedule_free(schedule *s) {
    for (uint32_t ip = 0; ip < s->by_ip.count; ip++)
        if (ip_at(s, ip)->shift) free(ip_at(s, ip)->nodes.many);
    slabs_free(&s->hosts);
    slabs_free(&s->ips);
    free(s->by_ip.cells);
    free(s->due);
}

static inline size_t schedule_bytes(const schedule *s) {
    return s->hosts.nbytes + s->ips.nbytes + index_size(&s->by_ip) * sizeof(index_cell) +
           s->due_room * sizeof(heap_node) + s->heap_bytes;
}

/* --- lists --------------------------------------------------------------------------------- */

static inline void list_add(schedule *s, host_list *list, uint32_t number) {
    host_record *host = host_at(s, number);
    host->slot = NONE;
    host->other = list->tail;
    if (list->tail == NONE) list->head = number;
    else host_at(s, list->tail)->slot = number;
    list->tail = number;
    list->count++;
}

static inline void list_remove(schedule *s, host_list *list, uint32_t number) {
    host_record *host = host_at(s, number);
    if (host->other == NONE) list->head = host->slot;
    else host_at(s, host->other)->slot = host->slot;
    if (host->slot == NONE) list->tail = host->other;
    else host_at(s, host->slot)->other = host->other;
    host->slot = host->other = NONE;
    list->count--;
}

/* --- heaps --------------------------------------------------------------------------------- */

static inline heap_node new_turn(schedule *s, uint64_t key, uint32_t id) {
    heap_node node = {key, s->turn++, id};
    return node;
}

/* Put an IP entry where it belongs in `due`, or out of it (invariant 1). */
static inline void settle(schedule *s, uint32_t number) {
    ip_record *ip = ip_at(s, number);
    if (ip->is_busy || !ip->count) {
        if (ip->slot != NONE) heap_remove(s->due, &s->due_count, ip->slot, s, ip_moved);
        ip->slot = NONE;
        return;
    }
    uint64_t key = later(ip->next_ns, ip_nodes(ip)[0].key);
    if (ip->slot == NONE)
        heap_push(s->due, &s->due_count, new_turn(s, key, number), s, ip_moved);
    else if (s->due[ip->slot].key != key)
        heap_place(s->due, s->due_count, ip->slot, new_turn(s, key, number), s, ip_moved);
}

/* Give a host that has an address and stands nowhere the state that its URLs ask for. */
static inline void host_enter(schedule *s, uint32_t number) {
    host_record *host = host_at(s, number);
    ip_record *ip = ip_at(s, host->ip);
    host->state = host->waiting ? STATE_SCHEDULED : STATE_IDLE;
    if (!host->waiting) return;
    heap_push(ip_nodes(ip), &ip->count, new_turn(s, host->next_ns, number), s, host_moved);
    settle(s, host->ip);
}

/* Take a host that is not BUSY out of its list or heap. */
static inline void host_leave(schedule *s, uint32_t number) {
    host_record *host = host_at(s, number);
    if (host->state == STATE_SCHEDULED) {
        ip_record *ip = ip_at(s, host->ip);
        heap_remove(ip_nodes(ip), &ip->count, host->slot, s, host_moved);
        settle(s, host->ip);
    } else if (host->state == STATE_NEW && host->waiting) {
        list_remove(s, &s->fresh, number);
    } else if (host->state == STATE_FAILED && host->waiting) {
        list_remove(s, &s->failing, number);
    }
}

/* Show a host that had no URLs and has one now to whoever must know. */
static inline void host_woken(schedule *s, uint32_t number) {
    uint8_t state = host_at(s, number)->state;
    if (state == STATE_IDLE) host_enter(s, number);
    else if (state == STATE_NEW) list_add(s, &s->fresh, number);
    else if (state == STATE_FAILED) list_add(s, &s->failing, number);
}

/* Raise the next allowed time of a host. */
static inline void host_delay(schedule *s, uint32_t number, uint64_t until_ns) {
    host_record *host = host_at(s, number);
    if (until_ns <= host->next_ns) return;
    host->next_ns = until_ns;
    if (host->state != STATE_SCHEDULED) return;
    ip_record *ip = ip_at(s, host->ip);
    heap_place(ip_nodes(ip), ip->count, host->slot, new_turn(s, until_ns, number), s, host_moved);
    settle(s, host->ip);
}

static inline void host_detach(schedule *s, host_record *host) {
    if (host->ip != NONE) ip_at(s, host->ip)->attached--;
    host->ip = NONE;
}

/* Make a host that stands nowhere FAILED until its next_ns. */
static inline void host_fail(schedule *s, uint32_t number) {
    host_record *host = host_at(s, number);
    host_detach(s, host);
    host->state = STATE_FAILED;
    if (host->waiting) list_add(s, &s->failing, number);
}

/* End the turn of a BUSY host; its own next_ns is set already. */
static inline void host_give_back(schedule *s, uint32_t number, uint64_t ip_next_ns) {
    host_record *host = host_at(s, number);
    uint32_t asked = host->ip;
    ip_record *ip = ip_at(s, asked);
    ip->turns--;
    ip->is_busy = 0;
    ip->next_ns = later(ip->next_ns, ip_next_ns);
    if (host->other != NONE) {
        ip->attached--;
        host->ip = host->other;
        host->other = NONE;
    }
    if (host->code) host_fail(s, number);
    else host_enter(s, number);
    settle(s, asked);
}

/* --- addresses ----------------------------------------------------------------------------- */

static inline uint32_t ip_find(const schedule *s, uint64_t key, uint32_t hash) {
    if (!s->by_ip.count) return NONE;
    for (uint32_t at = index_start(&s->by_ip, hash);; at = index_next(&s->by_ip, at)) {
        const index_cell *cell = &s->by_ip.cells[at];
        if (!cell->number) return NONE;
        if (cell->hash == hash && ip_at(s, cell->number - 1)->key == key) return cell->number - 1;
    }
}

/* Find or make the entry of an address; NONE = no memory. */
static inline uint32_t ip_entry(schedule *s, uint64_t key, uint32_t hash) {
    uint32_t number = ip_find(s, key, hash);
    if (number != NONE) return number;
    number = s->by_ip.count;
    if (index_reserve(&s->by_ip) < 0) return NONE;
    if (number == s->due_room) {
        uint32_t room = s->due_room + s->due_room / 2 + MIN_DUE_ROOM;
        heap_node *due = (heap_node *)realloc(s->due, room * sizeof(heap_node));
        if (!due) return NONE;
        s->due = due;
        s->due_room = room;
    }
    if (number >> RECORDS_SHIFT == s->ips.count &&
        !slabs_add(&s->ips, sizeof(ip_record) << RECORDS_SHIFT))
        return NONE;
    ip_at(s, number)->key = key;
    ip_at(s, number)->slot = NONE;
    index_add(&s->by_ip, hash, number);
    return number;
}

/* Count one host more on an entry and make room for it in its heap; -1 = no memory. */
static inline int ip_attach(schedule *s, ip_record *ip) {
    size_t room = (size_t)1 << ip->shift, size = 2 * room * sizeof(heap_node);
    if (ip->attached == room) {
        heap_node *many = (heap_node *)realloc(ip->shift ? ip->nodes.many : NULL, size);
        if (!many) return -1;
        if (!ip->shift) many[0] = ip->nodes.one;
        s->heap_bytes += ip->shift ? size / 2 : size;
        ip->nodes.many = many;
        ip->shift++;
    }
    ip->attached++;
    return 0;
}

/* Put a host on an IP entry, a BUSY one from its release on; -1 = no memory, nothing changed. */
static inline int host_move(schedule *s, uint32_t number, uint32_t to, uint64_t now_ns,
                            uint64_t not_before_ns) {
    host_record *host = host_at(s, number);
    ip_record *ip = ip_at(s, to);
    int is_busy = host->state == STATE_BUSY;
    int is_known = to == host->ip || (is_busy && to == host->other);
    if (!is_known && ip_attach(s, ip) < 0) return -1;
    if (!ip->is_busy) {
        ip->next_ns = later(ip->next_ns, not_before_ns);
        settle(s, to);
    }
    host->next_ns = later(host->next_ns, not_before_ns);
    if (is_busy) {
        if (host->other != NONE && host->other != to) ip_at(s, host->other)->attached--;
        host->other = to == host->ip ? NONE : to;
        return 0;
    }
    host_leave(s, number);
    if (to != host->ip) host_detach(s, host);
    host->ip = to;
    host->code = 0;
    host->next_ns = later(host->next_ns, now_ns);
    host_enter(s, number);
    return 0;
}

#endif
