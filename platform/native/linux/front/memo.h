// Reads the memo of a start: what TypeScript decided for the same command line. src/runner/fast-path/start-memo.ts writes it.
//
// Invariants:
// - A memo counts only in directories that this user owns, and that other users cannot write to. Nor may it be in a project: a task
//   with permissions can write there, and would choose a program that has none.
// - It counts for one file of rt, working directory, words and variables, while all its stat fingerprints match.
// - The content is not trusted: only its own bytes are read, and what does not fit is a doubt.
#pragma once
#include "surroundings.h"
#include <linux/stat.h>

enum {
  SLOTS = 4096,
  LARGEST_KEY = 16 * 1024, // bytes, also below
  LARGEST_MEMO = 64 * 1024,
  MOST_TEXTS = 600, // words of a program, and changes of the environment
  FINGERPRINT_WORDS = 13,
  FOLLOWS = 1, // flags of a row: src/cache/memo/path-observations.ts
  WHOLE = 2,
  ABSENT = 0x80000000u, // with the error number: platform/files/contract/stat-fingerprint.ts
};

/** Offsets of inode, size, ctime, mtime and device in struct statx. */
static const unsigned char FIELDS[] = {32, 36, 40, 44, 96, 100, 104, 112, 116, 120, 136, 140};

/** The unread rest of a memo. Its last byte is NUL. */
struct memo {
  const char *at, *end;
};

/** A script as the memo describes it. Lists end with NULL. */
struct script {
  /** The texts of the memo. */
  const char *memo, *memo_end;
  const char *terminal_line, *line, *directory, *program;
  const char *words[MOST_TEXTS];
  /** NULL without permissions: the kind of standard output, the version of Landlock, and the network (../recorder/connect-guard.h). */
  const char *output, *version, *network;
  /** The beginning of the private folder's path. */
  const char *beginning;
  /** Texts that end with an empty one: names of variables that it inherits, or beginnings before a `*`; the list of rules. */
  const char *inherited, *rules;
  /** Has room for MOST_TEXTS entries more than the environment. */
  const char **environment;
};

/** Returns NULL at the end. */
static const char *next_text(struct memo *memo) {
  const char *text = memo->at;
  if (text >= memo->end) return NULL;
  memo->at += length_of(text) + 1;
  return text;
}

static const char *value_of(char **environment, const char *beginning) {
  for (; *environment; environment++)
    if (after(*environment, beginning)) return after(*environment, beginning);
  return NULL;
}

static int is_own(const struct stat *status) {
  return status->st_uid == (unsigned)CALL(geteuid, 0, 0, 0, 0, 0) && !(status->st_mode & 022);
}

/** Whether a folder above an open file has a file of a project. */
static int is_in_project(long file) {
  char link[32], path[PATH_SIZE], name[PATH_SIZE + 32];
  *add_number(copy_text(link, "/proc/self/fd/"), file) = 0;
  const long size = CALL(readlinkat, AT_FDCWD, link, path, sizeof path - 1, 0);
  if (size <= 0) return 1;
  path[size] = 0;
  while (go_up(path))
    for (const char *each = first_of(PROJECT_FILES); *each; each += length_of(each) + 1) {
      join(name, path, each);
      if (CALL(faccessat, AT_FDCWD, name, F_OK, 0, 0) != -ENOENT) return 1;
    }
  return 0;
}

/** Checks each directory from the variable's value on. @returns a negative number without a usable file */
static long open_memo(char **environment, unsigned slot) {
  char path[PATH_SIZE];
  struct stat status;
  const char *place = first_of(MEMO_PLACES), *base = NULL, *below = NULL;
  for (; *place && !(base && *base == '/'); place = below + length_of(below) + 1) {
    base = value_of(environment, place);
    below = place + length_of(place) + 1;
  }
  if (!base || *base != '/' || length_of(base) > LONGEST_DIRECTORY) return -1;
  char *at = copy_text(path, base), *end = copy_text(at, below);
  *add_number(end, slot) = 0;
  for (; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    int is_private = CALL(newfstatat, AT_FDCWD, path, &status, 0, 0) == 0 && is_own(&status);
    *at = '/';
    if (!is_private) return -1;
  }
  const long file = CALL(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0, 0);
  // The last place is HOME, and tasks of a project that contains it cannot have permissions.
  if (file < 0 || !*place || !is_in_project(file)) return file;
  CALL(close, file, 0, 0, 0, 0);
  return -1;
}

/** Appends a text with its NUL. @returns NULL if there is no place */
static char *append(char *to, const char *end, const char *text) {
  return !to || length_of(text) >= (size_t)(end - to) ? NULL : copy_text(to, text) + 1;
}

/** Writes what a memo has to begin with. @returns its end, or NULL */
static char *write_key(char *key, char **words, const char *directory, char **environment) {
  const char *end = key + LARGEST_KEY;
  char program[PATH_SIZE];
  long size = CALL(readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof program - 1, 0);
  if (size <= 0) return NULL;
  program[size] = 0;
  char *at = append(append(key, end, program), end, directory);
  for (; *words; words++) at = append(at, end, *words);
  at = append(at, end, "");
  for (; *environment; environment++)
    if (begins_as(START_VARIABLES, *environment)) at = append(at, end, *environment);
  return append(at, end, "");
}

static int is_equal(const void *one, const void *other, size_t length) {
  for (size_t each = 0; each < length; each++)
    if (((const char *)one)[each] != ((const char *)other)[each]) return 0;
  return 1;
}

/** Whether a path has this fingerprint: platform/files/linux/stat-fingerprint.ts. */
static int is_unchanged(const char *path, int how, const char *fingerprint) {
  struct statx found;
  int flags = how & FOLLOWS ? 0 : AT_SYMLINK_NOFOLLOW;
  long error = CALL(statx, AT_FDCWD, path, flags, STATX_BASIC_STATS, &found);
  unsigned words[FINGERPRINT_WORDS] = {error ? ABSENT - (unsigned)error : found.stx_mode};
  for (int each = 1; each < FINGERPRINT_WORDS && !error; each++)
    words[each] = *(const unsigned *)((const char *)&found + FIELDS[each - 1]);
  return is_equal(words, fingerprint, how & WHOLE ? sizeof words : sizeof *words);
}

/** Reads the rows of paths, up to the empty text behind them. */
static int are_unchanged(struct memo *memo) {
  const size_t size = FINGERPRINT_WORDS * sizeof(unsigned);
  for (const char *row; (row = next_text(memo)); memo->at += size) {
    if (!*row) return 1;
    if ((size_t)(memo->end - memo->at) <= size || !is_unchanged(row + 1, *row - '0', memo->at)) return 0;
  }
  return 0;
}

/** Finds a valid memo, and leaves what it replays unread. Its memory is kept until the process is replaced. */
static int find_memo(struct memo *memo, char **words, const char *directory, char **environment) {
  char key[LARGEST_KEY], *end = write_key(key, words, directory, environment);
  if (!end) return 0;
  unsigned hash = 0x811c9dc5;
  for (char *at = key; at < end; at++) hash = (hash ^ (unsigned char)*at) * 0x01000193;
  long file = open_memo(environment, hash % SLOTS);
  if (file < 0) return 0;
  struct stat status;
  char *place = allocate(LARGEST_MEMO);
  int is_usable = place && CALL(fstat, file, &status, 0, 0, 0) == 0 && S_ISREG(status.st_mode) && is_own(&status);
  long length = is_usable ? CALL(read, file, place, LARGEST_MEMO, 0, 0) : 0;
  CALL(close, file, 0, 0, 0, 0);
  if (length <= end - key || length == LARGEST_MEMO || place[length - 1] != 0) return 0;
  *memo = (struct memo){place + (end - key), place + length};
  return is_equal(place, key, end - key) && are_unchanged(memo);
}

/** Replaces or adds an entry, as putenv() does. @returns the number of entries */
static long put_entry(const char **entries, long count, const char *entry) {
  size_t length = 1;
  while (entry[length - 1] && entry[length - 1] != '=') length++;
  for (long each = 0; each < count; each++)
    if (is_equal(entries[each], entry, length)) {
      entries[each] = entry;
      return count;
    }
  entries[count] = entry;
  return count + 1;
}

/** Skips texts up to the empty one behind them. @returns the first one, or NULL without an end */
static const char *skip_list(struct memo *memo) {
  const char *first = memo->at, *text;
  while ((text = next_text(memo)))
    if (!*text) return first;
  return NULL;
}

/** @returns 0 if the memo is damaged */
static int read_restrictions(struct script *script, struct memo *memo) {
  const char **texts[] = {&script->output, &script->version, &script->network, &script->beginning};
  for (size_t each = 0; each < sizeof texts / sizeof *texts; each++)
    if (!(*texts[each] = next_text(memo)) || !**texts[each]) return 0;
  script->inherited = skip_list(memo);
  script->rules = skip_list(memo);
  return script->inherited && script->rules && script->beginning[0] == '/';
}

/** Whether a script with permissions gets an entry of the environment: src/variable-names.ts. */
static int is_inherited(const char *entry, const char *names) {
  for (; *names; names += length_of(names) + 1) {
    const char *at = entry, *name = names;
    while (*name && *name == *at) name++, at++;
    if (is_same(name, "*") || (!*name && *at == '=')) return 1;
  }
  return 0;
}

/** Whether an entry of this name is there. The first one counts. */
static int has_name(const char **entries, long count, const char *entry) {
  size_t length = 0;
  while (entry[length] && entry[length] != '=') length++;
  for (long each = 0; each < count; each++)
    if (is_equal(entries[each], entry, length + 1)) return 1;
  return 0;
}

/** @returns 0 if the memo is damaged */
static int read_script(struct script *script, struct memo *memo, char **environment) {
  const char *text, **entries = script->environment;
  long words = 0, count = 0, changes = 0;
  script->memo = memo->at;
  script->memo_end = memo->end;
  script->terminal_line = next_text(memo);
  script->line = next_text(memo);
  script->directory = next_text(memo);
  script->program = next_text(memo);
  for (; (text = next_text(memo)) && *text; script->words[words++] = text)
    if (words == MOST_TEXTS - 1) return 0;
  script->words[words] = NULL;
  struct memo changed = *memo;
  script->output = NULL;
  if (!text || !skip_list(memo)) return 0;
  if (memo->at < memo->end && !read_restrictions(script, memo)) return 0;
  for (; *environment; environment++)
    if (!script->output || (is_inherited(*environment, script->inherited) && !has_name(entries, count, *environment)))
      entries[count++] = *environment;
  for (; (text = next_text(&changed)) && *text; count = put_entry(entries, count, text))
    if (++changes == MOST_TEXTS) return 0;
  entries[count] = NULL;
  return words > 0 && memo->at == memo->end;
}
