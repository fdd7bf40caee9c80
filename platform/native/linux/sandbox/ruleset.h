// Creates the Landlock ruleset of a task. rt writes the list of its rules (../../../permissions/linux/rule-list.ts).
//
// Invariants:
// - The ruleset handles all accesses of its version, so what no rule names is refused.
// - A rule applies to the file that its path names without symlinks. If the rule may follow symlinks, it applies to their target,
//   unless that contains HOME.
// Non-obvious:
// - Rights are inherited downwards and cannot be taken away below. So a folder above a hidden file gets no right to read files,
//   and each entry beside the hidden one gets a rule.
// - TCP connections are refused here even if they are permitted: ../recorder/connect-guard.h makes them.
#pragma once
#include "../syscalls.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
};
/** Upper case: the path may have symlinks. */
enum { FOLLOWED = 'A' - 'a' };

/** Rights of version 3. Headers of older kernels lack some of them. */
enum right {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIRECTORY = 1 << 3,
  MAKE_CHARACTER_DEVICE = 1 << 6,
  MAKE_BLOCK_DEVICE = 1 << 11,
  TRUNCATE = 1 << 14,
  ALL_RIGHTS = (1 << 15) - 1,
  /** Rights that a rule for a file can have. */
  RIGHTS_OF_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE,
};

enum { MIN_VERSION = 3, VERSION_WITH_NETWORK = 4, VERSION_WITH_SCOPES = 6 };
enum { CONNECT_TCP = 2, ABSTRACT_SOCKETS_AND_SIGNALS = 3, PATH_BENEATH = 1, VERSION_FLAG = 1 };

struct ruleset_attributes {
  unsigned long long files, network, scopes;
};

struct path_rule {
  unsigned long long rights;
  int parent;
} __attribute__((packed));

enum { MAX_HIDDEN = 1 << 16, NAMES_SIZE = 16 << 20, ENTRIES_SIZE = 2048 };

struct rule_list {
  const char *bytes, *end, *home;
  int ruleset;
  /** Sorted. */
  const char **hidden;
  size_t hidden_count;
  /** Paths of hidden files that the list does not name. */
  char *names;
  size_t names_length;
  /** The failed step, if a function returns an error. */
  const char *step;
};

struct directory_entry {
  unsigned long long inode;
  long long offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

static int starts_with(const char *text, const char *start) {
  while (*start)
    if (*text++ != *start++) return 0;
  return 1;
}

static int compare_texts(const char *first, const char *second) {
  for (; *first && *first == *second; first++, second++) continue;
  return (unsigned char)*first - (unsigned char)*second;
}

/** Returns whether a path is the folder, or below it. */
static int is_within(const char *path, const char *folder) {
  if (!starts_with(path, folder)) return 0;
  const size_t length = length_of(folder);
  return path[length] == 0 || path[length] == '/' || folder[length - 1] == '/';
}

static char *append(char *to, const char *text) {
  while (*text) *to++ = *text++;
  *to = 0;
  return to;
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

/** `.env`, `.env.local` and so on; examples have no secrets. */
static int is_env_file(const char *name) {
  static const char *const EXAMPLES[] = {"example", "sample", "template", "defaults", "schema"};
  if (!starts_with(name, ".env")) return 0;
  if (name[4] == 0) return 1;
  if (name[4] != '.' || name[5] == 0) return 0;
  for (size_t each = 0; each < sizeof EXAMPLES / sizeof *EXAMPLES; each++)
    if (compare_texts(name + 5, EXAMPLES[each]) == 0) return 0;
  return 1;
}

/** Reads entries of a folder; `visit` returns a negative error to stop. */
static long read_folder(int folder, long (*visit)(void *context, const struct directory_entry *entry), void *context) {
  char entries[ENTRIES_SIZE] __attribute__((aligned(8)));
  for (;;) {
    const long length = CALL(getdents64, folder, entries, sizeof entries, 0, 0);
    if (length <= 0) return length;
    for (long at = 0; at < length;) {
      const struct directory_entry *entry = (const void *)(entries + at);
      at += entry->length;
      if (entry->name[0] == '.' && (entry->name[1] == 0 || (entry->name[1] == '.' && entry->name[2] == 0))) continue;
      const long error = visit(context, entry);
      if (error < 0) return error;
    }
  }
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

/** Shell sort: the list is short. */
static void sort_hidden(struct rule_list *list) {
  const char **hidden = list->hidden;
  size_t gap = 1;
  while (gap < list->hidden_count / 3) gap = gap * 3 + 1;
  for (; gap > 0; gap /= 3)
    for (size_t each = gap; each < list->hidden_count; each++) {
      const char *path = hidden[each];
      size_t at = each;
      for (; at >= gap && compare_texts(hidden[at - gap], path) > 0; at -= gap) hidden[at] = hidden[at - gap];
      hidden[at] = path;
    }
}

/** Returns the first hidden path that is not before this one. */
static const char *first_hidden_from(const struct rule_list *list, const char *path) {
  size_t low = 0, high = list->hidden_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (compare_texts(list->hidden[middle], path) < 0) low = middle + 1;
    else high = middle;
  }
  return low < list->hidden_count ? list->hidden[low] : NULL;
}

static int is_hidden(const struct rule_list *list, const char *path) {
  const char *found = first_hidden_from(list, path);
  return found && compare_texts(found, path) == 0;
}

/** @param path ends with a slash */
static int has_hidden_below(const struct rule_list *list, const char *path) {
  const char *found = first_hidden_from(list, path);
  return found && starts_with(found, path);
}

static long add_rule(struct rule_list *list, int file, unsigned long rights) {
  struct path_rule rule = {.rights = rights, .parent = file};
  long error = CALL(landlock_add_rule, list->ruleset, PATH_BENEATH, &rule, 0, 0);
  // A file cannot have the rights of folders.
  if (error == -EINVAL) {
    rule.rights = rights & RIGHTS_OF_FILE;
    error = rule.rights == 0 ? 0 : CALL(landlock_add_rule, list->ruleset, PATH_BENEATH, &rule, 0, 0);
  }
  if (error < 0) list->step = "landlock_add_rule";
  return error;
}

struct rule_tree {
  struct rule_list *list;
  int folder;
  unsigned long rights;
  /** Path of the folder, with a slash at its end. All levels share the buffer. */
  char *path;
  size_t length;
};

static long add_tree(struct rule_list *list, int file, char *path, size_t length, unsigned long rights);

static long add_entry(void *context, const struct directory_entry *entry) {
  enum { SYMLINK = 10 };
  const struct rule_tree *tree = context;
  const size_t length = length_of(entry->name);
  if (entry->type == SYMLINK || tree->length + length + 2 > PATH_MAX) return 0;
  append(tree->path + tree->length, entry->name);
  const int file = CALL(openat, tree->folder, entry->name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 0);
  if (file < 0) return 0;
  const long error = add_tree(tree->list, file, tree->path, tree->length + length, tree->rights);
  CALL(close, file, 0, 0, 0, 0);
  return error;
}

/** @param path without symlinks, in a buffer of PATH_MAX */
static long add_tree(struct rule_list *list, int file, char *path, size_t length, unsigned long rights) {
  if (is_hidden(list, path)) return 0;
  if (path[length - 1] != '/') {
    if (length + 2 > PATH_MAX) return 0;
    append(path + length++, "/");
  }
  if (!has_hidden_below(list, path)) return add_rule(list, file, rights);
  long error = add_rule(list, file, rights & ~(READ_FILE | EXECUTE));
  if (error < 0) return error;
  const int folder = CALL(openat, file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
  if (folder < 0) return 0;
  error = read_folder(folder, add_entry, &(struct rule_tree){list, folder, rights, path, length});
  CALL(close, folder, 0, 0, 0, 0);
  return error;
}

static unsigned long rights_of(int letter) {
  static const unsigned long READ = EXECUTE | READ_FILE | READ_DIRECTORY;
  if (letter == READABLE) return READ;
  if (letter == WRITABLE) return ALL_RIGHTS & ~(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE);
  return READ_FILE | READ_DIRECTORY | WRITE_FILE | TRUNCATE;
}

static char *append_number(char *to, unsigned number) {
  char digits[10];
  int count = 0;
  do digits[count++] = '0' + number % 10;
  while (number /= 10);
  while (count > 0) *to++ = digits[--count];
  *to = 0;
  return to;
}

/** Adds what the path means. A path that does not exist, or has a symlink that it may not have, has no effect. */
static long add_path(struct rule_list *list, const char *written, int is_followed, unsigned long rights) {
  char path[PATH_MAX], link[32];
  struct stat status;
  const int flags = O_PATH | O_CLOEXEC | (is_followed ? 0 : O_NOFOLLOW);
  const int file = CALL(openat, AT_FDCWD, written, flags, 0, 0);
  if (file < 0) return 0;
  append_number(append(link, "/proc/self/fd/"), file);
  const long length = CALL(readlinkat, AT_FDCWD, link, path, sizeof path - 1, 0);
  long error = 0;
  if (length <= 0) goto closed;
  path[length] = 0;
  if (is_within(list->home, path)) goto closed;
  if (!is_followed) {
    if (compare_texts(path, written) != 0) goto closed;
    if (CALL(fstat, file, &status, 0, 0, 0) < 0 || S_ISLNK(status.st_mode)) goto closed;
  }
  error = add_tree(list, file, path, length, rights);
closed:
  CALL(close, file, 0, 0, 0, 0);
  return error;
}

/** Calls `use` with the letter and the path of each line. */
static long read_list(struct rule_list *list, long (*use)(struct rule_list *list, int letter, const char *path)) {
  for (const char *at = list->bytes; at < list->end; at += length_of(at) + 1) {
    const long error = use(list, *at, at + 1);
    if (error < 0) return error;
  }
  return 0;
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
 * @param file contains the list
 * @param is_open whether the task may use the network beyond loopback
 */
static long open_ruleset(int file, int is_open, const char **step) {
  struct stat status;
  *step = "reading its rules";
  long error = CALL(fstat, file, &status, 0, 0, 0);
  if (error < 0) return error;
  const long place = CALL(mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, file);
  if (place < 0 && place > -4096) return place;
  struct rule_list list = {.bytes = (const char *)place, .step = *step};
  list.end = list.bytes + status.st_size;
  if (status.st_size == 0 || list.end[-1] != 0 || list.bytes[0] != HOME) return -EINVAL;
  list.hidden = reserve(MAX_HIDDEN * sizeof *list.hidden);
  list.names = reserve(NAMES_SIZE);
  if (!list.hidden || !list.names) return -ENOMEM;
  error = read_list(&list, use_hidden);
  if (error == 0) {
    sort_hidden(&list);
    *step = "landlock_create_ruleset";
    list.ruleset = error = create_ruleset(is_open);
    if (error >= 0) error = read_list(&list, use_rule);
    if (list.ruleset >= 0) *step = list.step;
  }
  return error < 0 ? error : list.ruleset;
}
