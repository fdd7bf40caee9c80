// Starts a program with the permissions of its task, decides its calls, and ends what it left running. rt starts it with these
// arguments:
//
//   rt-permitted <list> <line> <alive> <report or 0> <rules> <layer or 0> <descriptor or 0> <own descriptor> <program> <argv...>
//
// The first four register the process, as ../registration.c does. They are 0 if it does not register itself. Another program for
// that would need an exec, which takes a third of a start.
//
// The file <rules> contains the permitted addresses, and the request of the guard (../recorder/connect-guard.h) with the list for
// ruleset.h. A further ruleset is <layer> (shared-layer.h). <descriptor> is that of a program in memory.
//
// Invariants:
// - The program starts only if every restriction has been installed. Otherwise the exit code is 126 with a message.
// - Exit code and signal of the program are those of this process. Afterwards no process of the program's tree is left.
// - The program has the environment, directory, limits, standard descriptors and signal mask of this process, and nothing else.
// - A call that is not answered fails: the listener is open in this process alone.
// Non-obvious:
// - This process stays outside of the restrictions, as the subreaper of the tree: the tree cannot end or trace it.
// - Signals that are sent to the process group or to the tree reach the program itself, so this process blocks them.
#include "memory-functions.h"
#include "../registration.h"
#include "filter.h"
#include "raw-thread.h"
#include "ruleset.h"
#include "process-tree.h"
#include <linux/capability.h>
#include <sys/prctl.h>

enum { ERROR_OUTPUT = 2, NOT_FOUND = 127 };
/** Places of the arguments. */
enum { REGISTRATION = 1, REPORT = 4, RULES, LAYER, PROGRAM, OWN, PATH };
enum { STACK_SIZE = 1 << 16 };

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

/** The start of the child, which shares memory and descriptors with the waiting parent until its exec. */
struct child_start {
  char **argv, **environment;
  const struct guard_request *guard;
  int layer, program;
  /** Set by the child: the listener of its calls, which the parent has too. */
  int listener;
  unsigned long signals;
};

static void restrict_self(struct child_start *start) {
  const char *step;
  const struct guard_request *guard = start->guard;
  const int is_open = guard->network == OPEN_NETWORK, notifies = guard->reports >= 0;
  const long ruleset = open_ruleset(guard->roots, guard->roots_length, is_open, &step);
  require(step, ruleset);
  struct bpf_program filter;
  drop_capabilities();
  require("no_new_privs", CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  require("Landlock", CALL(landlock_restrict_self, ruleset, 0, 0, 0, 0));
  CALL(close, ruleset, 0, 0, 0, 0);
  if (start->layer != 0) require("the layer of system files", CALL(landlock_restrict_self, start->layer, 0, 0, 0, 0));
  build_filter(&filter, is_open, notifies);
  if (!notifies) {
    require("the seccomp filter", install(&filter, 0));
    return;
  }
  const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  long listener = install(&filter, flags | WAIT_KILLABLE);
  if (listener == -EINVAL) listener = install(&filter, flags);
  require("the seccomp listener", listener);
  start->listener = listener;
}

/** The parent waits for the exec, so it makes no call that the parent decides. */
__attribute__((noreturn)) static void become(void *argument) {
  struct child_start *start = argument;
  char **argv = start->argv;
  CALL(rt_sigprocmask, SIG_SETMASK, &start->signals, 0, sizeof start->signals, 0);
  // The tree ends with this launcher's process, whatever ended that.
  CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  restrict_self(start);
  const long error = -CALL(execve, argv[PATH], argv + PATH + 1, start->environment, 0, 0);
  for (char *each = argv[PATH]; *each; each++)
    if (*each < ' ' || *each > '~') *each = '?';
  print("error: Cannot run \"");
  print(argv[PATH]);
  print("\" with the permissions of its task (errno ");
  print_number(error);
  print(")\n");
  exit_with(error == ENOENT ? NOT_FOUND : NOT_STARTED);
}

/** Maps what rt wrote: the permitted addresses, which rt changes later, and the request of the guard with the list of rules. */
static struct guard_request *map_request(int file) {
  struct stat status;
  require("reading its rules", CALL(fstat, file, &status, 0, 0, 0));
  const long place = CALL(mmap, 0, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  if (place < 0 && place > -4096) fail("reading its rules", place);
  CALL(close, file, 0, 0, 0, 0);
  struct permitted_hosts *hosts = (struct permitted_hosts *)place;
  struct guard_request *guard = (struct guard_request *)(hosts->entries + hosts->capacity);
  guard->hosts = hosts;
  return guard;
}

/** Keeps the task from inheriting a descriptor. */
static void keep_private(int descriptor) {
  if (descriptor > 0) require("FD_CLOEXEC", CALL(fcntl, descriptor, F_SETFD, FD_CLOEXEC, 0, 0));
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
  const unsigned long all = ~0UL, ends = 1UL << (SIGCHLD - 1);
  char stack[STACK_SIZE] __attribute__((aligned(16)));
  struct guard_request *guard = map_request(number_in(argv[RULES]));
  struct child_start start = {.argv = argv, .environment = environment, .guard = guard, .listener = -1};
  start.layer = number_in(argv[LAYER]);
  start.program = number_in(argv[PROGRAM]);
  keep_private(start.layer);
  keep_private(start.program);
  keep_private(guard->reports);
  keep_private(guard->connections);
  if (guard->reports >= 0) CALL(fcntl, guard->reports, F_SETFL, O_WRONLY | O_NONBLOCK, 0, 0);
  // The watchdog of rt ends a registered process. Any other one ends with its parent, whose death sends the signal of an ended child.
  long parent = 0;
  if (report == 0) {
    parent = CALL(getppid, 0, 0, 0, 0, 0);
    require("the end of its parent", CALL(prctl, PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0));
  }
  require("the subreaper", CALL(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  CALL(rt_sigprocmask, SIG_SETMASK, &all, &start.signals, sizeof all, 0);
  const long signals = CALL(signalfd4, -1, &ends, sizeof ends, SFD_CLOEXEC | SFD_NONBLOCK, 0);
  require("waiting for the program", signals);
  // A copy of this process's memory takes longer than an exec.
  const long child = clone_onto(CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, stack + STACK_SIZE, become, &start);
  require("the child", child);
  if (start.layer != 0) CALL(close, start.layer, 0, 0, 0, 0);
  if (start.program != 0) CALL(close, start.program, 0, 0, 0, 0);
  serve(guard, start.listener, signals, child, parent);
}
