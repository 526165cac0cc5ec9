/* What the compiler's -fsanitize-coverage=trace-pc calls at each block of the kernels: notes edges
 * (pairs of blocks) that were never taken before. Loaded before the kernels, with global symbols.
 */
#include <stdint.h>

enum { EDGES = 1 << 20 };

static uint8_t seen[EDGES];
static uintptr_t blocks[EDGES]; /* of each edge its end; the same block may stand here often */
static uint32_t count;
static uintptr_t previous;

void __sanitizer_cov_trace_pc(void) {
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    uintptr_t edge = (here * 0x9E3779B97F4A7C15u >> 20 ^ previous) & (EDGES - 1);
    previous = (here * 0x9E3779B97F4A7C15u >> 21) & (EDGES - 1);
    if (seen[edge] == 0) {
        seen[edge] = 1;
        blocks[count++] = here;
    }
}

/* Edges so far; a run begins anew, so that edges do not depend on the run before. */
uint32_t edges_count(void) {
    previous = 0;
    return count;
}

const uintptr_t *edges_blocks(void) { return blocks; }
