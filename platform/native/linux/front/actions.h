// Writes lines, and resets what the engine changes of signals.
#pragma once
#include "surroundings.h"

/** struct sigaction of the kernel. */
struct action {
  long handler, flags, restorer, mask;
};

static void set_action(int signal, long handler) {
  struct action action = {handler, 0, 0, 0};
  CALL(rt_sigaction, signal, &action, 0, 8, 0);
}

/** Like src/output.ts: a closed pipe is not an error. @returns 0 if nothing was written for another reason */
static int write_line(int descriptor, const char *line) {
  set_action(SIGPIPE, 1);
  size_t length = length_of(line), done = 0;
  while (done < length) {
    long count = CALL(write, descriptor, line + done, length - done, 0, 0);
    if (count == -EPIPE) return 1;
    if (count <= 0) break;
    done += count;
  }
  return done > 0;
}

/** The engine ignores these signals, and resets them before it starts a program. */
static void restore_actions(void) {
  set_action(SIGPIPE, 0);
  set_action(SIGXFSZ, 0);
}
