// What becomes a script that is followed: it takes the filter on itself, hands the kernel's listener to rt and is replaced by
// the program. rt starts it from its own memory (../tracing/tracer.ts) as
//
//   rt-traced <program> <argv...>
//
// with a socket as descriptor 3, from which it reads the filter's program, and on which it writes a byte: 0, with the
// listener, or the number of the error with which the kernel refused.
//
// Contract: the program finds pid, directory, environment, limits, standard descriptors and the signals that are blocked
// as they are here; it inherits nothing else. Where the filter cannot be taken, or rt has gone, nothing is started:
// no_new_privs cannot be taken back, so that a plain start needs another process.
#include "start.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { ERROR_OUTPUT = 2, RT = 3 };
enum { NOT_STARTED = 126, NOT_FOUND = 127 };

// From Linux 5.19 on, and so not in all headers.
#define WAIT_KILLABLE (1UL << 5)

// Nothing is shut in here. Before Linux 5.16, who takes a filter runs under guards against attacks through the processor's own
// guesses, and slower by that, unless it says that it needs none.
static long install(const struct sock_fprog *program) {
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  long listener = CALL(seccomp, SECCOMP_SET_MODE_FILTER, flags | WAIT_KILLABLE, program, 0, 0);
  if (listener == -EINVAL) listener = CALL(seccomp, SECCOMP_SET_MODE_FILTER, flags, program, 0, 0);
  return listener;
}

/** `listener` below 0 where there is none. */
static int tell(unsigned char byte, long listener) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
  if (listener >= 0) {
    *(int *)CMSG_DATA(&control.header) = (int)listener;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
  }
  return CALL(sendmsg, RT, &message, MSG_NOSIGNAL, 0, 0) == 1;
}

static const struct {
  int number;
  const char *name;
} ERRORS[] = {
    {EPERM, "EPERM"},   {ENOENT, "ENOENT"},   {EIO, "EIO"},       {E2BIG, "E2BIG"},     {ENOEXEC, "ENOEXEC"},
    {EAGAIN, "EAGAIN"}, {ENOMEM, "ENOMEM"},   {EACCES, "EACCES"}, {ENOTDIR, "ENOTDIR"}, {EISDIR, "EISDIR"},
    {EINVAL, "EINVAL"}, {ENFILE, "ENFILE"},   {EMFILE, "EMFILE"}, {ETXTBSY, "ETXTBSY"}, {ELOOP, "ELOOP"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
};

static const char *name_of(long error) {
  for (size_t each = 0; each < sizeof ERRORS / sizeof *ERRORS; each++)
    if (ERRORS[each].number == error) return ERRORS[each].name;
  return "an untraceable error";
}

static void say(const char *text) { CALL(write, ERROR_OUTPUT, text, length_of(text), 0, 0); }

/** What a terminal could take for more than text is shown as a question mark. */
static void complain(char *program, const char *error) {
  for (char *each = program; *each; each++)
    if (*each < ' ' || *each > '~') *each = '?';
  say("error: Cannot run \"");
  say(program);
  say("\": ");
  say(error);
  say("\n");
}

static void begin(char **words, char **environment) {
  struct sock_filter instructions[1024];
  if (!words[0] || !words[1]) leave(NOT_STARTED);
  long size = CALL(read, RT, instructions, sizeof instructions, 0, 0);
  if (size <= 0 || size % sizeof *instructions != 0) leave(NOT_STARTED);
  struct sock_fprog program = {.len = size / sizeof *instructions, .filter = instructions};
  CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long listener = install(&program);
  int is_told = tell(listener < 0 ? -listener : 0, listener);
  if (listener < 0) leave(NOT_STARTED);
  CALL(close, listener, 0, 0, 0, 0);
  char go;
  if (!is_told || CALL(read, RT, &go, 1, 0, 0) != 1) leave(NOT_STARTED);
  CALL(close, RT, 0, 0, 0, 0);
  long error = -CALL(execve, words[1], words + 2, environment, 0, 0);
  complain(words[1], name_of(error));
  leave(error == ENOENT ? NOT_FOUND : NOT_STARTED);
}
