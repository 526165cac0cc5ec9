/* A heap of four children a node, ordered by key (a time), then by turn (first come, first served).
 *
 * Keys stand in the nodes: a comparison touches no record.  `moved` is told each new place of an
 * id, so that an entry can be found again, re-keyed or taken out.  Turns wrap around after 2^32;
 * they are compared by difference, which is right as long as no node stays for 2^31 turns.
 */
#ifndef LARBINPY_HEAP_H
#define LARBINPY_HEAP_H

#include <stdint.h>

typedef struct {
    uint64_t key;
    uint32_t turn;
    uint32_t id;
} heap_node;

typedef void (*heap_moved)(void *owner, uint32_t id, uint32_t at);

static inline int heap_before(const heap_node *a, const heap_node *b) {
    return a->key < b->key || (a->key == b->key && (int32_t)(a->turn - b->turn) < 0);
}

/* Put `node` into the gap at `at`, or nearer to the root. */
static inline void heap_up(heap_node *nodes, uint32_t at, heap_node node, void *owner,
                           heap_moved moved) {
    while (at) {
        uint32_t parent = (at - 1) >> 2;
        if (!heap_before(&node, &nodes[parent])) break;
        nodes[at] = nodes[parent];
        moved(owner, nodes[at].id, at);
        at = parent;
    }
    nodes[at] = node;
    moved(owner, node.id, at);
}

/* Put `node` into the gap at `at`, or farther from the root. */
static inline void heap_down(heap_node *nodes, uint32_t count, uint32_t at, heap_node node,
                             void *owner, heap_moved moved) {
    for (;;) {
        uint32_t child = at * 4 + 1, end = child + 4 < count ? child + 4 : count, best = child;
        if (child >= count) break;
        for (uint32_t i = child + 1; i < end; i++)
            if (heap_before(&nodes[i], &nodes[best])) best = i;
        if (!heap_before(&nodes[best], &node)) break;
        nodes[at] = nodes[best];
        moved(owner, nodes[at].id, at);
        at = best;
    }
    nodes[at] = node;
    moved(owner, node.id, at);
}

/* Put `node` into the gap at `at`, or where it belongs. */
static inline void heap_place(heap_node *nodes, uint32_t count, uint32_t at, heap_node node,
                              void *owner, heap_moved moved) {
    if (at && heap_before(&node, &nodes[(at - 1) >> 2])) heap_up(nodes, at, node, owner, moved);
    else heap_down(nodes, count, at, node, owner, moved);
}

/* There must be room for one node more. */
static inline void heap_push(heap_node *nodes, uint32_t *count, heap_node node, void *owner,
                             heap_moved moved) {
    heap_up(nodes, (*count)++, node, owner, moved);
}

static inline void heap_remove(heap_node *nodes, uint32_t *count, uint32_t at, void *owner,
                               heap_moved moved) {
    heap_node last = nodes[--*count];
    if (at < *count) heap_place(nodes, *count, at, last, owner, moved);
}

#endif
