// Writes decimal numbers.
#pragma once
#include <stddef.h>

enum { MAX_DIGITS = 20 };

/** Writes a number without NUL. Returns the end, which is at most MAX_DIGITS bytes further. */
static char *add_number(char *to, unsigned long number) {
  char digits[MAX_DIGITS];
  size_t length = 0;
  do digits[length++] = '0' + number % 10;
  while (number /= 10);
  while (length > 0) *to++ = digits[--length];
  return to;
}
