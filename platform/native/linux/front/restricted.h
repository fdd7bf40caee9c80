// Starts a script with permissions from its memo, and waits for it. The launcher (../sandbox) is its parent.
//
// Invariants:
// - This process waits for an end with exit code 0. After any other end, at a refusal and at a signal, it becomes the engine, which
//   takes over the child: src/runner/task-run/replayed-permissions.ts.
// - The launcher's process ends with this one, and its tree with it.
// - The child has no other descriptors than those of a start by the engine.
#pragma once
#include "actions.h"
#include "memo.h"
#include <linux/sched.h>
#include <linux/wait.h>
#include <sys/resource.h>

enum {
  /** Replaces the private folder in the texts of a memo. */
  FOLDER_MARK = 1,
  LARGEST_EXPANSION = 256 * 1024,
  NAME_LENGTH = 6,
  ATTEMPTS = 16,
  IN_MEMORY = 1,      // MFD_CLOEXEC
  EXECUTABLE = 0x10,  // MFD_EXEC
  ON_EXEC = 4,        // CLOSE_RANGE_CLOEXEC
  OF_DESCRIPTOR = 3,  // P_PIDFD
  LANDLOCK_VERSION = 1,
  STREAM_PAIR = 1,    // AF_UNIX, SOCK_STREAM
  PRIVATE = 02000000, // SOCK_CLOEXEC, SFD_CLOEXEC
};

/** A child that the engine may take over. */
struct restricted_child {
  long pid;
  int reports, connections, request;
  /** The private folder of temporary files. */
  char folder[PATH_SIZE];
};

/** Copies a text, with the folder in place of each mark. @returns what follows its NUL, or NULL */
static char *expand(char *to, const char *end, const char *text, const char *folder) {
  const size_t most = length_of(folder) + 1;
  for (;; text++) {
    if (!to || (size_t)(end - to) <= most) return NULL;
    if (*text == FOLDER_MARK) to = copy_text(to, folder);
    else *to++ = *text;
    if (!*text) return to;
  }
}

/** Makes the private folder, as mkdtemp() does. */
static int make_folder(struct restricted_child *child, const struct script *script) {
  static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (length_of(script->beginning) + NAME_LENGTH + 1 > PATH_SIZE) return 0;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    unsigned char random[NAME_LENGTH];
    if (CALL(getrandom, random, sizeof random, 0, 0, 0) != sizeof random) return 0;
    char *end = copy_text(child->folder, script->beginning);
    for (int each = 0; each < NAME_LENGTH; each++) *end++ = LETTERS[random[each] % (sizeof LETTERS - 1)];
    *end = 0;
    const long error = CALL(mkdirat, AT_FDCWD, child->folder, 0700, 0, 0);
    if (error != -EEXIST) return error == 0;
  }
  return 0;
}

/** @returns whether nothing is left */
static int remove_folder(const struct restricted_child *child) {
  return CALL(unlinkat, AT_FDCWD, child->folder, AT_REMOVEDIR, 0, 0) == 0;
}

/** @returns a file in memory, or an error */
static long open_memory(const void *bytes, size_t length) {
  long file = CALL(memfd_create, "rt", IN_MEMORY | EXECUTABLE, 0, 0, 0);
  if (file == -EINVAL) file = CALL(memfd_create, "rt", IN_MEMORY, 0, 0, 0);
  if (file < 0 || CALL(write, file, bytes, length, 0, 0) == (long)length) return file;
  CALL(close, file, 0, 0, 0, 0);
  return -ENOSPC;
}

/** Writes the file that the launcher reads: src/.../guard-session.ts, encodeFile(), without permitted addresses. */
static long open_request(const struct script *script, const struct restricted_child *child, int reports, int connections) {
  char *place = allocate(LARGEST_EXPANSION), *end = place + LARGEST_EXPANSION;
  if (!place) return -ENOMEM;
  int *numbers = (int *)(place + 8);
  char *list = place + 8 + 24, *at = list;
  for (const char *rule = script->rules; *rule && at; rule += length_of(rule) + 1) at = expand(at, end, rule, child->folder);
  for (int descriptor = 0; descriptor < 3; descriptor++) {
    char link[32], path[PATH_SIZE];
    *add_number(copy_text(link, "/proc/self/fd/"), descriptor) = 0;
    const long size = is_terminal(descriptor) ? CALL(readlinkat, AT_FDCWD, link, path + 1, sizeof path - 2, 0) : 0;
    if (size <= 0) continue;
    path[0] = 'd';
    path[size + 1] = 0;
    if (after(path + 1, "/dev/pts/")) at = expand(at, end, path, "");
  }
  if (!at) return -E2BIG;
  numbers[0] = reports;
  numbers[1] = connections;
  numbers[2] = *script->network - '0';
  numbers[3] = at - list;
  const long file = open_memory(place, at - place);
  CALL(munmap, place, LARGEST_EXPANSION, 0, 0, 0);
  return file;
}

/** Replaces marks in entries of the memo. Others may have the same byte. */
static int expand_environment(const struct script *script, const struct restricted_child *child) {
  char *place = allocate(LARGEST_EXPANSION), *end = place + LARGEST_EXPANSION;
  for (const char **entry = script->environment; *entry; entry++) {
    const char *at = *entry;
    if (at < script->memo || at >= script->memo_end) continue;
    while (*at && *at != FOLDER_MARK) at++;
    if (!*at) continue;
    char *next = place ? expand(place, end, *entry, child->folder) : NULL;
    if (!next) return 0;
    *entry = place;
    place = next;
  }
  return 1;
}

/** Whether a descriptor is as good for a script as a pipe. It cannot open a socket again, and a file only with a permission. */
static int is_like_pipe(int descriptor) {
  struct stat status;
  if (CALL(fstat, descriptor, &status, 0, 0, 0) != 0 || is_terminal(descriptor)) return 0;
  return S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
}

/** Whether standard output has the kind of the memo. Without a terminal, the engine gives the script pipes. */
static int has_same_output(const struct script *script) {
  return is_same(script->output, "terminal") ? is_terminal(1) : is_like_pipe(1) && is_like_pipe(2);
}

static int has_same_kernel(const struct script *script) {
  char version[24];
  const long result = CALL(landlock_create_ruleset, 0, 0, LANDLOCK_VERSION, 0, 0);
  if (result <= 0) return 0;
  *add_number(version, result) = 0;
  return is_same(script->version, version);
}

/** Becomes the launcher. */
__attribute__((noreturn)) static void become_launcher(const struct script *script, const char **words, const int *kept, int program, unsigned long signals) {
  struct rlimit limit;
  if (!is_same(script->output, "terminal")) CALL(setsid, 0, 0, 0, 0, 0);
  // As the engine does at its start.
  if (CALL(prlimit64, 0, RLIMIT_NOFILE, 0, &limit, 0) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    CALL(prlimit64, 0, RLIMIT_NOFILE, &limit, 0, 0);
  }
  char path[40];
  *add_number(copy_text(path, "/proc/self/fd/"), program) = 0;
  if (CALL(close_range, 3, ~0U, ON_EXEC, 0, 0) == 0) {
    for (int each = 0; each < 4; each++) CALL(fcntl, kept[each], F_SETFD, 0, 0, 0);
    restore_actions();
    CALL(rt_sigprocmask, SIG_SETMASK, &signals, 0, sizeof signals, 0);
    CALL(execve, path, words, script->environment, 0, 0);
  }
  for (;;) CALL(exit_group, 126, 0, 0, 0, 0);
}

/** Signals that the engine handles while a task runs. */
static unsigned long handled_signals(const struct script *script) {
  const unsigned long ends = 1UL << (SIGINT - 1) | 1UL << (SIGTERM - 1) | 1UL << (SIGHUP - 1);
  // The terminal stops a child in the same process group itself.
  return is_same(script->output, "terminal") ? ends : ends | 1UL << (SIGTSTP - 1);
}

/** @returns whether the child has ended with exit code 0 and without refusals */
static int ends_alone(const struct restricted_child *child, unsigned long handled) {
  const long end = CALL(pidfd_open, child->pid, 0, 0, 0, 0);
  const long signals = CALL(signalfd4, -1, &handled, sizeof handled, PRIVATE, 0);
  const struct timespec now = {0, 0};
  siginfo_t status;
  struct pollfd polled[] = {{child->reports, POLLIN, 0}, {signals, POLLIN, 0}, {end, POLLIN, 0}};
  int is_usable = end >= 0 && signals >= 0;
  while (is_usable) {
    if (CALL(ppoll, polled, 3, 0, 0, 0) < 0) continue;
    if (polled[0].revents & POLLIN || polled[1].revents) is_usable = 0;
    if (polled[0].revents) polled[0].fd = -1;
    if (polled[2].revents) break;
  }
  if (is_usable) {
    struct pollfd rest = {child->reports, POLLIN, 0};
    is_usable = !(CALL(ppoll, &rest, 1, &now, 0, 0) > 0 && rest.revents & POLLIN) &&
                CALL(waitid, OF_DESCRIPTOR, end, &status, WEXITED | WNOWAIT, 0) == 0 &&
                status.si_code == CLD_EXITED && status.si_status == 0;
  }
  CALL(close, end, 0, 0, 0, 0);
  CALL(close, signals, 0, 0, 0, 0);
  return is_usable;
}

/** Starts the child. @returns 0 if nothing was started */
static int start_restricted(const struct script *script, struct restricted_child *child, const char *directory, unsigned long *handled) {
  unsigned long signals;
  int reports[2], connections[2];
  struct action ignored = {0, 0, 0, 0};
  CALL(rt_sigaction, SIGCHLD, 0, &ignored, 8, 0);
  if (ignored.handler == 1 || !has_same_output(script) || !has_same_kernel(script)) return 0;
  if (CALL(chdir, script->directory, 0, 0, 0, 0) != 0) return 0;
  const char *arguments[MOST_TEXTS + 12];
  char numbers[2][24];
  long program = -1, request = -1, words = 0;
  child->pid = -1;
  if (CALL(pipe2, reports, O_CLOEXEC, 0, 0, 0) != 0) goto without_pipe;
  if (CALL(socketpair, STREAM_PAIR, 1 | PRIVATE, 0, connections, 0) != 0) goto without_pair;
  if (!make_folder(child, script)) goto without_folder;
  program = open_memory((const char *)TABLES + TABLES->launcher, TABLES->launcher_size);
  request = open_request(script, child, reports[1], connections[1]);
  while (script->words[words]) words++;
  *add_number(numbers[0], request) = 0;
  *add_number(numbers[1], program) = 0;
  const char *own[] = {"rt-permitted", "0", "0", "0", "0", numbers[0], "0", "0", numbers[1], script->program};
  for (int each = 0; each < 10; each++) arguments[each] = own[each];
  for (long each = 0; each <= words; each++) arguments[10 + each] = script->words[each];
  if (program >= 0 && request >= 0 && expand_environment(script, child)) {
    *handled = handled_signals(script);
    write_line(2, is_terminal(2) ? script->terminal_line : script->line);
    CALL(rt_sigprocmask, SIG_BLOCK, handled, &signals, sizeof signals, 0);
    // The child uses the stack below this function until its exec, while this process waits. A copy of the memory takes longer.
    child->pid = CALL(clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    const int kept[] = {request, program, reports[1], connections[1]};
    if (child->pid == 0) become_launcher(script, arguments, kept, program, signals);
    if (child->pid < 0) CALL(rt_sigprocmask, SIG_SETMASK, &signals, 0, sizeof signals, 0);
  }
  if (child->pid < 0) remove_folder(child);
  if (program >= 0) CALL(close, program, 0, 0, 0, 0);
  if (child->pid < 0 && request >= 0) CALL(close, request, 0, 0, 0, 0);
without_folder:
  CALL(close, connections[1], 0, 0, 0, 0);
  if (child->pid < 0) CALL(close, connections[0], 0, 0, 0, 0);
without_pair:
  CALL(close, reports[1], 0, 0, 0, 0);
  if (child->pid < 0) CALL(close, reports[0], 0, 0, 0, 0);
without_pipe:
  CALL(chdir, directory, 0, 0, 0, 0);
  if (child->pid < 0) return 0;
  child->reports = reports[0];
  child->connections = connections[0];
  child->request = request;
  CALL(fcntl, child->reports, F_SETFL, O_RDONLY | O_NONBLOCK, 0, 0);
  return 1;
}
