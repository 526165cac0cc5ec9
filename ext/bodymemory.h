/* Memory that other processes map, cut into blocks for Python's objects.
 *
 * Blocks have classes of size, four to an octave, and each class a list of those that are free, the
 * last one freed in front: its lines are in the caches.  When the memory is all cut up, the largest
 * free block is cut up again; blocks are never joined.  What finds none lies where the allocator
 * puts it that was there before.  Memory is taken from the system (`fallocate`) before it is
 * touched: a touch that cannot be served would be a SIGBUS.
 *
 * Cost: O(1), but for the classes that are looked through when the memory is all cut up.
 */
#ifndef LARBINPY_BODYMEMORY_H
#define LARBINPY_BODYMEMORY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_LEAST ((size_t)2048)
#define BLOCK_MOST ((size_t)16 << 20)
#define BLOCK_CLASSES 53
#define BLOCK_UNIT_BITS 9 /* the first four classes differ by so much */
#define GROWTH_BYTES ((size_t)1 << 20)
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1 */
#endif
#define BODY_SEALS (F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef struct block {
    uint64_t class_;
    struct block *next; /* while it is free */
} block;

typedef struct {
    char *base;
    size_t size;
    size_t cut, end; /* what lies between is cut into blocks next */
    size_t taken;    /* bytes that the system has given */
    int fd;
    block *free[BLOCK_CLASSES];
    PyMemAllocatorEx before;
} body_memory;

static inline size_t block_size(int class_) {
    return (size_t)(4 + (class_ & 3)) << (class_ >> 2) << BLOCK_UNIT_BITS;
}

/* The least class whose blocks have so many bytes, of which there are at least 2,048. */
static inline int block_class(size_t bytes) {
    const uint64_t units = (bytes - 1) >> BLOCK_UNIT_BITS;
    if (units < 4) return 0;
    const int octave = 61 - __builtin_clzll(units);
    return 4 * octave + (int)(units >> octave) - 3;
}

static inline int lies_here(const body_memory *m, const void *at) {
    return (uintptr_t)at - (uintptr_t)m->base < m->size;
}

/* Whether the system has given so many bytes, or gives them now. */
static inline int is_taken(body_memory *m, size_t bytes) {
    if (bytes <= m->taken) return 1;
    size_t more = bytes - m->taken;
    if (more < GROWTH_BYTES) more = GROWTH_BYTES;
    if (more > m->size - m->taken) more = m->size - m->taken;
    int refused;
    do refused = fallocate(m->fd, 0, (off_t)m->taken, (off_t)more) < 0;
    while (refused && errno == EINTR);
    if (refused) return 0;
    m->taken += more;
    return 1;
}

static inline block *block_cut(body_memory *m, int class_) {
    const size_t bytes = block_size(class_);
    if (bytes > m->end - m->cut || !is_taken(m, m->cut + bytes)) return NULL;
    block *cut = (block *)(m->base + m->cut);
    m->cut += bytes;
    cut->class_ = (uint64_t)class_;
    return cut;
}

static inline void block_free(body_memory *m, block *freed) {
    freed->next = m->free[freed->class_];
    m->free[freed->class_] = freed;
}

/* Cut up the largest free block next, if it is larger than those of a class. */
static inline int block_recut(body_memory *m, int class_) {
    int largest = BLOCK_CLASSES - 1;
    while (largest > class_ && !m->free[largest]) largest--;
    if (largest <= class_) return 0;
    for (int rest = largest; rest >= 0; rest--) {
        block *cut;
        while ((cut = block_cut(m, rest))) block_free(m, cut);
    }
    block *found = m->free[largest];
    m->free[largest] = found->next;
    m->cut = (size_t)((char *)found - m->base);
    m->end = m->cut + block_size(largest);
    return 1;
}

/* Room for so many bytes; NULL when they are too few or too many, or there is none. */
static inline void *body_take(body_memory *m, size_t bytes) {
    const size_t whole = bytes + sizeof(block);
    if (whole - BLOCK_LEAST > BLOCK_MOST - BLOCK_LEAST) return NULL;
    const int class_ = block_class(whole);
    block *found = m->free[class_];
    if (found) m->free[class_] = found->next;
    else found = block_cut(m, class_);
    const int is_cut_up = block_size(class_) > m->end - m->cut;
    if (!found && is_cut_up && block_recut(m, class_)) found = block_cut(m, class_);
    return found ? found + 1 : NULL;
}

static inline void body_give(body_memory *m, void *at) {
    block_free(m, (block *)at - 1);
}

/* --- as Python's allocator of objects: it is called with the GIL held -------------------------- */

static void *body_malloc(void *memory, size_t bytes) {
    body_memory *m = memory;
    void *at = body_take(m, bytes);
    return at ? at : m->before.malloc(m->before.ctx, bytes);
}

static void *body_calloc(void *memory, size_t count, size_t bytes) {
    body_memory *m = memory;
    return m->before.calloc(m->before.ctx, count, bytes);
}

static void body_free(void *memory, void *at) {
    body_memory *m = memory;
    if (lies_here(m, at)) body_give(m, at);
    else m->before.free(m->before.ctx, at);
}

static void *body_realloc(void *memory, void *at, size_t bytes) {
    body_memory *m = memory;
    if (!at) return body_malloc(m, bytes);
    if (!lies_here(m, at)) return m->before.realloc(m->before.ctx, at, bytes);
    const size_t room = block_size((int)((block *)at - 1)->class_) - sizeof(block);
    if (bytes <= room && bytes > room / 2) return at;
    void *moved = body_malloc(m, bytes);
    if (!moved) return NULL;
    memcpy(moved, at, bytes < room ? bytes : room);
    body_give(m, at);
    return moved;
}

/* Let Python's objects lie here from now on, as far as they have the size. */
static inline void body_serve(body_memory *m) {
    PyMemAllocatorEx here = {m, body_malloc, body_calloc, body_realloc, body_free};
    PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &m->before);
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &here);
}

/* Map a new memory, to which nobody else can ever write; -1 with errno when the system has none. */
static inline int body_open(body_memory *m, size_t size) {
    const int fd = memfd_create("bodies", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    void *base = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0)
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base != MAP_FAILED && fcntl(fd, F_ADD_SEALS, BODY_SEALS) < 0) {
        munmap(base, size);
        base = MAP_FAILED;
    }
    if (base == MAP_FAILED) {
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    m->fd = fd;
    m->base = base;
    m->size = m->end = size;
    return 0;
}

#endif
