// Decides and makes the calls of a task with permissions that need more than registers: connect, and changes of a file's mode or
// owner.
//
// Invariants:
// - A permitted call is made here, on a copy of its arguments, and the tracee gets the result. The kernel never continues it:
//   another thread of the tracee may change the arguments after the decision (TOCTOU).
// - A path is resolved once, to a descriptor. The decision and the call use that descriptor.
// - Each refusal is reported. A call whose arguments cannot be read or parsed is refused.
// Non-obvious:
// - A blocking connect has a separate thread, because the thread of the listener must not wait. The program that includes this file
//   has `start_detached`: the launcher of the task (../sandbox), which has no C library, or rt if the task is traced.
// - pidfd_getfd is refused in some containers. There a new socket replaces that of the tracee (substitute-socket.h).
// - A connection to a DNS server is replaced by one to rt's resolver (resolver-connection.h).
#pragma once
#include "listener.h"
#include "loopback.h"
#include "substitute-socket.h"
#include "tracee-memory.h"
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif

/** OBSERVED: the task has no limits, and rt resolves names to learn them. */
enum network { NO_NETWORK, LOOPBACK, OPEN_NETWORK, OBSERVED };
enum { MAX_CONNECTING = 64, MAX_REPORT = 3500 };

/** Written by rt (../../../permissions/linux/guard-session.ts). */
struct guard_request {
  /** A pipe to rt. */
  int reports;
  /** A socket that passes connections to rt; -1 in rt itself. */
  int connections;
  enum network network;
  /** Bytes of `roots`. */
  int roots_length;
  struct permitted_hosts *hosts;
  /**
   * The list of rules (../sandbox/ruleset.h). Paths without symlinks, each after a letter and before a NUL: `s` for sockets below it,
   * `w` or `W` for modes of files below it. Other letters do not count here.
   */
  char roots[];
};

/** Added to a letter in upper case. */
enum { LOWER_CASE = 'a' - 'A' };

static atomic_int connecting;

/** Copies without NUL, which ends a part of a report: a task could otherwise forge reports. */
static char *add_part(char *to, const char *text, size_t length) {
  for (size_t each = 0; each < length; each++) *to++ = text[each] ? text[each] : '?';
  return to;
}

/** Reports `pid kind address` and the name of the program. A full pipe loses the report, and the result is an error. */
static long report_call(const struct guard_request *guard, int pid, const char *kind, const char *address, size_t length) {
  char text[MAX_REPORT + 200], name[MAX_LINK_NAME], owner[20], program[32];
  char *end = add_number(text, pid);
  *end++ = ' ';
  end = add_text(end, kind, strlen(kind));
  *end++ = ' ';
  name_link(name, owner, add_number(owner, pid) - owner, "comm", 4);
  const int file = CALL(openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0, 0);
  const long read = file < 0 ? 0 : CALL(read, file, program, sizeof program, 0, 0);
  if (file >= 0) CALL(close, file, 0, 0, 0, 0);
  if (read > 0) end = add_part(end, program, read - 1); // without the line break
  *end++ = 0;
  end = add_part(end, address, length < MAX_REPORT ? length : MAX_REPORT);
  *end++ = 0;
  *end++ = '\n';
  return CALL(write, guard->reports, text, end - text, 0, 0);
}

/** Returns whether a path without symlinks is one of the roots of this letter, or below one. */
static int is_below_root(const struct guard_request *guard, char letter, const char *path, long length) {
  if (length <= 0 || length >= PATH_MAX) return 0;
  for (const char *root = guard->roots; root < guard->roots + guard->roots_length;) {
    const long size = strlen(root) - 1;
    const int is_kind = root[0] == letter || root[0] + LOWER_CASE == letter;
    const char *name = root + 1;
    root += size + 2;
    if (!is_kind || size > length || memcmp(name, path, size) != 0) continue;
    if (size == length || path[size] == '/' || size == 1) return 1;
  }
  return 0;
}

/** A file that a call names, opened without access to its content. */
struct named_file {
  int descriptor;
  long length;
  /** Path without symlinks, for the decision. */
  char path[PATH_MAX];
};

static void close_named(struct named_file *file) {
  if (file->descriptor >= 0) CALL(close, file->descriptor, 0, 0, 0, 0);
  file->descriptor = -1;
}

/** Writes a path below /proc/self as one of the tracee: C libraries change the mode of an open file this way. */
static const char *name_of_tracee(const char *path, int pid, char *name) {
  static const char *const OWN[] = {"/proc/self/", "/proc/thread-self/"};
  for (size_t each = 0; each < sizeof OWN / sizeof *OWN; each++) {
    const size_t size = strlen(OWN[each]);
    if (strncmp(path, OWN[each], size) != 0) continue;
    char *end = add_number(add_text(name, "/proc/", 6), pid);
    *end++ = '/';
    add_text(end, path + size, strlen(path + size) + 1);
    return name;
  }
  return path;
}

/** Reads the path of an opened file. */
static void read_name(struct named_file *file) {
  char link[MAX_LINK_NAME], own[24];
  char *end = add_text(own, "fd/", 3);
  name_link(link, "self", 4, own, add_number(end, file->descriptor) - own);
  file->length = CALL(readlinkat, AT_FDCWD, link, file->path, PATH_MAX, 0);
}

/** Opens what a path of the tracee means. Returns 0, or the error of the attempt. */
static long open_named(struct named_file *file, int pid, int directory, const char *written, int flags) {
  char link[MAX_LINK_NAME], owner[20], name[PATH_MAX + 20];
  const char *path = name_of_tracee(written, pid, name);
  long from = AT_FDCWD;
  if (path[0] != '/') {
    char part[24] = "cwd";
    size_t length = 3;
    if (directory != AT_FDCWD) {
      if (directory < 0) return -EBADF;
      char *end = add_text(part, "fd/", 3);
      length = add_number(end, directory) - part;
    }
    name_link(link, owner, add_number(owner, pid) - owner, part, length);
    from = CALL(openat, AT_FDCWD, link, O_PATH | O_CLOEXEC, 0, 0);
    if (from < 0) return directory == AT_FDCWD ? from : -EBADF;
  }
  const long opened = CALL(openat, from, path, O_PATH | O_CLOEXEC | flags, 0, 0);
  if (from >= 0) CALL(close, from, 0, 0, 0, 0);
  if (opened < 0) return opened;
  file->descriptor = opened;
  read_name(file);
  if (is_path(file->path, file->length) && file->length < PATH_MAX) return 0;
  close_named(file);
  return -EACCES;
}

/** Opens the file of a tracee's descriptor, which may have no name: a pipe, or a deleted file. Returns 0, or the error of the attempt. */
static long open_inherited(struct named_file *file, int pid, int descriptor) {
  char link[MAX_LINK_NAME], part[24], owner[20];
  file->descriptor = -1;
  if (descriptor < 0) return -EBADF;
  char *end = add_text(part, "fd/", 3);
  name_link(link, owner, add_number(owner, pid) - owner, part, add_number(end, descriptor) - part);
  const long opened = CALL(openat, AT_FDCWD, link, O_PATH | O_CLOEXEC, 0, 0);
  if (opened < 0) return opened == -ENOENT ? -EBADF : opened;
  file->descriptor = opened;
  read_name(file);
  return 0;
}

/** The name under which a later call uses exactly the opened file. */
static size_t name_opened(const struct named_file *file, char *name) {
  char part[24];
  char *end = add_text(part, "fd/", 3);
  return name_link(name, "self", 4, part, add_number(end, file->descriptor) - part);
}

struct connect_call {
  const struct guard_request *guard;
  int listener, pid, copy;
  /** The opened socket of a path, which the call uses. */
  int opened;
  /** The tracee's descriptor that `copy` replaces, and its flags; -1 if `copy` is the tracee's socket itself. */
  int replaced;
  long flags;
  unsigned long id;
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    unsigned char bytes[sizeof(struct sockaddr_storage)];
  } address;
  long length;
};

static char *add_port(char *to, unsigned short port) {
  *to++ = ':';
  return add_number(to, (port & 0xff) << 8 | port >> 8);
}

static void report_host(const struct connect_call *attempt) {
  char text[64], *end = text;
  static const char HEX[] = "0123456789abcdef";
  if (attempt->address.any.sa_family == AF_INET) {
    const unsigned char *bytes = attempt->address.bytes + 4;
    for (int each = 0; each < 4; each++) {
      if (each > 0) *end++ = '.';
      end = add_number(end, bytes[each]);
    }
    end = add_port(end, attempt->address.v4.sin_port);
  } else {
    const unsigned char *bytes = attempt->address.bytes + 8;
    *end++ = '[';
    for (int each = 0; each < 16; each++) {
      if (each > 0 && each % 2 == 0) *end++ = ':';
      *end++ = HEX[bytes[each] >> 4];
      *end++ = HEX[bytes[each] & 15];
    }
    *end++ = ']';
    end = add_port(end, attempt->address.v6.sin6_port);
  }
  report_call(attempt->guard, attempt->pid, "host", text, end - text);
}

/** Replaces the path of a socket by that of the opened file. Returns 0, or the error of the attempt. */
static long open_local(struct connect_call *attempt, struct named_file *file) {
  char path[sizeof attempt->address.local.sun_path + 1];
  const long length = attempt->length - (long)offsetof(struct sockaddr_un, sun_path);
  if (length <= 0) return -EINVAL;
  if (length > (long)sizeof attempt->address.local.sun_path) return -EINVAL;
  memcpy(path, attempt->address.local.sun_path, length);
  path[length] = 0;
  if (path[0] == 0) {
    report_call(attempt->guard, attempt->pid, "abstract", path + 1, length - 1);
    return -EACCES;
  }
  const long error = open_named(file, attempt->pid, AT_FDCWD, path, 0);
  if (error < 0) return error;
  if (is_below_root(attempt->guard, 's', file->path, file->length)) {
    const size_t size = name_opened(file, attempt->address.local.sun_path) + 1;
    attempt->length = offsetof(struct sockaddr_un, sun_path) + size;
    return 0;
  }
  report_call(attempt->guard, attempt->pid, "socket", file->path, file->length);
  close_named(file);
  return -EACCES;
}

/** Returns whether the address is that of a DNS server. */
static int is_name_server(const struct connect_call *attempt) {
  const int family = attempt->address.any.sa_family;
  const int is_complete = (family == AF_INET && attempt->length >= (long)sizeof attempt->address.v4) || (family == AF_INET6 && attempt->length >= 24);
  return is_complete && attempt->address.v4.sin_port == htons(53);
}

static int is_permitted_v4(const struct connect_call *attempt) {
  unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff};
  memcpy(mapped + 12, attempt->address.bytes + 4, 4);
  return is_permitted_host(attempt->guard->hosts, mapped, attempt->address.v4.sin_port);
}

/** Decides by the address. Returns 0, or the error of the attempt. */
static long decide_connect(struct connect_call *attempt, struct named_file *file) {
  const enum network network = attempt->guard->network;
  int is_here, is_listed;
  switch (attempt->address.any.sa_family) {
  case AF_UNIX: return open_local(attempt, file);
  case AF_INET:
    if (attempt->length < (long)sizeof attempt->address.v4) return -EINVAL;
    is_here = is_loopback_v4(number_of_bytes(attempt->address.bytes + 4)) && !is_resolver_port(attempt->address.v4.sin_port);
    is_listed = is_permitted_v4(attempt);
    break;
  case AF_INET6:
    if (attempt->length < 24) return -EINVAL;
    is_here = is_loopback_v6(attempt->address.bytes + 8) && !is_resolver_port(attempt->address.v6.sin6_port);
    is_listed = is_permitted_host(attempt->guard->hosts, attempt->address.bytes + 8, attempt->address.v6.sin6_port);
    break;
  case AF_UNSPEC: // ends a connection
  case AF_NETLINK: return 0;
  default: return -EAFNOSUPPORT;
  }
  if (network == OPEN_NETWORK || (network == LOOPBACK && is_here) || is_listed) return 0;
  report_host(attempt);
  return -EACCES;
}

static long make_connect(const struct connect_call *attempt) {
  const long result = CALL(connect, attempt->copy, &attempt->address, attempt->length, 0, 0);
  if (attempt->replaced < 0 || (result < 0 && result != -EINPROGRESS)) return result;
  const long error = replace_descriptor(attempt->listener, attempt->id, attempt->replaced, attempt->copy, attempt->flags);
  return error < 0 ? error : result;
}

static void *connect_and_answer(void *argument) {
  struct connect_call *attempt = argument;
  const long result = make_connect(attempt);
  answer_call(attempt->listener, attempt->id, result);
  CALL(close, attempt->copy, 0, 0, 0, 0);
  CALL(close, attempt->listener, 0, 0, 0, 0);
  if (attempt->opened >= 0) CALL(close, attempt->opened, 0, 0, 0, 0);
  CALL(munmap, attempt, sizeof *attempt, 0, 0, 0);
  atomic_fetch_sub(&connecting, 1);
  return NULL;
}

static int give_up_thread(void) {
  atomic_fetch_sub(&connecting, 1);
  return 0;
}

/** Returns whether a thread makes the call and answers it. */
static int connect_in_thread(const struct connect_call *attempt) {
  if (atomic_fetch_add(&connecting, 1) >= MAX_CONNECTING) return give_up_thread();
  const long place = CALL(mmap, 0, sizeof *attempt, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (place < 0 && place > -4096) return give_up_thread();
  struct connect_call *own = (struct connect_call *)place;
  *own = *attempt;
  // A separate descriptor, because the listener may be closed before.
  own->listener = CALL(fcntl, attempt->listener, F_DUPFD_CLOEXEC, 0, 0, 0);
  const int is_started = own->listener >= 0 && start_detached(connect_and_answer, own);
  if (is_started) return 1;
  if (own->listener >= 0) CALL(close, own->listener, 0, 0, 0, 0);
  CALL(munmap, own, sizeof *own, 0, 0, 0);
  return give_up_thread();
}

/** Returns a copy of a descriptor of the tracee, or an error. */
static long copy_descriptor(int listener, const struct seccomp_notif *notice) {
  long process = CALL(pidfd_open, notice->pid, 0, 0, 0, 0);
  // The id is that of a thread, which may not be the first one of its process.
  if (process == -EINVAL || process == -ENOENT) {
    const long owner = read_number(notice->pid, "status", 6, "\nTgid:\t", 10);
    process = owner < 0 ? owner : CALL(pidfd_open, owner, 0, 0, 0, 0);
  }
  if (process < 0) return process;
  const int descriptor = (int)notice->data.args[0];
  const long copy = is_waiting(listener, notice->id) ? CALL(pidfd_getfd, process, descriptor, 0, 0, 0) : -ESRCH;
  CALL(close, process, 0, 0, 0, 0);
  return copy;
}

/** Sets the socket that the call uses: a copy of the tracee's, or one that replaces it. Returns it, or an error. */
static long open_socket(struct connect_call *attempt, const struct seccomp_notif *notice) {
  const int family = attempt->address.any.sa_family, descriptor = (int)notice->data.args[0];
  attempt->replaced = -1;
  attempt->copy = copy_descriptor(attempt->listener, notice);
  if (attempt->copy != -EPERM && attempt->copy != -ENOSYS) return attempt->copy;
  attempt->replaced = descriptor;
  attempt->copy = family == AF_UNIX || family == AF_INET || family == AF_INET6 ? open_substitute(notice->pid, descriptor, family, &attempt->flags) : -ENOTSOCK;
  if (attempt->copy == -ENOTSOCK) report_call(attempt->guard, notice->pid, "container", "", 0);
  return attempt->copy;
}

/** Connects the tracee to rt's resolver. Returns the call's result. */
static long connect_resolver(const struct guard_request *guard, int listener, const struct seccomp_notif *notice) {
  const int descriptor = (int)notice->data.args[0];
  int client = -1;
  const long flags = read_descriptor_flags(notice->pid, descriptor);
  if (flags < 0) return flags;
  if (!is_waiting(listener, notice->id)) return -ESRCH;
  long server = -EAGAIN;
  if (atomic_fetch_add(&guard->hosts->resolving, 1) < MAX_RESOLVING) server = open_connection(&client);
  if (server >= 0) {
    char number[20];
    const long passed = pass_connection(guard->connections, server);
    // rt owns the accepted end from here on.
    const long reported = passed < 0 ? passed : report_call(guard, notice->pid, "resolver", number, add_number(number, passed) - number);
    if (reported >= 0) {
      if (guard->connections >= 0) CALL(close, server, 0, 0, 0, 0);
      const long result = replace_descriptor(listener, notice->id, descriptor, client, flags);
      CALL(close, client, 0, 0, 0, 0);
      return result < 0 ? result : 0;
    }
    CALL(close, server, 0, 0, 0, 0);
    CALL(close, client, 0, 0, 0, 0);
  }
  atomic_fetch_sub(&guard->hosts->resolving, 1);
  return -ECONNREFUSED;
}

/** Resolves the names of a task without limits. Returns whether the call was answered. */
static int observe_connect(const struct guard_request *guard, int listener, const struct seccomp_notif *notice) {
  struct connect_call attempt = {.length = (int)notice->data.args[2]};
  if (notice->data.nr != __NR_connect || attempt.length < 16 || attempt.length > (long)sizeof attempt.address) return 0;
  if (read_bytes(notice->pid, notice->data.args[1], &attempt.address, attempt.length) < 0) return 0;
  if (!is_name_server(&attempt) || read_socket_type(notice->pid, (int)notice->data.args[0]) != SOCK_STREAM) return 0;
  answer_call(listener, notice->id, connect_resolver(guard, listener, notice));
  return 1;
}

static void guard_connect(const struct guard_request *guard, int listener, const struct seccomp_notif *notice) {
  struct connect_call attempt = {.guard = guard, .listener = listener, .pid = notice->pid, .id = notice->id};
  struct named_file file = {.descriptor = -1};
  int read;
  attempt.length = (int)notice->data.args[2];
  long result = -EINVAL;
  if (attempt.length < (long)sizeof attempt.address.any.sa_family || attempt.length > (long)sizeof attempt.address) goto answered;
  read = read_bytes(notice->pid, notice->data.args[1], &attempt.address, attempt.length);
  result = read == DENIED ? -EACCES : -EFAULT;
  if (read < 0 || !is_waiting(listener, notice->id)) goto answered;
  if (guard->network != OPEN_NETWORK && is_name_server(&attempt)) {
    result = connect_resolver(guard, listener, notice);
    goto answered;
  }
  result = decide_connect(&attempt, &file);
  if (result < 0) goto answered;
  result = open_socket(&attempt, notice);
  if (result < 0) goto answered;
  attempt.opened = file.descriptor;
  const long flags = CALL(fcntl, attempt.copy, F_GETFL, 0, 0, 0);
  if (flags >= 0 && !(flags & O_NONBLOCK)) {
    if (connect_in_thread(&attempt)) return;
    result = -EAGAIN;
  } else result = make_connect(&attempt);
  CALL(close, attempt.copy, 0, 0, 0, 0);
answered:
  close_named(&file);
  answer_call(listener, notice->id, result);
}

/** Returns whether the file has no path: a pipe, a socket, or a deleted file. */
static int is_nameless(const struct named_file *file) {
  struct stat status;
  if (file->length > 6 && memcmp(file->path, "pipe:[", 6) == 0) return 1;
  if (file->length > 8 && memcmp(file->path, "socket:[", 8) == 0) return 1;
  return CALL(fstat, file->descriptor, &status, 0, 0, 0) == 0 && status.st_nlink == 0;
}

/** A new mode, or a new owner and group. */
struct file_change {
  int is_owner;
  unsigned mode, owner, group;
};

/** Changes a file below the roots, or one without a path. Returns the call's result. */
static long change_file(const struct guard_request *guard, int listener, const struct seccomp_notif *notice, const struct named_file *file, const struct file_change *change) {
  char name[MAX_LINK_NAME];
  if (!is_waiting(listener, notice->id)) return -ESRCH;
  if (!is_nameless(file) && !is_below_root(guard, 'w', file->path, file->length)) {
    report_call(guard, notice->pid, change->is_owner ? "owner" : "mode", file->path, file->length > 0 ? file->length : 0);
    return -EACCES;
  }
  if (change->is_owner) return CALL(fchownat, file->descriptor, "", change->owner, change->group, AT_EMPTY_PATH);
  name_opened(file, name);
  return CALL(fchmodat, AT_FDCWD, name, change->mode, 0, 0);
}

/** A change of an open file. */
static void guard_open_file(const struct guard_request *guard, int listener, const struct seccomp_notif *notice, int descriptor, const struct file_change *change) {
  struct named_file file;
  long result = open_inherited(&file, notice->pid, descriptor);
  if (result == 0) result = change_file(guard, listener, notice, &file, change);
  close_named(&file);
  answer_call(listener, notice->id, result);
}

/** A change of a file by its path, which Landlock does not restrict. */
static void guard_file(const struct guard_request *guard, int listener, const struct seccomp_notif *notice, int directory, unsigned long long name, int flags, const struct file_change *change) {
  static const int KNOWN_FLAGS = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  char path[PATH_MAX];
  struct named_file file = {.descriptor = -1};
  const int length = read_text(notice->pid, name, path);
  if (length == 0 && flags & AT_EMPTY_PATH && directory != AT_FDCWD) return guard_open_file(guard, listener, notice, directory, change);
  long result = length == DENIED ? -EACCES : -EFAULT;
  if (length >= 0) result = length == 0 || flags & ~KNOWN_FLAGS ? -ENOENT : 0;
  const int opening = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;
  if (result == 0) result = open_named(&file, notice->pid, directory, path, opening);
  if (result == 0) result = change_file(guard, listener, notice, &file, change);
  close_named(&file);
  answer_call(listener, notice->id, result);
}

/** Returns whether the call was decided here, and answered or passed to a thread. */
static int guard_call(const struct guard_request *guard, int listener, const struct seccomp_notif *notice) {
  if (guard->network == OBSERVED) return observe_connect(guard, listener, notice);
  const unsigned long long *args = notice->data.args;
  // The mode or the owner is the argument after the file.
  const struct file_change mode = {.mode = args[1]}, mode_at = {.mode = args[2]};
  const struct file_change owner = {.is_owner = 1, .owner = args[1], .group = args[2]};
  const struct file_change owner_at = {.is_owner = 1, .owner = args[2], .group = args[3]};
  switch (notice->data.nr) {
  case __NR_connect: guard_connect(guard, listener, notice); return 1;
  case __NR_fchmod: guard_open_file(guard, listener, notice, (int)args[0], &mode); return 1;
  case __NR_fchown: guard_open_file(guard, listener, notice, (int)args[0], &owner); return 1;
#if defined(__x86_64__)
  case __NR_chmod: guard_file(guard, listener, notice, AT_FDCWD, args[0], 0, &mode); return 1;
  case __NR_chown: guard_file(guard, listener, notice, AT_FDCWD, args[0], 0, &owner); return 1;
  case __NR_lchown: guard_file(guard, listener, notice, AT_FDCWD, args[0], AT_SYMLINK_NOFOLLOW, &owner); return 1;
#endif
  case __NR_fchmodat: guard_file(guard, listener, notice, (int)args[0], args[1], 0, &mode_at); return 1;
  case __NR_fchmodat2: guard_file(guard, listener, notice, (int)args[0], args[1], (int)args[3], &mode_at); return 1;
  case __NR_fchownat: guard_file(guard, listener, notice, (int)args[0], args[1], (int)args[4], &owner_at); return 1;
  default: return 0;
  }
}
