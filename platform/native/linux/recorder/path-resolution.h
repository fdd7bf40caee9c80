// Path resolution: walks a path component by component and follows symbolic links as the kernel would for the tracee.
//
// Invariants:
// - Each symlink and each directory on the way is observed as a separate path.
// - Of a path behind a missing component, only the missing component is observed.
// - A directory is observed once per `generation`, which ends when a path is removed, replaced or moved.
// Non-obvious: /proc, /sys and /dev (except /dev/shm) are not recorded. Links of /proc into the tracee's descriptors and
// directories are followed as the tracee would.
#pragma once
#include "path-table.h"

/** Writes the working directory of a process, or the path of one of its descriptors, and returns the length. */
static int find_directory(int pid, int descriptor, char *to) {
  char name[MAX_LINK_NAME], owner[20], link[24] = "fd/";
  size_t owner_length = add_number(owner, pid) - owner;
  size_t link_length = 3;
  if (descriptor == AT_FDCWD) memcpy(link, "cwd", 3);
  else if (descriptor < 0) return UNREADABLE;
  else link_length = add_number(link + 3, descriptor) - link;
  name_link(name, owner, owner_length, link, link_length);
  long length = CALL(readlinkat, AT_FDCWD, name, to, PATH_MAX, 0);
  if (length == PATH_MAX) return DENIED; // truncated
  if (length < 0) return length == -ENOENT ? UNREADABLE : DENIED;
  return is_path(to, length) ? length : UNREADABLE;
}

struct resolved_path {
  /** NULL if the path is not observed, as in /proc. */
  struct entry *entry;
  /** 0 if resolution ended at a component that is missing or not a directory. */
  int is_whole;
  /** The path resolves differently in each process. */
  int is_special;
  /** The script tried to change this path, or a symlink or directory on the way. */
  int is_touched;
  /** The components behind a missing one. Valid until the next resolution. */
  const char *rest;
};

static const struct resolved_path UNOBSERVED;

static int ends_with(const char *text, size_t length, const char *end, size_t end_length) {
  return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/** Returns whether only `/` and `.` components remain. */
static int is_over(const char *rest) {
  for (; *rest; rest++)
    if (*rest != '/' && !(*rest == '.' && (rest[1] == '/' || rest[1] == 0) && (rest[-1] == '/'))) return 0;
  return 1;
}

static const char *skip_digits(const char *text) {
  while (*text >= '0' && *text <= '9') text++;
  return text;
}

/** Returns the text behind a prefix; NULL if the text does not begin with it. */
static const char *after(const char *text, const char *beginning) {
  size_t length = length_of(beginning);
  return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

/** A link of /proc at the start of a path, as in /proc/self/fd/3/x: the process, the link, and the remaining path. */
struct own_link {
  struct text owner, link;
  const char *rest;
};

static int parse_own_link(const char *path, struct own_link *parsed) {
  const char *owner = after(path, "/proc/");
  if (!owner) return 0;
  const char *end = after(owner, "self");
  if (!end) end = after(owner, "thread-self");
  if (!end) end = skip_digits(owner);
  if (end == owner) return 0;
  parsed->owner = (struct text){owner, end - owner};
  const char *task = after(end, "/task/");
  if (task && skip_digits(task) > task) end = skip_digits(task);
  if (*end++ != '/') return 0;
  parsed->link.bytes = end;
  const char *digits = after(end, "fd/");
  if (digits && skip_digits(digits) > digits) end = skip_digits(digits);
  else if (after(end, "cwd") || after(end, "exe")) end += 3;
  else if (after(end, "root")) end += 4;
  else return 0;
  parsed->link.length = end - parsed->link.bytes;
  parsed->rest = end;
  return (*end == 0 || *end == '/') && parsed->link.length < MAX_LINK_NAME / 2 &&
         parsed->owner.length < MAX_LINK_NAME / 4;
}

/** Reads the target of a /proc link into `path_table->target`. Returns its length, or a value below 0. */
static long read_own_link(struct path_table *path_table, struct text owner, struct text link) {
  char name[2 * MAX_LINK_NAME];
  name_link(name, owner.bytes, owner.length, link.bytes, link.length);
  return CALL(readlinkat, AT_FDCWD, name, path_table->target, sizeof path_table->target, 0);
}

/** As `read_own_link`, for a process id. */
static long read_link_of(struct path_table *path_table, int pid, const char *link) {
  char owner[20];
  struct text number = {owner, add_number(owner, pid) - owner};
  return read_own_link(path_table, number, (struct text){link, length_of(link)});
}

/** Removes empty components and `.`. Keeps a trailing slash. */
static void normalize(char *path) {
  char *to = path;
  for (const char *at = path; *at;) {
    while (*at == '/') at++;
    size_t length = strcspn(at, "/");
    if (length == 1 && *at == '.') length = 0, at++;
    if (length == 0 && *at) continue;
    *to++ = '/';
    memmove(to, at, length);
    to += length;
    at += length;
  }
  *to = 0;
}

/** Replaces the range between `from` and `to` of a path by a text. Returns 0 if the result is too long. */
static int replace_range(struct path_table *path_table, char *from, char *to, size_t before, struct text text) {
  size_t length = length_of(to);
  if (before + text.length + length >= MAX_PATH) {
    mark_lost(path_table);
    return 0;
  }
  memmove(from + text.length, to, length + 1);
  memcpy(from, text.bytes, text.length);
  return 1;
}

/**
 * Resolves the first `..`: removes it with the component before it, or replaces that component by its target if it is a symlink.
 * Returns whether the path contains a `..`.
 */
static int resolve_parent(struct path_table *path_table, char *path, int pid) {
  static const char OWN_THREAD[] = "/proc/thread-self";
  char *last = path, *at = path;
  for (;; at += strcspn(at + 1, "/") + 1) {
    if (*at == 0) return 0;
    if (strncmp(at, "/..", 3) == 0 && (at[3] == 0 || at[3] == '/')) break;
    last = at;
  }
  if (at == path + sizeof OWN_THREAD - 1 && after(path, OWN_THREAD)) {
    // The recorder's own /proc/thread-self has another target.
    char thread[sizeof "/proc//task/" + 40], *end = thread;
    end = add_number(add_text(end, "/proc/", 6), pid);
    end = add_number(add_text(end, "/task/", 6), pid);
    return replace_range(path_table, path, at, 0, (struct text){thread, end - thread});
  }
  *at = 0;
  long length = at == path ? 0 : CALL(readlinkat, AT_FDCWD, path, path_table->target, sizeof path_table->target, 0);
  *at = '/';
  if (length <= 0) {
    memmove(last, at + 3, length_of(at + 3) + 1);
    return 1;
  }
  char *from = path_table->target[0] == '/' ? path : last + 1;
  return replace_range(path_table, from, at, from - path, (struct text){path_table->target, length});
}

/** Sets the remaining path to `before` and `behind`. */
static int set_rest(struct path_table *path_table, struct text before, const char *behind) {
  size_t length = length_of(behind);
  if (before.length + length >= MAX_PATH) {
    mark_lost(path_table);
    return 0;
  }
  memmove(path_table->rest_before, behind, length + 1);
  memcpy(path_table->rest, before.bytes, before.length);
  memcpy(path_table->rest + before.length, path_table->rest_before, length + 1);
  return 1;
}

/**
 * Resolves a path in /proc, /sys and /dev into `path_table->rest`. Returns 1 if resolution continues there, 0 if the path is not
 * observed, -1 if it is an ordinary path.
 */
static int resolve_special(struct path_table *path_table, char *path, int follows, int pid) {
  struct own_link own;
  if (after(path, "/dev/shm/")) return -1;
  if (!parse_own_link(path, &own) && resolve_parent(path_table, path, pid)) {
    path_table->rest[0] = 0;
    return set_rest(path_table, (struct text){path, length_of(path)}, "");
  }
  const char *device = after(path, "/dev/");
  if (device) {
    static const char STREAMS[][7] = {"stdin", "stdout", "stderr"};
    for (int each = 0; each < 3; each++) {
      const char *behind = after(device, STREAMS[each]);
      if (behind && (*behind == 0 || *behind == '/')) {
        char stream[] = "/proc/self/fd/0";
        stream[sizeof stream - 2] += each;
        return set_rest(path_table, (struct text){stream, sizeof stream - 1}, behind);
      }
    }
    const char *number = after(device, "fd/");
    static const char OWN[] = "/proc/self/fd/";
    if (number) return set_rest(path_table, (struct text){OWN, sizeof OWN - 1}, number);
    return 0;
  }
  if (!parse_own_link(path, &own) || (*own.rest == 0 && !follows)) return 0;
  char number[20];
  if (own.owner.bytes[0] < '0' || own.owner.bytes[0] > '9')
    own.owner = (struct text){number, add_number(number, pid) - number};
  long length = read_own_link(path_table, own.owner, own.link);
  return is_path(path_table->target, length) && set_rest(path_table, (struct text){path_table->target, length}, own.rest);
}

/** Writes the absolute path behind a missing component. Returns its length; 0 if it is too long. */
static size_t missing_path(const struct resolved_path *resolved_path, char *path) {
  size_t length = resolved_path->entry->path.length;
  memcpy(path, resolved_path->entry->path.bytes, length);
  for (const char *rest = resolved_path->rest; *rest;) {
    size_t part = strcspn(rest, "/");
    if (part == 2 && rest[0] == '.' && rest[1] == '.') {
      while (length > 0 && path[--length] != '/') continue;
    } else if (part > 0 && !(part == 1 && rest[0] == '.')) {
      if (length + part + 2 > MAX_PATH) return 0;
      path[length++] = '/';
      memcpy(path + length, rest, part);
      length += part;
    }
    rest += part;
    if (*rest) rest++;
  }
  path[length] = 0;
  return length;
}

/** @param input absolute and NUL-terminated */
static struct resolved_path resolve_path(struct path_table *path_table, const char *input, size_t length, int follows, int pid) {
  int is_directory = ends_with(input, length, "/", 1) || ends_with(input, length, "/.", 2);
  int links = 0, detours = 0, is_special = 0, is_touched = 0;
  size_t at = 0;
  struct entry *entry = NULL;
  if (length >= MAX_PATH) return UNOBSERVED;
  memcpy(path_table->rest, input, length + 1);
  const char *rest = path_table->rest;
  for (;;) {
    if (*rest == '/') rest++;
    if (*rest == 0) break;
    const char *part = rest;
    while (*rest && *rest != '/') rest++;
    size_t part_length = rest - part;
    if (part_length == 0 || (part_length == 1 && part[0] == '.')) continue;
    if (part_length == 2 && part[0] == '.' && part[1] == '.') {
      while (at > 0 && path_table->at[--at] != '/') continue;
      path_table->at[at] = 0;
      entry = NULL;
      continue;
    }
    if (at + part_length + 2 > MAX_PATH) {
      mark_lost(path_table);
      return UNOBSERVED;
    }
    size_t before = at;
    path_table->at[at++] = '/';
    memcpy(path_table->at + at, part, part_length);
    at += part_length;
    path_table->at[at] = 0;
    int is_last = is_over(rest);
    if (before == 0 && (strcmp(path_table->at, "/proc") == 0 || strcmp(path_table->at, "/sys") == 0 || strcmp(path_table->at, "/dev") == 0)) {
      char path[MAX_PATH];
      size_t behind = length_of(rest);
      if (at + behind + 2 > MAX_PATH) return UNOBSERVED;
      memcpy(path, path_table->at, at);
      path[at] = '/';
      memcpy(path + at + 1, *rest ? rest + 1 : rest, (*rest ? behind - 1 : 0) + 1);
      normalize(path);
      struct own_link own;
      int is_own = parse_own_link(path, &own), resolved = resolve_special(path_table, path, follows, pid);
      if (resolved == 0) return (struct resolved_path){.is_special = is_special || is_own};
      if (resolved > 0) {
        is_special = 1;
        if (++detours > MAX_PATH) return UNOBSERVED;
        rest = path_table->rest;
        at = 0;
        entry = NULL;
        continue;
      }
    }
    entry = find_entry(path_table, path_table->at, at);
    if (!entry) return UNOBSERVED;
    is_touched |= entry->is_touched;
    int has_memo = entry->generation == path_table->generation;
    if (has_memo && !(is_last && entry->is_touched)) continue;
    entry = observe_path(path_table, path_table->at, at, 0);
    if (!entry) return UNOBSERVED;
    if (entry->state.what == LINK_ && (!is_last || follows || is_directory)) {
      note(path_table, entry, PROBE);
      if (++links > MAX_LINKS) return (struct resolved_path){.entry = entry, .is_special = is_special, .is_touched = is_touched};
      at = entry->state.target.length > 0 && entry->state.target.bytes[0] == '/' ? 0 : before;
      path_table->at[at] = 0;
      if (!set_rest(path_table, entry->state.target, rest)) return UNOBSERVED;
      rest = path_table->rest;
      entry = NULL;
      continue;
    }
    if (entry->state.what == DIRECTORY) {
      if (!is_last) note(path_table, entry, PROBE);
      entry->generation = path_table->generation;
    } else if (!is_last)
      return (struct resolved_path){
                           .entry = entry,
                           .is_special = is_special,
                           .is_touched = is_touched,
                           .rest = entry->state.what == ABSENT ? rest : NULL};
    if (is_last)
      return (struct resolved_path){.entry = entry, .is_whole = 1, .is_special = is_special, .is_touched = is_touched};
  }
  if (at == 0) entry = observe_path(path_table, "/", 1, 0);
  else if (!entry) entry = observe_path(path_table, path_table->at, at, 0);
  is_touched |= entry && entry->is_touched;
  return (struct resolved_path){.entry = entry, .is_whole = 1, .is_special = is_special, .is_touched = is_touched};
}
