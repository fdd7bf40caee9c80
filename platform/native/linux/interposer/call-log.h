// Layout of the call log: shared memory in which an interposer logs the calls that it has made for its program.
//
// Invariants:
// - A thread takes a slot by an atomic increment, fills it before the call (`STARTED`) and completes it after (`FINISHED`).
// - The reader trusts no value: it checks lengths and numbers, and the file is sealed against shrinking.
#pragma once
#include "../syscalls.h"

/**
 * Address of the trampoline, the one `syscall; ret` that the filter exempts (../../../tracing/linux/seccomp-filter.ts). Neither
 * programs nor the kernel use such low addresses; it is below 2^38 for arm64's smallest address space.
 */
static const unsigned long TRAMPOLINE = 0x2052540000;

/** The content of /etc/ld.so.preload, and the log that the library opens. Neither exists in the file system. */
#define INTERPOSER_NAME "/rt-interposer.so"
#define LOG_NAME "/rt-interposer.log"

enum call_state { EMPTY, STARTED, FINISHED };
enum logged_kind { LOGGED_OPEN, LOGGED_STAT, LOGGED_ACCESS };

/** In bytes with the NUL. Calls with longer paths are notified. */
enum { MAX_LOGGED_PATH = 208, MAX_LOGGED_CALLS = 1 << 16 };

struct logged_call {
  unsigned state, call, flags;
  int thread;
  /** 0 if the path exists. */
  int error;
  /** `st_mode`; 0 if only the existence is known. */
  unsigned mode;
  unsigned long inode, size;
  /** ctime in nanoseconds. */
  long changed;
  char path[MAX_LOGGED_PATH];
};

struct log {
  unsigned count;
  /** Aligned to the largest page size. */
  struct logged_call calls[MAX_LOGGED_CALLS] __attribute__((aligned(1 << 16)));
};

/** Every 256th call is also notified, so that the recorder never falls far behind. */
enum { NOTIFY_EVERY = 256 };

/** Timestamp granularity in milliseconds. */
enum { STAMP = 12 };
