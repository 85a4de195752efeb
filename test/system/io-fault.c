/*
 * Injects faults into disk calls (LD_PRELOAD). The nth call of one name on a matching path fails; every such call is
 * written to a log.
 *
 * FAULT_MATCH  part of the path
 * FAULT_CALL   write, fdatasync, fsync, open or rename
 * FAULT_NTH    which of these calls, counted from 1; 0 for none
 * FAULT_STAYS  any value: every later call fails too
 * FAULT_KIND   the name of an error; short (half is written), tear (short, then the process is killed),
 *              kill (before the call), killafter (after it)
 * FAULT_LOG    a file that gets a line with the name of each call
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int calls;

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "" : value;
}

static int is(const char *kind) { return strcmp(setting("FAULT_KIND"), kind) == 0; }

static void die(void) { kill(getpid(), SIGKILL); }

static void note(const char *call) {
  char line[32];
  int length = snprintf(line, sizeof line, "%s\n", call);
  long log = syscall(SYS_openat, AT_FDCWD, setting("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return;
  syscall(SYS_write, log, line, length);
  syscall(SYS_close, log);
}

/* Whether this call must fail. */
static int hit(const char *call, const char *path) {
  const char *match = setting("FAULT_MATCH");
  if (*match == '\0' || strstr(path, match) == NULL) return 0;
  note(call);
  if (strcmp(setting("FAULT_CALL"), call) != 0) return 0;
  int nth = atoi(setting("FAULT_NTH"));
  int number = atomic_fetch_add(&calls, 1) + 1;
  return nth > 0 && (number == nth || (number > nth && *setting("FAULT_STAYS") != '\0'));
}

static int hit_open(const char *call, int fd) {
  int before = errno;
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  errno = before;
  return hit(call, path);
}

/* Sets errno and returns -1, or returns 0 if the call must be made. */
static int fails(void) {
  if (is("kill")) die();
  if (is("EIO")) errno = EIO;
  else if (is("ENOSPC")) errno = ENOSPC;
  else if (is("EDQUOT")) errno = EDQUOT;
  else if (is("EMFILE")) errno = EMFILE;
  else return 0;
  return -1;
}

/* The number of bytes to write. */
static size_t part(size_t count) { return is("short") || is("tear") ? (count + 1) / 2 : count; }

static void after(void) {
  if (is("tear") || is("killafter")) die();
}

ssize_t write(int fd, const void *bytes, size_t count) {
  if (!hit_open("write", fd)) return NEXT(write)(fd, bytes, count);
  if (fails() < 0) return -1;
  ssize_t written = NEXT(write)(fd, bytes, part(count));
  after();
  return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  if (!hit_open("write", fd)) return NEXT(pwrite64)(fd, bytes, count, at);
  if (fails() < 0) return -1;
  ssize_t written = NEXT(pwrite64)(fd, bytes, part(count), at);
  after();
  return written;
}

/* A short write writes only the first buffer. */
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  if (!hit_open("write", fd)) return NEXT(writev)(fd, pieces, count);
  if (fails() < 0) return -1;
  ssize_t written = NEXT(write)(fd, pieces[0].iov_base, part(pieces[0].iov_len));
  after();
  return written;
}

int fdatasync(int fd) {
  int own = hit_open("fdatasync", fd);
  if (own && fails() < 0) return -1;
  int result = NEXT(fdatasync)(fd);
  if (own) after();
  return result;
}

int fsync(int fd) {
  int own = hit_open("fsync", fd);
  if (own && fails() < 0) return -1;
  int result = NEXT(fsync)(fd);
  if (own) after();
  return result;
}

static int opened(const char *path, int flags, mode_t mode) {
  int own = hit("open", path);
  if (own && fails() < 0) return -1;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (own) after();
  return fd;
}

#define OPEN(name)                                  \
  int name(const char *path, int flags, ...) {      \
    va_list more;                                   \
    va_start(more, flags);                          \
    mode_t mode = va_arg(more, mode_t);             \
    va_end(more);                                   \
    return opened(path, flags, mode);               \
  }

OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) {
  int own = hit("rename", to);
  if (own && fails() < 0) return -1;
  int result = NEXT(rename)(from, to);
  if (own) after();
  return result;
}
