// Handlers per system call: read the arguments from the tracee's memory, observe the paths and write the accesses to the journal.
//
// Non-obvious: most calls repeat an earlier one. They are memoized (`memos`) and not written again until the script changes
// something.
#pragma once
#include "own-servers.h"
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

/** Rows of ../../../tracing/linux/syscall-rows.ts, with the same numbers. */
enum kind { UNKNOWN, INCOMPLETE, PATHS, OPEN, RENAME, SOCKET, CONNECT, BIND, SEND };
enum follows { NEVER, ALWAYS, IF_SET, UNLESS_SET };

struct argument {
  /** Argument indexes of the directory descriptor and the path; -1 for none. */
  int directory, path;
  /** An `enum access`. */
  int access;
  int follows, flags, bit;
};

struct row {
  int number, kind;
  /** Source of the flags of an open or a rename: an argument, a structure, or a constant; -1 for none. */
  int flags, how, always;
  int count;
  struct argument arguments[2];
};

enum { MAX_SYSCALLS = 512, MEMO_SLOTS = 1 << 12 };

/** Labels of CALL_RECORD that continue `enum access`. */
enum { OPENS = 20, RENAMES };

/** Order of KINDS in ../../../tracing/linux/untraceable-calls.ts. */
enum untraceable {
  FOREIGN,
  UNTRACEABLE_CALL,
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
  CONNECTS_TO_OWN,
  STREAMS,
  QUERIES,
};

/** The observable result of a call on a path. */
struct outcome {
  /** 0 if the path exists. */
  long error;
  /** `st_mode`. */
  unsigned long mode;
  unsigned long device, inode;
  /** Size of a file in bytes, its hard links, times in nanoseconds. */
  unsigned long size, links;
  long modified, changed;
};

struct recorder {
  /** AUDIT_ARCH_ of traceable calls. */
  unsigned architecture;
  /** Also writes a record of each call. */
  int logs_all;
  /** Also writes which process makes the calls (process-names.h). */
  int names_processes;
  /** The thread of the last such record; 0 for none. */
  int named_thread;
  struct row rows[MAX_SYSCALLS];
  struct path_table path_table;
  struct own_sockets own_sockets;
  /** Counts the calls that try to change something. */
  unsigned long changes;
  unsigned long memos[MEMO_SLOTS];
  /** The last result of each memo. */
  struct outcome outcomes[MEMO_SLOTS];
  struct seccomp_notif notice;
  /** Absolute paths. */
  char paths[2][MAX_PATH];
  /** A cached thread id and its process id. */
  int thread, process;
};

static const struct text NO_TEXT;

/** @param address of a socket @param path absolute, or of the calling program */
static void report_untraceable(struct recorder *recorder, enum untraceable untraceable, struct text address, struct text path) {
  struct journal *journal = &recorder->path_table.journal;
  unsigned words[] = {untraceable, recorder->notice.pid, recorder->notice.data.nr};
  begin_record(journal, UNTRACEABLE_RECORD, sizeof words + sizeof address.length + address.length + path.length);
  put(journal, words, sizeof words);
  put_counted(journal, address);
  put_text(journal, path);
}

/** Returns the path of the calling program, or an empty text. */
static struct text program_of(struct recorder *recorder) {
  long length = read_link_of(&recorder->path_table, recorder->notice.pid, "exe");
  return is_path(recorder->path_table.target, length) ? (struct text){recorder->path_table.target, length} : NO_TEXT;
}

static int argument_of(const struct recorder *recorder, int place) { return recorder->notice.data.args[place]; }

static int read_path(struct recorder *recorder, char *path, const struct argument *argument) {
  int pid = recorder->notice.pid;
  int descriptor = argument->directory < 0 ? AT_FDCWD : argument_of(recorder, argument->directory);
  if (argument->path < 0) return find_directory(pid, descriptor, path);
  char text[PATH_MAX];
  int length = read_text(pid, recorder->notice.data.args[argument->path], text);
  // An empty path means the descriptor itself, which an earlier call has opened.
  if (length <= 0) return length == 0 ? UNREADABLE : length;
  int base = text[0] == '/' ? 0 : find_directory(pid, descriptor, path);
  if (base < 0) return base;
  if (base == 1) base = 0;
  if (text[0] != '/') path[base++] = '/';
  memcpy(path + base, text, length);
  return base + length;
}

/** Returns the absolute path, stored in `paths`; an empty text if there is none. */
static struct text path_of(struct recorder *recorder, int index, const struct argument *argument) {
  char *path = recorder->paths[index];
  int length = read_path(recorder, path, argument);
  if (length == DENIED) report_untraceable(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (length < 0) return NO_TEXT;
  path[length] = 0;
  return (struct text){path, length};
}

/** Writes a record of the call for `keepsCalls`. @param label an `enum access`, or OPENS or RENAMES */
static void write_call(struct recorder *recorder, unsigned char label, struct text path) {
  if (!recorder->logs_all) return;
  struct journal *journal = &recorder->path_table.journal;
  unsigned pid = recorder->notice.pid;
  begin_record(journal, CALL_RECORD, sizeof label + sizeof pid + path.length);
  put(journal, &label, sizeof label);
  put(journal, &pid, sizeof pid);
  put_text(journal, path);
}

/** Returns whether the call was written since the last change. @param flags further parts of the key */
static int has_memo(const struct recorder *recorder, struct text path, unsigned flags, unsigned long *memo) {
  unsigned long words[] = {recorder->changes, recorder->notice.data.nr, flags};
  *memo = hash_on(hash_on(HASH, (const char *)words, sizeof words), path.bytes, path.length) | 1;
  return recorder->memos[*memo % MEMO_SLOTS] == *memo && !recorder->logs_all;
}

static void store_memo(struct recorder *recorder, unsigned long memo, struct resolved_path resolved_path) {
  if (!resolved_path.is_special) recorder->memos[memo % MEMO_SLOTS] = memo;
}

/** @param path NUL-terminated */
static struct outcome outcome_of(const char *path, int follows) {
  struct stat status;
  long error = CALL(newfstatat, AT_FDCWD, path, &status, follows ? 0 : AT_SYMLINK_NOFOLLOW, 0);
  if (error) return (struct outcome){.error = error};
  struct outcome outcome = {.mode = status.st_mode, .device = status.st_dev, .inode = status.st_ino};
  if (S_ISDIR(status.st_mode)) return outcome;
  outcome.size = status.st_size;
  outcome.links = status.st_nlink;
  outcome.modified = (long)status.st_mtim.tv_sec * NANOSECONDS + (long)status.st_mtim.tv_nsec;
  outcome.changed = (long)status.st_ctim.tv_sec * NANOSECONDS + (long)status.st_ctim.tv_nsec;
  return outcome;
}

/** Returns whether a memoized call has the same result now. */
static int repeats(struct recorder *recorder, struct text path, int follows, unsigned long memo) {
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
  // Another installation makes or removes links of a file, which changes only the ctime.
  int is_unchanged = state->changed == outcome->changed || state->links > 1 || outcome->links > 1;
  return S_ISREG(outcome->mode) && state->size == outcome->size && state->modified == outcome->modified && is_unchanged;
}

/**
 * Compares the result of a call with the first observed state of the path. If they differ and the script has not changed the path,
 * another program has, and the script has seen both states.
 * @param memo 0 if the result is not memoized
 */
static void check(struct recorder *recorder, struct text path, int follows, const struct resolved_path *resolved_path, unsigned long memo) {
  struct outcome outcome = outcome_of(path.bytes, follows);
  if (memo) recorder->outcomes[memo % MEMO_SLOTS] = outcome;
  if (!resolved_path->entry || resolved_path->is_special || resolved_path->is_touched) return;
  if (!matches(&recorder->path_table, resolved_path, path, &outcome))
    report_untraceable(recorder, CONTRADICTED, NO_TEXT, resolved_path->entry->path);
}

static int is_change(enum access access) { return access >= REPLACE; }

/**
 * A call on a path behind a missing directory fails, unless another thread creates the directory concurrently (race). So the path
 * that the call may create is observed at the end.
 */
static void note_missing(struct path_table *path_table, const struct resolved_path *resolved_path, enum access access) {
  char path[MAX_PATH];
  size_t length = resolved_path->rest ? missing_path(resolved_path, path) : 0;
  if (length > 0) note_change(path_table, path, length, access);
}

static void note_resolved(struct recorder *recorder, struct resolved_path resolved_path, enum access access) {
  if (is_change(access)) recorder->changes++;
  if (access == REPLACE || access == REMOVE) recorder->path_table.generation++;
  if (!resolved_path.entry) return;
  note(&recorder->path_table, resolved_path.entry, resolved_path.is_whole ? access : PROBE);
  if (!is_change(access)) return;
  if (resolved_path.is_whole) resolved_path.entry->is_touched = 1;
  else note_missing(&recorder->path_table, &resolved_path, access);
}

static int follows_in(const struct recorder *recorder, const struct argument *argument) {
  if (argument->follows == NEVER || argument->follows == ALWAYS) return argument->follows == ALWAYS;
  int is_set = (argument_of(recorder, argument->flags) & argument->bit) != 0;
  return is_set == (argument->follows == IF_SET);
}

/** Removing or replacing a directory succeeds only if it is empty, so it depends on the listing. */
static void write_names_for(struct path_table *path_table, struct entry *entry, enum access access) {
  if (access == LIST || (access == REMOVE && entry->state.what == DIRECTORY)) write_names(path_table, entry);
}

/** Returns the process of a thread; the thread itself if that cannot be read. */
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

/** Records that a program lists a directory. */
static void write_listing(struct recorder *recorder, const struct entry *entry) {
  int process = process_of(recorder, recorder->notice.pid);
  begin_record(&recorder->path_table.journal, LISTING_RECORD, sizeof entry->number + sizeof process);
  put(&recorder->path_table.journal, &entry->number, sizeof entry->number);
  put(&recorder->path_table.journal, &process, sizeof process);
}

static void handle_path(struct recorder *recorder, int index, const struct argument *argument) {
  struct path_table *path_table = &recorder->path_table;
  struct text path = path_of(recorder, index, argument);
  if (path.length == 0) {
    if (argument->access == RUN && argument->directory >= 0) report_untraceable(recorder, NO_PATH, NO_TEXT, NO_TEXT);
    return;
  }
  write_call(recorder, argument->access, path);
  int follows = follows_in(recorder, argument);
  int is_repeatable = !is_change(argument->access) && argument->access != LIST;
  unsigned long memo = 0;
  if (is_repeatable && has_memo(recorder, path, follows, &memo) && repeats(recorder, path, follows, memo)) return;
  struct resolved_path resolved_path = resolve_path(path_table, path.bytes, path.length, follows, recorder->notice.pid);
  check(recorder, path, follows, &resolved_path, memo);
  if (is_repeatable) store_memo(recorder, memo, resolved_path);
  if (argument->access == RUN) {
    struct entry *unknown = note_program(path_table, resolved_path, recorder->notice.pid);
    if (unknown) report_untraceable(recorder, FORMAT, NO_TEXT, unknown->path);
    return;
  }
  if (resolved_path.is_whole && resolved_path.entry) write_names_for(path_table, resolved_path.entry, argument->access);
  note_resolved(recorder, resolved_path, argument->access);
  if (argument->access == LIST && resolved_path.is_whole && resolved_path.entry) write_listing(recorder, resolved_path.entry);
}

/** Reads `struct open_how` from the tracee. Returns whether that succeeded. */
static int read_how(struct recorder *recorder, int argument, struct open_how *how) {
  int length = read_bytes(recorder->notice.pid, recorder->notice.data.args[argument], how, sizeof *how);
  if (length == DENIED) report_untraceable(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (length > 0 && (how->resolve & RESOLVE_IN_ROOT)) report_untraceable(recorder, IN_ROOT, NO_TEXT, NO_TEXT);
  return length > 0;
}

/** Returns the change that an open makes; PROBE for none. */
static enum access change_by(unsigned flags) {
  unsigned mode = flags & O_ACCMODE;
  if ((flags & O_CREAT) && (flags & O_EXCL)) return CREATE;
  if (flags & O_TRUNC) return flags & O_CREAT ? REPLACE : TRUNCATE;
  if (flags & O_CREAT) return APPEND;
  return mode == O_WRONLY || mode == O_RDWR ? MODIFY : PROBE;
}

static void handle_open(struct recorder *recorder, const struct row *row) {
  struct open_how how = {0};
  if (row->how >= 0 && !read_how(recorder, row->how, &how)) return;
  unsigned flags = row->how >= 0 ? (unsigned)how.flags : (unsigned)row->always;
  if (row->flags >= 0) flags = argument_of(recorder, row->flags);
  struct text path = path_of(recorder, 0, row->arguments);
  if (path.length == 0) return;
  write_call(recorder, OPENS, path);
  unsigned exclusive = O_CREAT | O_EXCL;
  int follows = !(flags & O_NOFOLLOW) && (flags & exclusive) != exclusive;
  int is_probe = (flags & (O_PATH | O_DIRECTORY | O_TMPFILE)) != 0;
  enum access change = is_probe ? PROBE : change_by(flags);
  unsigned long memo = 0;
  if (change == PROBE && has_memo(recorder, path, flags, &memo) && repeats(recorder, path, follows, memo)) return;
  struct resolved_path resolved_path = resolve_path(&recorder->path_table, path.bytes, path.length, follows, recorder->notice.pid);
  check(recorder, path, follows, &resolved_path, memo);
  if (change == PROBE) store_memo(recorder, memo, resolved_path);
  // Listing a directory needs the permission to read it, as reading a file does.
  int is_listing = (flags & O_DIRECTORY) && !(flags & (O_PATH | (O_TMPFILE & ~O_DIRECTORY)));
  if (is_probe) return note_resolved(recorder, resolved_path, is_listing ? LIST : PROBE);
  int is_read = !(flags & O_TRUNC) && (flags & O_ACCMODE) != O_WRONLY;
  if (is_read) note_resolved(recorder, resolved_path, READ);
  if (change != PROBE) note_resolved(recorder, resolved_path, change);
}

/** Moving a directory moves everything below it. */
static void handle_rename(struct recorder *recorder, const struct row *row) {
  struct path_table *path_table = &recorder->path_table;
  struct text paths[2], ends[2] = {{0}};
  int is_whole[2] = {0, 0};
  char behind[MAX_PATH];
  for (int each = 0; each < 2; each++) paths[each] = path_of(recorder, each, row->arguments + each);
  if (paths[0].length == 0 || paths[1].length == 0) return;
  if (row->flags >= 0 && (argument_of(recorder, row->flags) & RENAME_EXCHANGE))
    report_untraceable(recorder, EXCHANGED, NO_TEXT, paths[0]);
  for (int each = 0; each < 2; each++) {
    write_call(recorder, RENAMES, paths[each]);
    struct resolved_path resolved_path = resolve_path(path_table, paths[each].bytes, paths[each].length, 0, recorder->notice.pid);
    check(recorder, paths[each], 0, &resolved_path, 0);
    if (!resolved_path.entry) continue;
    ends[each] = resolved_path.entry->path;
    is_whole[each] = resolved_path.is_whole;
    if (resolved_path.is_whole) continue;
    note(path_table, resolved_path.entry, PROBE);
    size_t length = each == 1 && resolved_path.rest ? missing_path(&resolved_path, behind) : 0;
    if (length == 0) continue;
    ends[each] = (struct text){behind, length};
    is_whole[each] = 1;
  }
  recorder->changes++;
  path_table->generation++;
  if (!is_whole[0] || !ends[1].bytes) return;
  char from[MAX_PATH], to[MAX_PATH];
  struct entry *source = observe_path(path_table, ends[0].bytes, ends[0].length, 1);
  if (!source || ends[0].length >= MAX_PATH || ends[1].length >= MAX_PATH) return;
  int is_directory = source->state.what == DIRECTORY;
  note(path_table, source, source->state.what == FILE_ ? MODIFY : PROBE);
  memcpy(from, ends[0].bytes, ends[0].length + 1);
  memcpy(to, ends[1].bytes, ends[1].length + 1);
  if (is_directory && is_whole[1]) note_moved(path_table, from, ends[0].length, to, ends[1].length);
  note_change(path_table, ends[0].bytes, ends[0].length, REMOVE);
  if (!is_whole[1]) return;
  struct entry *target = observe_path(path_table, ends[1].bytes, ends[1].length, 1);
  if (target) write_names_for(path_table, target, REMOVE);
  note_change(path_table, ends[1].bytes, ends[1].length, REPLACE);
}

/** SOCKET_TYPE: without SOCK_CLOEXEC and SOCK_NONBLOCK. */
enum { MAX_ADDRESS = 110, SOCKET_TYPE = 0xf };

static void handle_address(struct recorder *recorder, int is_bind) {
  enum untraceable untraceable = is_bind ? BINDS : CONNECTS;
  char bytes[MAX_ADDRESS + 1];
  unsigned size = recorder->notice.data.args[2] & 0xffff;
  if (size > MAX_ADDRESS) size = MAX_ADDRESS;
  unsigned short family = AF_UNSPEC;
  int pid = recorder->notice.pid;
  int length = size <= sizeof family ? UNREADABLE : read_bytes(pid, recorder->notice.data.args[1], bytes, size);
  if (length == DENIED) return report_untraceable(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (length < 0) return report_untraceable(recorder, untraceable, NO_TEXT, NO_TEXT);
  memcpy(&family, bytes, sizeof family);
  struct text address = {bytes, length};
  if (family != AF_UNIX) {
    if (is_bind) remember_bound(&recorder->own_sockets, &recorder->path_table, pid, argument_of(recorder, 0));
    else if (is_own_server(&recorder->own_sockets, pid, address)) untraceable = CONNECTS_TO_OWN;
    return report_untraceable(recorder, untraceable, address, program_of(recorder));
  }
  // The name of an abstract socket begins with NUL.
  const char *name = bytes + sizeof family;
  if (*name == 0) return report_untraceable(recorder, untraceable, address, NO_TEXT);
  bytes[length] = 0;
  char *path = recorder->paths[0];
  int base = *name == '/' ? 0 : find_directory(pid, AT_FDCWD, path);
  if (base == DENIED) report_untraceable(recorder, DENIED_MEMORY, NO_TEXT, NO_TEXT);
  if (base <= 1) base = 0;
  if (*name != '/') path[base++] = '/';
  memcpy(path + base, name, length_of(name) + 1);
  struct text whole = {path, base + length_of(name)};
  struct resolved_path resolved_path = resolve_path(&recorder->path_table, whole.bytes, whole.length, !is_bind, pid);
  note_resolved(recorder, resolved_path, is_bind ? CREATE : PROBE);
  report_untraceable(recorder, untraceable, address, whole);
}

static void handle_socket(struct recorder *recorder) {
  const int family = argument_of(recorder, 0), type = argument_of(recorder, 1) & SOCKET_TYPE;
  if (family == AF_UNIX) return report_untraceable(recorder, SOCKETS, NO_TEXT, NO_TEXT);
  const int is_stream = (family == AF_INET || family == AF_INET6) && type == SOCK_STREAM;
  report_untraceable(recorder, is_stream ? STREAMS : DATAGRAMS, NO_TEXT, program_of(recorder));
}

/** Sizes in a DNS query: bytes before the name, and bytes that are read. */
enum { QUERY_HEAD = 12, MAX_QUERY = 280, MAX_LABEL = 63, IS_RESPONSE = 0x80 };

/** Returns the host name of a DNS query, with dots written over the lengths of its labels; empty for other messages. */
static struct text name_in_query(unsigned char *query, size_t length) {
  static const unsigned char ONE_QUESTION[] = {0, 1, 0, 0, 0, 0};
  if (length <= QUERY_HEAD || query[2] & IS_RESPONSE || memcmp(query + 4, ONE_QUESTION, sizeof ONE_QUESTION) != 0) return NO_TEXT;
  size_t at = QUERY_HEAD;
  while (at < length && query[at] != 0) {
    const size_t size = query[at];
    if (size > MAX_LABEL || at + size >= length) return NO_TEXT;
    for (size_t each = at + 1; each <= at + size; each++)
      if (query[each] <= ' ' || query[each] > '~') return NO_TEXT;
    query[at] = '.';
    at += size + 1;
  }
  if (at >= length || at == QUERY_HEAD) return NO_TEXT;
  return (struct text){(char *)query + QUERY_HEAD + 1, at - QUERY_HEAD - 1};
}

/** Reports the host that a program looks up: glibc sends the queries for both address families at once. */
static void handle_send(struct recorder *recorder) {
  const int pid = recorder->notice.pid;
  struct msghdr message; // the head of a struct mmsghdr
  struct iovec content;
  unsigned char query[MAX_QUERY];
  if (read_bytes(pid, recorder->notice.data.args[1], &message, sizeof message) < 0 || message.msg_iovlen == 0) return;
  if (read_bytes(pid, (unsigned long)message.msg_iov, &content, sizeof content) < 0) return;
  const size_t length = content.iov_len < sizeof query ? content.iov_len : sizeof query;
  if (read_bytes(pid, (unsigned long)content.iov_base, query, length) < 0) return;
  const struct text name = name_in_query(query, length);
  if (name.length > 0) report_untraceable(recorder, QUERIES, name, program_of(recorder));
}

static const struct row *row_of(const struct recorder *recorder) {
  static const struct row none;
  int number = recorder->notice.data.nr;
  return number >= 0 && number < MAX_SYSCALLS ? recorder->rows + number : &none;
}

static void handle_call(struct recorder *recorder, const struct seccomp_notif *notice) {
  recorder->notice = *notice;
  const struct seccomp_data *data = &recorder->notice.data;
  if (data->arch != recorder->architecture) return report_untraceable(recorder, FOREIGN, NO_TEXT, NO_TEXT);
  const struct row *row = row_of(recorder);
  switch (row->kind) {
    case PATHS:
      for (int each = 0; each < row->count; each++) handle_path(recorder, each, row->arguments + each);
      return;
    case OPEN:
      return handle_open(recorder, row);
    case RENAME:
      return handle_rename(recorder, row);
    case CONNECT:
    case BIND:
      return handle_address(recorder, row->kind == BIND);
    case SOCKET:
      return handle_socket(recorder);
    case SEND:
      return handle_send(recorder);
  }
  report_untraceable(recorder, UNTRACEABLE_CALL, NO_TEXT, NO_TEXT);
}
