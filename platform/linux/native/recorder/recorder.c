// Answers the kernel for a script that is followed: it is told of every call of the table before the call runs, looks at what the
// call is about, writes that to the journal, and lets the call go on. A library for rt's own process, since a process may look
// into another's memory only where it has started it; rt gives it a thread (../../tracing/recorder.ts).
//
// Contract: a call is always answered, and at once. What is in the journal is all that was seen, unless `is_lost`. When nobody is
// left who could make a call all of it is looked at once more, and the thread ends. When the other end of `stop` is closed before
// that it ends, too, and the listener is left open, for a program that goes on answering (`answer_only`). Nothing of the thread is
// known to the engine, and it gets no signals.
//
// Surprising: what was seen before, with nothing changed by the script since, is not written again (`memo`). Most calls are such.
#include "contents.h"
#include <linux/audit.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define EXPORTED __attribute__((visibility("default")))

/** What ../../tracing/recorder.ts says of a call; numbers as there. */
enum kind { UNKNOWN, DOUBT, PATHS, OPEN, RENAME, SOCKET, CONNECT, BIND };
enum access { PROBE, LISTS, RUNS, CHANGES, MOVES };
enum follows { NEVER, ALWAYS, IF_SET, UNLESS_SET };

struct argument {
  /** The places of the descriptor and the path; -1 for none. */
  int directory, path;
  int access;
  int follows, flags, bit;
};

struct row {
  int number, kind;
  /** Where the flags of an open are: in an argument, in memory that one points to, or always the same; -1 for none. */
  int flags, how, always;
  int count;
  struct argument arguments[2];
};

enum { MOST_CALLS = 512, MEMOS = 1 << 12 };

struct order {
  int socket, stop, journal, bell;
  unsigned architecture;
  /** Every call is written. */
  int keeps_all;
  int row_count;
  /** 0 where the script was followed; otherwise the error, or -1 where the launcher has gone. */
  int launched;
  /** Where somebody is left; otherwise -1. */
  int left;
  int is_lost;
};

struct recorder {
  struct order *order;
  struct row rows[MOST_CALLS];
  struct sight sight;
  /** Counts what was to change something. */
  unsigned long changes;
  unsigned long memos[MEMOS];
  struct seccomp_notif notice;
  /** What the call says, in its words and in the caller's memory. */
  char paths[2][LONGEST];
  int lengths[2];
  char extra[128];
  int extra_length;
};

static int argument_of(const struct recorder *recorder, int place) { return recorder->notice.data.args[place]; }

/** Absolute, in `paths`. */
static int read_path(struct recorder *recorder, int index, const struct argument *argument) {
  char *path = recorder->paths[index];
  int pid = recorder->notice.pid;
  int descriptor = argument->directory < 0 ? AT_FDCWD : argument_of(recorder, argument->directory);
  if (argument->path < 0) {
    int length = find_directory(pid, descriptor, path);
    if (length >= 0) path[length] = 0;
    return length;
  }
  char text[PATH_MAX];
  int length = read_text(pid, recorder->notice.data.args[argument->path], text);
  // An empty one means the descriptor itself, which an earlier call has opened.
  if (length <= 0) return length == 0 ? NOTHING : length;
  int base = text[0] == '/' ? 0 : find_directory(pid, descriptor, path);
  if (base < 0) return base;
  if (base == 1) base = 0;
  if (text[0] != '/') path[base++] = '/';
  memcpy(path + base, text, length);
  path[base + length] = 0;
  return base + length;
}

static void tell_call(struct recorder *recorder) {
  struct journal *journal = &recorder->sight.journal;
  const struct seccomp_notif *notice = &recorder->notice;
  unsigned words[9] = {notice->data.nr, notice->data.arch, notice->pid};
  for (int each = 0; each < 6; each++) words[3 + each] = notice->data.args[each];
  unsigned size = sizeof words + 3 * sizeof(int);
  for (int each = 0; each < 2; each++) size += recorder->lengths[each] > 0 ? recorder->lengths[each] : 0;
  size += recorder->extra_length > 0 ? recorder->extra_length : 0;
  begin_record(journal, FOLLOWED, size);
  put(journal, words, sizeof words);
  for (int each = 0; each < 3; each++) {
    int length = each < 2 ? recorder->lengths[each] : recorder->extra_length;
    put(journal, &length, sizeof length);
    if (length > 0) put(journal, each < 2 ? recorder->paths[each] : recorder->extra, length);
  }
}

/** Whether it was written already, with nothing changed since. @param flags what else of the call counts */
static int is_known(struct recorder *recorder, unsigned flags, unsigned long *memo) {
  unsigned long words[] = {recorder->changes, recorder->notice.data.nr, flags};
  unsigned long hash = hash_on(HASH, (const char *)words, sizeof words);
  hash = hash_on(hash, recorder->paths[0], recorder->lengths[0] > 0 ? recorder->lengths[0] : 0) | 1;
  *memo = hash;
  return recorder->memos[hash % MEMOS] == hash && !recorder->order->keeps_all;
}

static void touch(struct recorder *recorder, struct entry *entry, int access) {
  recorder->changes++;
  if (entry) entry->is_touched = 1;
  if (access == MOVES) recorder->sight.lap++;
}

static int follows_in(const struct recorder *recorder, const struct argument *argument) {
  if (argument->follows == NEVER || argument->follows == ALWAYS) return argument->follows == ALWAYS;
  int is_set = (argument_of(recorder, argument->flags) & argument->bit) != 0;
  return is_set == (argument->follows == IF_SET);
}

static void follow_paths(struct recorder *recorder, const struct row *row) {
  struct sight *sight = &recorder->sight;
  unsigned flags = 0;
  int is_plain = row->count == 1;
  for (int each = 0; each < row->count; each++) {
    recorder->lengths[each] = read_path(recorder, each, row->arguments + each);
    flags = flags * 2 + follows_in(recorder, row->arguments + each);
    if (row->arguments[each].access >= CHANGES || recorder->lengths[each] < 0) is_plain = 0;
  }
  unsigned long memo;
  if (is_plain && is_known(recorder, flags, &memo)) return;
  for (int each = 0; each < row->count; each++) {
    const struct argument *argument = row->arguments + each;
    if (recorder->lengths[each] < 0) continue;
    int follows = follows_in(recorder, argument);
    struct found found = walk(sight, recorder->paths[each], recorder->lengths[each], follows, recorder->notice.pid);
    if (found.is_special) is_plain = 0;
    if (found.entry && found.is_whole && argument->access == LISTS) tell_listing(sight, found.entry);
    if (found.entry && found.is_whole && argument->access == RUNS)
      tell_program(sight, found.entry, recorder->notice.pid);
    if (argument->access >= CHANGES) touch(recorder, found.is_whole ? found.entry : NULL, argument->access);
  }
  if (is_plain) recorder->memos[memo % MEMOS] = memo;
  tell_call(recorder);
}

static void follow_open(struct recorder *recorder, const struct row *row) {
  struct open_how how = {.flags = row->always < 0 ? 0 : row->always};
  if (row->flags >= 0) how.flags = (unsigned)argument_of(recorder, row->flags);
  if (row->how >= 0) {
    recorder->extra_length = read_bytes(recorder->notice.pid, recorder->notice.data.args[row->how], &how, sizeof how);
    if (recorder->extra_length < 0) return tell_call(recorder);
    memcpy(recorder->extra, &how, sizeof how);
  }
  recorder->lengths[0] = read_path(recorder, 0, row->arguments);
  if (recorder->lengths[0] < 0) return tell_call(recorder);
  unsigned flags = how.flags;
  unsigned exclusive = O_CREAT | O_EXCL;
  int follows = !(flags & O_NOFOLLOW) && (flags & exclusive) != exclusive;
  int changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
  unsigned long memo;
  if (!changes && row->how < 0 && is_known(recorder, flags, &memo)) return;
  struct found found = walk(&recorder->sight, recorder->paths[0], recorder->lengths[0], follows, recorder->notice.pid);
  if (changes) touch(recorder, found.is_whole ? found.entry : NULL, flags & O_TRUNC ? MOVES : CHANGES);
  else if (row->how < 0 && !found.is_special) recorder->memos[memo % MEMOS] = memo;
  tell_call(recorder);
}

/** What stands below a directory is moved with it. */
static void follow_rename(struct recorder *recorder, const struct row *row) {
  struct sight *sight = &recorder->sight;
  struct text ends[2] = {{0}};
  int is_whole[2] = {0, 0};
  for (int each = 0; each < 2; each++) recorder->lengths[each] = read_path(recorder, each, row->arguments + each);
  for (int each = 0; each < 2; each++) {
    if (recorder->lengths[each] < 0) continue;
    struct found found = walk(sight, recorder->paths[each], recorder->lengths[each], 0, recorder->notice.pid);
    if (found.entry) ends[each] = found.entry->path;
    is_whole[each] = found.is_whole && found.entry;
  }
  if (is_whole[0] && ends[1].bytes) {
    struct entry *source = see(sight, ends[0].bytes, ends[0].length, 1);
    int is_directory = source && source->state.what == DIRECTORY;
    if (is_directory && is_whole[1] && ends[0].length < LONGEST && ends[1].length < LONGEST) {
      char from[LONGEST], to[LONGEST];
      memcpy(from, ends[0].bytes, ends[0].length + 1);
      memcpy(to, ends[1].bytes, ends[1].length + 1);
      tell_moved(sight, from, ends[0].length, to, ends[1].length);
    }
    for (int each = 0; each < 2; each++) {
      struct entry *end = is_whole[each] ? see(sight, ends[each].bytes, ends[each].length, 1) : NULL;
      if (end) end->is_touched = 1;
    }
  }
  touch(recorder, NULL, MOVES);
  tell_call(recorder);
}

/** A socket's path is absolute in `paths`; one without a file has a name that begins with NUL. */
static void follow_address(struct recorder *recorder, const struct row *row) {
  unsigned size = recorder->notice.data.args[2] & 0xffff;
  if (size > 110) size = 110;
  recorder->extra_length =
      size < 3 ? NOTHING : read_bytes(recorder->notice.pid, recorder->notice.data.args[1], recorder->extra, size);
  unsigned short family = AF_UNSPEC;
  if (recorder->extra_length > 0) memcpy(&family, recorder->extra, sizeof family);
  const char *name = recorder->extra + sizeof family;
  if (recorder->extra_length > 0 && family != AF_UNIX && row->kind == CONNECT)
    tell_link_of(&recorder->sight, recorder->notice.pid, "exe");
  if (recorder->extra_length > 0 && family == AF_UNIX && *name) {
    recorder->extra[recorder->extra_length] = 0;
    char *path = recorder->paths[0];
    int base = *name == '/' ? 0 : find_directory(recorder->notice.pid, AT_FDCWD, path);
    recorder->lengths[0] = base;
    if (base >= 0) {
      if (*name != '/') path[base++] = '/';
      size_t length = length_of(name);
      memcpy(path + base, name, length + 1);
      recorder->lengths[0] = base + length;
      int is_bind = row->kind == BIND;
      struct found found = walk(&recorder->sight, path, base + length, !is_bind, recorder->notice.pid);
      if (is_bind) touch(recorder, found.is_whole ? found.entry : NULL, CHANGES);
    }
  }
  tell_call(recorder);
}

static void follow(struct recorder *recorder) {
  const struct seccomp_data *data = &recorder->notice.data;
  recorder->lengths[0] = recorder->lengths[1] = recorder->extra_length = NOTHING;
  const struct row *row = recorder->rows;
  if (data->arch == recorder->order->architecture && data->nr >= 0 && data->nr < MOST_CALLS) row += data->nr;
  else return tell_call(recorder);
  switch (row->kind) {
    case PATHS:
      return follow_paths(recorder, row);
    case OPEN:
      return follow_open(recorder, row);
    case RENAME:
      return follow_rename(recorder, row);
    case CONNECT:
    case BIND:
      return follow_address(recorder, row);
    case SOCKET:
      if (argument_of(recorder, 0) != AF_UNIX) tell_link_of(&recorder->sight, recorder->notice.pid, "exe");
  }
  tell_call(recorder);
}

/** From Linux 6.6 on: each runs on the processor of the one that it waits for; otherwise a call may take ten times as long. */
static const unsigned long SET_FLAGS = SECCOMP_IOW(4, __u64), SYNC_WAKE_UP = 1;

enum next { CALLED, OVER, STOPPED };

static enum next await_call(int listener, int stop) {
  for (;;) {
    struct pollfd polled[] = {{.fd = listener, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    if (CALL(ppoll, polled, 2, 0, 0, 0) < 0) continue;
    if (polled[0].revents & POLLIN) return CALLED;
    if (polled[0].revents) return OVER;
    if (polled[1].revents) return STOPPED;
  }
}

/** Not when the call has been interrupted meanwhile. */
static int receive(int listener, struct seccomp_notif *notice) {
  memset(notice, 0, sizeof *notice);
  return CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, notice, 0, 0) == 0;
}

/** A call that was interrupted comes again: what the kernel says of its answer does not matter. */
static void let_go_on(int listener, const struct seccomp_notif *notice) {
  struct seccomp_notif_resp answer = {.id = notice->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer, 0, 0);
}

/** The listener; below 0 where the launcher has gone, or got none: then `launched` has its error. */
static int receive_listener(struct order *order) {
  unsigned char byte = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  order->launched = -1;
  if (CALL(recvmsg, order->socket, &message, MSG_CMSG_CLOEXEC, 0, 0) != 1) return -1;
  if (byte) order->launched = byte;
  if (byte || message.msg_controllen < CMSG_LEN(sizeof(int))) return -1;
  order->launched = 0;
  return *(int *)CMSG_DATA(&control.header);
}

static void serve(struct recorder *recorder, int listener) {
  struct order *order = recorder->order;
  CALL(ioctl, listener, SET_FLAGS, SYNC_WAKE_UP, 0, 0);
  for (;;) {
    enum next next = await_call(listener, order->stop);
    if (next == STOPPED) {
      order->left = listener;
      return;
    }
    if (next == OVER) {
      look_again(&recorder->sight);
      break;
    }
    if (!receive(listener, &recorder->notice)) continue;
    if (!recorder->sight.journal.is_lost) follow(recorder);
    let_go_on(listener, &recorder->notice);
  }
  CALL(close, listener, 0, 0, 0, 0);
}

static void *run(void *argument) {
  struct recorder *recorder = argument;
  struct order *order = recorder->order;
  const unsigned long all = ~0UL;
  CALL(rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all, 0);
  CALL(fcntl, order->bell, F_SETFL, O_WRONLY | O_NONBLOCK, 0, 0);
  int listener = receive_listener(order);
  if (listener >= 0) CALL(sendto, order->socket, "", 1, MSG_NOSIGNAL, 0);
  CALL(close, order->socket, 0, 0, 0, 0);
  if (listener >= 0) serve(recorder, listener);
  write_out(&recorder->sight.journal);
  order->is_lost = recorder->sight.journal.is_lost;
  struct sight *sight = &recorder->sight;
  if (sight->entries) CALL(munmap, sight->entries, sight->capacity * sizeof *sight->entries, 0, 0, 0);
  give_back(&sight->memory);
  int bell = order->bell;
  CALL(munmap, recorder, sizeof *recorder, 0, 0, 0);
  CALL(close, bell, 0, 0, 0, 0);
  return NULL;
}

/**
 * Starts a thread that receives a listener and serves it. `order` is written to until the bell's pipe has ended. Whether there is
 * a thread; without one the socket and the bell are still the caller's.
 */
EXPORTED int start_recorder(struct order *order, const struct row *rows) {
  struct recorder *recorder = map(sizeof *recorder);
  if (!recorder) return 0;
  order->left = -1;
  recorder->order = order;
  recorder->sight.lap = 1;
  recorder->sight.journal.file = order->journal;
  recorder->sight.journal.bell = order->bell;
  for (int each = 0; each < order->row_count; each++)
    if (rows[each].number >= 0 && rows[each].number < MOST_CALLS) recorder->rows[rows[each].number] = rows[each];
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, recorder) != 0) {
    CALL(munmap, recorder, sizeof *recorder, 0, 0, 0);
    return 0;
  }
  pthread_detach(thread);
  return 1;
}

/** For what was left behind: every call goes on, none is looked at. Until nobody is left who could ask. */
EXPORTED void answer_only(int listener) {
  struct seccomp_notif notice;
  while (await_call(listener, -1) == CALLED)
    if (receive(listener, &notice)) let_go_on(listener, &notice);
}
