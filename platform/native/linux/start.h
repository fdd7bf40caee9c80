// Entry point of a program without a C library.
//
// Invariants:
// - The program defines `begin`, which receives its arguments and environment and never returns.
#pragma once
#include "syscalls.h"

__attribute__((noreturn)) static void exit_with(int code) {
  for (;;) CALL(exit_group, code, 0, 0, 0, 0);
}

__attribute__((noreturn, used)) static void begin(char **argv, char **environment);

/** The kernel leaves on the stack: the argument count, the arguments, NULL, the environment, NULL. */
__attribute__((noreturn, used)) static void enter(long *stack) {
  char **argv = (char **)(stack + 1);
  begin(argv, argv + stack[0] + 1);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call enter\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\n bl enter\n");
#endif
