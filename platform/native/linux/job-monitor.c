// Job control for a script on rt's pseudo-terminal: stops with the script, continues it, and forwards signals to it. rt runs it
// from a memfd (../../terminal/linux/job-monitor.ts), in a separate session on that terminal, as
//
//   rt-monitor <request> <report>        (two descriptors: `struct start_request` in; pid, then an error number, out)
//
// Invariants:
// - The script leads its own process group, which owns the terminal. It inherits the signal mask and dispositions unchanged.
// - The monitor exits as the script does, without a core file. If rt dies, both die. An incomplete request ends both.
// - Only the script's process receives the request's contents, and it is not dumpable before exec. The monitor clears its own.
// Non-obvious: the kernel stops a process group on Ctrl-Z only if a parent outside the group is in the same session.
#include "start.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { NOT_STARTED = 126 };
/** rt passes on no descriptor above this: see inheritedDescriptors of ../../processes/posix/process.ts. */
enum { HIGHEST_DESCRIPTOR = 63 };

typedef unsigned long Signals;
static const Signals ALL = ~0UL;

/** The kernel's layout, which differs from a C library's. */
struct disposition {
  unsigned long handler, flags, restorer;
  Signals blocked;
};
static const struct disposition DEFAULT;

static Signals block(Signals signals) {
  Signals before = 0;
  CALL(rt_sigprocmask, SIG_SETMASK, &signals, &before, sizeof signals, 0);
  return before;
}

static struct disposition dispose(int signal, struct disposition wanted) {
  struct disposition before;
  CALL(rt_sigaction, signal, &wanted, &before, sizeof wanted.blocked, 0);
  return before;
}

static int write_number(int report, int number) {
  return CALL(write, report, &number, sizeof number, 0, 0) == sizeof number;
}

static int number_in(const char *digits) {
  int number = 0;
  while (*digits) number = number * 10 + (*digits++ - '0');
  return number;
}

/** One of the three is the session's terminal. SIGTTOU, which would stop this process, is blocked. */
static void take_terminal(int group) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (CALL(ioctl, descriptor, TIOCSPGRP, &group, 0, 0) == 0) return;
}

/**
 * `length` bytes follow: NUL-terminated texts. In order: the working directory (empty for the current one), the program, its
 * arguments, variables to put first, names of variables to omit, and variables to put last.
 */
struct start_request {
  unsigned length, argv, first, without, last;
};

/** Returns whether all bytes were received. */
static int receive(int descriptor, void *into, size_t length) {
  for (size_t got = 0; got < length;) {
    long count = CALL(read, descriptor, (char *)into + got, length - got, 0, 0);
    if (count <= 0) return 0;
    got += count;
  }
  return 1;
}

static void *allocate(size_t size) {
  long room = CALL(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (room < 0 && room > -4096) exit_with(NOT_STARTED);
  return (void *)room;
}

static char *next_text(char *text) { return text + length_of(text) + 1; }

static char **copy_texts(char **list, char **text, unsigned count) {
  for (; count > 0; count--, *text = next_text(*text)) *list++ = *text;
  return list;
}

/** Returns whether the variable has one of these names. */
static int is_named(const char *variable, const char *name, unsigned names) {
  for (; names > 0; names--, name += length_of(name) + 1) {
    size_t at = 0;
    while (name[at] && name[at] == variable[at]) at++;
    if (!name[at] && variable[at] == '=') return 1;
  }
  return 0;
}

struct program {
  char *directory, *path, **argv, **environment;
};

static struct program await_request(int descriptor, char **environment) {
  struct start_request request;
  if (!receive(descriptor, &request, sizeof request)) exit_with(NOT_STARTED);
  size_t own = 0;
  while (environment[own]) own++;
  size_t entries = request.argv + 1 + request.first + own + request.last + 1;
  char **list = allocate(entries * sizeof *list + request.length + 1);
  char *text = (char *)(list + entries);
  if (!receive(descriptor, text, request.length)) exit_with(NOT_STARTED);
  struct program program = {.directory = text, .path = next_text(text), .argv = list};
  text = next_text(program.path);
  list = copy_texts(list, &text, request.argv) + 1;
  program.environment = list;
  list = copy_texts(list, &text, request.first);
  char *names = text;
  for (unsigned count = request.without; count > 0; count--) text = next_text(text);
  for (; *environment; environment++)
    if (!is_named(*environment, names, request.without)) *list++ = *environment;
  copy_texts(list, &text, request.last);
  return program;
}

__attribute__((noreturn)) static void exec_script(char **environment, Signals blocked, int request, int report, long parent) {
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (CALL(getppid, 0, 0, 0, 0, 0) != parent) exit_with(NOT_STARTED);
  int own = CALL(getpid, 0, 0, 0, 0, 0);
  CALL(setpgid, 0, 0, 0, 0, 0);
  take_terminal(own);
  if (!write_number(report, own)) exit_with(NOT_STARTED);
  struct program program = await_request(request, environment);
  int error = *program.directory ? -CALL(chdir, program.directory, 0, 0, 0, 0) : 0;
  if (error == 0) {
    block(blocked);
    error = -CALL(execve, program.path, program.argv, program.environment, 0, 0);
  }
  write_number(report, error);
  exit_with(NOT_STARTED);
}

/** Closes all descriptors, so that readers of the other ends wait for the script only, and clears the environment. */
static void scrub_and_close(char **environment) {
  for (; *environment; environment++)
    for (volatile char *each = *environment; *each; each++) *each = 0;
  for (int descriptor = 0; descriptor <= HIGHEST_DESCRIPTOR; descriptor++) CALL(close, descriptor, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void end_as(int status, long own) {
  if (WIFEXITED(status)) exit_with(WEXITSTATUS(status));
  int signal = WTERMSIG(status);
  dispose(signal, DEFAULT);
  CALL(kill, own, signal, 0, 0, 0);
  block(~(1UL << (signal - 1)));
  exit_with(128 + signal);
}

static void reap_script(long script, long own) {
  int status;
  while (CALL(wait4, script, &status, WNOHANG | WUNTRACED, 0, 0) == script) {
    if (!WIFSTOPPED(status)) end_as(status, own);
    CALL(kill, own, SIGSTOP, 0, 0, 0);
  }
}

__attribute__((noreturn)) static void begin(char **argv, char **environment) {
  if (!argv[0] || !argv[1] || !argv[2]) exit_with(NOT_STARTED);
  Signals before = block(ALL);
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); // a parent that died earlier is detected by write_number
  CALL(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  CALL(prctl, PR_SET_NAME, argv[0], 0, 0, 0);
  int request = number_in(argv[1]), report = number_in(argv[2]);
  CALL(fcntl, request, F_SETFD, FD_CLOEXEC, 0, 0);
  CALL(fcntl, report, F_SETFD, FD_CLOEXEC, 0, 0);
  long own = CALL(getpid, 0, 0, 0, 0, 0);
  // The exit of a child is not reported if SIGCHLD is ignored.
  struct disposition of_children = dispose(SIGCHLD, DEFAULT);
  long script = CALL(clone, SIGCHLD, 0, 0, 0, 0);
  if (script == 0) {
    // libc, which started this process, reserves two signals.
    for (int signal = 32; signal <= 33; signal++) dispose(signal, DEFAULT);
    dispose(SIGCHLD, of_children);
    exec_script(environment, before, request, report, own);
  }
  if (script < 0) {
    write_number(report, 0);
    write_number(report, -script);
    exit_with(NOT_STARTED);
  }
  struct rlimit none = {0, 0};
  CALL(prlimit64, 0, RLIMIT_CORE, &none, 0, 0);
  scrub_and_close(environment);
  for (;;) {
    long signal = CALL(rt_sigtimedwait, &ALL, 0, 0, sizeof ALL, 0);
    if (signal == SIGCHLD) reap_script(script, own);
    else if (signal == SIGCONT) CALL(kill, -script, SIGCONT, 0, 0, 0);
    else if (signal > 0) CALL(kill, script, signal, 0, 0, 0);
  }
}
