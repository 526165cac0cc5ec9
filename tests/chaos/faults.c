/* Preloaded into one process of a crawl: makes one call that changes the crawl's files go wrong.
 *
 * Calls on files below the directories in FAULT_DIRS (separated by colons) are numbered from 1 over
 * all threads.  The one with the number FAULT_AT goes wrong as FAULT_KIND says:
 *   kill    SIGKILL in place of the call
 *   torn    a write takes half of the bytes, then SIGKILL
 *   short   a write takes half of the bytes
 *   enospc, eio   the call fails, nothing has happened
 *   count   nothing goes wrong; each call is written to FAULT_LOG
 * What went wrong is written to FAULT_LOG: name and path.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NONE, KILL, TORN, SHORT, ENOSPC_, EIO_, COUNT };

static const char *const names[] = {"", "kill", "torn", "short", "enospc", "eio", "count"};
static enum kind kind;
static long at, calls;
static const char *directories;
static int log_fd = -1;

__attribute__((constructor)) static void begin(void) {
    const char *wanted = getenv("FAULT_KIND");
    directories = getenv("FAULT_DIRS");
    if (!wanted || !directories || !getenv("FAULT_LOG")) return;
    for (int i = KILL; i <= COUNT; i++)
        if (!strcmp(wanted, names[i])) kind = i;
    at = atol(getenv("FAULT_AT"));
    log_fd = open(getenv("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    unsetenv("LD_PRELOAD"); /* children are not to suffer */
}

static int is_ours(const char *path) {
    const char *start = directories;
    while (start && *start) {
        size_t size = strcspn(start, ":");
        if (!strncmp(path, start, size) && (path[size] == '/' || !path[size])) return 1;
        start += size + (start[size] == ':');
    }
    return 0;
}

static void note(const char *name, const char *path) {
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%s %s\n", name, path);
    if (size > 0) syscall(SYS_write, log_fd, line, (size_t)size);
}

/* What is to become of this call. */
static enum kind judge(const char *name, const char *path) {
    if (kind == NONE || !is_ours(path)) return NONE;
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (kind != COUNT && number != at) return NONE;
    note(name, path);
    if (kind == KILL) kill(getpid(), SIGKILL);
    if (kind == ENOSPC_ || kind == EIO_) errno = kind == EIO_ ? EIO : ENOSPC;
    return kind;
}

static enum kind judge_fd(const char *name, int fd) {
    char link[32], path[PATH_MAX];
    if (kind == NONE) return NONE;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return NONE;
    path[size] = 0;
    return judge(name, path);
}

static int is_error(enum kind what) { return what == ENOSPC_ || what == EIO_; }

static ssize_t half(enum kind what, ssize_t taken) {
    if (what == TORN) kill(getpid(), SIGKILL);
    return taken;
}

#define IS_CUT(what) ((what) == TORN || (what) == SHORT)

ssize_t write(int fd, const void *data, size_t size) {
    enum kind what = judge_fd("write", fd);
    if (is_error(what)) return -1;
    if (!IS_CUT(what)) return syscall(SYS_write, fd, data, size);
    return half(what, syscall(SYS_write, fd, data, (size + 1) / 2));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    enum kind what = judge_fd("pwrite64", fd);
    if (is_error(what)) return -1;
    if (!IS_CUT(what)) return syscall(SYS_pwrite64, fd, data, size, offset);
    return half(what, syscall(SYS_pwrite64, fd, data, (size + 1) / 2, offset));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite64(fd, data, size, offset);
}

int fsync(int fd) { return is_error(judge_fd("fsync", fd)) ? -1 : (int)syscall(SYS_fsync, fd); }

int fdatasync(int fd) {
    return is_error(judge_fd("fdatasync", fd)) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t size) {
    return is_error(judge_fd("ftruncate", fd)) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int posix_fallocate64(int fd, off64_t offset, off64_t size) {
    if (is_error(judge_fd("fallocate", fd))) return errno;
    return syscall(SYS_fallocate, fd, 0, offset, size) ? errno : 0;
}

int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }

int rename(const char *from, const char *to) {
    return is_error(judge("rename", to)) ? -1 : (int)syscall(SYS_rename, from, to);
}

int unlink(const char *path) {
    return is_error(judge("unlink", path)) ? -1 : (int)syscall(SYS_unlink, path);
}

int mkdir(const char *path, mode_t mode) {
    return is_error(judge("mkdir", path)) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

static int open_as(const char *path, int flags, mode_t mode) {
    if (flags & O_CREAT && is_error(judge("create", path))) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
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
