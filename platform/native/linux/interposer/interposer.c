// The interposer: a preload library that wraps read-only libc calls, makes them through the trampoline and logs them in shared
// memory (call-log.h). A user notification takes ten times as long. ../recorder/preload-injection.h loads it.
//
// Invariants:
// - Each function behaves as the C library's. Relative paths, paths in /proc, /dev and /sys, calls that change something, and calls
//   that do not fit into the log are made as without this library, so the kernel notifies them.
// - A call that is not wrapped here is notified too: a gap in this file costs time and hides nothing.
// Non-obvious: it links to no C library, so one file fits all. It takes no locks, because a signal handler may interrupt a call and
// make the next. An invalid path pointer crashes here instead of returning EFAULT.
#include "call-log.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/** Explicit symbol names: the C library's headers may rename its functions by macros. */
#define AS(name) __asm__(#name) __attribute__((visibility("default"), used))
#define ALSO(name, other) __asm__(".globl " #other "\n.set " #other ", " #name "\n")

/** NULL if the recorder provides no log. */
static struct log *log;
/** After a fork it is the parent's id: the recorder uses it only as a label. */
static __thread int thread;

/** Makes a call through the trampoline, which the kernel does not notify. */
static long pass(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  long result;
  // Skips the red zone below the stack pointer.
  __asm__ volatile("sub $128, %%rsp\n call *%[trampoline]\n add $128, %%rsp"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), [trampoline] "r"(TRAMPOLINE)
                   : "rcx", "r11", "memory", "cc");
  return result;
#elif defined(__aarch64__)
  register long place __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  __asm__ volatile("blr %[trampoline]"
                   : "+r"(first)
                   : "r"(place), "r"(second), "r"(third), "r"(fourth), "r"(fifth), [trampoline] "r"(TRAMPOLINE)
                   : "x30", "memory");
  return first;
#endif
}

#define PASS(name, a, b, c, d, e) pass(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

#if defined(__x86_64__)
static const unsigned char TRAMPOLINE_CODE[] = {0x0f, 0x05, 0xc3}; // syscall; ret
#elif defined(__aarch64__)
static const unsigned TRAMPOLINE_CODE[] = {0xd4000001, 0xd65f03c0}; // svc #0; ret
#endif

static int is_error(long result) { return result < 0 && result > -4096; }

static long fail(long error) {
  *__errno_location() = -error;
  return -1;
}

static long finish(long result) { return is_error(result) ? fail(result) : result; }

static int build_trampoline(void) {
  enum { PAGE = 4096, ALONE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE };
  // Kernels before 4.17 treat the address as a hint.
  if (CALL(mmap, TRAMPOLINE, PAGE, PROT_READ | PROT_WRITE, ALONE, -1) != (long)TRAMPOLINE) return 0;
  for (size_t each = 0; each < sizeof TRAMPOLINE_CODE; each++)
    ((volatile unsigned char *)TRAMPOLINE)[each] = ((const unsigned char *)TRAMPOLINE_CODE)[each];
  return CALL(mprotect, TRAMPOLINE, PAGE, PROT_READ | PROT_EXEC, 0, 0) == 0;
}

__attribute__((constructor)) static void begin(void) {
  long descriptor = CALL(openat, AT_FDCWD, LOG_NAME, O_RDWR | O_CLOEXEC, 0, 0);
  if (descriptor < 0) return;
  long place = CALL(mmap, 0, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor);
  CALL(close, descriptor, 0, 0, 0, 0);
  if (!is_error(place) && build_trampoline()) log = (struct log *)place;
}

static int begins_with(const char *text, const char *beginning) {
  while (*beginning)
    if (*text++ != *beginning++) return 0;
  return 1;
}

/** These paths differ in each process, so the recorder must resolve them while the call waits. */
static int is_per_process(const char *path) {
  return begins_with(path, "/proc") || begins_with(path, "/dev") || begins_with(path, "/sys");
}

/** Returns NULL if the call must be notified instead. */
static struct logged_call *log_call(enum logged_kind what, const char *path, unsigned flags) {
  if (!log || !path || path[0] != '/' || is_per_process(path)) return NULL;
  size_t length = 0;
  while (length < MAX_LOGGED_PATH && path[length]) length++;
  if (length == MAX_LOGGED_PATH || __atomic_load_n(&log->count, __ATOMIC_RELAXED) >= MAX_LOGGED_CALLS) return NULL;
  unsigned place = __atomic_fetch_add(&log->count, 1, __ATOMIC_RELAXED);
  if (place >= MAX_LOGGED_CALLS) return NULL;
  struct logged_call *logged_call = log->calls + place;
  if (!thread) thread = CALL(gettid, 0, 0, 0, 0, 0);
  logged_call->call = what;
  logged_call->flags = flags;
  logged_call->thread = thread;
  for (size_t each = 0; each <= length; each++) logged_call->path[each] = path[each];
  __atomic_store_n(&logged_call->state, STARTED, __ATOMIC_RELEASE);
  return logged_call;
}

static const long IN_SECOND = 1000000000, IN_MILLISECOND = 1000000;

static int is_fresh(const struct logged_call *logged_call) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return logged_call->changed > now.tv_sec * IN_SECOND + now.tv_nsec - STAMP * IN_MILLISECOND;
}

/**
 * Completes a logged call. If the file has a racy timestamp, or every NOTIFY_EVERY calls, it makes a notified call, so that the
 * recorder observes the path while this thread waits. The log must not be read after FINISHED is set.
 */
static void finish_call(struct logged_call *logged_call, const char *path, long result) {
  logged_call->error = is_error(result) ? -result : 0;
  int is_file = !logged_call->error && S_ISREG(logged_call->mode);
  int is_due = (logged_call - log->calls) % NOTIFY_EVERY == NOTIFY_EVERY - 1;
  int notifies = is_due || (is_file && is_fresh(logged_call));
  unsigned nofollow = logged_call->call == LOGGED_OPEN ? O_NOFOLLOW : AT_SYMLINK_NOFOLLOW;
  int flags = logged_call->flags & nofollow ? AT_SYMLINK_NOFOLLOW : 0;
  __atomic_store_n(&logged_call->state, FINISHED, __ATOMIC_RELEASE);
  struct stat status;
  if (notifies) CALL(newfstatat, AT_FDCWD, path, &status, flags, 0);
}

enum { NEEDED = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_CTIME };

static void store_status(struct logged_call *logged_call, const struct statx *status) {
  if ((status->stx_mask & NEEDED) != NEEDED) return;
  logged_call->mode = status->stx_mode;
  logged_call->inode = status->stx_ino;
  logged_call->size = status->stx_size;
  logged_call->changed = status->stx_ctime.tv_sec * IN_SECOND + status->stx_ctime.tv_nsec;
}

static int open_at(int directory, const char *path, int flags, int mode) {
  int is_read_only = (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC));
  struct logged_call *logged_call = is_read_only ? log_call(LOGGED_OPEN, path, flags) : NULL;
  if (!logged_call) return finish(CALL(openat, directory, path, flags, mode, 0));
  long descriptor = PASS(openat, directory, path, flags, mode, 0);
  struct statx status = {0};
  if (!is_error(descriptor)) {
    PASS(statx, descriptor, "", AT_EMPTY_PATH, NEEDED, &status);
    store_status(logged_call, &status);
  }
  finish_call(logged_call, path, descriptor);
  return finish(descriptor);
}

static int stat_at(int directory, const char *path, struct stat *status, int flags) {
  // The descriptor itself is meant.
  if (log && path && !*path && (flags & AT_EMPTY_PATH)) return finish(PASS(newfstatat, directory, path, status, flags, 0));
  struct logged_call *logged_call = log_call(LOGGED_STAT, path, flags);
  if (!logged_call) return finish(CALL(newfstatat, directory, path, status, flags, 0));
  long result = PASS(newfstatat, directory, path, status, flags, 0);
  if (!is_error(result)) {
    logged_call->mode = status->st_mode;
    logged_call->inode = status->st_ino;
    logged_call->size = status->st_size;
    logged_call->changed = status->st_ctim.tv_sec * IN_SECOND + status->st_ctim.tv_nsec;
  }
  finish_call(logged_call, path, result);
  return finish(result);
}

static int statx_at(int directory, const char *path, int flags, unsigned mask, struct statx *status) {
  if (log && path && !*path && (flags & AT_EMPTY_PATH)) return finish(PASS(statx, directory, path, flags, mask, status));
  struct logged_call *logged_call = log_call(LOGGED_STAT, path, flags);
  if (!logged_call) return finish(CALL(statx, directory, path, flags, mask, status));
  long result = PASS(statx, directory, path, flags, mask | NEEDED, status);
  if (!is_error(result)) store_status(logged_call, status);
  finish_call(logged_call, path, result);
  return finish(result);
}

int own_open(const char *path, int flags, int mode) AS(open);
int own_open(const char *path, int flags, int mode) { return open_at(AT_FDCWD, path, flags, mode); }
ALSO(open, open64);

int own_openat(int directory, const char *path, int flags, int mode) AS(openat);
int own_openat(int directory, const char *path, int flags, int mode) { return open_at(directory, path, flags, mode); }
ALSO(openat, openat64);

int own_stat(const char *path, struct stat *status) AS(stat);
int own_stat(const char *path, struct stat *status) { return stat_at(AT_FDCWD, path, status, 0); }
ALSO(stat, stat64);

int own_lstat(const char *path, struct stat *status) AS(lstat);
int own_lstat(const char *path, struct stat *status) { return stat_at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }
ALSO(lstat, lstat64);

int own_fstatat(int directory, const char *path, struct stat *status, int flags) AS(fstatat);
int own_fstatat(int directory, const char *path, struct stat *status, int flags) {
  return stat_at(directory, path, status, flags);
}
ALSO(fstatat, fstatat64);

/** Newer C libraries call newfstatat with an empty path. */
int own_fstat(int descriptor, struct stat *status) AS(fstat);
int own_fstat(int descriptor, struct stat *status) { return finish(CALL(fstat, descriptor, status, 0, 0, 0)); }
ALSO(fstat, fstat64);

/** Entry points of programs linked to a C library before 2.33. The kernel's version is 0 or 1. */
static int is_version(int version) { return version == 0 || version == 1; }

int own_xstat(int version, const char *path, struct stat *status) AS(__xstat);
int own_xstat(int version, const char *path, struct stat *status) {
  return is_version(version) ? own_stat(path, status) : fail(-EINVAL);
}
ALSO(__xstat, __xstat64);

int own_lxstat(int version, const char *path, struct stat *status) AS(__lxstat);
int own_lxstat(int version, const char *path, struct stat *status) {
  return is_version(version) ? own_lstat(path, status) : fail(-EINVAL);
}
ALSO(__lxstat, __lxstat64);

int own_fxstatat(int version, int directory, const char *path, struct stat *status, int flags) AS(__fxstatat);
int own_fxstatat(int version, int directory, const char *path, struct stat *status, int flags) {
  return is_version(version) ? stat_at(directory, path, status, flags) : fail(-EINVAL);
}
ALSO(__fxstatat, __fxstatat64);

int own_statx(int directory, const char *path, int flags, unsigned mask, struct statx *status) AS(statx);
int own_statx(int directory, const char *path, int flags, unsigned mask, struct statx *status) {
  return statx_at(directory, path, flags, mask, status);
}

int own_access(const char *path, int mode) AS(access);
int own_access(const char *path, int mode) {
  struct logged_call *logged_call = log_call(LOGGED_ACCESS, path, 0);
  if (!logged_call) return finish(CALL(faccessat, AT_FDCWD, path, mode, 0, 0));
  long result = PASS(faccessat, AT_FDCWD, path, mode, 0, 0);
  finish_call(logged_call, path, result);
  return finish(result);
}

// libuv calls statx through syscall(). All other calls keep no stack frame, as in the C library: some return twice (vfork).
__attribute__((used)) static long statx_by_number(long number, long directory, const char *path, long flags, long mask,
                                                  struct statx *status) {
  (void)number;
  return statx_at(directory, path, flags, mask, status);
}
__attribute__((used)) static long fail_by_number(long error) { return fail(error); }

#if defined(__x86_64__)
__asm__(".globl syscall\n.type syscall, @function\n"
        "syscall: cmp $332, %rdi\n je statx_by_number\n"
        " mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n mov %r8, %r10\n mov %r9, %r8\n"
        " mov 8(%rsp), %r9\n syscall\n"
        " cmp $-4095, %rax\n jae 1f\n ret\n"
        "1: mov %rax, %rdi\n jmp fail_by_number\n");
_Static_assert(__NR_statx == 332, "the number above");
#elif defined(__aarch64__)
__asm__(".globl syscall\n.type syscall, %function\n"
        "syscall: cmp x0, #291\n b.eq statx_by_number\n"
        " mov x8, x0\n mov x0, x1\n mov x1, x2\n mov x2, x3\n mov x3, x4\n mov x4, x5\n mov x5, x6\n svc #0\n"
        " cmn x0, #4095\n b.cs fail_by_number\n ret\n");
_Static_assert(__NR_statx == 291, "the number above");
#endif
