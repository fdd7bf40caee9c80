// A program named node that makes the calls in its arguments, `function:path` each, and prints each result. It looks up functions
// by name, because some are in no header any more. Other arguments:
// - many:<number>: makes this many calls about missing paths
// - forked: runs the remaining arguments in a child
// - interrupted: makes calls while a signal handler interrupts them with calls
// - waits:<number>: prints "waits" and reads a byte from this descriptor
// - writes:<path>: overwrites a file through the C library's streams
// - changes:<path>: overwrites a file with open(O_RDWR)
// - makes:<path>: creates an empty file with open(O_RDONLY | O_CREAT)
// - later: waits until the coarse clock has advanced, so that earlier timestamps are not racy
// - grows:<path>: creates a file and writes to it before and after a stat
// - crowd:<number>: makes this many calls in each of eight threads
// - shows: prints whether the interposer is loaded, and the LD_ variables
// - scribbles: overwrites the log with invalid data and tries to truncate it
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *name, long result, unsigned mode, long size) {
  int error = errno;
  if (result >= 0) printf("%s: %o %ld\n", name, mode, size);
  else printf("%s: %ld, error %d\n", name, result, error);
}

static int is(const char *one, const char *other) { return strcmp(one, other) == 0; }

static void make_call(const char *name, const char *path) {
  void *function = dlsym(RTLD_DEFAULT, name);
  struct stat found = {0};
  struct statx wide = {0};
  long result = -1;
  errno = 0;
  if (is(name, "open") || is(name, "open64")) result = ((int (*)(const char *, int, ...))function)(path, O_RDONLY | O_CLOEXEC);
  else if (is(name, "openat") || is(name, "openat64"))
    result = ((int (*)(int, const char *, int, ...))function)(AT_FDCWD, path, O_RDONLY);
  else if (is(name, "openat-link"))
    result = openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
  else if (is(name, "open-directory")) result = open(path, O_RDONLY | O_DIRECTORY);
  else if (is(name, "open-path")) result = open(path, O_PATH);
  else if (is(name, "access")) result = access(path, R_OK);
  else if (is(name, "access-run")) result = access(path, X_OK);
  else if (strncmp(name, "__f", 3) == 0)
    result = ((int (*)(int, int, const char *, struct stat *, int))function)(1, AT_FDCWD, path, &found, 0);
  else if (strncmp(name, "__", 2) == 0)
    result = ((int (*)(int, const char *, struct stat *))function)(1, path, &found);
  else if (is(name, "fstatat") || is(name, "fstatat64"))
    result = ((int (*)(int, const char *, struct stat *, int))function)(AT_FDCWD, path, &found, 0);
  else if (is(name, "fstatat-link")) result = fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW);
  else if (is(name, "statx")) result = statx(AT_FDCWD, path, 0, STATX_TYPE, &wide);
  else if (is(name, "statx-link"))
    result = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &wide);
  else if (is(name, "syscall")) result = syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BASIC_STATS, &wide);
  else result = ((int (*)(const char *, struct stat *))function)(path, &found);
  int error = errno;
  int is_open = strncmp(name, "open", 4) == 0 && result >= 0;
  if (is_open) fstat(result, &found);
  errno = error;
  say(name, result, wide.stx_mode ? wide.stx_mode : found.st_mode, wide.stx_mode ? (long)wide.stx_size : found.st_size);
  if (is_open) close(result);
}

/** Calls without a path, and invalid calls. */
static void make_others(void) {
  struct stat found;
  struct statx wide;
  int descriptor = open("/", O_RDONLY);
  errno = 0;
  long result = fstat(descriptor, &found);
  say("fstat", result, found.st_mode, 0);
  say("fstat of nothing", fstat(-1, &found), 0, 0);
  result = statx(descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &wide);
  say("statx of a descriptor", result, wide.stx_mode, 0);
  result = fstatat(descriptor, "", &found, AT_EMPTY_PATH);
  say("fstatat of a descriptor", result, found.st_mode, 0);
  say("statx of nothing", statx(-1, "", AT_EMPTY_PATH, STATX_TYPE, &wide), 0, 0);
  say("an empty path", stat("", &found), 0, 0);
  say("getppid", syscall(SYS_getppid) == getppid() ? 0 : -1, 0, 0);
  say("no call", syscall(100000), 0, 0);
  char *place = (char *)syscall(SYS_mmap, NULL, 1L, PROT_READ, MAP_PRIVATE, descriptor, 0L);
  say("mmap of a directory", (long)place, 0, 0);
  place = (char *)syscall(SYS_mmap, NULL, 1L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 1L << 40);
  say("six arguments", place == MAP_FAILED ? -1 : 0, 0, 0);
  int (*old)(int, const char *, struct stat *) = dlsym(RTLD_DEFAULT, "__xstat");
  if (old) say("a version that is none", old(7, "/", &found), 0, 0);
  close(descriptor);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
  (void)signal;
  struct stat found;
  int error = errno;
  interrupted++;
  stat("/absent-in-a-handler", &found);
  errno = error;
}

static void be_interrupted(void) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, NULL);
  struct stat found;
  while (interrupted < 500) stat("/absent-in-between", &found);
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  printf("interrupted\n");
}

enum { CROWD = 8 };

struct one {
  int number, calls;
};

static void *look(void *argument) {
  const struct one *one = argument;
  char path[64];
  struct stat found;
  for (int each = 0; each < one->calls; each++) {
    sprintf(path, "/absent/%d/%d", one->number, each);
    stat(path, &found);
  }
  return NULL;
}

/** Calls concurrently in several threads, each with its own paths. */
static void be_crowd(int calls) {
  pthread_t threads[CROWD];
  struct one ones[CROWD];
  for (int each = 0; each < CROWD; each++) {
    ones[each] = (struct one){each, calls};
    pthread_create(threads + each, NULL, look, ones + each);
  }
  for (int each = 0; each < CROWD; each++) pthread_join(threads[each], NULL);
}

/** Waits until the coarse clock has advanced by 30 ms, so that earlier timestamps are not racy. */
static void let_time_go(void) {
  struct timespec from, now;
  clock_gettime(CLOCK_REALTIME_COARSE, &from);
  do clock_gettime(CLOCK_REALTIME_COARSE, &now);
  while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 30000000);
}

/** Writes to an open file before and after a stat of it. */
static void grow(const char *path) {
  struct stat found;
  int descriptor = open(path, O_RDWR | O_CREAT, 0644);
  if (write(descriptor, "written\n", 8) != 8) exit(1);
  let_time_go();
  stat(path, &found);
  if (write(descriptor, "more\n", 5) != 5) exit(1);
  close(descriptor);
}

static void show(char **environment) {
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  int is_loaded = 0;
  while (maps && fgets(line, sizeof line, maps)) is_loaded |= strstr(line, "rt-interposer") != NULL;
  printf("interposer: %s\n", is_loaded ? "yes" : "no");
  for (; *environment; environment++)
    if (strncmp(*environment, "LD_", 3) == 0) printf("%s\n", *environment);
}

/** Overwrites the interposer's writable shared mapping. */
static void scribble(void) {
  char line[4096], name[64];
  unsigned long from, to;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3) continue;
    if (!strstr(line, "rt-interposer") || !is(rights, "rw-s")) continue;
    sprintf(name, "/proc/self/map_files/%lx-%lx", from, to);
    int descriptor = open(name, O_RDWR);
    errno = 0;
    if (descriptor >= 0) say("ftruncate", ftruncate(descriptor, 0), 0, 0);
    // The values are invalid: unterminated paths, unknown calls and a too large count.
    uint32_t *words = (uint32_t *)(from + (1 << 16));
    for (int each = 0; each < 256 * 64; each++) words[each] = each % 64 == 0 ? 1 + each % 2 : 0x2f2f2f2f;
    *(uint32_t *)from = 0xffffffff;
    printf("scribbled\n");
  }
}

int main(int count, char **words, char **environment) {
  for (int each = 1; each < count; each++) {
    char *name = words[each], *path = strchr(name, ':');
    fflush(stdout);
    if (path) *path++ = 0;
    if (is(name, "others")) make_others();
    else if (is(name, "many")) {
      struct stat found;
      for (int left = atoi(path); left > 0; left--) stat("/absent", &found);
    } else if (is(name, "forked")) {
      pid_t child = fork();
      if (child == 0) continue;
      int status;
      waitpid(child, &status, 0);
      return WEXITSTATUS(status);
    } else if (is(name, "interrupted")) be_interrupted();
    else if (is(name, "waits")) {
      char letter;
      int descriptor = atoi(path);
      printf("waits\n");
      fflush(stdout);
      if (read(descriptor, &letter, 1) != 1) return 1;
    } else if (is(name, "writes")) {
      FILE *file = fopen(path, "w");
      fprintf(file, "written\n");
      fclose(file);
    } else if (is(name, "changes") || is(name, "makes")) {
      int descriptor = is(name, "makes") ? open(path, O_RDONLY | O_CREAT, 0644) : open(path, O_RDWR);
      if (is(name, "changes") && write(descriptor, "written\n", 8) != 8) return 1;
      close(descriptor);
    } else if (is(name, "crowd")) be_crowd(atoi(path));
    else if (is(name, "later")) let_time_go();
    else if (is(name, "grows")) grow(path);
    else if (is(name, "shows")) show(environment);
    else if (is(name, "scribbles")) scribble();
    else make_call(name, path);
  }
  fflush(stdout);
  return 0;
}
