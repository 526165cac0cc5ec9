/* Preloaded into a crawl: an answer with "X-Bring-Down" in it is a crash of whoever receives it.
 *
 * It stands for a fault in a library that some page of the web sets off.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

static const char sign[] = "X-Bring-Down";

ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    ssize_t (*real)(int, void *, size_t, int) =
        (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    ssize_t got = real(fd, buffer, size, flags);
    if (got > 0 && memmem(buffer, (size_t)got, sign, sizeof sign - 1)) {
        volatile int *nothing = NULL;
        *nothing = 1;
    }
    return got;
}
