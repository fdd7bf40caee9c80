// What a C program needs where there is no C library: the kernel's calls, and where the program begins.
//
// Contract: a call returns what the kernel does, which is -errno where it fails. A program defines `begin`, which is given
// its words and its environment and never returns. Numbers and structures are those of the system's headers.
#pragma once
#include <asm/unistd.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>

static inline long call(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long place __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  __asm__ volatile("svc 0"
                   : "+r"(first)
                   : "r"(place), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
                   : "memory");
  return first;
#endif
}

#define CALL(name, a, b, c, d, e) call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

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

static inline size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}
