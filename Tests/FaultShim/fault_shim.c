// Makes writes to files under a folder fail, in a process that has it preloaded. Tests build it
// themselves; it is part of no product.
//
//   MOORING_FAULT_FOLDER  paths that begin with this one count
//   MOORING_FAULT_CALL    the number of the call that fails, from 1 on; 0: none does
//   MOORING_FAULT_ERROR   its errno; below 0: the signal that the process gets instead
//   MOORING_FAULT_STAYS   1: so do all calls after it
//   MOORING_FAULT_COUNT   a file that gets the number of calls when the process exits
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folder;
static long failing;
static int error_number;
static int stays;
static const char *count_file;
static atomic_long calls;

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void read_settings(void) {
  folder = getenv("MOORING_FAULT_FOLDER");
  failing = number_of("MOORING_FAULT_CALL");
  error_number = (int)number_of("MOORING_FAULT_ERROR");
  stays = (int)number_of("MOORING_FAULT_STAYS");
  count_file = getenv("MOORING_FAULT_COUNT");
}

__attribute__((destructor)) static void write_count(void) {
  if (count_file == NULL) return;
  FILE *file = fopen(count_file, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", atomic_load(&calls));
  fclose(file);
}

static int is_due(void) {
  long number = atomic_fetch_add(&calls, 1) + 1;
  if (failing == 0 || number < failing || (number > failing && !stays)) return 0;
  if (error_number < 0) kill(getpid(), -error_number);
  errno = error_number;
  return 1;
}

static int fails(int descriptor) {
  if (folder == NULL) return 0;
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path);
  size_t prefix = strlen(folder);
  if (length < (ssize_t)prefix || memcmp(path, folder, prefix) != 0) return 0;
  return is_due();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *bytes, size_t count) {
  return fails(descriptor) ? -1 : REAL(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return fails(descriptor) ? -1 : REAL(pwrite)(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return fails(descriptor) ? -1 : REAL(pwrite64)(descriptor, bytes, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  return fails(descriptor) ? -1 : REAL(writev)(descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  return fails(descriptor) ? -1 : REAL(pwritev)(descriptor, parts, count, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  return fails(descriptor) ? -1 : REAL(pwritev64)(descriptor, parts, count, offset);
}

int fsync(int descriptor) { return fails(descriptor) ? -1 : REAL(fsync)(descriptor); }

int fdatasync(int descriptor) {
  return fails(descriptor) ? -1 : REAL(fdatasync)(descriptor);
}

int msync(void *address, size_t length, int flags) {
  return folder != NULL && is_due() ? -1 : REAL(msync)(address, length, flags);
}
