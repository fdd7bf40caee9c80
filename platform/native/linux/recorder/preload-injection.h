// Shows a interposer (../interposer) into a program that makes thousands of calls: its loader asks for /etc/ld.so.preload, and is answered with
// a list and a library that are in memory alone. So nothing of it is in the program's environment, on the disk, or in what that
// program starts.
//
// Contract: only where the loader is glibc's, asks for it as the first thing, and there is no such file. Whoever else asks for these
// names finds nothing. Where a step fails the program has no interposer, and the kernel asks about each call.
//
// Surprising: not every program gets one. A small one ends before it pays, and some look at what was loaded with them (a runtime that
// finds faults of memory refuses to start): so it is those that are known to be worth it.
#pragma once
#include "interposer-log.h"
#include <sys/mman.h>

static const char PRELOAD_LIST[] = "/etc/ld.so.preload", PRELOADED[] = INTERPOSER_NAME "\n";

/** From Linux 6.3 on, and so not in all headers. */
enum { MAY_BE_RUN = 0x10 };

/** ../interposer/interposer.c, compiled. */
extern const char interposer_library[], interposer_end[];
__asm__(".pushsection .rodata\ninterposer_library: .incbin \"interposer.so\"\ninterposer_end: .popsection\n");

/** By the ends of their paths. */
static const char *const WORTH[] = {"/node", "/nodejs"};
static const char GLIBC_LOADER[] = "/ld-linux";

/** What a program's loader asks for next. */
enum stage { NOBODY, WHETHER, FOR_LIST, FOR_LIBRARY, FOR_LOG };

struct pending_exec {
  enum stage stage;
  int pid;
  /** From FOR_LIBRARY on. */
  int library;
};

enum { MOST_ARRIVALS = 16 };

struct preload_injector {
  struct pending_exec arrivals[MOST_ARRIVALS];
  unsigned next;
};

static int is_worth(const struct program *program) {
  if (!strstr(program->loader, GLIBC_LOADER)) return 0;
  for (size_t each = 0; each < sizeof WORTH / sizeof *WORTH; each++)
    if (ends_with(program->path.bytes, program->path.length, WORTH[each], length_of(WORTH[each]))) return 1;
  return 0;
}

static void forget_arrival(struct pending_exec *pending_exec) {
  if (pending_exec->stage == FOR_LIBRARY) CALL(close, pending_exec->library, 0, 0, 0, 0);
  pending_exec->stage = NOBODY;
}

static struct pending_exec *find_arrival(struct preload_injector *preload_injector, int pid) {
  for (int each = 0; each < MOST_ARRIVALS; each++)
    if (preload_injector->arrivals[each].stage != NOBODY && preload_injector->arrivals[each].pid == pid) return preload_injector->arrivals + each;
  return NULL;
}

/** A program is about to be started. Where it is not, whoever wanted to will ask for something else next. */
static void expect(struct preload_injector *preload_injector, const struct program *program, int pid) {
  struct pending_exec *pending_exec = find_arrival(preload_injector, pid);
  if (!pending_exec) pending_exec = preload_injector->arrivals + preload_injector->next++ % MOST_ARRIVALS;
  forget_arrival(pending_exec);
  if (is_worth(program)) *pending_exec = (struct pending_exec){.stage = WHETHER, .pid = pid};
}

/** A file in memory with these bytes, to be read from its beginning; below 0 where there is none. */
static long hold(const char *bytes, size_t size, unsigned flags) {
  long descriptor = CALL(memfd_create, "rt-interposer", MFD_CLOEXEC | flags, 0, 0, 0);
  // Before Linux 6.3 each of them may be executed, and to say so is an error.
  if (descriptor == -EINVAL) descriptor = CALL(memfd_create, "rt-interposer", MFD_CLOEXEC, 0, 0, 0);
  if (descriptor < 0 || CALL(pwrite64, descriptor, bytes, size, 0, 0) == (long)size) return descriptor;
  CALL(close, descriptor, 0, 0, 0, 0);
  return -EIO;
}

/** A descriptor of ours as the answer, which is closed here. Whether the call is answered. */
static int give(int listener, unsigned long id, long descriptor) {
  if (descriptor < 0) return 0;
  struct seccomp_notif_addfd gift = {
      .id = id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = descriptor, .newfd_flags = O_CLOEXEC};
  long given = CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_ADDFD, &gift, 0, 0);
  CALL(close, descriptor, 0, 0, 0, 0);
  return given >= 0;
}

/** Whether it may read the file, which is not there. */
static int say_yes(int listener, unsigned long id) {
  struct seccomp_notif_resp answer = {.id = id};
  return CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer, 0, 0) == 0;
}

/** Which file a call of a loader is about; of no length where it is about none, as when it asks for the size of an open one. */
static struct text asked_for(struct recorder *recorder, int *is_open) {
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

/** Whether the call is one of those, and has been answered. */
static int answer_loader(struct preload_injector *preload_injector, struct recorder *recorder, struct interposer_logs *interposer_logs, int listener) {
  struct pending_exec *pending_exec = find_arrival(preload_injector, recorder->notice.pid);
  if (!pending_exec) return 0;
  unsigned long id = recorder->notice.id;
  int is_open;
  struct text path = asked_for(recorder, &is_open);
  if (path.length == 0) return 0;
  switch (pending_exec->stage) {
    case WHETHER:
      if (is_open || !is_text(path, PRELOAD_LIST) || stat_path(&recorder->path_table, PRELOAD_LIST).what != ABSENT) break;
      follow(recorder);
      pending_exec->stage = FOR_LIST;
      return say_yes(listener, id);
    case FOR_LIST:
      if (!is_open || !is_text(path, PRELOAD_LIST)) break;
      tell_path(recorder, OPENS, path);
      pending_exec->library = hold(interposer_library, interposer_end - interposer_library, MAY_BE_RUN);
      if (pending_exec->library < 0) break;
      pending_exec->stage = FOR_LIBRARY;
      return give(listener, id, hold(PRELOADED, sizeof PRELOADED - 1, 0));
    case FOR_LIBRARY:
      if (!is_open || !is_text(path, INTERPOSER_NAME)) break;
      tell_path(recorder, OPENS, path);
      pending_exec->stage = FOR_LOG;
      return give(listener, id, pending_exec->library);
    case FOR_LOG:
      if (!is_open || !is_text(path, LOG_NAME)) return 0;
      tell_path(recorder, OPENS, path);
      pending_exec->stage = NOBODY;
      return give(listener, id, open_log(interposer_logs));
    default:
      return 0;
  }
  forget_arrival(pending_exec);
  return 0;
}

static void forget_all(struct preload_injector *preload_injector) {
  for (int each = 0; each < MOST_ARRIVALS; each++) forget_arrival(preload_injector->arrivals + each);
}
