/* Preloaded into a child process: once the file named by FSYNC_FAULT_ARMED exists, every fsync of a
   file whose name ends in FSYNC_FAULT_SUFFIX fails as a dying disk would make it fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int must_fail(int fd) {
  const char *armed = getenv("FSYNC_FAULT_ARMED");
  const char *suffix = getenv("FSYNC_FAULT_SUFFIX");
  if (!armed || !suffix || access(armed, F_OK) != 0) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < (ssize_t)strlen(suffix)) return 0;
  path[length] = 0;
  return strcmp(path + length - strlen(suffix), suffix) == 0;
}

static int sync_or_fail(const char *name, int fd) {
  if (must_fail(fd)) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return sync_or_fail("fsync", fd); }
int fdatasync(int fd) { return sync_or_fail("fdatasync", fd); }
