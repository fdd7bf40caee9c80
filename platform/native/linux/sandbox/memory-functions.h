// The functions of <string.h> that the launcher and the compiler need, because the launcher has no C library.
//
// Non-obvious: without the attribute, the compiler replaces the loop of memcpy by a call of memcpy.
#pragma once
#include <string.h>

#define PLAIN_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns"), used))

PLAIN_LOOP void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  for (size_t each = 0; each < size; each++) ((char *)to)[each] = ((const char *)from)[each];
  return to;
}

PLAIN_LOOP void *memset(void *to, int value, size_t size) {
  for (size_t each = 0; each < size; each++) ((char *)to)[each] = value;
  return to;
}

PLAIN_LOOP int memcmp(const void *first, const void *second, size_t size) {
  const unsigned char *left = first, *right = second;
  for (size_t each = 0; each < size; each++)
    if (left[each] != right[each]) return left[each] - right[each];
  return 0;
}

PLAIN_LOOP size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

int strncmp(const char *first, const char *second, size_t size) {
  for (size_t each = 0; each < size; each++)
    if (first[each] != second[each] || first[each] == 0) return (unsigned char)first[each] - (unsigned char)second[each];
  return 0;
}

void *memchr(const void *bytes, int value, size_t size) {
  for (const unsigned char *each = bytes; each < (const unsigned char *)bytes + size; each++)
    if (*each == (unsigned char)value) return (void *)each;
  return NULL;
}

char *strstr(const char *text, const char *part) {
  const size_t length = strlen(part);
  for (; *text; text++)
    if (strncmp(text, part, length) == 0) return (char *)text;
  return length == 0 ? (char *)text : NULL;
}
