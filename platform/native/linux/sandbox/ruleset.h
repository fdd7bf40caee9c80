// Creates the Landlock ruleset of a task. rt writes the list of its rules (../../../permissions/linux/rule-list.ts).
//
// Invariants:
// - The ruleset handles all accesses of its version, so what no rule names is refused.
// - A rule applies to the file that its path names without symlinks. If the rule may follow symlinks, it applies to their target,
//   unless that contains HOME.
// Non-obvious:
// - TCP connections are refused here even if they are permitted: ../recorder/connect-guard.h makes them.
#pragma once
#include "../decimal.h"
#include "rule-tree.h"
#include <linux/openat2.h>

/** The letter before each path of the list. Paths are absolute and end with NUL. */
enum rule_letter {
  /** Comes first: HOME without symlinks. */
  HOME = 'h',
  READABLE = 'r',
  WRITABLE = 'w',
  /** Read and written, without creation. */
  DEVICE = 'd',
  /** Closed, although a rule names a folder above. */
  HIDDEN = 'x',
  /** A folder whose `.env` files are closed. */
  ENV_FOLDER = 'e',
  /** Unix sockets below may be connected to (../recorder/connect-guard.h). It adds nothing to the ruleset. */
  SOCKETS = 's',
};
/** Upper case: the path may have symlinks. */
enum { FOLLOWED = 'A' - 'a' };

enum { MIN_VERSION = 3, VERSION_WITH_NETWORK = 4, VERSION_WITH_SCOPES = 6 };
enum { CONNECT_TCP = 2, ABSTRACT_SOCKETS_AND_SIGNALS = 3, VERSION_FLAG = 1 };

struct ruleset_attributes {
  unsigned long long files, network, scopes;
};

/** Returns whether a path is the folder, or below it. */
static int is_within(const char *path, const char *folder) {
  if (!starts_with(path, folder)) return 0;
  const size_t length = length_of(folder);
  return path[length] == 0 || path[length] == '/' || folder[length - 1] == '/';
}

/** Zeroed memory, which the kernel provides when it is used. */
static void *reserve(size_t size) {
  const long place = CALL(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  return place < 0 && place > -4096 ? NULL : (void *)place;
}

static int hide(struct rule_list *list, const char *path) {
  if (list->hidden_count == MAX_HIDDEN) return -E2BIG;
  list->hidden[list->hidden_count++] = path;
  return 0;
}

/** Calls `use` with the letter and the path of each line. */
static long read_list(struct rule_list *list, long (*use)(struct rule_list *list, int letter, const char *path)) {
  for (const char *at = list->bytes; at < list->end; at += length_of(at) + 1) {
    const long error = use(list, *at, at + 1);
    if (error < 0) return error;
  }
  return 0;
}

static int is_among(const char *name, const char *const *names, size_t count) {
  for (size_t each = 0; each < count; each++)
    if (compare_texts(name, names[each]) == 0) return 1;
  return 0;
}

/** `.env`, `.env.local` and so on, and the files of direnv and Wrangler; examples have no secrets. */
static int is_env_file(const char *name) {
  static const char *const NAMES[] = {".env", ".envrc", ".dev.vars"};
  static const char *const EXAMPLES[] = {"example", "sample", "template", "defaults", "schema"};
  for (size_t each = 0; each < sizeof NAMES / sizeof *NAMES; each++) {
    if (!starts_with(name, NAMES[each])) continue;
    const char *rest = name + length_of(NAMES[each]);
    if (rest[0] == 0) return 1;
    if (rest[0] == '.' && rest[1]) return !is_among(rest + 1, EXAMPLES, sizeof EXAMPLES / sizeof *EXAMPLES);
  }
  return 0;
}

struct env_folder {
  struct rule_list *list;
  const char *path;
};

static long hide_env_file(void *context, const struct directory_entry *entry) {
  const struct env_folder *folder = context;
  struct rule_list *list = folder->list;
  if (!is_env_file(entry->name)) return 0;
  const size_t size = length_of(folder->path) + length_of(entry->name) + 2;
  if (list->names_length + size > NAMES_SIZE) return -E2BIG;
  char *name = list->names + list->names_length;
  append(append(append(name, folder->path), "/"), entry->name);
  list->names_length += size;
  return hide(list, name);
}

static long hide_env_files(struct rule_list *list, const char *path) {
  const int folder = CALL(openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
  // Without its names, all of the folder is closed.
  if (folder < 0) return folder == -ENOENT ? 0 : hide(list, path);
  const long error = read_folder(folder, hide_env_file, &(struct env_folder){list, path});
  CALL(close, folder, 0, 0, 0, 0);
  return error;
}

static unsigned long rights_of(int letter) {
  static const unsigned long READ = EXECUTE | READ_FILE | READ_DIRECTORY;
  if (letter == READABLE) return READ;
  if (letter == WRITABLE) return ALL_RIGHTS & ~(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE);
  return READ_FILE | READ_DIRECTORY | WRITE_FILE | TRUNCATE_FILE;
}

/** Returns whether the path is absolute and has no part that is empty, `.` or `..`. */
static int is_normal(const char *path) {
  for (const char *at = path; *at == '/';) {
    const char *name = ++at;
    while (*at && *at != '/') at++;
    const size_t length = at - name;
    if (length == 0 || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))) return 0;
    if (*at == 0) return 1;
  }
  return 0;
}

/** Opens a path without symlinks. Returns -ELOOP if it has one, or if the kernel or an outer filter lacks the call. */
static long open_without_links(const char *path) {
  const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  if (!is_normal(path)) return -ELOOP;
  const long file = CALL(openat2, AT_FDCWD, path, &how, sizeof how, 0);
  return file == -ENOSYS || file == -EPERM ? -ELOOP : file;
}

/** Opens a path that may have symlinks, and replaces it by the path of its target. */
static long open_target(char *path) {
  char link[32];
  const long file = CALL(openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0, 0);
  if (file < 0) return file;
  *add_number(append(link, "/proc/self/fd/"), file) = 0;
  const long length = CALL(readlinkat, AT_FDCWD, link, path, PATH_MAX - 1, 0);
  path[length > 0 ? length : 0] = 0;
  return file;
}

/** Adds what the path means. A path that does not exist, or has a symlink that it may not have, has no effect. */
static long add_path(struct rule_list *list, const char *written, int is_followed, unsigned long rights) {
  char path[PATH_MAX];
  const size_t length = length_of(written);
  if (length >= PATH_MAX) return 0;
  append(path, written);
  // To read the path of a descriptor takes longer than to open it.
  long file = open_without_links(path);
  if (file == -ELOOP) file = open_target(path);
  if (file < 0) return 0;
  const int is_used = path[0] == '/' && !is_within(list->home, path) && (is_followed || compare_texts(path, written) == 0);
  const long error = is_used ? add_tree(list, file, path, length_of(path), rights) : 0;
  CALL(close, file, 0, 0, 0, 0);
  return error;
}

static long use_hidden(struct rule_list *list, int letter, const char *path) {
  if (letter == HOME) list->home = path;
  if (letter == HIDDEN) return hide(list, path);
  return letter == ENV_FOLDER ? hide_env_files(list, path) : 0;
}

static long use_rule(struct rule_list *list, int letter, const char *path) {
  const int is_followed = letter < 'a', lower = is_followed ? letter - FOLLOWED : letter;
  if (lower != READABLE && lower != WRITABLE && lower != DEVICE) return 0;
  return add_path(list, path, is_followed, rights_of(lower));
}

static long create_ruleset(int is_open) {
  const long version = CALL(landlock_create_ruleset, 0, 0, VERSION_FLAG, 0, 0);
  if (version < MIN_VERSION) return version < 0 ? version : -ENOSYS;
  const int has_network = version >= VERSION_WITH_NETWORK, has_scopes = version >= VERSION_WITH_SCOPES;
  const struct ruleset_attributes attributes = {
      .files = ALL_RIGHTS,
      .network = has_network && !is_open ? CONNECT_TCP : 0,
      .scopes = has_scopes ? ABSTRACT_SOCKETS_AND_SIGNALS : 0,
  };
  const size_t size = has_scopes ? 24 : has_network ? 16 : 8;
  return CALL(landlock_create_ruleset, &attributes, size, 0, 0, 0);
}

/**
 * Returns the descriptor of the ruleset, or an error with the failed step.
 *
 * @param bytes the list
 * @param is_open whether the task may use the network beyond loopback
 */
static long open_ruleset(const char *bytes, size_t length, int is_open, const char **step) {
  *step = "reading its rules";
  struct rule_list list = {.bytes = bytes, .end = bytes + length, .step = *step};
  if (length == 0 || list.end[-1] != 0 || list.bytes[0] != HOME) return -EINVAL;
  list.hidden = reserve(MAX_HIDDEN * sizeof *list.hidden);
  list.names = reserve(NAMES_SIZE);
  if (!list.hidden || !list.names) return -ENOMEM;
  long error = read_list(&list, use_hidden);
  if (error == 0) {
    sort_hidden(&list);
    *step = "landlock_create_ruleset";
    list.ruleset = error = create_ruleset(is_open);
    if (error >= 0) error = read_list(&list, use_rule);
    if (list.ruleset >= 0) *step = list.step;
  }
  return error < 0 ? error : list.ruleset;
}
