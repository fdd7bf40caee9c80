// Comparisons of texts, and the check for UTF-8.
#pragma once
#include "../decimal.h"
#include "../syscalls.h"
#include "tables.h"

/** Returns what follows a beginning; NULL if the text begins otherwise. */
static const char *after(const char *text, const char *beginning) {
  while (*beginning)
    if (*text++ != *beginning++) return NULL;
  return text;
}

static int is_same(const char *one, const char *other) {
  const char *rest = after(one, other);
  return rest && !*rest;
}

/** Returns the list's entry that is the text, or NULL. */
static const char *find_in(enum list list, const char *text) {
  for (const char *each = first_of(list); *each; each += length_of(each) + 1)
    if (is_same(text, each)) return each;
  return NULL;
}

/** Returns whether the text begins with an entry of the list. */
static int begins_as(enum list list, const char *text) {
  for (const char *each = first_of(list); *each; each += length_of(each) + 1)
    if (after(text, each)) return 1;
  return 0;
}

static char *copy_text(char *to, const char *from) {
  while ((*to = *from++)) to++;
  return to;
}

/** Strict: no surrogates, no overlong forms. A byte order mark at the beginning is refused, because decoders drop it. */
static int is_utf8(const char *text, size_t length) {
  const unsigned char *at = (const unsigned char *)text, *end = at + length;
  if (length >= 3 && at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf) return 0;
  while (at < end) {
    unsigned first = *at++;
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return 0;
    int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (end - at < more) return 0;
    unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[0] < low || at[0] > high) return 0;
    for (int each = 1; each < more; each++)
      if (at[each] < 0x80 || at[each] > 0xbf) return 0;
    at += more;
  }
  return 1;
}
