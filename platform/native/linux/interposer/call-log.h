// What a interposer tells the recorder: calls that it has made for its program, in memory that both have.
//
// Contract: a place in the log is taken by counting up, by whatever thread, and filled before the call is made (`ASKED`) and
// after it (`ANSWERED`). Nothing in it is believed for more than what a program says of itself: lengths and numbers are checked by
// who reads them, and the file cannot be made smaller under the reader.
#pragma once
#include "../syscalls.h"

/**
 * Where the instruction stands that makes a interposer's calls: the filter lets through what is called from there. As in
 * ../../tracing/filter.ts. Neither programs nor the kernel's own choice come so low; below 2^38 for arm64's smallest kernels.
 */
static const unsigned long TRAMPOLINE = 0x2052540000;

/** What the loader finds in /etc/ld.so.preload, and what the library opens then. The kernel knows of neither. */
#define INTERPOSER_NAME "/rt-interposer.so"
#define LOG_NAME "/rt-interposer.log"

enum told_state { EMPTY, ASKED, ANSWERED };
enum told_call { TOLD_OPEN, TOLD_STAT, TOLD_ACCESS };

/** Bytes of a path with its NUL. Longer ones are asked for. */
enum { LONGEST_TOLD = 208, MOST_TOLD = 1 << 16 };

struct logged_call {
  unsigned state, call, flags;
  int thread;
  /** 0 where there is such a path. */
  int error;
  /** As `st_mode` has it; 0 where no more is known than that it is there. */
  unsigned mode;
  unsigned long inode, size;
  /** Nanoseconds. */
  long changed;
  char path[LONGEST_TOLD];
};

struct log {
  unsigned count;
  /** Of the largest page. */
  struct logged_call logged_call[MOST_TOLD] __attribute__((aligned(1 << 16)));
};

/** The calls that are answered at once, of all those made. So the recorder is never far behind. */
enum { ASKS_EVERY = 256 };

/** Milliseconds in which a file may change without another stamp. */
enum { STAMP = 12 };
