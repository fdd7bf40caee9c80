// Reads memos of starts without a file: lengths of four bytes and contents on standard input, or inputs of libFuzzer. Prints what
// each one replays. Compile it with -DPLAN.
#include "../../platform/native/linux/front/plan.h"
#include "../../platform/native/linux/front/restricted.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *VARIABLES[] = {"A=1", "PATH=/bin", NULL};

/** Expands the rules in a place that is too small for most. */
static void print_restrictions(const struct script *script) {
  char place[200], *at = place;
  printf(" %s %s %s %s", script->output, script->version, script->network, script->beginning);
  for (const char *rule = script->rules; *rule && at; rule += length_of(rule) + 1) at = expand(at, place + sizeof place, rule, "/tmp/rt-own");
  for (const char *each = place; at && each < at; each += length_of(each) + 1) printf(" %s", each);
}

/** @param content without the key @returns whether it is a whole memo of a script */
static int try_memo(const uint8_t *content, size_t length, struct script *script) {
  // Of exactly this size, so that the sanitizer sees each read outside of it.
  char *copy = malloc(length + 1);
  const char *entries[MOST_TEXTS + 3];
  memcpy(copy, content, length);
  copy[length] = 0;
  struct memo memo = {copy, copy + length + 1};
  script->environment = entries;
  int is_script = are_unchanged(&memo) && read_script(script, &memo, VARIABLES);
  if (is_script) {
    printf("script %zu", strlen(script->program) + strlen(script->line) + strlen(script->directory));
    for (const char **word = script->words; *word; word++) printf(" %s", *word);
    for (const char **entry = entries; *entry; entry++) printf(" %s", *entry);
    if (script->output) print_restrictions(script);
    puts("");
  } else puts("none");
  free(copy);
  return is_script;
}

#ifdef FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *content, size_t length) {
  struct script script;
  try_memo(content, length, &script);
  return 0;
}
#else
int main(void) {
  static uint8_t content[LARGEST_MEMO];
  struct script script;
  uint32_t length;
  while (fread(&length, sizeof length, 1, stdin) == 1 && length <= sizeof content) {
    if (fread(content, 1, length, stdin) != length) return 1;
    try_memo(content, length, &script);
  }
  return 0;
}
#endif
