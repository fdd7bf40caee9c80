// The front: code that runs at the entry point of the file, before the engine. It enters the engine with the words of rt's second
// start, becomes a script's shell, or prints the version. A doubt enters the engine unchanged.
//
// Invariants:
// - It runs after the dynamic loader and before the engine. It changes nothing unless it has decided.
// - Without writable data, and at any address: build/executable/elf-compaction.ts appends it to the file.
#include "plan.h"
#include <sys/resource.h>

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

/** Replaces the process. @param directory the working directory @returns if the kernel refuses that */
static void become_script(const struct script *script, const char *directory) {
  struct rlimit limit;
  if (CALL(chdir, script->directory, 0, 0, 0, 0) != 0) return;
  write_line(2, is_terminal(2) ? script->terminal_line : script->line);
  // As the engine does at its start.
  if (CALL(prlimit64, 0, RLIMIT_NOFILE, 0, &limit, 0) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    CALL(prlimit64, 0, RLIMIT_NOFILE, &limit, 0, 0);
  }
  restore_actions();
  CALL(execve, script->program, script->words, script->environment, 0, 0);
  CALL(chdir, directory, 0, 0, 0, 0);
}

/** Enters the engine with another stack. @param end the loader's function, which the engine calls at exit */
__attribute__((noreturn)) static void enter_engine(long *stack, long end) {
#if defined(__x86_64__)
  __asm__ volatile("mov %0, %%rsp\n jmp *%1" ::"r"(stack), "r"(TABLES->entry), "d"(end) : "memory");
#elif defined(__aarch64__)
  register long first __asm__("x0") = end;
  register long to __asm__("x16") = TABLES->entry;
  __asm__ volatile("mov sp, %0\n br x16" ::"r"(stack), "r"(first), "r"(to) : "memory");
#endif
  __builtin_unreachable();
}

/** Returns the engine's entry point if the start goes on as it is. */
__attribute__((used)) static long begin(long *stack, long end) {
  char **argv = (char **)(stack + 1), **environment = argv + stack[0] + 1;
  if (!may_be_planned(argv)) return TABLES->entry;
  long variables = 0, auxiliary = 0;
  while (environment[variables]) variables++;
  const char *words[stack[0] + MORE_WORDS], *entries[variables + MOST_TEXTS + 1];
  struct plan plan;
  plan.words = words;
  plan.count = 0;
  plan.script.environment = entries;
  enum mode mode = make_plan(&plan, argv, environment);
  if (mode == PRINT && write_line(1, plan.line))
    for (;;) CALL(exit_group, 0, 0, 0, 0, 0);
  if (mode == SCRIPT) become_script(&plan.script, plan.directory);
  if (mode != ENGINE) return TABLES->entry;

  long *values = (long *)(environment + variables + 1);
  while (values[auxiliary]) auxiliary += 2;
  const char *became = first_of(BECAME_VARIABLE);
  char *own = __builtin_alloca(length_of(became) + 16);
  *add_number(copy_text(own, became), CALL(getpid, 0, 0, 0, 0, 0)) = 0;

  long *made = __builtin_alloca((plan.count + variables + auxiliary + 8) * sizeof(long)), *at = made;
  *at++ = plan.count;
  for (int each = 0; each < plan.count; each++) *at++ = (long)words[each];
  *at++ = 0;
  // libc reads the first entry of a name, the engine the last: see platform/processes/posix/process.ts.
  char **list = (char **)at;
  *at++ = (long)first_of(SWITCH_ON);
  for (long each = 0; each < variables; each++) *at++ = (long)environment[each];
  *at++ = (long)own;
  *at++ = (long)first_of(SWITCH_OFF);
  *at++ = 0;
  for (long each = 0; each < auxiliary + 2; each++) *at++ = values[each];
  // glibc has read the old stack; musl reads the new one.
  if (TABLES->environment) *TABLES->environment = list;
  restore_actions();
  enter_engine(made, end);
}

// At the entry point: the kernel's stack, and the loader's function in the register of a third argument (x64) or the first (arm64).
#if defined(__x86_64__)
__asm__(".section .text.start\n.globl _start\n_start: endbr64\n mov %rsp, %rdi\n mov %rdx, %rsi\n push %rdx\n sub $8, %rsp\n"
        " call begin\n add $8, %rsp\n pop %rdx\n jmp *%rax\n.text\n");
#elif defined(__aarch64__)
__asm__(".section .text.start, \"ax\"\n.globl _start\n_start: mov x19, x0\n mov x1, x0\n mov x0, sp\n bl begin\n mov x16, x0\n"
        " mov x0, x19\n br x16\n.text\n");
#endif
