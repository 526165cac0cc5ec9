/* Zeroed memory for tables that are read at random: large ones lie in large pages, where the system
 * has them to give, so that a look-up that misses the caches does not miss the TLB too.
 *
 * Memory is taken as it is touched.  Nothing but speed depends on what the system gives.
 */
#ifndef LARBINPY_LARGEPAGES_H
#define LARBINPY_LARGEPAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

/* NULL when there is no memory; from LARGE_PAGE on, `bytes` is a multiple of it. */
static inline void *table_alloc(size_t bytes) {
    if (bytes < LARGE_PAGE) return calloc(1, bytes);
    const size_t room = bytes + LARGE_PAGE;
    char *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    const size_t before = -(uintptr_t)at & (LARGE_PAGE - 1), behind = LARGE_PAGE - before;
    if (before) munmap(at, before);
    if (behind) munmap(at + before + bytes, behind);
    madvise(at + before, bytes, MADV_HUGEPAGE);
    return at + before;
}

/* Give back what `table_alloc` gave for so many bytes; NULL too. */
static inline void table_free(void *table, size_t bytes) {
    if (bytes < LARGE_PAGE) free(table);
    else if (table) munmap(table, bytes);
}

#endif
