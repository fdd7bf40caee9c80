// Decides how a command line starts the engine. Uncertain command lines are a doubt: TypeScript decides.
//
// Invariants: a plan has the words that src/runner/engine/engine.ts passes to the engine, in the same order.
#pragma once
#include "memo.h"

enum mode { DOUBT, ENGINE, PRINT, SCRIPT, RESTRICTED };

/** Most words that are added to those of the command line. */
enum { MORE_WORDS = 8 };

struct plan {
  /** The line to print. */
  const char *line;
  /** The engine's words, ended by NULL: an array for MORE_WORDS more than the command line has. */
  const char **words;
  int count;
  /** The absolute path of a source file. */
  char path[PATH_SIZE];
  /** The working directory. */
  char directory[LONGEST_DIRECTORY];
  struct script script;
};

static void add(struct plan *plan, const char *word) {
  plan->words[plan->count++] = word;
}

static void add_all(struct plan *plan, char **words, char **end) {
  while (*words && words != end) add(plan, *words++);
}

/** @param command the first word; NULL for code without one */
static void begin_words(struct plan *plan, const char *name, const char *command) {
  add(plan, name);
  if (command) add(plan, command);
  add(plan, first_of(CONFIG_WORD));
  add(plan, first_of(PRELOAD_WORD));
}

/** src/runner/resolve/shadowed-script.ts: whether it prints nothing. */
static int has_no_hint(char **argv, const char *directory, char **environment) {
  for (char **entry = environment; *entry; entry++)
    if (is_same(*entry, first_of(TEST_EVENT))) return 1;
  char *words[] = {argv[1], NULL};
  struct memo memo;
  return find_memo(&memo, words, directory, environment) && memo.at == memo.end;
}

/** `test` and its words. */
static enum mode plan_test(struct plan *plan, char **argv, char **environment, const char *directory) {
  for (char **word = argv + 2; *word; word++)
    if (begins_as(DOUBTFUL_TEST_WORDS, *word)) return DOUBT;
  if (!has_no_hint(argv, directory, environment)) return DOUBT;
  begin_words(plan, argv[0], argv[1]);
  add_all(plan, argv + 2, NULL);
  return ENGINE;
}

/** Code of -e or -p: src/options/parse.ts reads switches behind it as well. */
static enum mode plan_evaluation(struct plan *plan, char *name, char **switches, char **at, const char *directory) {
  const char *option = find_in(CODE_OPTIONS, *at), *code = at[1];
  if (!code || !lacks_root_settings(directory)) return DOUBT;
  begin_words(plan, name, NULL);
  add_all(plan, switches, at);
  add(plan, option + length_of(option) + 1);
  add(plan, *code ? code : " ");
  for (at += 2; *at && (*at)[0] == '-' && (*at)[1]; at++) {
    if (is_same(*at, "--")) {
      at++;
      break;
    }
    if (!find_in(ENGINE_SWITCHES, *at)) return DOUBT;
    add(plan, *at);
  }
  if (*at && (*at)[0] == '-') add(plan, "--");
  add_all(plan, at, NULL);
  return ENGINE;
}

static enum mode plan_code(struct plan *plan, char **argv, const char *directory) {
  int is_run = is_same(argv[1], first_of(RUN_COMMAND));
  char **switches = argv + 1 + is_run, **at = switches;
  while (*at && find_in(ENGINE_SWITCHES, *at)) at++;
  if (!*at) return DOUBT;
  if (is_same(*at, "-")) {
    // The full command line, which options need, reads configuration above.
    if (at > switches && !lacks_root_settings(directory)) return DOUBT;
    if (!has_input()) return DOUBT;
    begin_words(plan, argv[0], first_of(RUN_COMMAND));
    add_all(plan, switches, NULL);
    return ENGINE;
  }
  if (find_in(CODE_OPTIONS, *at)) return plan_evaluation(plan, argv[0], switches, at, directory);
  if (is_run || at == switches || !find_source(*at, directory, plan->path)) return DOUBT;
  begin_words(plan, argv[0], NULL);
  add_all(plan, switches, at);
  add(plan, plan->path);
  add_all(plan, at + 1, NULL);
  return ENGINE;
}

/** A script without arguments, or something else: whether there is a memo decides. */
static int may_be_script(char **argv) {
  int is_run = is_same(argv[1], first_of(RUN_COMMAND));
  const char *name = argv[1 + is_run];
  return name && *name != '-' && !argv[2 + is_run] && (is_run || !is_source(name));
}

static enum mode plan_script(struct plan *plan, char **argv, char **environment, const char *directory) {
  struct memo memo;
  if (!is_ordinary_process()) return DOUBT;
  if (!find_memo(&memo, argv + 1, directory, environment)) return DOUBT;
  if (!read_script(&plan->script, &memo, environment)) return DOUBT;
  return plan->script.output ? RESTRICTED : SCRIPT;
}

/** Excludes the most frequent starts, of files, by their first words. */
static int may_be_planned(char **argv) {
  if (!argv[0] || !argv[1]) return 0;
  if (may_be_script(argv)) return 1;
  if (argv[1][0] == '-' || is_same(argv[1], first_of(TEST_COMMAND))) return 1;
  return is_same(argv[1], first_of(RUN_COMMAND)) && argv[2] && argv[2][0] == '-';
}

static int is_doubtful(char **argv, char **environment) {
  const char *name = argv[0];
  for (const char *at = name; *at; at++)
    if (*at == '/') name = at + 1;
  if (!find_in(PROGRAM_NAME, name)) return 1;
  for (char **word = argv; *word; word++)
    if (!is_utf8(*word, length_of(*word)) || begins_as(DOUBTFUL_WORDS, *word)) return 1;
  for (; *environment; environment++)
    if (begins_as(DOUBTFUL_VARIABLES, *environment)) return 1;
  return 0;
}

static enum mode make_plan(struct plan *plan, char **argv, char **environment) {
  char *directory = plan->directory;
  if (!may_be_planned(argv) || is_doubtful(argv, environment) || !find_directory(directory)) return DOUBT;
  const char *option = *argv[1] == '-' && !argv[2] ? find_in(PRINTING_OPTIONS, argv[1]) : NULL;
  if (option) plan->line = option + length_of(option) + 1;
  if (option) return PRINT;
  int is_test = is_same(argv[1], first_of(TEST_COMMAND));
  // The memo of a script names each rtfig.toml that was read, and those that were absent.
  if (!is_test && may_be_script(argv)) return plan_script(plan, argv, environment, directory);
  // src/config/settings/settings-sources.ts, openConfig()
  if (CALL(faccessat, AT_FDCWD, first_of(CONFIG_FILE), F_OK, 0, 0) != -ENOENT) return DOUBT;
  return is_test ? plan_test(plan, argv, environment, directory) : plan_code(plan, argv, directory);
}
