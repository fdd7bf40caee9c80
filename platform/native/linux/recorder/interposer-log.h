// Merges the interposers' logs (../interposer) into the journal, as if each logged call had been a kernel notification.
//
// Invariants:
// - All logged calls are merged before a call that changes something continues. So each path is observed in the state that the
//   tracee saw, as far as the tracee itself changes it.
// - The interposer's result is compared with the observed state. If they differ, the path is reported as contradicted: another
//   process has changed it in between (TOCTOU).
// Non-obvious: a logged call may not have been made yet. Then its path is observed now, and compared after the call.
#pragma once
#include "../interposer/call-log.h"
#include "syscall-handlers.h"

struct mapped_log {
  struct mapped_log *before;
  struct log *log;
  /** Calls before `merged_count` are merged; the memory of calls before `freed_count` is freed. */
  unsigned merged_count, freed_count;
  /** The state in which each call was merged: an `enum call_state`. */
  unsigned char merged[MAX_LOGGED_CALLS];
};

/** The number of calls whose memory is a whole number of pages. */
enum { FREE_GRANULARITY = 1 << 10 };
_Static_assert(sizeof(struct logged_call) * FREE_GRANULARITY % (1 << 16) == 0, "pages of any size");
_Static_assert(offsetof(struct log, calls) % (1 << 16) == 0, "at the beginning of one");

struct interposer_logs {
  struct mapped_log *last;
};

/** Creates the notification that the kernel would have sent. */
static void write_notice(struct recorder *recorder, const struct logged_call *logged_call) {
  struct seccomp_data *data = &recorder->notice.data;
  memset(&recorder->notice, 0, sizeof recorder->notice);
  recorder->notice.pid = logged_call->thread;
  data->arch = recorder->architecture;
  data->args[0] = AT_FDCWD;
  switch (logged_call->call) {
    case LOGGED_OPEN:
      data->nr = __NR_openat;
      data->args[2] = logged_call->flags;
      return;
    case LOGGED_STAT:
      data->nr = __NR_newfstatat;
      data->args[3] = logged_call->flags;
      return;
  }
  data->nr = __NR_faccessat;
}

static int follows_logged(const struct logged_call *logged_call) {
  if (logged_call->call == LOGGED_OPEN) return !(logged_call->flags & O_NOFOLLOW);
  return logged_call->call != LOGGED_STAT || !(logged_call->flags & AT_SYMLINK_NOFOLLOW);
}

static int agrees(const struct logged_call *logged_call, const struct resolved_path *resolved_path) {
  // The path is not observed, or the script itself has changed it.
  if (!resolved_path->entry || resolved_path->is_touched || resolved_path->entry->is_touched) return 1;
  const struct state *state = &resolved_path->entry->state;
  int is_there = resolved_path->is_whole && state->what != ABSENT;
  // ENOTDIR may concern the last component only, as with O_DIRECTORY.
  if (logged_call->error) return !is_there || (logged_call->error != ENOENT && (logged_call->error != ENOTDIR || state->what != DIRECTORY));
  if (!is_there || logged_call->mode == 0) return is_there;
  if (S_ISDIR(logged_call->mode) || state->what == DIRECTORY)
    return S_ISDIR(logged_call->mode) && state->what == DIRECTORY && logged_call->inode == state->inode &&
           (logged_call->mode & 07777) == state->mode;
  if (!S_ISREG(logged_call->mode) || state->what != FILE_) return !S_ISREG(logged_call->mode) && state->what != FILE_;
  return logged_call->inode == state->inode && logged_call->size == state->size && logged_call->changed == state->changed;
}

static void compare(struct recorder *recorder, const struct logged_call *logged_call, const struct resolved_path *resolved_path) {
  // Only the tracee could resolve the path, and it may resolve differently now.
  if (resolved_path->is_special) report_untraceable(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (!agrees(logged_call, resolved_path) && resolved_path->entry)
    report_untraceable(recorder, CONTRADICTED, NO_TEXT, resolved_path->entry->path);
}

/** @param before the state in which the call was merged before */
static void merge_call(struct recorder *recorder, const struct logged_call *shared, enum call_state before, enum call_state state) {
  // A copy: the tracee could write there concurrently.
  struct logged_call logged_call = *(const volatile struct logged_call *)shared;
  logged_call.path[MAX_LOGGED_PATH - 1] = 0;
  if (logged_call.path[0] != '/') return;
  write_notice(recorder, &logged_call);
  recorder->resolved_path = UNOBSERVED;
  if (before == EMPTY) {
    recorder->logged_path = logged_call.path;
    handle_call(recorder);
    recorder->logged_path = NULL;
  } else recorder->resolved_path = resolve_path(&recorder->path_table, logged_call.path, length_of(logged_call.path), follows_logged(&logged_call), logged_call.thread);
  if (state == FINISHED) compare(recorder, &logged_call, &recorder->resolved_path);
}

static void merge_log(struct recorder *recorder, struct mapped_log *mapped) {
  unsigned count = __atomic_load_n(&mapped->log->count, __ATOMIC_ACQUIRE);
  if (count > MAX_LOGGED_CALLS) count = MAX_LOGGED_CALLS;
  for (unsigned each = mapped->merged_count; each < count; each++) {
    const struct logged_call *logged_call = mapped->log->calls + each;
    enum call_state state = __atomic_load_n(&logged_call->state, __ATOMIC_ACQUIRE);
    if (state == EMPTY || mapped->merged[each] == FINISHED) continue;
    if (mapped->merged[each] != state) merge_call(recorder, logged_call, mapped->merged[each], state);
    mapped->merged[each] = state;
  }
  while (mapped->merged_count < count && mapped->merged[mapped->merged_count] == FINISHED) mapped->merged_count++;
  // Finished calls are neither read nor written again.
  unsigned over = mapped->merged_count - mapped->merged_count % FREE_GRANULARITY;
  if (over == mapped->freed_count) return;
  char *from = (char *)(mapped->log->calls + mapped->freed_count), *to = (char *)(mapped->log->calls + over);
  CALL(madvise, from, to - from, MADV_REMOVE, 0, 0);
  mapped->freed_count = over;
}

static void merge_all_logs(struct recorder *recorder, const struct interposer_logs *interposer_logs) {
  for (struct mapped_log *mapped = interposer_logs->last; mapped && !recorder->path_table.journal.is_lost; mapped = mapped->before)
    merge_log(recorder, mapped);
}

/** Returns the descriptor of a new log, which the caller closes; below 0 on failure. */
static long open_log(struct interposer_logs *interposer_logs) {
  long descriptor = CALL(memfd_create, "rt-interposer", MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0);
  if (descriptor < 0) return descriptor;
  struct mapped_log *mapped = map(sizeof *mapped);
  long place = CALL(ftruncate, descriptor, sizeof(struct log), 0, 0, 0);
  // If the file could shrink, reading the mapping would raise SIGBUS.
  if (place == 0) place = CALL(fcntl, descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, 0, 0);
  if (place == 0) place = CALL(mmap, 0, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor);
  if (!mapped || (place < 0 && place > -4096)) {
    if (mapped) CALL(munmap, mapped, sizeof *mapped, 0, 0, 0);
    CALL(close, descriptor, 0, 0, 0, 0);
    return -ENOMEM;
  }
  mapped->log = (struct log *)place;
  mapped->before = interposer_logs->last;
  interposer_logs->last = mapped;
  return descriptor;
}

static void close_logs(struct interposer_logs *interposer_logs) {
  for (struct mapped_log *mapped = interposer_logs->last; mapped;) {
    struct mapped_log *before = mapped->before;
    CALL(munmap, mapped->log, sizeof(struct log), 0, 0, 0);
    CALL(munmap, mapped, sizeof *mapped, 0, 0, 0);
    mapped = before;
  }
  interposer_logs->last = NULL;
}
