// Words that the front compares with. build/executable/front.ts appends them to the code, from the TypeScript tables.
#pragma once

/** One list of texts for each row of LISTS in build/executable/front.ts, in the same order. */
enum list {
  PROGRAM_NAME,
  RUN_COMMAND,
  TEST_COMMAND,
  PRINTING_OPTIONS, // pairs: the spelling, the line
  ENGINE_SWITCHES,
  CODE_OPTIONS, // pairs: the user's spelling, the engine's
  SOURCE_EXTENSIONS,
  DOUBTFUL_WORDS,      // beginnings of words
  DOUBTFUL_TEST_WORDS, // likewise, of words after `test`
  DOUBTFUL_VARIABLES,  // beginnings of entries
  TEST_EVENT,      // the entry of a script that is called "test"
  MEMO_PLACES,     // pairs: the beginning of a variable, what follows its value
  PROJECT_FILES,   // that the folder of a project has
  START_VARIABLES, // beginnings of entries that count for a memo
  CONFIG_FILE,
  ROOT_SETTINGS, // words of tables of the root project
  PROJECT_SETTINGS, // files that change how an absolute path is resolved
  CONFIG_WORD,
  PRELOAD_WORD,
  SWITCH_ON,
  SWITCH_OFF,
  BECAME_VARIABLE,
  ADOPTED_VARIABLE,
  COUNT_OF_LISTS,
};

struct tables {
  /** The engine's entry point. */
  long entry;
  /** Where the engine's copy of libc's `environ` is. */
  char ***environment;
  /** Offsets from the beginning of this structure. Each list ends with an empty text. */
  unsigned lists[COUNT_OF_LISTS];
  /** Offset and size of the launcher of scripts with permissions. */
  unsigned launcher, launcher_size;
};

#ifdef PLAN
static const struct tables *loaded_tables;
#define TABLES loaded_tables
#else
extern const struct tables front_tables __attribute__((visibility("hidden")));
#define TABLES (&front_tables)
#endif

/** Returns the first text of a list. */
static const char *first_of(enum list list) {
  return (const char *)TABLES + TABLES->lists[list];
}
