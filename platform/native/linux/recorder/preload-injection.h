// Preload injection: loads the interposer (../interposer) into programs that make thousands of calls. It answers the dynamic
// loader's open of /etc/ld.so.preload with a memfd, so neither the environment, the disk nor child processes contain a trace of it.
//
// Invariants:
// - Only glibc's loader is answered, only for its first access, and only if the file does not exist.
// - On any failure the program runs without the interposer, and the kernel notifies every call.
// Non-obvious: only listed programs are injected. Short programs would not gain, and some programs check their loaded libraries
// (AddressSanitizer refuses to start).
#pragma once
#include "interposer-log.h"
#include <sys/mman.h>

static const char PRELOAD_LIST[] = "/etc/ld.so.preload", PRELOADED[] = INTERPOSER_NAME "\n";

/** MFD_EXEC, since Linux 6.3, so not in all headers. */
enum { EXECUTABLE_MEMFD = 0x10 };

/** The compiled ../interposer/interposer.c. */
extern const char interposer_library[], interposer_end[];
__asm__(".pushsection .rodata\ninterposer_library: .incbin \"interposer.so\"\ninterposer_end: .popsection\n");

/** Suffixes of program paths. */
static const char *const INJECTED_PROGRAMS[] = {"/node", "/nodejs"};
static const char GLIBC_LOADER[] = "/ld-linux";

/** The next expected call of a program's loader. */
enum stage { IDLE, AWAITS_ACCESS, AWAITS_LIST, AWAITS_LIBRARY, AWAITS_LOG };

struct pending_exec {
  enum stage stage;
  int pid;
  /** Set in AWAITS_LIBRARY. */
  int library;
};

enum { MAX_PENDING = 16 };

struct preload_injector {
  struct pending_exec pending[MAX_PENDING];
  unsigned next;
};

static int should_inject(const struct program *program) {
  if (!strstr(program->loader, GLIBC_LOADER)) return 0;
  for (size_t each = 0; each < sizeof INJECTED_PROGRAMS / sizeof *INJECTED_PROGRAMS; each++)
    if (ends_with(program->path.bytes, program->path.length, INJECTED_PROGRAMS[each], length_of(INJECTED_PROGRAMS[each]))) return 1;
  return 0;
}

static void drop_pending(struct pending_exec *pending_exec) {
  if (pending_exec->stage == AWAITS_LIBRARY) CALL(close, pending_exec->library, 0, 0, 0, 0);
  pending_exec->stage = IDLE;
}

static struct pending_exec *find_pending(struct preload_injector *preload_injector, int pid) {
  for (int each = 0; each < MAX_PENDING; each++)
    if (preload_injector->pending[each].stage != IDLE && preload_injector->pending[each].pid == pid) return preload_injector->pending + each;
  return NULL;
}

/** Called before exec. If exec fails, the next call of the process does not match and the entry is dropped. */
static void watch_exec(struct preload_injector *preload_injector, const struct program *program, int pid) {
  struct pending_exec *pending_exec = find_pending(preload_injector, pid);
  if (!pending_exec) pending_exec = preload_injector->pending + preload_injector->next++ % MAX_PENDING;
  drop_pending(pending_exec);
  if (should_inject(program)) *pending_exec = (struct pending_exec){.stage = AWAITS_ACCESS, .pid = pid};
}

/** Returns a memfd with these bytes; below 0 on failure. */
static long create_memfd(const char *bytes, size_t size, unsigned flags) {
  long descriptor = CALL(memfd_create, "rt-interposer", MFD_CLOEXEC | flags, 0, 0, 0);
  // Before Linux 6.3 every memfd is executable, and the flag is an error.
  if (descriptor == -EINVAL) descriptor = CALL(memfd_create, "rt-interposer", MFD_CLOEXEC, 0, 0, 0);
  if (descriptor < 0 || CALL(pwrite64, descriptor, bytes, size, 0, 0) == (long)size) return descriptor;
  CALL(close, descriptor, 0, 0, 0, 0);
  return -EIO;
}

/** Answers a call with a descriptor, and closes the local one. Returns whether the call is answered. */
static int send_descriptor(int listener, unsigned long id, long descriptor) {
  if (descriptor < 0) return 0;
  struct seccomp_notif_addfd addfd = {
      .id = id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = descriptor, .newfd_flags = O_CLOEXEC};
  long sent = CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd, 0, 0);
  CALL(close, descriptor, 0, 0, 0, 0);
  return sent >= 0;
}

/** Answers access() with success, although the file does not exist. */
static int allow_access(int listener, unsigned long id) {
  struct seccomp_notif_resp answer = {.id = id};
  return CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer, 0, 0) == 0;
}

/** Returns the path of a loader's call; an empty text if the call has no path, as fstat. */
static struct text loader_path(struct recorder *recorder, int *is_open) {
  int nr = recorder->notice.data.nr;
  *is_open = nr == __NR_openat;
  struct argument argument = {.directory = -1, .path = 1};
#ifdef __NR_access
  if (nr == __NR_access) argument.path = 0;
#endif
  return path_of(recorder, 0, &argument);
}

static int is_text(struct text text, const char *other) {
  return text.length == length_of(other) && memcmp(text.bytes, other, text.length) == 0;
}

/** Returns whether the call belongs to an injection and is answered. */
static int answer_loader(struct preload_injector *preload_injector, struct recorder *recorder, struct interposer_logs *interposer_logs, int listener) {
  struct pending_exec *pending_exec = find_pending(preload_injector, recorder->notice.pid);
  if (!pending_exec) return 0;
  unsigned long id = recorder->notice.id;
  int is_open;
  struct text path = loader_path(recorder, &is_open);
  if (path.length == 0) return 0;
  switch (pending_exec->stage) {
    case AWAITS_ACCESS:
      if (is_open || !is_text(path, PRELOAD_LIST) || stat_path(&recorder->path_table, PRELOAD_LIST).what != ABSENT) break;
      handle_call(recorder);
      pending_exec->stage = AWAITS_LIST;
      return allow_access(listener, id);
    case AWAITS_LIST:
      if (!is_open || !is_text(path, PRELOAD_LIST)) break;
      write_call(recorder, OPENS, path);
      pending_exec->library = create_memfd(interposer_library, interposer_end - interposer_library, EXECUTABLE_MEMFD);
      if (pending_exec->library < 0) break;
      pending_exec->stage = AWAITS_LIBRARY;
      return send_descriptor(listener, id, create_memfd(PRELOADED, sizeof PRELOADED - 1, 0));
    case AWAITS_LIBRARY:
      if (!is_open || !is_text(path, INTERPOSER_NAME)) break;
      write_call(recorder, OPENS, path);
      pending_exec->stage = AWAITS_LOG;
      return send_descriptor(listener, id, pending_exec->library);
    case AWAITS_LOG:
      if (!is_open || !is_text(path, LOG_NAME)) return 0;
      write_call(recorder, OPENS, path);
      pending_exec->stage = IDLE;
      return send_descriptor(listener, id, open_log(interposer_logs));
    default:
      return 0;
  }
  drop_pending(pending_exec);
  return 0;
}

static void drop_all_pending(struct preload_injector *preload_injector) {
  for (int each = 0; each < MAX_PENDING; each++) drop_pending(preload_injector->pending + each);
}
