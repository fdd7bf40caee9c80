// Prints the plan of the front as JSON: <tables> <words...>. Compile it with -DPLAN.
#include "../../platform/native/linux/front/plan.h"
#include <stdio.h>
#include <stdlib.h>

static void print_text(const char *text) {
  putchar('"');
  for (; *text; text++)
    if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20) printf("\\u%04x", *text);
    else putchar(*text);
  putchar('"');
}

int main(int argc, char **argv, char **environment) {
  (void)argc;
  static char tables[256 * 1024] __attribute__((aligned(16)));
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(tables, 1, sizeof tables, file) == 0) return 1;
  loaded_tables = (const struct tables *)tables;
  const char *words[argc + MORE_WORDS];
  struct plan plan = {.words = words};
  enum mode mode = make_plan(&plan, argv + 2, environment);
  const char *modes[] = {"doubt", "engine", "print"};
  printf("{\"mode\":\"%s\",\"words\":[", modes[mode]);
  for (int each = 0; mode == ENGINE && each < plan.count; each++) {
    if (each) putchar(',');
    print_text(plan.words[each]);
  }
  printf("],\"line\":");
  print_text(mode == PRINT ? plan.line : "");
  puts("}");
  return 0;
}
