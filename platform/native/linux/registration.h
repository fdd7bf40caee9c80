// Registers this process with the kill watchdog (../../processes/posix/kill-watchdog.ts).
//
// Invariants:
// - The watchdog reads the list when every process has closed `alive`. This process closes it after it has written its id.
//   So the process is in the list whenever rt is killed.
#pragma once
#include "decimal.h"
#include "start.h"

enum { COUNT_OF_DIGITS = 11 };

static int number_in(const char *digits) {
  int number = 0;
  while (*digits) number = number * 10 + (*digits++ - '0');
  return number;
}

/** Each line of the list has one length, so the id is padded with blanks. */
static int enlist(int list, long place) {
  char line[COUNT_OF_DIGITS + 1];
  for (char *each = add_number(line, CALL(getpid, 0, 0, 0, 0, 0)); each < line + COUNT_OF_DIGITS; each++) *each = ' ';
  line[COUNT_OF_DIGITS] = '\n';
  return CALL(pwrite64, list, line, sizeof line, place * sizeof line, 0) == sizeof line;
}

/** Writes this process into the list, and closes the descriptors. @param words list, line, alive: numbers. Returns 0 on failure */
static int register_process(char **words) {
  const int list = number_in(words[0]);
  if (!enlist(list, number_in(words[1]))) return 0;
  CALL(close, list, 0, 0, 0, 0);
  CALL(close, number_in(words[2]), 0, 0, 0, 0);
  return 1;
}
