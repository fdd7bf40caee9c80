/* A library for LD_PRELOAD that sends rt a signal at a moment which no test could hit from outside. SIGNAL_AT names the
   moment, SIGNAL_COUNT its occurrence. Programs that rt starts get no signal. Linux. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_due, is_forking, count = 1;
static pid_t own;
static int number;
static const char *moment;

__attribute__((constructor)) static void begin(void) {
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  const char *name = getenv("SIGNAL_NUMBER");
  moment = getenv("SIGNAL_AT");
  if (length < 3 || memcmp(program + length - 3, "/rt", 3) != 0 || !moment || !name) return;
  number = atoi(name);
  if (getenv("SIGNAL_COUNT")) count = atoi(getenv("SIGNAL_COUNT"));
  own = getpid();
  is_due = 1;
}

static void send(const char *at) {
  if (!is_due || strcmp(moment, at) != 0 || --count > 0) return;
  is_due = 0;
  kill(getpid(), number);
}

/* The engine blocks every signal before it forks, and unblocks them afterwards, in the child first. */
int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  int (*next)(int, const sigset_t *, sigset_t *) = dlsym(RTLD_NEXT, "sigprocmask");
  if (how == SIG_SETMASK && set && sigismember(set, SIGINT) == 1) send("before-fork");
  else if (is_forking && getpid() == own) send("after-fork");
  if (getpid() == own) is_forking = how == SIG_SETMASK && set && sigismember(set, SIGINT) == 1;
  return next(how, set, old);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
  pid_t (*next)(pid_t, int *, int, struct rusage *) = dlsym(RTLD_NEXT, "wait4");
  pid_t ended = next(pid, status, options, usage);
  if (ended > 0) send("after-wait");
  return ended;
}
