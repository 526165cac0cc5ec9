/* Preloaded into all processes of a crawl: notes every call that changes the crawl's files, in one
 * journal, so that the disk of any moment can be made again (power.py).
 *
 * Files below the directories in RECORD_DIRS (separated by colons) are noted in RECORD_LOG, one
 * record a call, appended by one write, so that the order over all processes is that of the file.
 * A call is noted when it has returned; of a sync also the begin, for it covers what was noted
 * before it began.  A record:
 *   u32 bytes of all, u8 what, 3 bytes 0, u64 time (CLOCK_MONOTONIC ns), u64 inode, u64 offset or
 *   size, u16 bytes of path, u16 bytes of second path, u32 bytes of data; path, second path, data.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum what { CREATE = 1, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, UNLINK, MKDIR, RMDIR, SYNC_ALL_BEGIN, SYNC_ALL_END };

struct record {
    uint32_t bytes;
    uint8_t what, none[3];
    uint64_t time_ns, inode, offset;
    uint16_t path, second;
    uint32_t data;
} __attribute__((packed));

static const char *directories;
static int journal = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("RECORD_LOG");
    directories = getenv("RECORD_DIRS");
    if (path && directories)
        journal = (int)syscall(SYS_openat, AT_FDCWD, path,
                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int is_ours(const char *path) {
    const char *start = directories;
    if (journal < 0 || strstr(path, " (deleted)")) return 0;
    while (*start) {
        size_t size = strcspn(start, ":");
        if (!strncmp(path, start, size) && (path[size] == '/' || !path[size])) return 1;
        start += size + (start[size] == ':');
    }
    return 0;
}

/* The path of a descriptor, if it is ours. */
static int path_of(int fd, char *path) {
    char link[32];
    if (journal < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return is_ours(path);
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : (uint64_t)found.st_ino;
}

static void note(enum what what, uint64_t inode, uint64_t offset, const char *path,
                 const char *second, const void *data, size_t size) {
    int before = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record head = {.what = (uint8_t)what, .inode = inode, .offset = offset};
    head.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    head.path = (uint16_t)strlen(path);
    head.second = (uint16_t)strlen(second);
    head.data = (uint32_t)size;
    head.bytes = (uint32_t)(sizeof head + head.path + head.second + size);
    struct iovec parts[] = {{&head, sizeof head}, {(void *)path, head.path},
                            {(void *)second, head.second}, {(void *)data, size}};
    if (syscall(SYS_writev, journal, parts, 4) != (long)head.bytes) abort();
    errno = before;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    char path[PATH_MAX];
    ssize_t taken = syscall(SYS_pwrite64, fd, data, size, offset);
    if (taken > 0 && path_of(fd, path))
        note(WRITE, inode_of(fd), (uint64_t)offset, path, "", data, (size_t)taken);
    return taken;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite64(fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size) {
    char path[PATH_MAX];
    ssize_t taken = syscall(SYS_write, fd, data, size);
    if (taken > 0 && path_of(fd, path)) {
        off_t end = lseek(fd, 0, SEEK_CUR);
        note(WRITE, inode_of(fd), (uint64_t)(end - taken), path, "", data, (size_t)taken);
    }
    return taken;
}

static int synced(long number, int fd) {
    char path[PATH_MAX];
    int ours = path_of(fd, path);
    uint64_t inode = inode_of(fd);
    if (ours) note(SYNC_BEGIN, inode, (uint64_t)gettid(), path, "", "", 0);
    int result = (int)syscall(number, fd);
    if (ours && !result) note(SYNC_END, inode, (uint64_t)gettid(), path, "", "", 0);
    return result;
}

int fsync(int fd) { return synced(SYS_fsync, fd); }
int fdatasync(int fd) { return synced(SYS_fdatasync, fd); }

int syncfs(int fd) {
    if (journal >= 0) note(SYNC_ALL_BEGIN, 0, (uint64_t)gettid(), "", "", "", 0);
    int result = (int)syscall(SYS_syncfs, fd);
    if (journal >= 0 && !result) note(SYNC_ALL_END, 0, (uint64_t)gettid(), "", "", "", 0);
    return result;
}

int ftruncate64(int fd, off64_t size) {
    char path[PATH_MAX];
    int result = (int)syscall(SYS_ftruncate, fd, size);
    if (!result && path_of(fd, path))
        note(TRUNCATE, inode_of(fd), (uint64_t)size, path, "", "", 0);
    return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int rename(const char *from, const char *to) {
    int result = (int)syscall(SYS_rename, from, to);
    if (!result && journal >= 0 && is_ours(to)) note(RENAME, 0, 0, from, to, "", 0);
    return result;
}

int unlink(const char *path) {
    int result = (int)syscall(SYS_unlink, path);
    if (!result && journal >= 0 && is_ours(path)) note(UNLINK, 0, 0, path, "", "", 0);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    int result = (int)syscall(SYS_mkdir, path, mode);
    if (!result && journal >= 0 && is_ours(path)) note(MKDIR, 0, 0, path, "", "", 0);
    return result;
}

int rmdir(const char *path) {
    int result = (int)syscall(SYS_rmdir, path);
    if (!result && journal >= 0 && is_ours(path)) note(RMDIR, 0, 0, path, "", "", 0);
    return result;
}

static int open_as(const char *path, int flags, mode_t mode) {
    int is_file = (flags & O_CREAT) != 0;
    int is_new = is_file && journal >= 0 && is_ours(path) && faccessat(AT_FDCWD, path, F_OK, 0);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && is_new) note(CREATE, inode_of(fd), 0, path, "", "", 0);
    else if (fd >= 0 && flags & O_TRUNC && is_file && journal >= 0 && is_ours(path))
        note(TRUNCATE, inode_of(fd), 0, path, "", "", 0);
    return fd;
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return open_as(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return open_as(path, flags, mode);
}
