// Reads packages from standard input, each after its length in 4 bytes, and prints for each whether json.h accepts it, and the
// script "test". With a sanitizer it fails at a read outside the text: each text has its own allocation.
//
// With -DFUZZER it is a target of libFuzzer: clang -fsanitize=fuzzer,address,undefined -DPLAN -DFUZZER -D_GNU_SOURCE json-program.c
#include "../../platform/native/linux/front/json.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Tables with one list, for the name of the field. */
static struct {
  struct tables tables;
  char field[16];
} own = {.field = "scripts\0"};

static int read_package(const uint8_t *bytes, size_t length, struct json *json) {
  own.tables.lists[SCRIPTS_FIELD] = offsetof(typeof(own), field);
  loaded_tables = &own.tables;
  return find_script(json, (const char *)bytes, length, "test");
}

#ifdef FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  struct json json;
  read_package(bytes, length, &json);
  return 0;
}
#else
int main(void) {
  uint32_t length;
  while (fread(&length, sizeof length, 1, stdin) == 1) {
    uint8_t *bytes = malloc(length ? length : 1);
    if (fread(bytes, 1, length, stdin) != length) return 1;
    struct json json;
    int is_known = read_package(bytes, length, &json);
    if (!is_known) puts("doubt");
    else if (!json.script) puts("none");
    else printf("script %.*s\n", (int)json.script_length, json.script);
    free(bytes);
  }
  return 0;
}
#endif
