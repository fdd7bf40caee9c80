// What stands between rt's terminal and a script, so that the script can be stopped there: a shell's part, and nothing more.
// rt starts it from its own memory (../monitor.ts), in a session of its own on that terminal, as
//
//   rt-monitor <order> <report>
//
// which are numbers of descriptors. Its child waits for the order: which program it is to become, and with what of its
// variables changed (`struct order`). On the other it writes the script's pid, as 4 bytes; behind it, if the program cannot be
// started, the number of the error. So it can be started while rt does not yet know what the script will be given.
//
// Contract: the script leads a group of its own, which has the terminal; everything else of it is as it was here, the signals
// that are blocked or ignored too. When it stops, so does this; what continues this continues its group. Every other
// signal goes on to the script. It ends as the script does, without a core file. If rt is killed, so is this, and the
// script with it; an order that does not come whole ends both. What the script is given only its own process ever has, and
// nobody may look into that either before it is the script. What this was started with is nowhere in it any more.
//
// Why at all: the kernel lets no Ctrl-Z stop a group without a parent outside of it in the session.
#include "start.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { NOT_STARTED = 126 };
/** rt hands on none above; observe_path inheritedDescriptors of ../../posix/process.ts. */
enum { HIGHEST_DESCRIPTOR = 63 };

typedef unsigned long Signals;
static const Signals ALL = ~0UL;

/** As the kernel has it, which is not as a C library does. */
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

static int tell(int report, int number) {
  return CALL(write, report, &number, sizeof number, 0, 0) == sizeof number;
}

static int number_in(const char *digits) {
  int number = 0;
  while (*digits) number = number * 10 + (*digits++ - '0');
  return number;
}

/** One of the three is the session's terminal. SIGTTOU would stop who does this, and is blocked. */
static void take_terminal(int group) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (CALL(ioctl, descriptor, TIOCSPGRP, &group, 0, 0) == 0) return;
}

/**
 * Behind it come `length` bytes: texts, each with its NUL at the end. These are the directory to be in, or nothing where that is
 * this one; the program; its words; variables that stand in front of all others; names of those that it does not get; and
 * variables behind the others.
 */
struct order {
  unsigned length, words, first, without, last;
};

/** Whether all of it has come. */
static int receive(int descriptor, void *into, size_t length) {
  for (size_t got = 0; got < length;) {
    long count = CALL(read, descriptor, (char *)into + got, length - got, 0, 0);
    if (count <= 0) return 0;
    got += count;
  }
  return 1;
}

static void *room_for(size_t size) {
  long room = CALL(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (room < 0 && room > -4096) leave(NOT_STARTED);
  return (void *)room;
}

static char *after(char *text) { return text + length_of(text) + 1; }

static char **take(char **list, char **text, unsigned count) {
  for (; count > 0; count--, *text = after(*text)) *list++ = *text;
  return list;
}

/** Whether the variable has one of these names. */
static int is_named(const char *variable, const char *name, unsigned names) {
  for (; names > 0; names--, name += length_of(name) + 1) {
    size_t at = 0;
    while (name[at] && name[at] == variable[at]) at++;
    if (!name[at] && variable[at] == '=') return 1;
  }
  return 0;
}

struct program {
  char *directory, *path, **words, **environment;
};

static struct program await_order(int descriptor, char **environment) {
  struct order order;
  if (!receive(descriptor, &order, sizeof order)) leave(NOT_STARTED);
  size_t own = 0;
  while (environment[own]) own++;
  size_t entries = order.words + 1 + order.first + own + order.last + 1;
  char **list = room_for(entries * sizeof *list + order.length + 1);
  char *text = (char *)(list + entries);
  if (!receive(descriptor, text, order.length)) leave(NOT_STARTED);
  struct program program = {.directory = text, .path = after(text), .words = list};
  text = after(program.path);
  list = take(list, &text, order.words) + 1;
  program.environment = list;
  list = take(list, &text, order.first);
  char *names = text;
  for (unsigned count = order.without; count > 0; count--) text = after(text);
  for (; *environment; environment++)
    if (!is_named(*environment, names, order.without)) *list++ = *environment;
  take(list, &text, order.last);
  return program;
}

__attribute__((noreturn)) static void become(char **environment, Signals blocked, int order, int report, long parent) {
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (CALL(getppid, 0, 0, 0, 0, 0) != parent) leave(NOT_STARTED);
  int own = CALL(getpid, 0, 0, 0, 0, 0);
  CALL(setpgid, 0, 0, 0, 0, 0);
  take_terminal(own);
  if (!tell(report, own)) leave(NOT_STARTED);
  struct program program = await_order(order, environment);
  int error = *program.directory ? -CALL(chdir, program.directory, 0, 0, 0, 0) : 0;
  if (error == 0) {
    block(blocked);
    error = -CALL(execve, program.path, program.words, program.environment, 0, 0);
  }
  tell(report, error);
  leave(NOT_STARTED);
}

/** So that whoever waits for the other end of something waits for the script alone. */
static void forget(char **environment) {
  for (; *environment; environment++)
    for (volatile char *each = *environment; *each; each++) *each = 0;
  for (int descriptor = 0; descriptor <= HIGHEST_DESCRIPTOR; descriptor++) CALL(close, descriptor, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void end_as(int status, long own) {
  if (WIFEXITED(status)) leave(WEXITSTATUS(status));
  int signal = WTERMSIG(status);
  dispose(signal, DEFAULT);
  CALL(kill, own, signal, 0, 0, 0);
  block(~(1UL << (signal - 1)));
  leave(128 + signal);
}

static void look_after(long script, long own) {
  int status;
  while (CALL(wait4, script, &status, WNOHANG | WUNTRACED, 0, 0) == script) {
    if (!WIFSTOPPED(status)) end_as(status, own);
    CALL(kill, own, SIGSTOP, 0, 0, 0);
  }
}

__attribute__((noreturn)) static void begin(char **words, char **environment) {
  if (!words[0] || !words[1] || !words[2]) leave(NOT_STARTED);
  Signals before = block(ALL);
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); // of rt that has gone before, writing to it tells
  CALL(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  CALL(prctl, PR_SET_NAME, words[0], 0, 0, 0);
  int order = number_in(words[1]), report = number_in(words[2]);
  CALL(fcntl, order, F_SETFD, FD_CLOEXEC, 0, 0);
  CALL(fcntl, report, F_SETFD, FD_CLOEXEC, 0, 0);
  long own = CALL(getpid, 0, 0, 0, 0, 0);
  // Of a child whose end is ignored nobody is told.
  struct disposition of_children = dispose(SIGCHLD, DEFAULT);
  long script = CALL(clone, SIGCHLD, 0, 0, 0, 0);
  if (script == 0) {
    // libc, which has started this, keeps two for itself.
    for (int signal = 32; signal <= 33; signal++) dispose(signal, DEFAULT);
    dispose(SIGCHLD, of_children);
    become(environment, before, order, report, own);
  }
  if (script < 0) {
    tell(report, 0);
    tell(report, -script);
    leave(NOT_STARTED);
  }
  struct rlimit none = {0, 0};
  CALL(prlimit64, 0, RLIMIT_CORE, &none, 0, 0);
  forget(environment);
  for (;;) {
    long signal = CALL(rt_sigtimedwait, &ALL, 0, 0, sizeof ALL, 0);
    if (signal == SIGCHLD) look_after(script, own);
    else if (signal == SIGCONT) CALL(kill, -script, SIGCONT, 0, 0, 0);
    else if (signal > 0) CALL(kill, script, signal, 0, 0, 0);
  }
}
