// What a call is about: its words are read out of the caller's memory, the paths in them are looked at, and the journal is told
// what the call is about to do with them.
//
// Surprising: what was seen before, with nothing changed by the script since, is not written again (`memos`). Most calls are such.
#pragma once
#include "file-contents.h"
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

/** What ../../tracing/call-rows.ts says of a call; numbers as there. */
enum kind { UNKNOWN, DOUBT, PATHS, OPEN, RENAME, SOCKET, CONNECT, BIND };
enum follows { NEVER, ALWAYS, IF_SET, UNLESS_SET };

struct argument {
  /** The places of the descriptor and the path; -1 for none. */
  int directory, path;
  /** An `enum access`. */
  int access;
  int follows, flags, bit;
};

struct row {
  int number, kind;
  /** Where the flags of an open or a rename are: in an argument, in memory that one points to, or always the same; -1 for none. */
  int flags, how, always;
  int count;
  struct argument arguments[2];
};

enum { MOST_CALLS = 512, MEMO_SLOTS = 1 << 12 };

/** Of CALLED_WITH, behind those of `enum access`. */
enum { OPENS = 20, RENAMES };

/** What is no matter of paths alone: places in KINDS of ../../tracing/unusual-calls.ts. */
enum untraceable {
  FOREIGN,
  CALLED,
  DENIED_MEMORY,
  NO_PATH,
  IN_ROOT,
  EXCHANGED,
  FORMAT,
  SOCKETS,
  DATAGRAMS,
  CONNECTS,
  BINDS,
  CONTRADICTED,
};

/** The result of a call on a path, as far as it tells two states apart. */
struct outcome {
  /** 0 if the path exists. */
  long error;
  /** As `st_mode` has it. */
  unsigned long mode;
  unsigned long device, inode;
  /** Size and times of a file, in bytes and nanoseconds. */
  unsigned long size;
  long modified, changed;
};

struct recorder {
  /** Of those calls that are logged_call as they are meant. */
  unsigned architecture;
  /** Every call is written. */
  int keeps_all;
  struct row rows[MOST_CALLS];
  struct path_table path_table;
  /** Counts what was to change something. */
  unsigned long changes;
  unsigned long memos[MEMO_SLOTS];
  /** Of each memo: the result of its last call. */
  struct outcome outcomes[MEMO_SLOTS];
  struct seccomp_notif notice;
  /** The path of a call that has been logged_call (interposer-log.h), absolute; NULL where it stands in the caller's memory. */
  const char *logged_call;
  /** Where the last path led. */
  struct resolved_path resolved_path;
  /** The last one that was about to be started. */
  struct program program;
  /** Absolute. */
  char paths[2][LONGEST];
  /** A thread and its process, as they were asked for last. */
  int thread, process;
};

static const struct text NO_TEXT;

/** @param address of a socket @param path absolute, or of the program that calls */
static void tell_unusual(struct recorder *recorder, enum untraceable untraceable, struct text address, struct text path) {
  struct journal *journal = &recorder->path_table.journal;
  unsigned words[] = {untraceable, recorder->notice.pid, recorder->notice.data.nr};
  begin_record(journal, UNUSUAL, sizeof words + sizeof address.length + address.length + path.length);
  put(journal, words, sizeof words);
  put_counted(journal, address);
  put_text(journal, path);
}

/** The program that calls, where it has a path. */
static struct text program_of(struct recorder *recorder) {
  long length = read_link_of(&recorder->path_table, recorder->notice.pid, "exe");
  return is_path(recorder->path_table.target, length) ? (struct text){recorder->path_table.target, length} : NO_TEXT;
}

static int argument_of(const struct recorder *recorder, int place) { return recorder->notice.data.args[place]; }

static int look_for_path(struct recorder *recorder, char *path, const struct argument *argument) {
  int pid = recorder->notice.pid;
  if (recorder->logged_call) {
    memcpy(path, recorder->logged_call, length_of(recorder->logged_call));
    return length_of(recorder->logged_call);
  }
  int descriptor = argument->directory < 0 ? AT_FDCWD : argument_of(recorder, argument->directory);
  if (argument->path < 0) return find_directory(pid, descriptor, path);
  char text[PATH_MAX];
  int length = read_text(pid, recorder->notice.data.args[argument->path], text);
  // An empty one means the descriptor itself, which an earlier call has opened.
  if (length <= 0) return length == 0 ? NOTHING : length;
  int base = text[0] == '/' ? 0 : find_directory(pid, descriptor, path);
  if (base < 0) return base;
  if (base == 1) base = 0;
  if (text[0] != '/') path[base++] = '/';
  memcpy(path + base, text, length);
  return base + length;
}

/** Absolute, in `paths`; of no length where there is nothing to be resolved_path. */
static struct text path_of(struct recorder *recorder, int index, const struct argument *argument) {
  char *path = recorder->paths[index];
  int length = look_for_path(recorder, path, argument);
  if (length == DENIED) tell_unusual(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (length < 0) return NO_TEXT;
  path[length] = 0;
  return (struct text){path, length};
}

/** Every call, for whoever wants to observe_path them. @param label what it does, by the name of the table */
static void tell_path(struct recorder *recorder, unsigned char label, struct text path) {
  if (!recorder->keeps_all) return;
  struct journal *journal = &recorder->path_table.journal;
  unsigned pid = recorder->notice.pid;
  begin_record(journal, CALLED_WITH, sizeof label + sizeof pid + path.length);
  put(journal, &label, sizeof label);
  put(journal, &pid, sizeof pid);
  put_text(journal, path);
}

/** Whether it was written already, with nothing changed since. @param flags what else of the call counts */
static int is_known(const struct recorder *recorder, struct text path, unsigned flags, unsigned long *memo) {
  unsigned long words[] = {recorder->changes, recorder->notice.data.nr, flags};
  *memo = hash_on(hash_on(HASH, (const char *)words, sizeof words), path.bytes, path.length) | 1;
  return recorder->memos[*memo % MEMO_SLOTS] == *memo && !recorder->keeps_all;
}

static void remember(struct recorder *recorder, unsigned long memo, struct resolved_path resolved_path) {
  if (!resolved_path.is_special) recorder->memos[memo % MEMO_SLOTS] = memo;
}

/** @param path with a NUL behind it */
static struct outcome outcome_of(const char *path, int follows) {
  struct stat resolved_path;
  long error = CALL(newfstatat, AT_FDCWD, path, &resolved_path, follows ? 0 : AT_SYMLINK_NOFOLLOW, 0);
  if (error) return (struct outcome){.error = error};
  struct outcome outcome = {.mode = resolved_path.st_mode, .device = resolved_path.st_dev, .inode = resolved_path.st_ino};
  if (S_ISDIR(resolved_path.st_mode)) return outcome;
  outcome.size = resolved_path.st_size;
  outcome.modified = (long)resolved_path.st_mtim.tv_sec * NANOSECONDS + (long)resolved_path.st_mtim.tv_nsec;
  outcome.changed = (long)resolved_path.st_ctim.tv_sec * NANOSECONDS + (long)resolved_path.st_ctim.tv_nsec;
  return outcome;
}

/** Whether a call that was made before has the same result now. A call that was logged_call brings its result along. */
static int repeats(struct recorder *recorder, struct text path, int follows, unsigned long memo) {
  if (recorder->logged_call) {
    recorder->resolved_path = resolve_path(&recorder->path_table, path.bytes, path.length, follows, recorder->notice.pid);
    return 1;
  }
  struct outcome outcome = outcome_of(path.bytes, follows);
  return memcmp(&outcome, recorder->outcomes + memo % MEMO_SLOTS, sizeof outcome) == 0;
}

static int matches(struct path_table *path_table, const struct resolved_path *resolved_path, struct text path, const struct outcome *outcome) {
  const struct state *state = &resolved_path->entry->state;
  if (!resolved_path->is_whole || state->what == ABSENT) return outcome->error != 0;
  int is_directory = ends_with(path.bytes, path.length, "/", 1) || ends_with(path.bytes, path.length, "/.", 2);
  if (outcome->error) return is_directory && state->what != DIRECTORY;
  if (state->what == OTHER) return !S_ISDIR(outcome->mode) && !S_ISREG(outcome->mode) && !S_ISLNK(outcome->mode);
  if (state->what == LINK_) {
    if (!S_ISLNK(outcome->mode)) return 0;
    long length = CALL(readlinkat, AT_FDCWD, path.bytes, path_table->target, sizeof path_table->target, 0);
    return length == (long)state->target.length && memcmp(path_table->target, state->target.bytes, length) == 0;
  }
  if (state->mode != (outcome->mode & 07777)) return 0;
  if (state->device != outcome->device || state->inode != outcome->inode) return 0;
  if (state->what == DIRECTORY) return S_ISDIR(outcome->mode);
  return S_ISREG(outcome->mode) && state->size == outcome->size && state->modified == outcome->modified &&
         state->changed == outcome->changed;
}

/**
 * Compares the result of a call with the state in which the path was first seen. If the script has not changed anything on the way,
 * another program has, and the script has seen both states.
 * @param memo 0 if the result is not kept
 */
static void check(struct recorder *recorder, struct text path, int follows, const struct resolved_path *resolved_path, unsigned long memo) {
  if (recorder->logged_call) return;
  struct outcome outcome = outcome_of(path.bytes, follows);
  if (memo) recorder->outcomes[memo % MEMO_SLOTS] = outcome;
  if (!resolved_path->entry || resolved_path->is_special || resolved_path->is_touched) return;
  if (!matches(&recorder->path_table, resolved_path, path, &outcome))
    tell_unusual(recorder, CONTRADICTED, NO_TEXT, resolved_path->entry->path);
}

static int is_change(enum access access) { return access >= REPLACE; }

/**
 * Where a directory on the way is missing, whatever was to be done fails; unless another thread, which was let go on before, makes
 * the directory first. So what may be made in it is looked at in the end.
 */
static void note_behind(struct path_table *path_table, const struct resolved_path *resolved_path, enum access access) {
  char path[LONGEST];
  size_t length = resolved_path->rest ? path_behind(resolved_path, path) : 0;
  if (length > 0) note_change(path_table, path, length, access);
}

static void note_found(struct recorder *recorder, struct resolved_path resolved_path, enum access access) {
  if (is_change(access)) recorder->changes++;
  if (access == REPLACE || access == REMOVE) recorder->path_table.lap++;
  if (!resolved_path.entry) return;
  note(&recorder->path_table, resolved_path.entry, resolved_path.is_whole ? access : PROBE);
  if (!is_change(access)) return;
  if (resolved_path.is_whole) resolved_path.entry->is_touched = 1;
  else note_behind(&recorder->path_table, &resolved_path, access);
}

static int follows_in(const struct recorder *recorder, const struct argument *argument) {
  if (argument->follows == NEVER || argument->follows == ALWAYS) return argument->follows == ALWAYS;
  int is_set = (argument_of(recorder, argument->flags) & argument->bit) != 0;
  return is_set == (argument->follows == IF_SET);
}

/** A directory goes, or another one comes in its place, only where nothing is in it. */
static void tell_names_for(struct path_table *path_table, struct entry *entry, enum access access) {
  if (access == LIST || (access == REMOVE && entry->state.what == DIRECTORY)) tell_names(path_table, entry);
}

/** The process of a thread; the thread itself where that cannot be read. */
static int process_of(struct recorder *recorder, int thread) {
  if (recorder->thread == thread) return recorder->process;
  static const char BEFORE[] = "/proc/", BEHIND[] = "/status", FIELD[] = "\nTgid:\t";
  char path[sizeof BEFORE + sizeof BEHIND + 20], text[256];
  char *end = add_number(add_text(path, BEFORE, sizeof BEFORE - 1), thread);
  add_text(end, BEHIND, sizeof BEHIND);
  long descriptor = CALL(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0);
  long length = descriptor < 0 ? -1 : CALL(read, descriptor, text, sizeof text - 1, 0, 0);
  if (descriptor >= 0) CALL(close, descriptor, 0, 0, 0, 0);
  text[length < 0 ? 0 : length] = 0;
  int process = 0;
  for (const char *at = text; *at && !process; at++) {
    const char *digits = after(at, FIELD);
    for (; digits && *digits >= '0' && *digits <= '9'; digits++) process = process * 10 + (*digits - '0');
  }
  recorder->thread = thread;
  return recorder->process = process ? process : thread;
}

/** A program reads the names in a folder. */
static void tell_listed(struct recorder *recorder, const struct entry *entry) {
  int process = process_of(recorder, recorder->notice.pid);
  begin_record(&recorder->path_table.journal, LISTED, sizeof entry->number + sizeof process);
  put(&recorder->path_table.journal, &entry->number, sizeof entry->number);
  put(&recorder->path_table.journal, &process, sizeof process);
}

static void follow_path(struct recorder *recorder, int index, const struct argument *argument) {
  struct path_table *path_table = &recorder->path_table;
  struct text path = path_of(recorder, index, argument);
  if (path.length == 0) {
    if (argument->access == RUN && argument->directory >= 0) tell_unusual(recorder, NO_PATH, NO_TEXT, NO_TEXT);
    return;
  }
  tell_path(recorder, argument->access, path);
  int follows = follows_in(recorder, argument);
  // Of a program that is started again the usher (preload-injection.h) wants to know.
  int is_repeatable = !is_change(argument->access) && argument->access != RUN && argument->access != LIST;
  unsigned long memo = 0;
  if (is_repeatable && is_known(recorder, path, follows, &memo) && repeats(recorder, path, follows, memo)) return;
  struct resolved_path resolved_path = resolve_path(path_table, path.bytes, path.length, follows, recorder->notice.pid);
  recorder->resolved_path = resolved_path;
  check(recorder, path, follows, &resolved_path, memo);
  if (is_repeatable) remember(recorder, memo, resolved_path);
  if (argument->access == RUN) {
    struct entry *strange = note_program(path_table, resolved_path, recorder->notice.pid, &recorder->program);
    if (strange) tell_unusual(recorder, FORMAT, NO_TEXT, strange->path);
    return;
  }
  if (resolved_path.is_whole && resolved_path.entry) tell_names_for(path_table, resolved_path.entry, argument->access);
  note_found(recorder, resolved_path, argument->access);
  if (argument->access == LIST && resolved_path.is_whole && resolved_path.entry) tell_listed(recorder, resolved_path.entry);
}

/** What stands in a structure that an argument points to, where it can be read. */
static int read_how(struct recorder *recorder, int argument, struct open_how *how) {
  int length = read_bytes(recorder->notice.pid, recorder->notice.data.args[argument], how, sizeof *how);
  if (length == DENIED) tell_unusual(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (length > 0 && (how->resolve & RESOLVE_IN_ROOT)) tell_unusual(recorder, IN_ROOT, NO_TEXT, NO_TEXT);
  return length > 0;
}

/** What opening comes to besides reading; PROBE where it comes to nothing. */
static enum access change_by(unsigned flags) {
  unsigned mode = flags & O_ACCMODE;
  if ((flags & O_CREAT) && (flags & O_EXCL)) return CREATE;
  if (flags & O_TRUNC) return flags & O_CREAT ? REPLACE : TRUNCATE;
  if (flags & O_CREAT) return APPEND;
  return mode == O_WRONLY || mode == O_RDWR ? MODIFY : PROBE;
}

static void follow_open(struct recorder *recorder, const struct row *row) {
  struct open_how how = {0};
  if (row->how >= 0 && !read_how(recorder, row->how, &how)) return;
  unsigned flags = row->how >= 0 ? (unsigned)how.flags : (unsigned)row->always;
  if (row->flags >= 0) flags = argument_of(recorder, row->flags);
  struct text path = path_of(recorder, 0, row->arguments);
  if (path.length == 0) return;
  tell_path(recorder, OPENS, path);
  unsigned exclusive = O_CREAT | O_EXCL;
  int follows = !(flags & O_NOFOLLOW) && (flags & exclusive) != exclusive;
  int is_probe = (flags & (O_PATH | O_DIRECTORY | O_TMPFILE)) != 0;
  enum access change = is_probe ? PROBE : change_by(flags);
  unsigned long memo = 0;
  if (change == PROBE && is_known(recorder, path, flags, &memo) && repeats(recorder, path, follows, memo)) return;
  struct resolved_path resolved_path = resolve_path(&recorder->path_table, path.bytes, path.length, follows, recorder->notice.pid);
  recorder->resolved_path = resolved_path;
  check(recorder, path, follows, &resolved_path, memo);
  if (change == PROBE) remember(recorder, memo, resolved_path);
  if (is_probe) return note_found(recorder, resolved_path, PROBE);
  int is_read = !(flags & O_TRUNC) && (flags & O_ACCMODE) != O_WRONLY;
  if (is_read) note_found(recorder, resolved_path, READ);
  if (change != PROBE) note_found(recorder, resolved_path, change);
}

/** What stands below a directory is moved with it. */
static void follow_rename(struct recorder *recorder, const struct row *row) {
  struct path_table *path_table = &recorder->path_table;
  struct text paths[2], ends[2] = {{0}};
  int is_whole[2] = {0, 0};
  char behind[LONGEST];
  for (int each = 0; each < 2; each++) paths[each] = path_of(recorder, each, row->arguments + each);
  if (paths[0].length == 0 || paths[1].length == 0) return;
  if (row->flags >= 0 && (argument_of(recorder, row->flags) & RENAME_EXCHANGE))
    tell_unusual(recorder, EXCHANGED, NO_TEXT, paths[0]);
  for (int each = 0; each < 2; each++) {
    tell_path(recorder, RENAMES, paths[each]);
    struct resolved_path resolved_path = resolve_path(path_table, paths[each].bytes, paths[each].length, 0, recorder->notice.pid);
    check(recorder, paths[each], 0, &resolved_path, 0);
    if (!resolved_path.entry) continue;
    ends[each] = resolved_path.entry->path;
    is_whole[each] = resolved_path.is_whole;
    if (resolved_path.is_whole) continue;
    note(path_table, resolved_path.entry, PROBE);
    size_t length = each == 1 && resolved_path.rest ? path_behind(&resolved_path, behind) : 0;
    if (length == 0) continue;
    ends[each] = (struct text){behind, length};
    is_whole[each] = 1;
  }
  recorder->changes++;
  path_table->lap++;
  if (!is_whole[0] || !ends[1].bytes) return;
  char from[LONGEST], to[LONGEST];
  struct entry *source = observe_path(path_table, ends[0].bytes, ends[0].length, 1);
  if (!source || ends[0].length >= LONGEST || ends[1].length >= LONGEST) return;
  int is_directory = source->state.what == DIRECTORY;
  note(path_table, source, source->state.what == FILE_ ? MODIFY : PROBE);
  memcpy(from, ends[0].bytes, ends[0].length + 1);
  memcpy(to, ends[1].bytes, ends[1].length + 1);
  if (is_directory && is_whole[1]) note_moved(path_table, from, ends[0].length, to, ends[1].length);
  note_change(path_table, ends[0].bytes, ends[0].length, REMOVE);
  if (!is_whole[1]) return;
  struct entry *target = observe_path(path_table, ends[1].bytes, ends[1].length, 1);
  if (target) tell_names_for(path_table, target, REMOVE);
  note_change(path_table, ends[1].bytes, ends[1].length, REPLACE);
}

enum { LONGEST_ADDRESS = 110 };

static void follow_address(struct recorder *recorder, int is_bind) {
  enum untraceable untraceable = is_bind ? BINDS : CONNECTS;
  char bytes[LONGEST_ADDRESS + 1];
  unsigned size = recorder->notice.data.args[2] & 0xffff;
  if (size > LONGEST_ADDRESS) size = LONGEST_ADDRESS;
  unsigned short family = AF_UNSPEC;
  int pid = recorder->notice.pid;
  int length = size <= sizeof family ? NOTHING : read_bytes(pid, recorder->notice.data.args[1], bytes, size);
  if (length == DENIED) return tell_unusual(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (length < 0) return tell_unusual(recorder, untraceable, NO_TEXT, NO_TEXT);
  memcpy(&family, bytes, sizeof family);
  struct text address = {bytes, length};
  if (family != AF_UNIX) return tell_unusual(recorder, untraceable, address, program_of(recorder));
  // One without a file has a name that begins with NUL.
  const char *name = bytes + sizeof family;
  if (*name == 0) return tell_unusual(recorder, untraceable, address, NO_TEXT);
  bytes[length] = 0;
  char *path = recorder->paths[0];
  int base = *name == '/' ? 0 : find_directory(pid, AT_FDCWD, path);
  if (base == DENIED) tell_unusual(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (base <= 1) base = 0;
  if (*name != '/') path[base++] = '/';
  memcpy(path + base, name, length_of(name) + 1);
  struct text whole = {path, base + length_of(name)};
  struct resolved_path resolved_path = resolve_path(&recorder->path_table, whole.bytes, whole.length, !is_bind, pid);
  note_found(recorder, resolved_path, is_bind ? CREATE : PROBE);
  tell_unusual(recorder, untraceable, address, whole);
}

static const struct row *row_of(const struct recorder *recorder) {
  static const struct row none;
  int number = recorder->notice.data.nr;
  return number >= 0 && number < MOST_CALLS ? recorder->rows + number : &none;
}

/** Whether it may be to change what is at some path. */
static int may_change(const struct recorder *recorder) {
  const struct row *row = row_of(recorder);
  if (row->kind == OPEN)
    return row->how >= 0 || row->flags < 0 || change_by(argument_of(recorder, row->flags)) != PROBE;
  for (int each = 0; each < row->count; each++)
    if (is_change(row->arguments[each].access)) return 1;
  return row->kind == BIND;
}

static void follow(struct recorder *recorder) {
  const struct seccomp_data *data = &recorder->notice.data;
  if (data->arch != recorder->architecture) return tell_unusual(recorder, FOREIGN, NO_TEXT, NO_TEXT);
  const struct row *row = row_of(recorder);
  switch (row->kind) {
    case PATHS:
      for (int each = 0; each < row->count; each++) follow_path(recorder, each, row->arguments + each);
      return;
    case OPEN:
      return follow_open(recorder, row);
    case RENAME:
      return follow_rename(recorder, row);
    case CONNECT:
    case BIND:
      return follow_address(recorder, row->kind == BIND);
    case SOCKET:
      if (argument_of(recorder, 0) == AF_UNIX) return tell_unusual(recorder, SOCKETS, NO_TEXT, NO_TEXT);
      return tell_unusual(recorder, DATAGRAMS, NO_TEXT, program_of(recorder));
  }
  tell_unusual(recorder, CALLED, NO_TEXT, NO_TEXT);
}
