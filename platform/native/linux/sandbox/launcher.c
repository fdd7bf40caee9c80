// Starts a program with the permissions of its task, waits for it, and ends what it left running. rt starts it with these arguments:
//
//   rt-permitted <list> <line> <alive> <report or 0> <listener socket or 0> <rules> <layer or 0> <network> <descriptor or 0>
//     <own descriptor> <program> <argv...>
//
// The first four register the process, as ../registration.c does. They are 0 if it does not register itself. Another program for
// that would need an exec, which takes a third of a start.
//
// ruleset.h reads <rules>. shared-layer.h creates <layer>, a further ruleset. <network> is 1 if UDP is permitted. <descriptor> is
// that of a program in memory. The socket gets the listener, and answers with one byte. It is 0 if the tree has a listener already.
//
// Invariants:
// - The program starts only if every restriction has been installed. Otherwise the exit code is 126 with a message.
// - Exit code and signal of the program are those of this process. Afterwards no process of the program's tree is left.
// - The program has the environment, directory, limits, standard descriptors and signal mask of this process, and nothing else.
// Non-obvious:
// - This process stays outside of the restrictions, as the subreaper of the tree: the tree cannot end or trace it.
// - Signals that are sent to the process group or to the tree reach the program itself, so this process blocks them.
#include "../registration.h"
#include "filter.h"
#include "ruleset.h"
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { ERROR_OUTPUT = 2, NOT_STARTED = 126, NOT_FOUND = 127 };
/** Places of the arguments. */
enum { REGISTRATION = 1, REPORT = 4, SOCKET, RULES, LAYER, NETWORK, PROGRAM, OWN, PATH };

static void print(const char *text) { CALL(write, ERROR_OUTPUT, text, length_of(text), 0, 0); }

static void print_number(long number) {
  char digits[MAX_DIGITS];
  CALL(write, ERROR_OUTPUT, digits, add_number(digits, number) - digits, 0, 0);
}

__attribute__((noreturn)) static void fail(const char *step, long result) {
  print("error: Permissions cannot be enforced, so nothing was started: ");
  print(step);
  print(" failed (errno ");
  print_number(-result);
  print(")\n");
  exit_with(NOT_STARTED);
}

static void require(const char *step, long result) {
  if (result < 0) fail(step, result);
}

/** Root keeps the capabilities that concern files, which the ruleset limits: containers run builds of another user's files. */
static const unsigned KEPT = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER | 1u << CAP_FSETID;

static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2];
  require("capget", CALL(capget, &header, data, 0, 0, 0));
  // The call fails for numbers that the kernel does not have, and always without CAP_SETPCAP.
  for (int each = 0; each < 64; each++)
    if ((each >= 32 || !(KEPT >> each & 1)) && CALL(prctl, PR_CAPBSET_DROP, each, 0, 0, 0) < 0) break;
  CALL(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  data[0].effective &= KEPT;
  data[0].permitted &= KEPT;
  data[0].inheritable = 0;
  data[1].effective = data[1].permitted = data[1].inheritable = 0;
  require("capset", CALL(capset, &header, data, 0, 0, 0));
}

/** SPEC_ALLOW: before Linux 5.16 the kernel slows a filtered process down without it. */
static const unsigned long FILTER_FLAGS = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
/** Since Linux 5.19, so not in all headers. */
static const unsigned long WAIT_KILLABLE = 1UL << 5;

static long install(const struct bpf_program *filter, unsigned long flags) {
  struct sock_fprog program = {.len = filter->length, .filter = (struct sock_filter *)filter->instructions};
  return CALL(seccomp, SECCOMP_SET_MODE_FILTER, FILTER_FLAGS | flags, &program, 0, 0);
}

static void send_listener(int socket, int listener) {
  unsigned char byte = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *(int *)CMSG_DATA(&control.header) = listener;
  require("passing the listener", CALL(sendmsg, socket, &message, MSG_NOSIGNAL, 0, 0));
  // rt serves the listener from here on.
  if (CALL(read, socket, &byte, 1, 0, 0) != 1) fail("the thread of its connections", -EAGAIN);
}

static void restrict_self(int socket, int rules, int layer, int is_open) {
  const char *step;
  const long ruleset = open_ruleset(rules, is_open, &step);
  require(step, ruleset);
  CALL(close, rules, 0, 0, 0, 0);
  struct bpf_program filter;
  drop_capabilities();
  require("no_new_privs", CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  require("Landlock", CALL(landlock_restrict_self, ruleset, 0, 0, 0, 0));
  CALL(close, ruleset, 0, 0, 0, 0);
  if (layer != 0) {
    require("the layer of system files", CALL(landlock_restrict_self, layer, 0, 0, 0, 0));
    CALL(close, layer, 0, 0, 0, 0);
  }
  build_filter(&filter, is_open, socket != 0);
  if (socket == 0) {
    require("the seccomp filter", install(&filter, 0));
    return;
  }
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  long listener = install(&filter, flags | WAIT_KILLABLE);
  if (listener == -EINVAL) listener = install(&filter, flags);
  require("the seccomp listener", listener);
  send_listener(socket, listener);
  CALL(close, listener, 0, 0, 0, 0);
  CALL(close, socket, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void become(char **argv, char **environment, int socket, int rules, int layer) {
  // The tree ends with this launcher's process, whatever ended that.
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  restrict_self(socket, rules, layer, number_in(argv[NETWORK]));
  // The task must not inherit it: rt starts further tasks from the same memory.
  const int program = number_in(argv[PROGRAM]);
  if (program != 0) require("FD_CLOEXEC", CALL(fcntl, program, F_SETFD, FD_CLOEXEC, 0, 0));
  long error = -CALL(execve, argv[PATH], argv + PATH + 1, environment, 0, 0);
  for (char *each = argv[PATH]; *each; each++)
    if (*each < ' ' || *each > '~') *each = '?';
  print("error: Cannot run \"");
  print(argv[PATH]);
  print("\" with the permissions of its task (errno ");
  print_number(error);
  print(")\n");
  exit_with(error == ENOENT ? NOT_FOUND : NOT_STARTED);
}

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

enum { STACK_SIZE = 1 << 16 };

/** The start of the child, which has its own stack and shares all other memory with the waiting parent. */
struct child_start {
  char **argv, **environment;
  int socket, rules, layer;
  unsigned long signals;
  char stack[STACK_SIZE] __attribute__((aligned(16)));
};

__attribute__((noreturn, used)) static void run_child(const struct child_start *start) {
  CALL(rt_sigprocmask, SIG_SETMASK, &start->signals, 0, sizeof start->signals, 0);
  become(start->argv, start->environment, start->socket, start->rules, start->layer);
}

/** Starts a child that calls `run_child`, and waits for its exec or end. A copy of this process's memory takes longer than an exec. */
static long start_child(struct child_start *start) {
  const long flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
  char *stack = start->stack + STACK_SIZE;
#if defined(__x86_64__)
  long result;
  register long child_id __asm__("r10") = 0, storage __asm__("r8") = 0;
  register struct child_start *argument __asm__("r12") = start;
  __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n mov %%r12, %%rdi\n call run_child\n hlt\n 1:"
                   : "=a"(result)
                   : "0"(__NR_clone), "D"(flags), "S"(stack), "d"(0L), "r"(child_id), "r"(storage), "r"(argument)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number __asm__("x8") = __NR_clone, result __asm__("x0") = flags;
  register char *top __asm__("x1") = stack;
  register long parent_id __asm__("x2") = 0, storage __asm__("x3") = 0, child_id __asm__("x4") = 0;
  register struct child_start *argument __asm__("x9") = start;
  __asm__ volatile("svc 0\n cbnz x0, 1f\n mov x0, x9\n bl run_child\n brk 0\n 1:"
                   : "+r"(result)
                   : "r"(number), "r"(top), "r"(parent_id), "r"(storage), "r"(child_id), "r"(argument)
                   : "x30", "memory");
  return result;
#endif
}

static void begin(char **argv, char **environment) {
  for (int each = 0; each < PATH + 2; each++)
    if (!argv[each]) exit_with(NOT_STARTED);
  const int report = number_in(argv[REPORT]);
  if (report != 0) {
    const int error = EIO;
    if (!register_process(argv + REGISTRATION)) {
      CALL(write, report, &error, sizeof error, 0, 0);
      exit_with(NOT_STARTED);
    }
    CALL(close, report, 0, 0, 0, 0);
  }
  // The memory of this program: rt starts further tasks from it.
  CALL(close, number_in(argv[OWN]), 0, 0, 0, 0);
  const unsigned long all = ~0UL;
  struct child_start start;
  start.argv = argv;
  start.environment = environment;
  start.socket = number_in(argv[SOCKET]);
  start.rules = number_in(argv[RULES]);
  start.layer = number_in(argv[LAYER]);
  require("the subreaper", CALL(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  CALL(rt_sigprocmask, SIG_SETMASK, &all, &start.signals, sizeof all, 0);
  const long child = start_child(&start);
  require("the child", child);
  for (int each = SOCKET; each <= PROGRAM; each++)
    if (each != NETWORK && number_in(argv[each]) != 0) CALL(close, number_in(argv[each]), 0, 0, 0, 0);
  for (;;) {
    int status;
    const long ended = CALL(wait4, -1, &status, 0, 0, 0);
    if (ended == -ECHILD) exit_with(NOT_STARTED);
    if (ended != child) continue;
    end_tree();
    end_as(status);
  }
}
