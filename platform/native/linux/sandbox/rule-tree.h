// Adds the files and folders below a path to a Landlock ruleset, except hidden ones.
//
// Non-obvious:
// - Rights are inherited downwards and cannot be taken away below. So a folder above a hidden file gets no right to read files,
//   and each entry beside the hidden one gets a rule.
#pragma once
#include "../syscalls.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

/** Rights of version 3. Headers of older kernels lack some of them. */
enum right {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIRECTORY = 1 << 3,
  MAKE_CHARACTER_DEVICE = 1 << 6,
  MAKE_BLOCK_DEVICE = 1 << 11,
  MOVE_BETWEEN_FOLDERS = 1 << 13,
  TRUNCATE_FILE = 1 << 14,
  ALL_RIGHTS = (1 << 15) - 1,
  /** Rights that a rule for a file can have. */
  RIGHTS_OF_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE_FILE,
};

enum { PATH_BENEATH = 1 };

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

static char *append(char *to, const char *text) {
  while (*text) *to++ = *text++;
  *to = 0;
  return to;
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
  enum { REGULAR_FILE = 8, SYMLINK = 10 };
  const struct rule_tree *tree = context;
  const size_t length = length_of(entry->name);
  const unsigned long rights = entry->type == REGULAR_FILE ? tree->rights & RIGHTS_OF_FILE : tree->rights;
  if (entry->type == SYMLINK || tree->length + length + 2 > PATH_MAX) return 0;
  append(tree->path + tree->length, entry->name);
  const int file = CALL(openat, tree->folder, entry->name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 0);
  if (file < 0) return 0;
  const long error = add_tree(tree->list, file, tree->path, tree->length + length, rights);
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
