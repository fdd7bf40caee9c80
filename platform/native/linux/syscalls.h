// Raw system calls, for C code without a C library.
//
// Invariants:
// - A call returns the kernel's result: -errno on failure.
// - A sixth argument, if the call has one, is 0.
#pragma once
#include <asm/unistd.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>

static inline long call(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = 0;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long place __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  register long sixth __asm__("x5") = 0;
  __asm__ volatile("svc 0"
                   : "+r"(first)
                   : "r"(place), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return first;
#endif
}

#define CALL(name, a, b, c, d, e) call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

static inline size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}
