// Records what processes do to the files below a folder, in the order in which they do it, so that
// a test can replay a power loss at any moment. Tests build it themselves; it is part of no
// product.
//
//   MOORING_RECORD_FOLDER  the folder, an absolute path without symbolic links
//   MOORING_RECORD_LOG     the log; the processes that have the same one append to it by turns
//   MOORING_RECORD_KILL    if it is set, the process is killed in place of its first flush
//
// The log is a page of 4,096 bytes, `log_head`, and the events one after another. Its length is set
// after an event is complete, so a kill leaves whole events only. One lock for all threads of all
// processes is held during a call and the recording of it: the order of the events is that of the
// calls. A line on standard output is an event as well: all events before it had happened when it
// was written.
//
// Bytes that a process stores through a memory map are not seen, nor calls from within the C
// library (`fopen`, `mkstemp`). A test notices both when it compares the folder with the replay.
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { head_bytes = 4096 };
struct log_head {
  char magic[8];
  // Of the events, without this head.
  uint64_t length;
  pthread_mutex_t lock;
};

// The numbers are those of `RecordedEvent`.
enum kind {
  created_file = 1,    // inode; data: the path
  created_folder = 2,  // inode; data: the path
  removed = 3,         // data: the path
  renamed = 4,         // data: two paths, with a zero byte between them
  linked = 5,          // data: two paths, with a zero byte between them
  wrote = 6,           // inode; place: the offset; data: the bytes
  truncated = 7,       // inode; place: the size
  flushed = 8,         // inode: of a file or a folder
  flushed_range = 9,   // inode; place: the offset; data: the number of bytes, 8 of them
  output = 10,         // data: the bytes
};

// All numbers in the order of the machine's bytes. `count` bytes of data follow.
struct event {
  uint32_t kind;
  uint32_t process;
  uint64_t inode;
  int64_t place;
  uint64_t count;
};

static const char *folder;
static size_t folder_length;
static struct log_head *head;
static int log_file = -1, kills_at_flush;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void give_up(const char *what) {
  dprintf(2, "record_shim: %s: %s\n", what, strerror(errno));
  _exit(70);
}

static void make_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&head->lock, &attributes);
}

__attribute__((constructor)) static void open_log(void) {
  const char *path = getenv("MOORING_RECORD_LOG");
  folder = getenv("MOORING_RECORD_FOLDER");
  kills_at_flush = getenv("MOORING_RECORD_KILL") != NULL;
  if (path == NULL || folder == NULL) return;
  folder_length = strlen(folder);
  log_file = REAL(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat status;
  if (log_file < 0 || flock(log_file, LOCK_EX) != 0 || fstat(log_file, &status) != 0)
    give_up(path);
  if (status.st_size < head_bytes && REAL(ftruncate)(log_file, head_bytes) != 0) give_up(path);
  head = mmap(NULL, head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, log_file, 0);
  if (head == MAP_FAILED) give_up(path);
  if (memcmp(head->magic, "MOORREC1", 8) != 0) {
    make_lock();
    memcpy(head->magic, "MOORREC1", 8);
  }
  flock(log_file, LOCK_UN);
}

static void lock(void) {
  // The holder was killed: its last event is whole or not there.
  if (pthread_mutex_lock(&head->lock) == EOWNERDEAD) pthread_mutex_consistent(&head->lock);
}

static void unlock(void) { pthread_mutex_unlock(&head->lock); }

// This and the next two functions must be called with the lock held.
static void append(const void *bytes, size_t count, uint64_t *end) {
  size_t done = 0;
  while (done < count) {
    ssize_t written =
        REAL(pwrite)(log_file, (const char *)bytes + done, count - done, head_bytes + *end);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) give_up("the log cannot be written");
    done += written;
    *end += written;
  }
}

static void record_parts(
    enum kind kind, uint64_t inode, int64_t place, const struct iovec *parts, size_t count) {
  struct event event = {kind, (uint32_t)getpid(), inode, place, count};
  uint64_t end = head->length;
  append(&event, sizeof event, &end);
  for (; count > 0; parts++) {
    size_t length = parts->iov_len < count ? parts->iov_len : count;
    append(parts->iov_base, length, &end);
    count -= length;
  }
  __atomic_store_n(&head->length, end, __ATOMIC_RELEASE);
}

static void record(
    enum kind kind, uint64_t inode, int64_t place, const void *data, size_t count) {
  struct iovec part = {(void *)data, count};
  record_parts(kind, inode, place, &part, count);
}

// Returns the path relative to the folder; NULL for a path that is not below it.
static const char *below(const char *path) {
  if (strncmp(path, folder, folder_length) != 0 || path[folder_length] != '/') return NULL;
  return path + folder_length + 1;
}

// Returns 0 for a descriptor without a path.
static int read_path(int descriptor, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
  return length > 0;
}

// Writes the path without symbolic links, except for its last name.
static const char *resolve(int base, const char *path, char resolved[PATH_MAX]) {
  char whole[PATH_MAX], parent[PATH_MAX];
  if (head == NULL || path == NULL) return NULL;
  if (path[0] == '/') {
    snprintf(whole, sizeof whole, "%s", path);
  } else {
    int is_known =
        base == AT_FDCWD ? getcwd(parent, sizeof parent) != NULL : read_path(base, parent);
    if (!is_known) return NULL;
    if (snprintf(whole, sizeof whole, "%s/%s", parent, path) >= PATH_MAX) return NULL;
  }
  size_t length = strlen(whole);
  while (length > 1 && whole[length - 1] == '/') whole[--length] = 0;
  char *slash = strrchr(whole, '/');
  *slash = 0;
  if (realpath(slash == whole ? "/" : whole, parent) == NULL) return NULL;
  if (snprintf(resolved, PATH_MAX, "%s/%s", parent, slash + 1) >= PATH_MAX) return NULL;
  return below(resolved);
}

// True for a regular file or a folder below the folder, or the folder itself.
static int counts(int descriptor, struct stat *status) {
  if (head == NULL || fstat(descriptor, status) != 0) return 0;
  if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) return 0;
  char path[PATH_MAX];
  return read_path(descriptor, path) && (strcmp(path, folder) == 0 || below(path) != NULL);
}

// Files

static int real_open(int base, const char *path, int flags, mode_t mode) {
  return base == AT_FDCWD ? REAL(open)(path, flags, mode) : REAL(openat)(base, path, flags, mode);
}

static int record_open(int base, const char *path, int flags, mode_t mode) {
  char resolved[PATH_MAX];
  const char *name = flags & (O_CREAT | O_TRUNC) ? resolve(base, path, resolved) : NULL;
  if (name == NULL) return real_open(base, path, flags, mode);
  lock();
  struct stat status;
  int was_there = stat(resolved, &status) == 0;
  int is_cut = was_there && flags & O_TRUNC && status.st_size > 0;
  int descriptor = real_open(base, path, flags, mode);
  int error = errno;
  if (descriptor >= 0 && fstat(descriptor, &status) == 0) {
    if (!was_there) record(created_file, status.st_ino, 0, name, strlen(name));
    if (is_cut) record(truncated, status.st_ino, 0, NULL, 0);
  }
  unlock();
  errno = error;
  return descriptor;
}

// The mode is there for some flags only, but can be read in any case.
#define OPEN(name, base, ...)                            \
  int name(__VA_ARGS__ const char *path, int flags, ...) { \
    va_list rest;                                        \
    va_start(rest, flags);                               \
    mode_t mode = va_arg(rest, mode_t);                  \
    va_end(rest);                                        \
    return record_open(base, path, flags, mode);         \
  }
#define AT int base,

OPEN(open, AT_FDCWD, )
OPEN(open64, AT_FDCWD, )
OPEN(openat, base, AT)
OPEN(openat64, base, AT)

// Must be called with the lock held. `place` below 0: the file's position, which is after the
// bytes.
static void record_write(
    int descriptor, uint64_t inode, const struct iovec *parts, off_t place, ssize_t count) {
  if (count <= 0) return;
  if (place < 0) place = lseek(descriptor, 0, SEEK_CUR) - count;
  record_parts(wrote, inode, place, parts, count);
  int flags = fcntl(descriptor, F_GETFL);
  uint64_t length = count;
  // An event of its own, so that a power loss can come before the write has reached the disk.
  if (flags >= 0 && flags & O_DSYNC) record(flushed_range, inode, place, &length, sizeof length);
}

#define RECORDED_WRITE(descriptor, parts, place, call)              \
  struct stat status;                                               \
  if (!counts(descriptor, &status)) return call;                    \
  lock();                                                           \
  ssize_t count = call;                                             \
  int error = errno;                                                \
  record_write(descriptor, status.st_ino, parts, place, count);     \
  unlock();                                                         \
  errno = error;                                                    \
  return count;

ssize_t write(int descriptor, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  if (descriptor == 1 && head != NULL) {
    // Before the reader can see it. The pipe may be full, so the lock is not held for the call.
    lock();
    record(output, 0, 0, bytes, length);
    unlock();
    return REAL(write)(descriptor, bytes, length);
  }
  RECORDED_WRITE(descriptor, &part, -1, REAL(write)(descriptor, bytes, length))
}

#define PWRITE(name, offset)                                                             \
  ssize_t name(int descriptor, const void *bytes, size_t length, offset place) {         \
    struct iovec part = {(void *)bytes, length};                                         \
    RECORDED_WRITE(descriptor, &part, place, REAL(name)(descriptor, bytes, length, place)) \
  }

#define PWRITEV(name, offset)                                                            \
  ssize_t name(int descriptor, const struct iovec *parts, int number, offset place) {    \
    RECORDED_WRITE(descriptor, parts, place, REAL(name)(descriptor, parts, number, place)) \
  }

PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
  RECORDED_WRITE(descriptor, parts, -1, REAL(writev)(descriptor, parts, number))
}

// Calls on a descriptor that have no bytes.
#define RECORDED_CALL(descriptor, kind, place, call)                     \
  struct stat status;                                                    \
  if (!counts(descriptor, &status)) return call;                         \
  lock();                                                                \
  if (kills_at_flush && kind == flushed) raise(SIGKILL);                 \
  int result = call;                                                     \
  int error = errno;                                                     \
  if (result == 0) record(kind, status.st_ino, place, NULL, 0);          \
  unlock();                                                              \
  errno = error;                                                         \
  return result;

#define FTRUNCATE(name, offset)                                          \
  int name(int descriptor, offset size) {                                \
    RECORDED_CALL(descriptor, truncated, size, REAL(name)(descriptor, size)) \
  }

FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define TRUNCATE(name, offset)                                           \
  int name(const char *path, offset size) {                              \
    int descriptor = REAL(open)(path, O_WRONLY | O_CLOEXEC);             \
    if (descriptor < 0) return -1;                                       \
    int result = f##name(descriptor, size);                              \
    int error = errno;                                                   \
    close(descriptor);                                                   \
    errno = error;                                                       \
    return result;                                                       \
  }

TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

#define FLUSH(name) \
  int name(int descriptor) { RECORDED_CALL(descriptor, flushed, 0, REAL(name)(descriptor)) }

FLUSH(fsync)
FLUSH(fdatasync)

// Names

#define RECORDED_NAME(kind, base, path, call)                            \
  char resolved[PATH_MAX];                                               \
  const char *name = resolve(base, path, resolved);                      \
  if (name == NULL) return call;                                         \
  lock();                                                                \
  int result = call;                                                     \
  int error = errno;                                                     \
  struct stat status = {0};                                              \
  if (result == 0 && kind != removed) lstat(resolved, &status);          \
  if (result == 0) record(kind, status.st_ino, 0, name, strlen(name));   \
  unlock();                                                              \
  errno = error;                                                         \
  return result;

int mkdir(const char *path, mode_t mode) {
  RECORDED_NAME(created_folder, AT_FDCWD, path, REAL(mkdir)(path, mode))
}

int mkdirat(int base, const char *path, mode_t mode) {
  RECORDED_NAME(created_folder, base, path, REAL(mkdirat)(base, path, mode))
}

int unlink(const char *path) { RECORDED_NAME(removed, AT_FDCWD, path, REAL(unlink)(path)) }

int unlinkat(int base, const char *path, int flags) {
  RECORDED_NAME(removed, base, path, REAL(unlinkat)(base, path, flags))
}

int rmdir(const char *path) { RECORDED_NAME(removed, AT_FDCWD, path, REAL(rmdir)(path)) }

int remove(const char *path) { RECORDED_NAME(removed, AT_FDCWD, path, REAL(remove)(path)) }

// A name from outside of the folder, or to there, has an empty path.
#define RECORDED_NAMES(kind, base, path, new_base, new_path, call)                         \
  char resolved[PATH_MAX], new_resolved[PATH_MAX], both[2 * PATH_MAX];                     \
  const char *name = resolve(base, path, resolved);                                        \
  const char *new_name = resolve(new_base, new_path, new_resolved);                        \
  if (name == NULL && new_name == NULL) return call;                                       \
  lock();                                                                                  \
  int result = call;                                                                       \
  int error = errno;                                                                       \
  int length = snprintf(                                                                   \
      both, sizeof both, "%s%c%s", name ? name : "", 0, new_name ? new_name : "");         \
  if (result == 0) record(kind, 0, 0, both, length);                                       \
  unlock();                                                                                \
  errno = error;                                                                           \
  return result;

int rename(const char *path, const char *new_path) {
  RECORDED_NAMES(renamed, AT_FDCWD, path, AT_FDCWD, new_path, REAL(rename)(path, new_path))
}

int renameat(int base, const char *path, int new_base, const char *new_path) {
  RECORDED_NAMES(
      renamed, base, path, new_base, new_path, REAL(renameat)(base, path, new_base, new_path))
}

int renameat2(int base, const char *path, int new_base, const char *new_path, unsigned flags) {
  RECORDED_NAMES(
      renamed, base, path, new_base, new_path,
      REAL(renameat2)(base, path, new_base, new_path, flags))
}

int link(const char *path, const char *new_path) {
  RECORDED_NAMES(linked, AT_FDCWD, path, AT_FDCWD, new_path, REAL(link)(path, new_path))
}

int linkat(int base, const char *path, int new_base, const char *new_path, int flags) {
  RECORDED_NAMES(
      linked, base, path, new_base, new_path, REAL(linkat)(base, path, new_base, new_path, flags))
}
