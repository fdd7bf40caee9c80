// Installs the seccomp filter, sends the listener to rt, then replaces itself with the script (exec). rt runs it from a memfd
// (../../tracing/linux/tracer.ts) as `rt-traced <program> <argv...>`, with a socket as descriptor 3: it reads the filter's
// program from the socket, and writes one byte: 0 with the listener, or the kernel's error number.
//
// Invariants:
// - The program inherits pid, directory, environment, limits, standard descriptors and signal mask unchanged, and nothing else.
// - If the filter cannot be installed, or rt has exited, no program is started.
// Non-obvious: no_new_privs cannot be undone, so a start without tracing needs another process.
#include "start.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { ERROR_OUTPUT = 2, RT = 3 };
enum { NOT_STARTED = 126, NOT_FOUND = 127 };

// Since Linux 5.19, so not in all headers.
#define WAIT_KILLABLE (1UL << 5)

// The filter is not a sandbox. Before Linux 5.16 the kernel adds mitigations against speculative execution to a filtered
// process, which slow it down, unless SPEC_ALLOW is set.
static long install(const struct sock_fprog *program) {
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  long listener = CALL(seccomp, SECCOMP_SET_MODE_FILTER, flags | WAIT_KILLABLE, program, 0, 0);
  if (listener == -EINVAL) listener = CALL(seccomp, SECCOMP_SET_MODE_FILTER, flags, program, 0, 0);
  return listener;
}

/** @param listener below 0 if it does not exist */
static int send_listener(unsigned char byte, long listener) {
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

static void print(const char *text) { CALL(write, ERROR_OUTPUT, text, length_of(text), 0, 0); }

/** Replaces characters that a terminal could interpret by question marks. */
static void print_error(char *program, const char *error) {
  for (char *each = program; *each; each++)
    if (*each < ' ' || *each > '~') *each = '?';
  print("error: Cannot run \"");
  print(program);
  print("\": ");
  print(error);
  print("\n");
}

static void begin(char **argv, char **environment) {
  struct sock_filter instructions[1024];
  if (!argv[0] || !argv[1]) exit_with(NOT_STARTED);
  long size = CALL(read, RT, instructions, sizeof instructions, 0, 0);
  if (size <= 0 || size % sizeof *instructions != 0) exit_with(NOT_STARTED);
  struct sock_fprog program = {.len = size / sizeof *instructions, .filter = instructions};
  CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long listener = install(&program);
  int is_sent = send_listener(listener < 0 ? -listener : 0, listener);
  if (listener < 0) exit_with(NOT_STARTED);
  CALL(close, listener, 0, 0, 0, 0);
  char go;
  if (!is_sent || CALL(read, RT, &go, 1, 0, 0) != 1) exit_with(NOT_STARTED);
  CALL(close, RT, 0, 0, 0, 0);
  long error = -CALL(execve, argv[1], argv + 2, environment, 0, 0);
  print_error(argv[1], name_of(error));
  exit_with(error == ENOENT ? NOT_FOUND : NOT_STARTED);
}
