// A library in a program that makes thousands of calls: it makes those that only look itself, tells of them in a log (call-log.h), and
// spares them the way to the recorder and back, which takes ten times as long as such a call. The loader loads it because of
// ../recorder/usher.h.
//
// Contract: each function does what the C library's does. What is not a whole path, or is in /proc, /dev or /sys, or is to change
// something, or finds no room in the log, is called as it would be without this library, and then the kernel asks. What is not
// interposed here, as the C library's own calls and a program's own instructions, the kernel asks about anyway: a gap in this
// file costs time and hides nothing.
//
// Surprising: no C library is linked to, so that one file is for all; what is not defined here, the program has. Nothing waits for
// another thread, since a signal's handler may come in the middle of a call and make the next. A path that is no memory of
// the program's is a crash here, and EFAULT otherwise.
#include "call-log.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/** The C library's names are declared by its headers as they please. */
#define AS(name) __asm__(#name) __attribute__((visibility("default"), used))
#define ALSO(name, other) __asm__(".globl " #other "\n.set " #other ", " #name "\n")

/** NULL where the recorder gives none. */
static struct log *log;
/** After a fork it is the parent's: who reads the log has it for a name, no more. */
static __thread int thread;

/** From the gate, about which the kernel asks nobody. */
static long pass(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  long result;
  // What is below the stack's end may be in use.
  __asm__ volatile("sub $128, %%rsp\n call *%[gate]\n add $128, %%rsp"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), [gate] "r"(TRAMPOLINE)
                   : "rcx", "r11", "memory", "cc");
  return result;
#elif defined(__aarch64__)
  register long place __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  __asm__ volatile("blr %[gate]"
                   : "+r"(first)
                   : "r"(place), "r"(second), "r"(third), "r"(fourth), "r"(fifth), [gate] "r"(TRAMPOLINE)
                   : "x30", "memory");
  return first;
#endif
}

#define PASS(name, a, b, c, d, e) pass(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

#if defined(__x86_64__)
static const unsigned char GATE_CODE[] = {0x0f, 0x05, 0xc3}; // syscall; ret
#elif defined(__aarch64__)
static const unsigned GATE_CODE[] = {0xd4000001, 0xd65f03c0}; // svc #0; ret
#endif

static int is_error(long result) { return result < 0 && result > -4096; }

static long fail(long error) {
  *__errno_location() = -error;
  return -1;
}

static long finish(long result) { return is_error(result) ? fail(result) : result; }

static int build_trampoline(void) {
  enum { PAGE = 4096, ALONE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE };
  // A kernel before 4.17 takes the place for a wish.
  if (CALL(mmap, TRAMPOLINE, PAGE, PROT_READ | PROT_WRITE, ALONE, -1) != (long)TRAMPOLINE) return 0;
  for (size_t each = 0; each < sizeof GATE_CODE; each++)
    ((volatile unsigned char *)TRAMPOLINE)[each] = ((const unsigned char *)GATE_CODE)[each];
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

/** What is there is another one for each process, and the recorder has to stat_path while the call waits. */
static int is_own(const char *path) {
  return begins_with(path, "/proc") || begins_with(path, "/dev") || begins_with(path, "/sys");
}

/** NULL where it is to be asked about. */
static struct logged_call *tell(enum told_call what, const char *path, unsigned flags) {
  if (!log || !path || path[0] != '/' || is_own(path)) return NULL;
  size_t length = 0;
  while (length < LONGEST_TOLD && path[length]) length++;
  if (length == LONGEST_TOLD || __atomic_load_n(&log->count, __ATOMIC_RELAXED) >= MOST_TOLD) return NULL;
  unsigned place = __atomic_fetch_add(&log->count, 1, __ATOMIC_RELAXED);
  if (place >= MOST_TOLD) return NULL;
  struct logged_call *logged_call = log->logged_call + place;
  if (!thread) thread = CALL(gettid, 0, 0, 0, 0, 0);
  logged_call->call = what;
  logged_call->flags = flags;
  logged_call->thread = thread;
  for (size_t each = 0; each <= length; each++) logged_call->path[each] = path[each];
  __atomic_store_n(&logged_call->state, ASKED, __ATOMIC_RELEASE);
  return logged_call;
}

static const long IN_SECOND = 1000000000, IN_MILLISECOND = 1000000;

static int is_fresh(const struct logged_call *logged_call) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return logged_call->changed > now.tv_sec * IN_SECOND + now.tv_nsec - STAMP * IN_MILLISECOND;
}

/**
 * What was found has been written. A file that was changed this very moment could be so again under the same stamp: then the
 * recorder is asked to look while this waits, and so it is every now and then. The log is not to be read any more then.
 */
static void answer(struct logged_call *logged_call, const char *path, long result) {
  logged_call->error = is_error(result) ? -result : 0;
  int is_file = !logged_call->error && S_ISREG(logged_call->mode);
  int is_turn = (logged_call - log->logged_call) % ASKS_EVERY == ASKS_EVERY - 1;
  int asks = is_turn || (is_file && is_fresh(logged_call));
  unsigned stays = logged_call->call == TOLD_OPEN ? O_NOFOLLOW : AT_SYMLINK_NOFOLLOW;
  int flags = logged_call->flags & stays ? AT_SYMLINK_NOFOLLOW : 0;
  __atomic_store_n(&logged_call->state, ANSWERED, __ATOMIC_RELEASE);
  struct stat resolved_path;
  if (asks) CALL(newfstatat, AT_FDCWD, path, &resolved_path, flags, 0);
}

enum { NEEDED = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_CTIME };

static void write_found(struct logged_call *logged_call, const struct statx *resolved_path) {
  if ((resolved_path->stx_mask & NEEDED) != NEEDED) return;
  logged_call->mode = resolved_path->stx_mode;
  logged_call->inode = resolved_path->stx_ino;
  logged_call->size = resolved_path->stx_size;
  logged_call->changed = resolved_path->stx_ctime.tv_sec * IN_SECOND + resolved_path->stx_ctime.tv_nsec;
}

static int open_at(int directory, const char *path, int flags, int mode) {
  int only_looks = (flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC));
  struct logged_call *logged_call = only_looks ? tell(TOLD_OPEN, path, flags) : NULL;
  if (!logged_call) return finish(CALL(openat, directory, path, flags, mode, 0));
  long descriptor = PASS(openat, directory, path, flags, mode, 0);
  struct statx resolved_path = {0};
  if (!is_error(descriptor)) {
    PASS(statx, descriptor, "", AT_EMPTY_PATH, NEEDED, &resolved_path);
    write_found(logged_call, &resolved_path);
  }
  answer(logged_call, path, descriptor);
  return finish(descriptor);
}

static int stat_at(int directory, const char *path, struct stat *resolved_path, int flags) {
  // Of the descriptor alone.
  if (log && path && !*path && (flags & AT_EMPTY_PATH)) return finish(PASS(newfstatat, directory, path, resolved_path, flags, 0));
  struct logged_call *logged_call = tell(TOLD_STAT, path, flags);
  if (!logged_call) return finish(CALL(newfstatat, directory, path, resolved_path, flags, 0));
  long result = PASS(newfstatat, directory, path, resolved_path, flags, 0);
  if (!is_error(result)) {
    logged_call->mode = resolved_path->st_mode;
    logged_call->inode = resolved_path->st_ino;
    logged_call->size = resolved_path->st_size;
    logged_call->changed = resolved_path->st_ctim.tv_sec * IN_SECOND + resolved_path->st_ctim.tv_nsec;
  }
  answer(logged_call, path, result);
  return finish(result);
}

static int statx_at(int directory, const char *path, int flags, unsigned mask, struct statx *resolved_path) {
  if (log && path && !*path && (flags & AT_EMPTY_PATH)) return finish(PASS(statx, directory, path, flags, mask, resolved_path));
  struct logged_call *logged_call = tell(TOLD_STAT, path, flags);
  if (!logged_call) return finish(CALL(statx, directory, path, flags, mask, resolved_path));
  long result = PASS(statx, directory, path, flags, mask | NEEDED, resolved_path);
  if (!is_error(result)) write_found(logged_call, resolved_path);
  answer(logged_call, path, result);
  return finish(result);
}

int own_open(const char *path, int flags, int mode) AS(open);
int own_open(const char *path, int flags, int mode) { return open_at(AT_FDCWD, path, flags, mode); }
ALSO(open, open64);

int own_openat(int directory, const char *path, int flags, int mode) AS(openat);
int own_openat(int directory, const char *path, int flags, int mode) { return open_at(directory, path, flags, mode); }
ALSO(openat, openat64);

int own_stat(const char *path, struct stat *resolved_path) AS(stat);
int own_stat(const char *path, struct stat *resolved_path) { return stat_at(AT_FDCWD, path, resolved_path, 0); }
ALSO(stat, stat64);

int own_lstat(const char *path, struct stat *resolved_path) AS(lstat);
int own_lstat(const char *path, struct stat *resolved_path) { return stat_at(AT_FDCWD, path, resolved_path, AT_SYMLINK_NOFOLLOW); }
ALSO(lstat, lstat64);

int own_fstatat(int directory, const char *path, struct stat *resolved_path, int flags) AS(fstatat);
int own_fstatat(int directory, const char *path, struct stat *resolved_path, int flags) {
  return stat_at(directory, path, resolved_path, flags);
}
ALSO(fstatat, fstatat64);

/** Newer C libraries make the call of another one, which names a path, though an empty one. */
int own_fstat(int descriptor, struct stat *resolved_path) AS(fstat);
int own_fstat(int descriptor, struct stat *resolved_path) { return finish(CALL(fstat, descriptor, resolved_path, 0, 0, 0)); }
ALSO(fstat, fstat64);

/** As programs have it that were made for a C library before 2.33. Of the versions one is the kernel's. */
static int is_version(int version) { return version == 0 || version == 1; }

int own_xstat(int version, const char *path, struct stat *resolved_path) AS(__xstat);
int own_xstat(int version, const char *path, struct stat *resolved_path) {
  return is_version(version) ? own_stat(path, resolved_path) : fail(-EINVAL);
}
ALSO(__xstat, __xstat64);

int own_lxstat(int version, const char *path, struct stat *resolved_path) AS(__lxstat);
int own_lxstat(int version, const char *path, struct stat *resolved_path) {
  return is_version(version) ? own_lstat(path, resolved_path) : fail(-EINVAL);
}
ALSO(__lxstat, __lxstat64);

int own_fxstatat(int version, int directory, const char *path, struct stat *resolved_path, int flags) AS(__fxstatat);
int own_fxstatat(int version, int directory, const char *path, struct stat *resolved_path, int flags) {
  return is_version(version) ? stat_at(directory, path, resolved_path, flags) : fail(-EINVAL);
}
ALSO(__fxstatat, __fxstatat64);

int own_statx(int directory, const char *path, int flags, unsigned mask, struct statx *resolved_path) AS(statx);
int own_statx(int directory, const char *path, int flags, unsigned mask, struct statx *resolved_path) {
  return statx_at(directory, path, flags, mask, resolved_path);
}

int own_access(const char *path, int mode) AS(access);
int own_access(const char *path, int mode) {
  struct logged_call *logged_call = tell(TOLD_ACCESS, path, 0);
  if (!logged_call) return finish(CALL(faccessat, AT_FDCWD, path, mode, 0, 0));
  long result = PASS(faccessat, AT_FDCWD, path, mode, 0, 0);
  answer(logged_call, path, result);
  return finish(result);
}

// How libuv calls statx. All others are made here without a frame, as the C library makes them: some return twice.
__attribute__((used)) static long statx_by_number(long number, long directory, const char *path, long flags, long mask,
                                                  struct statx *resolved_path) {
  (void)number;
  return statx_at(directory, path, flags, mask, resolved_path);
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
