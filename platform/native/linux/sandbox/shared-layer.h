// Creates the Landlock ruleset that closes files of the system to all tasks of rt.
//
// Invariants:
// - The layer refuses to read and execute the closed files. It also refuses that for entries that the folders above get later.
// - It is created again if one of these folders has changed. The same applies to mounts on folders of the root.
// Non-obvious:
// - Each task adds this layer to its own. Otherwise every task would need a rule for each entry beside a closed file.
// - A layer that does not allow moves between folders refuses them all.
#pragma once
#include "rule-tree.h"

static const unsigned long LAYER_RIGHTS = READ_FILE | EXECUTE | MOVE_BETWEEN_FOLDERS;

enum { MAX_CLOSED = 64 };

struct shared_layer {
  /** Identifies the state of the folders. */
  unsigned long long state;
  /** -1 if it does not exist. */
  int ruleset;
};

static void mix(unsigned long long *state, unsigned long long value) { *state = (*state ^ value) * 0x100000001b3; }

static void mix_place(unsigned long long *state, const struct stat *status) {
  mix(state, status->st_dev);
  mix(state, status->st_ino);
}

struct root_folder {
  int descriptor;
  unsigned long long state;
};

static long mix_entry(void *context, const struct directory_entry *entry) {
  struct root_folder *root = context;
  struct stat status;
  if (CALL(newfstatat, root->descriptor, entry->name, &status, AT_SYMLINK_NOFOLLOW, 0) == 0) mix_place(&root->state, &status);
  return 0;
}

/** Returns a number that differs if the list differs, or a folder above a closed file has changed. */
static unsigned long long read_state(const struct rule_list *list, int root) {
  struct root_folder folder = {.descriptor = root, .state = 0xcbf29ce484222325};
  struct stat status;
  read_folder(root, mix_entry, &folder);
  for (size_t each = 0; each < list->hidden_count; each++) {
    const char *path = list->hidden[each], *previous = each == 0 ? "" : list->hidden[each - 1];
    char above[PATH_MAX];
    for (size_t at = 0; path[at] && at + 2 < PATH_MAX; at++) {
      mix(&folder.state, path[at]);
      above[at] = path[at];
      above[at + 1] = 0;
      if (path[at] != '/' || starts_with(previous, above)) continue;
      if (CALL(newfstatat, AT_FDCWD, above, &status, 0, 0) < 0) continue;
      mix_place(&folder.state, &status);
      mix(&folder.state, status.st_ctim.tv_sec);
      mix(&folder.state, status.st_ctim.tv_nsec);
    }
  }
  return folder.state;
}

static long create_layer(struct rule_list *list, int root) {
  const unsigned long long rights = LAYER_RIGHTS;
  char path[PATH_MAX] = "/";
  list->ruleset = CALL(landlock_create_ruleset, &rights, sizeof rights, 0, 0, 0);
  if (list->ruleset < 0) return list->ruleset;
  const long error = add_tree(list, root, path, 1, LAYER_RIGHTS);
  if (error == 0) return list->ruleset;
  CALL(close, list->ruleset, 0, 0, 0, 0);
  return error;
}

/**
 * Creates the layer, unless it is up to date. Returns its descriptor, or an error.
 *
 * @param closed absolute paths without symlinks, each ends with NUL
 */
static long update_layer(struct shared_layer *layer, const char *closed, size_t length) {
  const char *hidden[MAX_CLOSED];
  struct rule_list list = {.hidden = hidden};
  for (const char *at = closed; at < closed + length; at += length_of(at) + 1) {
    if (list.hidden_count == MAX_CLOSED) return -E2BIG;
    hidden[list.hidden_count++] = at;
  }
  sort_hidden(&list);
  const int root = CALL(openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
  if (root < 0) return root;
  const unsigned long long state = read_state(&list, root);
  if (layer->ruleset < 0 || layer->state != state) {
    if (layer->ruleset >= 0) CALL(close, layer->ruleset, 0, 0, 0, 0);
    layer->ruleset = create_layer(&list, root);
    layer->state = state;
  }
  CALL(close, root, 0, 0, 0, 0);
  return layer->ruleset;
}
