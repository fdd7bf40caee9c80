// The front: code that runs at the entry point of the file, before the engine. It enters the engine with the words of rt's second
// start, becomes a script's shell, starts a script with permissions, or prints the version. A doubt enters the engine unchanged.
//
// Invariants:
// - It runs after the dynamic loader and before the engine. It changes nothing unless it has decided.
// - Without writable data, and at any address: build/executable/elf-compaction.ts appends it to the file.
#include "plan.h"
#include "restricted.h"

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

/** Enters the engine with other words and with more variables. Lists end with NULL. */
__attribute__((noreturn)) static void enter_changed(long *stack, long end, const char **words, const char *const *first, const char *const *last) {
  char **environment = (char **)(stack + 1) + stack[0] + 1;
  long variables = 0, auxiliary = 0, count = 0, more = 0;
  while (environment[variables]) variables++;
  while (words[count]) count++;
  while (first[more]) more++;
  for (long each = 0; last[each]; each++) more++;
  long *values = (long *)(environment + variables + 1);
  while (values[auxiliary]) auxiliary += 2;
  long *made = __builtin_alloca((count + variables + more + auxiliary + 8) * sizeof(long)), *at = made;
  *at++ = count;
  for (long each = 0; each < count; each++) *at++ = (long)words[each];
  *at++ = 0;
  char **list = (char **)at;
  for (; *first; first++) *at++ = (long)*first;
  for (long each = 0; each < variables; each++) *at++ = (long)environment[each];
  for (; *last; last++) *at++ = (long)*last;
  *at++ = 0;
  for (long each = 0; each < auxiliary + 2; each++) *at++ = values[each];
  // glibc has read the old stack; musl reads the new one.
  if (TABLES->environment) *TABLES->environment = list;
  enter_engine(made, end);
}

/** Runs a script with permissions. @returns if nothing was started */
static void run_restricted(struct plan *plan, long *stack, long end) {
  struct restricted_child child;
  unsigned long handled;
  if (!start_restricted(&plan->script, &child, plan->directory, &handled)) return;
  if (ends_alone(&child, handled) && remove_folder(&child)) {
    // Its times count as those of this process.
    CALL(wait4, child.pid, 0, 0, 0, 0);
    for (;;) CALL(exit_group, 0, 0, 0, 0, 0);
  }
  char entry[PATH_SIZE + 200], *at = copy_text(entry, first_of(ADOPTED_VARIABLE));
  const long numbers[] = {child.pid, child.reports, child.connections, child.request};
  for (int each = 0; each < 4; each++) {
    at = add_number(at, numbers[each]);
    *at++ = ' ';
  }
  copy_text(at, child.folder);
  const char *none[] = {NULL}, *adopted[] = {entry, NULL};
  enter_changed(stack, end, (const char **)(stack + 1), none, adopted);
}

/** Returns the engine's entry point if the start goes on as it is. */
__attribute__((used)) static long begin(long *stack, long end) {
  char **argv = (char **)(stack + 1), **environment = argv + stack[0] + 1;
  if (!may_be_planned(argv)) return TABLES->entry;
  long variables = 0;
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
  if (mode == RESTRICTED) run_restricted(&plan, stack, end);
  if (mode != ENGINE) return TABLES->entry;
  add(&plan, NULL);

  const char *became = first_of(BECAME_VARIABLE);
  char *own = __builtin_alloca(length_of(became) + 16);
  *add_number(copy_text(own, became), CALL(getpid, 0, 0, 0, 0, 0)) = 0;
  // libc reads the first entry of a name, the engine the last: see platform/processes/posix/process.ts.
  const char *first[] = {first_of(SWITCH_ON), NULL}, *last[] = {own, first_of(SWITCH_OFF), NULL};
  restore_actions();
  enter_changed(stack, end, words, first, last);
}

// At the entry point: the kernel's stack, and the loader's function in the register of a third argument (x64) or the first (arm64).
#if defined(__x86_64__)
__asm__(".section .text.start\n.globl _start\n_start: endbr64\n mov %rsp, %rdi\n mov %rdx, %rsi\n push %rdx\n sub $8, %rsp\n"
        " call begin\n add $8, %rsp\n pop %rdx\n jmp *%rax\n.text\n");
#elif defined(__aarch64__)
__asm__(".section .text.start, \"ax\"\n.globl _start\n_start: mov x19, x0\n mov x1, x0\n mov x0, sp\n bl begin\n mov x16, x0\n"
        " mov x0, x19\n br x16\n.text\n");
#endif
