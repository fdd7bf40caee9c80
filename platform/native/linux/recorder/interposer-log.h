// What interposeres (../interposer) tell of calls that they have made themselves, taken in as if the kernel had asked about each.
//
// Contract: before a call goes on that is to change something, all that was told so far has been looked at: so each is looked at in
// the state that it was in for the program, as far as the script is what changes it. Where something else was: what the program
// has found is compared with what is found here, and a path about which they do not agree is told as contradicted.
//
// Surprising: a call that was told may not have been made yet. Then it is looked at now, and compared later.
#pragma once
#include "../interposer/call-log.h"
#include "syscall-handlers.h"

struct kept_log {
  struct kept_log *before;
  struct log *log;
  /** All in front of the first has been taken in, and of the second the memory was given back. */
  unsigned done, freed;
  /** Of each the state that it was seen in: an `enum told_state`. */
  unsigned char seen[MOST_TOLD];
};

/** Calls whose memory is a number of whole pages. */
enum { FREED_AT_ONCE = 1 << 10 };
_Static_assert(sizeof(struct logged_call) * FREED_AT_ONCE % (1 << 16) == 0, "pages of any size");
_Static_assert(offsetof(struct log, logged_call) % (1 << 16) == 0, "at the beginning of one");

struct interposer_logs {
  struct kept_log *last;
};

/** The calls as the table has them. */
static void write_notice(struct recorder *recorder, const struct logged_call *logged_call) {
  struct seccomp_data *data = &recorder->notice.data;
  memset(&recorder->notice, 0, sizeof recorder->notice);
  recorder->notice.pid = logged_call->thread;
  data->arch = recorder->architecture;
  data->args[0] = AT_FDCWD;
  switch (logged_call->call) {
    case TOLD_OPEN:
      data->nr = __NR_openat;
      data->args[2] = logged_call->flags;
      return;
    case TOLD_STAT:
      data->nr = __NR_newfstatat;
      data->args[3] = logged_call->flags;
      return;
  }
  data->nr = __NR_faccessat;
}

static int follows_told(const struct logged_call *logged_call) {
  if (logged_call->call == TOLD_OPEN) return !(logged_call->flags & O_NOFOLLOW);
  return logged_call->call != TOLD_STAT || !(logged_call->flags & AT_SYMLINK_NOFOLLOW);
}

static int agrees(const struct logged_call *logged_call, const struct resolved_path *resolved_path) {
  // What nobody looks at, and what the script itself has changed.
  if (!resolved_path->entry || resolved_path->is_touched || resolved_path->entry->is_touched) return 1;
  const struct state *state = &resolved_path->entry->state;
  int is_there = resolved_path->is_whole && state->what != ABSENT;
  // A file may be no directory by the last component alone, as with O_DIRECTORY.
  if (logged_call->error) return !is_there || (logged_call->error != ENOENT && (logged_call->error != ENOTDIR || state->what != DIRECTORY));
  if (!is_there || logged_call->mode == 0) return is_there;
  if (S_ISDIR(logged_call->mode) || state->what == DIRECTORY)
    return S_ISDIR(logged_call->mode) && state->what == DIRECTORY && logged_call->inode == state->inode &&
           (logged_call->mode & 07777) == state->mode;
  if (!S_ISREG(logged_call->mode) || state->what != FILE_) return !S_ISREG(logged_call->mode) && state->what != FILE_;
  return logged_call->inode == state->inode && logged_call->size == state->size && logged_call->changed == state->changed;
}

static void compare(struct recorder *recorder, const struct logged_call *logged_call, const struct resolved_path *resolved_path) {
  // Where it led is to be seen in the program alone, and by now that may be elsewhere, or nowhere.
  if (resolved_path->is_special) tell_unusual(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (!agrees(logged_call, resolved_path) && resolved_path->entry)
    tell_unusual(recorder, CONTRADICTED, NO_TEXT, resolved_path->entry->path);
}

/** @param seen in which state before */
static void hear(struct recorder *recorder, const struct logged_call *shared, enum told_state seen, enum told_state state) {
  // The script could write there while it is read.
  struct logged_call logged_call = *(const volatile struct logged_call *)shared;
  logged_call.path[LONGEST_TOLD - 1] = 0;
  if (logged_call.path[0] != '/') return;
  write_notice(recorder, &logged_call);
  recorder->resolved_path = NOWHERE;
  if (seen == EMPTY) {
    recorder->logged_call = logged_call.path;
    follow(recorder);
    recorder->logged_call = NULL;
  } else recorder->resolved_path = resolve_path(&recorder->path_table, logged_call.path, length_of(logged_call.path), follows_told(&logged_call), logged_call.thread);
  if (state == ANSWERED) compare(recorder, &logged_call, &recorder->resolved_path);
}

static void merge_log(struct recorder *recorder, struct kept_log *kept) {
  unsigned count = __atomic_load_n(&kept->log->count, __ATOMIC_ACQUIRE);
  if (count > MOST_TOLD) count = MOST_TOLD;
  for (unsigned each = kept->done; each < count; each++) {
    const struct logged_call *logged_call = kept->log->logged_call + each;
    enum told_state state = __atomic_load_n(&logged_call->state, __ATOMIC_ACQUIRE);
    if (state == EMPTY || kept->seen[each] == ANSWERED) continue;
    if (kept->seen[each] != state) hear(recorder, logged_call, kept->seen[each], state);
    kept->seen[each] = state;
  }
  while (kept->done < count && kept->seen[kept->done] == ANSWERED) kept->done++;
  // Nobody reads or writes there any more.
  unsigned over = kept->done - kept->done % FREED_AT_ONCE;
  if (over == kept->freed) return;
  char *from = (char *)(kept->log->logged_call + kept->freed), *to = (char *)(kept->log->logged_call + over);
  CALL(madvise, from, to - from, MADV_REMOVE, 0, 0);
  kept->freed = over;
}

static void merge_all_logs(struct recorder *recorder, const struct interposer_logs *interposer_logs) {
  for (struct kept_log *kept = interposer_logs->last; kept && !recorder->path_table.journal.is_lost; kept = kept->before)
    merge_log(recorder, kept);
}

/** The descriptor of a new log, which the caller closes; below 0 where there is none to be had. */
static long open_log(struct interposer_logs *interposer_logs) {
  long descriptor = CALL(memfd_create, "rt-interposer", MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0);
  if (descriptor < 0) return descriptor;
  struct kept_log *kept = map(sizeof *kept);
  long place = CALL(ftruncate, descriptor, sizeof(struct log), 0, 0, 0);
  // Were it made smaller, who reads it here would be ended for that.
  if (place == 0) place = CALL(fcntl, descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, 0, 0);
  if (place == 0) place = CALL(mmap, 0, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor);
  if (!kept || (place < 0 && place > -4096)) {
    if (kept) CALL(munmap, kept, sizeof *kept, 0, 0, 0);
    CALL(close, descriptor, 0, 0, 0, 0);
    return -ENOMEM;
  }
  kept->log = (struct log *)place;
  kept->before = interposer_logs->last;
  interposer_logs->last = kept;
  return descriptor;
}

static void close_logs(struct interposer_logs *interposer_logs) {
  for (struct kept_log *kept = interposer_logs->last; kept;) {
    struct kept_log *before = kept->before;
    CALL(munmap, kept->log, sizeof(struct log), 0, 0, 0);
    CALL(munmap, kept, sizeof *kept, 0, 0, 0);
    kept = before;
  }
  interposer_logs->last = NULL;
}
