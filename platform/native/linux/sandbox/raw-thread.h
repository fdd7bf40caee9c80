// Starts processes and threads that share the memory of this program, without a C library.
//
// Invariants:
// - A thread ends with this process. It frees its stack itself.
// - Threads receive no signals, because this process blocks all.
#pragma once
#include "../syscalls.h"
#include <linux/sched.h>
#include <sys/mman.h>

/** Calls `function` on another stack; it never returns. Returns the id, or an error. @param stack its end; a multiple of 16 */
static long clone_onto(long flags, void *stack, void (*function)(void *), void *argument) {
#if defined(__x86_64__)
  long result;
  register long child_id __asm__("r10") = 0, storage __asm__("r8") = 0;
  register void (*start)(void *) __asm__("r12") = function;
  register void *given __asm__("r13") = argument;
  __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n mov %%r13, %%rdi\n call *%%r12\n hlt\n 1:"
                   : "=a"(result)
                   : "0"(__NR_clone), "D"(flags), "S"(stack), "d"(0L), "r"(child_id), "r"(storage), "r"(start), "r"(given)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number __asm__("x8") = __NR_clone, result __asm__("x0") = flags;
  register void *top __asm__("x1") = stack;
  register long parent_id __asm__("x2") = 0, storage __asm__("x3") = 0, child_id __asm__("x4") = 0;
  register void (*start)(void *) __asm__("x9") = function;
  register void *given __asm__("x10") = argument;
  __asm__ volatile("svc 0\n cbnz x0, 1f\n mov x0, x10\n blr x9\n brk 0\n 1:"
                   : "+r"(result)
                   : "r"(number), "r"(top), "r"(parent_id), "r"(storage), "r"(child_id), "r"(start), "r"(given)
                   : "x30", "memory");
  return result;
#endif
}

enum { THREAD_SIZE = 1 << 16 };

/** The memory of a thread. */
struct raw_thread {
  void *(*function)(void *);
  void *argument;
  char stack[THREAD_SIZE - 2 * sizeof(void *)];
};

__attribute__((noreturn)) static void run_thread(void *memory) {
  struct raw_thread *thread = memory;
  thread->function(thread->argument);
  // The first call frees the stack, so both are in one statement.
#if defined(__x86_64__)
  __asm__ volatile("syscall\n xor %%edi, %%edi\n mov %0, %%eax\n syscall\n hlt"
                   :
                   : "i"(__NR_exit), "a"(__NR_munmap), "D"(thread), "S"(sizeof *thread)
                   : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long number __asm__("x8") = __NR_munmap;
  register void *place __asm__("x0") = thread;
  register long size __asm__("x1") = sizeof *thread;
  __asm__ volatile("svc 0\n mov x0, 0\n mov x8, %0\n svc 0\n brk 0"
                   :
                   : "i"(__NR_exit), "r"(number), "r"(place), "r"(size)
                   : "memory");
#endif
  __builtin_unreachable();
}

/** Returns whether the thread was started. */
static int start_detached(void *(*function)(void *), void *argument) {
  static const long FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  const long place = CALL(mmap, 0, sizeof(struct raw_thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (place < 0 && place > -4096) return 0;
  struct raw_thread *thread = (struct raw_thread *)place;
  thread->function = function;
  thread->argument = argument;
  if (clone_onto(FLAGS, thread + 1, run_thread, thread) >= 0) return 1;
  CALL(munmap, thread, sizeof *thread, 0, 0, 0);
  return 0;
}
