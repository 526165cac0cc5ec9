# The turns of hosts and addresses, header only: who may be asked now, and when again.
#
# Invariant: a turn begins only for a host that stands nowhere (IDLE, or just taken from its heap)
# and whose address is not busy; `turn_end` ends it.
#
# Cost.  O(log hosts of the address + log addresses) a turn.

from libc.stdint cimport uint32_t, uint64_t

from hostbook cimport book_pop, host_book
from tables cimport (
    NONE, STATE_BUSY, STATE_NEW, heap_remove, host_at, host_give_back, host_leave, host_moved,
    host_record, ip_at, ip_claim, ip_nodes, ip_record, ip_release, ip_slot, ip_until, later,
    list_add, list_remove, settle,
)


cdef enum:
    CLAIM_RETRY_NS = 10_000_000


cdef struct turn_rules:
    uint64_t wait_ns
    uint64_t wait_ip_ns
    uint64_t lease_ns
    uint64_t owner
    uint32_t per_ip
    ip_slot *slots  # of the table that shards share, NULL = there is one shard
    size_t slot_count


cdef struct handed:
    uint64_t position
    uint32_t host
    uint32_t code  # 0 = its turn has begun, else why the host failed


# --- one turn -----------------------------------------------------------------------------------
cdef inline bint is_claimed(const turn_rules *rules, ip_record *ip, uint64_t now_ns) noexcept nogil:
    """Claim an address in the shared table, or note when to try again.

    The time found may be the end of a lease, and a request seldom takes that long: try again
    after the time that lies between two requests anyway.
    """
    cdef uint64_t free_at_ns, retry_ns, lease_ns
    if rules.slots == NULL:
        return True
    lease_ns = rules.lease_ns if rules.per_ip == 1 else rules.wait_ip_ns
    free_at_ns = ip_claim(rules.slots, rules.slot_count, ip.key, now_ns, lease_ns, rules.owner)
    if free_at_ns:
        retry_ns = now_ns + later(rules.wait_ip_ns, CLAIM_RETRY_NS)
        ip.next_ns = min(free_at_ns, retry_ns)
    return free_at_ns == 0


cdef inline void turn_begin(host_book *book, const turn_rules *rules, host_record *host,
                            uint64_t now_ns) noexcept nogil:
    """Begin the turn of a host that stands nowhere, and of its address."""
    cdef ip_record *ip = ip_at(&book.plan, host.ip)
    ip.turns += 1
    ip.is_busy = ip.turns >= rules.per_ip
    ip.next_ns = now_ns if rules.per_ip == 1 else now_ns + rules.wait_ip_ns
    settle(&book.plan, host.ip)
    host.state = STATE_BUSY
    host.other = NONE
    book.busy += 1


cdef inline void turn_end(host_book *book, const turn_rules *rules, uint32_t number,
                          uint64_t ip_next_ns) noexcept nogil:
    """End the turn of a BUSY host."""
    cdef ip_record *ip = ip_at(&book.plan, host_at(&book.plan, number).ip)
    cdef uint64_t claimed_ns = ip.next_ns
    if rules.slots != NULL and rules.per_ip == 1:
        ip_release(rules.slots, rules.slot_count, ip.key,
                   ip_until(claimed_ns, rules.lease_ns, rules.owner),
                   later(claimed_ns, ip_next_ns))
    book.busy -= 1
    host_give_back(&book.plan, number, ip_next_ns)


cdef inline void turn_done(host_book *book, const turn_rules *rules, uint32_t number,
                           uint64_t start_ns, uint64_t end_ns) noexcept nogil:
    """End the turn of a BUSY host that was asked from `start_ns` to `end_ns`."""
    cdef host_record *host = host_at(&book.plan, number)
    cdef uint64_t wait_ns = later(rules.wait_ns, host.wait_ns)
    host.next_ns = later(host.next_ns, later(start_ns + wait_ns, end_ns))
    if rules.per_ip > 1:
        end_ns = 0
    turn_end(book, rules, number, later(start_ns + rules.wait_ip_ns, end_ns))


cdef inline void turn_undone(host_book *book, const turn_rules *rules,
                             uint32_t number) noexcept nogil:
    """End the turn of a BUSY host that was not asked."""
    cdef ip_record *ip = ip_at(&book.plan, host_at(&book.plan, number).ip)
    if rules.per_ip > 1:
        ip.next_ns -= min(ip.next_ns, rules.wait_ip_ns)
    turn_end(book, rules, number, 0)


cdef inline uint64_t turn_visit(host_book *book, const turn_rules *rules, uint32_t number,
                                uint64_t now_ns) noexcept nogil:
    """Begin a turn out of turn, of a host that has an address; 0, or when to try again."""
    cdef host_record *host = host_at(&book.plan, number)
    cdef ip_record *ip = ip_at(&book.plan, host.ip)
    if host.state == STATE_BUSY or ip.is_busy:
        return now_ns + CLAIM_RETRY_NS
    if later(host.next_ns, ip.next_ns) > now_ns:
        return later(host.next_ns, ip.next_ns)
    if not is_claimed(rules, ip, now_ns):
        settle(&book.plan, host.ip)
        return ip.next_ns
    host_leave(&book.plan, number)
    turn_begin(book, rules, host, now_ns)
    return 0


# --- many turns ---------------------------------------------------------------------------------
cdef inline size_t take_due(host_book *book, const turn_rules *rules, uint64_t now_ns,
                            handed *out, size_t room) noexcept nogil:
    """One URL of each host whose turn it is."""
    cdef size_t count = 0
    cdef uint32_t number
    cdef ip_record *ip
    cdef host_record *host
    while count < room and book.plan.due_count and book.plan.due[0].key <= now_ns:
        number = book.plan.due[0].id
        ip = ip_at(&book.plan, number)
        if not is_claimed(rules, ip, now_ns):
            settle(&book.plan, number)
            continue
        out[count].host = ip_nodes(ip)[0].id
        host = host_at(&book.plan, out[count].host)
        heap_remove(ip_nodes(ip), &ip.count, 0, &book.plan, host_moved)
        turn_begin(book, rules, host, now_ns)
        out[count].code = 0
        out[count].position = book_pop(book, host)
        count += 1
    return count


cdef inline size_t take_failed(host_book *book, uint64_t now_ns, handed *out,
                               size_t room) noexcept nogil:
    """One URL of each failed host in turn; hosts whose failure is over become NEW."""
    cdef size_t count = 0
    cdef uint32_t number
    cdef host_record *host
    while count < room and book.plan.failing.count:
        number = book.plan.failing.head
        host = host_at(&book.plan, number)
        list_remove(&book.plan, &book.plan.failing, number)
        if now_ns >= host.next_ns:
            host.state = STATE_NEW
            host.code = 0
            list_add(&book.plan, &book.plan.fresh, number)
            continue
        out[count].host = number
        out[count].code = host.code
        out[count].position = book_pop(book, host)
        if host.waiting:
            list_add(&book.plan, &book.plan.failing, number)
        count += 1
    return count


cdef inline size_t take_turns(host_book *book, const turn_rules *rules, uint64_t now_ns,
                              handed *out, size_t room, size_t half) noexcept nogil:
    """Half for due hosts, then failed ones, then again due hosts: neither starves the other."""
    cdef size_t count = take_due(book, rules, now_ns, out, half)
    count += take_failed(book, now_ns, out + count, room - count)
    return count + take_due(book, rules, now_ns, out + count, room - count)
