// Where a program in C begins that has no C library.
//
// Contract: the program defines `begin`, which is given its words and its environment and never returns.
#pragma once
#include "syscalls.h"

__attribute__((noreturn)) static void leave(int code) {
  for (;;) CALL(exit_group, code, 0, 0, 0, 0);
}

__attribute__((noreturn, used)) static void begin(char **words, char **environment);

/** The kernel leaves on the stack: how many words, the words, NULL, the environment, NULL. */
__attribute__((noreturn, used)) static void enter(long *stack) {
  char **words = (char **)(stack + 1);
  begin(words, words + stack[0] + 1);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call enter\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\n bl enter\n");
#endif
