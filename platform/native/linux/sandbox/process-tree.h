// Decides the calls of a task's process tree until its program has ended, and ends the rest of the tree.
//
// Invariants:
// - Orphans of the tree are reaped at once. None is left at the end.
// Non-obvious:
// - All signals are blocked, and SIGCHLD is read as a file. So one call waits for exits and calls.
#pragma once
#include "../recorder/connect-guard.h"
#include "../start.h"
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

enum { NOT_STARTED = 126 };

/** Sends SIGKILL to the children of this process; orphans of the tree are among them. */
static int kill_children(void) {
  char text[4096];
  int file = CALL(openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC, 0, 0);
  if (file < 0) return 0;
  long length = CALL(read, file, text, sizeof text, 0, 0);
  CALL(close, file, 0, 0, 0, 0);
  int count = 0, number = 0;
  for (long at = 0; at < length; at++) {
    if (text[at] != ' ') number = number * 10 + (text[at] - '0');
    else {
      CALL(kill, number, SIGKILL, 0, 0, 0);
      number = 0;
      count++;
    }
  }
  return count;
}

/** Ends all processes that the program left. Their children become children of this process. */
static void end_tree(void) {
  int status;
  while (kill_children() > 0)
    if (CALL(wait4, -1, &status, 0, 0, 0) == -ECHILD) return;
}

/** Ends this process as the program ended. */
__attribute__((noreturn)) static void end_as(int status) {
  if (!WIFSIGNALED(status)) exit_with(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const struct rlimit none = {0, 0};
  const unsigned long nothing = 0;
  // A core dump of this process says nothing about the program.
  CALL(prlimit64, 0, RLIMIT_CORE, &none, 0, 0);
  const unsigned long ignoring[4] = {0};
  CALL(rt_sigaction, signal, ignoring, 0, sizeof nothing, 0);
  CALL(kill, CALL(getpid, 0, 0, 0, 0, 0), signal, 0, 0, 0);
  CALL(rt_sigprocmask, SIG_SETMASK, &nothing, 0, sizeof nothing, 0);
  exit_with(128 + signal);
}

/** Reaps processes of the tree. Ends the tree, and this process, if the program or rt has ended. @param parent 0, or rt's process */
static void reap(int signals, long child, long parent) {
  struct signalfd_siginfo information;
  int status;
  CALL(read, signals, &information, sizeof information, 0, 0);
  if (parent != 0 && CALL(getppid, 0, 0, 0, 0, 0) != parent) {
    end_tree();
    exit_with(NOT_STARTED);
  }
  for (;;) {
    const long ended = CALL(wait4, -1, &status, WNOHANG, 0, 0);
    if (ended == -ECHILD) exit_with(NOT_STARTED);
    if (ended <= 0) return;
    if (ended != child) continue;
    end_tree();
    end_as(status);
  }
}

/** Decides the calls of the tree until the program has ended. @param listener -1 if another process decides them */
__attribute__((noreturn)) static void serve(const struct guard_request *guard, int listener, int signals, long child, long parent) {
  struct seccomp_notif notice;
  if (listener >= 0) wake_synchronously(listener);
  for (;;) {
    struct pollfd polled[] = {{.fd = signals, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
    if (CALL(ppoll, polled, 2, 0, 0, 0) < 0) continue;
    if (polled[0].revents) reap(signals, child, parent);
    if (polled[1].revents & POLLIN) {
      if (receive(listener, &notice) && !guard_call(guard, listener, &notice)) answer_call(listener, notice.id, -ENOSYS);
    } else if (polled[1].revents) {
      CALL(close, listener, 0, 0, 0, 0);
      listener = -1;
    }
  }
}
