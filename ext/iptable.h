/* When each IP address may be asked next: a table in shared memory, of time stamps only.
 *
 * A slot is a key (64-bit hash of the address) and a time.  A slot whose time has passed says
 * nothing, whatever its key, and may be taken by anybody: so a killed process leaves behind no lock
 * but a time that runs out, and nothing need ever be cleaned.  Who wants to may free the claims of a
 * dead process before: the low bits of a claim's time are its owner.  A time that was set otherwise
 * may look like one; then it becomes a little later, which is harmless.
 *
 * An address may stand in any of the SET_SLOTS slots of its set.  A claim
 *   1. looks: a slot with our key and a time to come is somebody's claim;
 *   2. publishes: moves the time of a passed slot to `now + lease` by compare-and-swap (one process
 *      wins it), then writes the key;
 *   3. looks again: another slot with our key and a time to come means that two processes published
 *      at once in different slots.  Each that sees the other steps back and tries again later.
 * Both write before they look, in one order for all (sequential consistency), so at least one sees
 * the other: there are never two owners.  Writers of keys own the slot's time at that moment.
 * A set whose slots are all claimed by other addresses lets the request through: the table is then
 * far too small, and a crawl that stands still would help nobody.
 */
#ifndef LARBINPY_IPTABLE_H
#define LARBINPY_IPTABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "atomics.h"
#include "siphash.h"

#define SET_SLOTS 16
#define CLAIM_TRIES 8
#define STEP_BACK_NS 1000000u
#define OWNER_MASK 0x1ffull

typedef struct {
    uint64_t key;
    uint64_t free_at_ns;
} ip_slot;

static inline uint64_t ip_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Key of an address of 4 or 16 bytes, the same in all processes; exact for IPv4.  Two IPv6 addresses
 * of one key would only wait for each other. */
static inline uint64_t ip_key(const uint8_t *ip, size_t size) {
    static const uint8_t fixed[16] = "larbinpy IP key";
    uint32_t v4;
    if (size != sizeof v4) return siphash13(fixed, ip, size);
    memcpy(&v4, ip, sizeof v4);
    return ip_mix(v4 + 1ull);
}

static inline ip_slot *ip_set(ip_slot *slots, size_t count, uint64_t key) {
    return slots + (key % (count / SET_SLOTS)) * SET_SLOTS;
}

/* Latest time of a slot with this key, but for slot `mine`. */
static inline uint64_t set_claimed(const ip_slot *set, uint64_t key, int mine) {
    uint64_t latest = 0;
    for (int i = 0; i < SET_SLOTS; i++) {
        if (i == mine || atomic_get(&set[i].key) != key) continue;
        uint64_t at = atomic_get(&set[i].free_at_ns);
        if (at > latest) latest = at;
    }
    return latest;
}

/* Slot to publish in: one that has the key already, else the longest passed one; -1 = all claimed. */
static inline int set_choose(const ip_slot *set, uint64_t key, uint64_t now_ns, uint64_t *seen_ns) {
    int chosen = -1;
    for (int i = 0; i < SET_SLOTS; i++) {
        uint64_t at = atomic_get(&set[i].free_at_ns);
        if (at > now_ns) continue;
        int is_ours = atomic_get(&set[i].key) == key;
        if (!is_ours && chosen >= 0 && at >= *seen_ns) continue;
        chosen = i;
        *seen_ns = at;
        if (is_ours) break;
    }
    return chosen;
}

/* End of a claim; owner 0 = nobody will free it. */
static inline uint64_t ip_until(uint64_t now_ns, uint64_t lease_ns, uint64_t owner) {
    uint64_t until_ns = now_ns + lease_ns;
    return owner ? (until_ns & ~OWNER_MASK) | owner : until_ns;
}

/* 0 = the address is ours until now + lease (or its set is full); else when to try again. */
static inline uint64_t ip_claim(ip_slot *slots, size_t count, uint64_t key, uint64_t now_ns,
                                uint64_t lease_ns, uint64_t owner) {
    ip_slot *set = ip_set(slots, count, key);
    uint64_t until_ns = ip_until(now_ns, lease_ns, owner), seen_ns = 0;
    for (int tries = 0; tries < CLAIM_TRIES; tries++) {
        uint64_t claimed_ns = set_claimed(set, key, -1);
        if (claimed_ns > now_ns) return claimed_ns;
        int mine = set_choose(set, key, now_ns, &seen_ns);
        if (mine < 0) return 0;
        if (!atomic_swap(&set[mine].free_at_ns, seen_ns, until_ns)) continue;
        atomic_set(&set[mine].key, key);
        if (set_claimed(set, key, mine) <= now_ns) return 0;
        atomic_set(&set[mine].key, 0);
        atomic_swap(&set[mine].free_at_ns, until_ns, now_ns);
        break;
    }
    return now_ns + STEP_BACK_NS;
}

/* End of the claim that runs to until_ns: the address may be asked from free_at_ns on.
 * A claim that ran out and was taken over is left to its new owner. */
static inline void ip_release(ip_slot *slots, size_t count, uint64_t key, uint64_t until_ns,
                              uint64_t free_at_ns) {
    ip_slot *set = ip_set(slots, count, key);
    for (int i = 0; i < SET_SLOTS; i++)
        if (atomic_get(&set[i].key) == key &&
            atomic_swap(&set[i].free_at_ns, until_ns, free_at_ns))
            return;
}

/* Free all claims of a process that is dead: their addresses may be asked from free_at_ns on. */
static inline void ip_forget(ip_slot *slots, size_t count, uint64_t owner, uint64_t now_ns,
                             uint64_t free_at_ns) {
    for (size_t i = 0; i < count; i++) {
        uint64_t at = atomic_get(&slots[i].free_at_ns);
        if (at > now_ns && (at & OWNER_MASK) == owner)
            atomic_swap(&slots[i].free_at_ns, at, free_at_ns);
    }
}

#endif
