// Where a path leads: a component after the other, links followed as the caller would.
//
// Contract: a link on the way is a path of its own, and so is each directory that was gone through; of what stands behind a
// component that is not there, that component says all. A directory on the way stays one as long as nothing was moved or removed
// (`lap`).
//
// Surprising: /proc and /sys are not recorded, nor is /dev but for /dev/shm. Links of /proc into the caller's own descriptors and
// directories are followed as the caller would.
#pragma once
#include "path-table.h"

struct resolved_path {
  /** NULL where nobody looks, as in /proc. */
  struct entry *entry;
  /** Not where it ends at something that is no directory, or not there. */
  int is_whole;
  /** Another one for each process. */
  int is_special;
  /** The script was to change this path, or a link or folder on the way. */
  int is_touched;
  /** Behind a component that is not there: what is still to go, until the next way. */
  const char *rest;
};

static const struct resolved_path NOWHERE;

static int ends_with(const char *text, size_t length, const char *end, size_t end_length) {
  return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/** Nothing but `/` and `.` components. */
static int is_over(const char *rest) {
  for (; *rest; rest++)
    if (*rest != '/' && !(*rest == '.' && (rest[1] == '/' || rest[1] == 0) && (rest[-1] == '/'))) return 0;
  return 1;
}

static const char *skip_digits(const char *text) {
  while (*text >= '0' && *text <= '9') text++;
  return text;
}

/** What follows a beginning; NULL where it is another one. */
static const char *after(const char *text, const char *beginning) {
  size_t length = length_of(beginning);
  return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

/** The link of /proc that a path begins with, as in /proc/self/fd/3/x: whose, which, and the rest. */
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
  return (*end == 0 || *end == '/') && parsed->link.length < LONGEST_NAME / 2 &&
         parsed->owner.length < LONGEST_NAME / 4;
}

/** Where a link of /proc leads: the length in `path_table->target`, or below 0. */
static long read_own_link(struct path_table *path_table, struct text owner, struct text link) {
  char name[2 * LONGEST_NAME];
  name_link(name, owner.bytes, owner.length, link.bytes, link.length);
  return CALL(readlinkat, AT_FDCWD, name, path_table->target, sizeof path_table->target, 0);
}

/** The same of a process, by its number. */
static long read_link_of(struct path_table *path_table, int pid, const char *link) {
  char owner[20];
  struct text number = {owner, add_number(owner, pid) - owner};
  return read_own_link(path_table, number, (struct text){link, length_of(link)});
}

/** Takes out what means nothing: empty components and `.`; a slash at the end stays. */
static void tidy(char *path) {
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

/** Puts a text in the place of what lies between two places of a path. Whether it fits. */
static int replace(struct path_table *path_table, char *from, char *to, size_t before, struct text text) {
  size_t length = length_of(to);
  if (before + text.length + length >= LONGEST) {
    lose(path_table);
    return 0;
  }
  memmove(from + text.length, to, length + 1);
  memcpy(from, text.bytes, text.length);
  return 1;
}

/**
 * Goes back by the first `..`: takes it away with the component in front of it, or puts the target of that in its place, where it is
 * a link. Whether there was one.
 */
static int step_back(struct path_table *path_table, char *path, int pid) {
  static const char OWN_THREAD[] = "/proc/thread-self";
  char *last = path, *at = path;
  for (;; at += strcspn(at + 1, "/") + 1) {
    if (*at == 0) return 0;
    if (strncmp(at, "/..", 3) == 0 && (at[3] == 0 || at[3] == '/')) break;
    last = at;
  }
  if (at == path + sizeof OWN_THREAD - 1 && after(path, OWN_THREAD)) {
    // To read it would tell of our own.
    char thread[sizeof "/proc//task/" + 40], *end = thread;
    end = add_number(add_text(end, "/proc/", 6), pid);
    end = add_number(add_text(end, "/task/", 6), pid);
    return replace(path_table, path, at, 0, (struct text){thread, end - thread});
  }
  *at = 0;
  long length = at == path ? 0 : CALL(readlinkat, AT_FDCWD, path, path_table->target, sizeof path_table->target, 0);
  *at = '/';
  if (length <= 0) {
    memmove(last, at + 3, length_of(at + 3) + 1);
    return 1;
  }
  char *from = path_table->target[0] == '/' ? path : last + 1;
  return replace(path_table, from, at, from - path, (struct text){path_table->target, length});
}

/** Puts `before` and `behind` in the place of what is still to go. */
static int go_by(struct path_table *path_table, struct text before, const char *behind) {
  size_t length = length_of(behind);
  if (before.length + length >= LONGEST) {
    lose(path_table);
    return 0;
  }
  memmove(path_table->rest_before, behind, length + 1);
  memcpy(path_table->rest, before.bytes, before.length);
  memcpy(path_table->rest + before.length, path_table->rest_before, length + 1);
  return 1;
}

/**
 * The way of a path in /proc, /sys and /dev, which is told in `sight->rest`: 1 where it goes on there, 0 where nobody looks, -1
 * where it is one like all others.
 */
static int turn(struct path_table *path_table, char *path, int follows, int pid) {
  struct own_link own;
  if (after(path, "/dev/shm/")) return -1;
  if (!parse_own_link(path, &own) && step_back(path_table, path, pid)) {
    path_table->rest[0] = 0;
    return go_by(path_table, (struct text){path, length_of(path)}, "");
  }
  const char *device = after(path, "/dev/");
  if (device) {
    static const char STREAMS[][7] = {"stdin", "stdout", "stderr"};
    for (int each = 0; each < 3; each++) {
      const char *behind = after(device, STREAMS[each]);
      if (behind && (*behind == 0 || *behind == '/')) {
        char stream[] = "/proc/self/fd/0";
        stream[sizeof stream - 2] += each;
        return go_by(path_table, (struct text){stream, sizeof stream - 1}, behind);
      }
    }
    const char *number = after(device, "fd/");
    static const char OWN[] = "/proc/self/fd/";
    if (number) return go_by(path_table, (struct text){OWN, sizeof OWN - 1}, number);
    return 0;
  }
  if (!parse_own_link(path, &own) || (*own.rest == 0 && !follows)) return 0;
  char number[20];
  if (own.owner.bytes[0] < '0' || own.owner.bytes[0] > '9')
    own.owner = (struct text){number, add_number(number, pid) - number};
  long length = read_own_link(path_table, own.owner, own.link);
  return is_path(path_table->target, length) && go_by(path_table, (struct text){path_table->target, length}, own.rest);
}

/** Absolute, of what stands or may stand behind a component that is not there; of no length where that is too long to be one. */
static size_t path_behind(const struct resolved_path *resolved_path, char *path) {
  size_t length = resolved_path->entry->path.length;
  memcpy(path, resolved_path->entry->path.bytes, length);
  for (const char *rest = resolved_path->rest; *rest;) {
    size_t part = strcspn(rest, "/");
    if (part == 2 && rest[0] == '.' && rest[1] == '.') {
      while (length > 0 && path[--length] != '/') continue;
    } else if (part > 0 && !(part == 1 && rest[0] == '.')) {
      if (length + part + 2 > LONGEST) return 0;
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

/** @param given absolute, with a NUL behind it */
static struct resolved_path resolve_path(struct path_table *path_table, const char *given, size_t length, int follows, int pid) {
  int is_directory = ends_with(given, length, "/", 1) || ends_with(given, length, "/.", 2);
  int links = 0, turns = 0, is_special = 0, is_touched = 0;
  size_t at = 0;
  struct entry *entry = NULL;
  if (length >= LONGEST) return NOWHERE;
  memcpy(path_table->rest, given, length + 1);
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
    if (at + part_length + 2 > LONGEST) {
      lose(path_table);
      return NOWHERE;
    }
    size_t before = at;
    path_table->at[at++] = '/';
    memcpy(path_table->at + at, part, part_length);
    at += part_length;
    path_table->at[at] = 0;
    int is_last = is_over(rest);
    if (before == 0 && (strcmp(path_table->at, "/proc") == 0 || strcmp(path_table->at, "/sys") == 0 || strcmp(path_table->at, "/dev") == 0)) {
      char path[LONGEST];
      size_t behind = length_of(rest);
      if (at + behind + 2 > LONGEST) return NOWHERE;
      memcpy(path, path_table->at, at);
      path[at] = '/';
      memcpy(path + at + 1, *rest ? rest + 1 : rest, (*rest ? behind - 1 : 0) + 1);
      tidy(path);
      struct own_link own;
      int is_own = parse_own_link(path, &own), turned = turn(path_table, path, follows, pid);
      if (turned == 0) return (struct resolved_path){.is_special = is_special || is_own};
      if (turned > 0) {
        is_special = 1;
        if (++turns > LONGEST) return NOWHERE;
        rest = path_table->rest;
        at = 0;
        entry = NULL;
        continue;
      }
    }
    entry = find(path_table, path_table->at, at);
    if (!entry) return NOWHERE;
    is_touched |= entry->is_touched;
    int is_known = entry->lap == path_table->lap;
    if (is_known && !(is_last && entry->is_touched)) continue;
    entry = observe_path(path_table, path_table->at, at, 0);
    if (!entry) return NOWHERE;
    if (entry->state.what == LINK_ && (!is_last || follows || is_directory)) {
      note(path_table, entry, PROBE);
      if (++links > MOST_LINKS) return (struct resolved_path){.entry = entry, .is_special = is_special, .is_touched = is_touched};
      at = entry->state.target.length > 0 && entry->state.target.bytes[0] == '/' ? 0 : before;
      path_table->at[at] = 0;
      if (!go_by(path_table, entry->state.target, rest)) return NOWHERE;
      rest = path_table->rest;
      entry = NULL;
      continue;
    }
    if (entry->state.what == DIRECTORY) {
      if (!is_last) note(path_table, entry, PROBE);
      entry->lap = path_table->lap;
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
