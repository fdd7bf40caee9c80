// The path table: stores the last observed state of each path and writes changes to the journal.
//
// Invariants:
// - A path is observed before the first call that mentions it continues, and again after each call that tried to change it.
// - A state is written only if it differs from the last one.
#pragma once
#include "tracee-memory.h"
#include "journal.h"
#include "arena.h"
#include <sys/stat.h>
#include <time.h>

/** Order of ACCESSES in ../../../tracing/linux/access-kinds.ts. */
enum access { PROBE, READ, LIST, RUN, REPLACE, TRUNCATE, CREATE, REMOVE, MODIFY, APPEND };

/** Letters of ../../../tracing/linux/journal-reader.ts. */
enum { ABSENT = 'a', FILE_ = 'f', DIRECTORY = 'd', OTHER = 'o', LINK_ = 'l' };

struct state {
  unsigned char what;
  /** Racy timestamp, as in ../../../files/path-state.ts. */
  unsigned char is_fresh;
  /** Permission bits; the error number if the path is absent. */
  unsigned short mode;
  unsigned long device, inode, size;
  /** Number of hard links of a file. */
  unsigned long links;
  /** In nanoseconds. */
  long modified, changed;
  /** Target of a symlink. */
  struct text target;
};

struct entry {
  /** 0 in an empty slot. */
  unsigned long hash;
  struct text path;
  struct state state;
  /** The last generation in which the path was a directory; 0 for none. */
  unsigned generation;
  /** A call tried to change the path. */
  unsigned char is_touched;
  unsigned char is_listed;
  /** The hash of the last listing, and the directory's ctime before it; 0 if that is racy. */
  unsigned long names_hash;
  long names_changed;
  /** Number of the path in the journal, from 1; 0 before its first record. */
  unsigned number;
};

enum { MAX_PATH = 4 * PATH_MAX, MAX_LINKS = 40, MAX_WAITS = 2, GRANULARITY = 12, START_SIZE = 4096 };
enum { FIRST_CAPACITY = 1 << 12, LISTING_SIZE = 1 << 15 };

struct path_table {
  struct journal journal;
  struct arena arena;
  struct entry *entries;
  size_t capacity, count;
  /** Counts from 1. */
  unsigned generation;
  unsigned last_number;
  /** The resolved and the remaining part of the path. */
  char at[MAX_PATH], rest[MAX_PATH], rest_before[MAX_PATH];
  char target[PATH_MAX], start[START_SIZE], listed[LISTING_SIZE];
};

/** Marks the journal as incomplete. Returns NULL. */
static void *mark_lost(struct path_table *path_table) {
  path_table->journal.is_lost = 1;
  return NULL;
}

static const unsigned long HASH = 0xcbf29ce484222325;

static unsigned long hash_on(unsigned long hash, const char *bytes, size_t length) {
  for (size_t each = 0; each < length; each++) hash = (hash ^ (unsigned char)bytes[each]) * 0x100000001b3;
  return hash;
}

static int grow(struct path_table *path_table) {
  size_t capacity = path_table->capacity ? path_table->capacity * 2 : FIRST_CAPACITY;
  struct entry *entries = map(capacity * sizeof *entries);
  if (!entries) return 0;
  for (size_t each = 0; each < path_table->capacity; each++) {
    if (!path_table->entries[each].hash) continue;
    size_t place = path_table->entries[each].hash & (capacity - 1);
    while (entries[place].hash) place = (place + 1) & (capacity - 1);
    entries[place] = path_table->entries[each];
  }
  if (path_table->entries) CALL(munmap, path_table->entries, path_table->capacity * sizeof *entries, 0, 0, 0);
  path_table->entries = entries;
  path_table->capacity = capacity;
  return 1;
}

/** Returns the slot that holds the path, or the empty slot for it; NULL while the table is empty. */
static struct entry *find_slot(struct path_table *path_table, unsigned long hash, const char *path, size_t length) {
  for (size_t place = hash; path_table->capacity > 0; place++) {
    struct entry *entry = path_table->entries + (place & (path_table->capacity - 1));
    if (!entry->hash) return entry;
    if (entry->hash == hash && entry->path.length == length && memcmp(entry->path.bytes, path, length) == 0)
      return entry;
  }
  return NULL;
}

/** Returns the entry of a NUL-terminated path, valid until the next insertion; NULL if no memory is available. */
static struct entry *find_entry(struct path_table *path_table, const char *path, size_t length) {
  unsigned long hash = hash_on(HASH, path, length) | 1;
  struct entry *entry = find_slot(path_table, hash, path, length);
  if (entry && entry->hash) return entry;
  if (path_table->count * 2 >= path_table->capacity) {
    if (!grow(path_table)) return mark_lost(path_table);
    entry = find_slot(path_table, hash, path, length);
  }
  char *copy = allocate(&path_table->arena, length + 1);
  if (!copy) return mark_lost(path_table);
  memcpy(copy, path, length + 1);
  path_table->count++;
  *entry = (struct entry){.hash = hash, .path = {copy, length}};
  return entry;
}

static long now(void) {
  struct timespec time;
  CALL(clock_gettime, CLOCK_REALTIME, &time, 0, 0, 0);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static const long NANOSECONDS = 1000000000;

static struct state stat_path(struct path_table *path_table, const char *path) {
  struct stat status;
  long error = -CALL(newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW, 0);
  if (error) return (struct state){.what = ABSENT, .mode = error};
  struct state state = {.what = OTHER, .mode = status.st_mode & 07777};
  if (S_ISDIR(status.st_mode)) {
    state.what = DIRECTORY;
    state.device = status.st_dev;
    state.inode = status.st_ino;
  }
  if (S_ISLNK(status.st_mode)) {
    long length = CALL(readlinkat, AT_FDCWD, path, path_table->target, sizeof path_table->target, 0);
    if (length < 0) return (struct state){.what = ABSENT, .mode = -length};
    state.what = LINK_;
    state.target = (struct text){path_table->target, length};
  }
  if (!S_ISREG(status.st_mode)) return state;
  state.what = FILE_;
  state.device = status.st_dev;
  state.inode = status.st_ino;
  state.size = status.st_size;
  state.links = status.st_nlink;
  state.modified = (long)status.st_mtim.tv_sec * NANOSECONDS + (long)status.st_mtim.tv_nsec;
  state.changed = (long)status.st_ctim.tv_sec * NANOSECONDS + (long)status.st_ctim.tv_nsec;
  state.is_fresh = state.changed / 1000000 > now() - GRANULARITY;
  return state;
}

/**
 * Observes a path for the first time. If the file has a racy timestamp, waits until that is no longer so: the tracee is suspended,
 * and a file with the same fingerprint afterwards is what it will find.
 */
static struct state stat_settled(struct path_table *path_table, const char *path) {
  struct state state = stat_path(path_table, path);
  for (int wait = 0; state.what == FILE_ && state.is_fresh && wait < MAX_WAITS; wait++) {
    struct timespec time = {.tv_nsec = GRANULARITY * 1000000};
    CALL(nanosleep, &time, &time, 0, 0, 0);
    state = stat_path(path_table, path);
  }
  return state;
}

static int is_same(const struct state *one, const struct state *other) {
  return one->what == other->what && one->mode == other->mode && one->device == other->device &&
         one->inode == other->inode && one->size == other->size && one->modified == other->modified &&
         one->changed == other->changed && one->target.length == other->target.length &&
         (one->target.length == 0 || memcmp(one->target.bytes, other->target.bytes, one->target.length) == 0);
}

static void write_state(struct path_table *path_table, const struct entry *entry) {
  const struct state *state = &entry->state;
  char stamp[128];
  struct text detail = state->target;
  if (state->what == FILE_) {
    char *end = add_number(stamp, state->device);
    const long parts[] = {state->inode, state->size, state->modified, state->changed, state->links};
    for (size_t each = 0; each < sizeof parts / sizeof *parts; each++) {
      *end++ = ':';
      if (parts[each] < 0) *end++ = '-';
      end = add_number(end, parts[each] < 0 ? -parts[each] : parts[each]);
    }
    detail = (struct text){stamp, end - stamp};
  }
  begin_record(&path_table->journal, STATE_RECORD, 20 + detail.length + entry->path.length);
  put(&path_table->journal, &entry->number, sizeof entry->number);
  put(&path_table->journal, &state->what, 1);
  put(&path_table->journal, &state->is_fresh, 1);
  put(&path_table->journal, &state->mode, sizeof state->mode);
  put(&path_table->journal, &state->size, sizeof state->size);
  put_counted(&path_table->journal, detail);
  put_text(&path_table->journal, entry->path);
}

/** @param is_forced observes the path even if it cannot have changed. Returns NULL if no memory is available. */
static struct entry *observe_path(struct path_table *path_table, const char *path, size_t length, int is_forced) {
  struct entry *entry = find_entry(path_table, path, length);
  if (!entry || (entry->number && !entry->is_touched && !is_forced)) return entry;
  struct state state = entry->number ? stat_path(path_table, path) : stat_settled(path_table, path);
  if (entry->number && is_same(&state, &entry->state)) return entry;
  if (state.target.length > 0) {
    char *copy = allocate(&path_table->arena, state.target.length);
    if (!copy) return mark_lost(path_table);
    memcpy(copy, state.target.bytes, state.target.length);
    state.target.bytes = copy;
  }
  entry->state = state;
  if (!entry->number) entry->number = ++path_table->last_number;
  write_state(path_table, entry);
  return entry;
}

/** Records what a call is about to do with a path. */
static void note(struct path_table *path_table, const struct entry *entry, enum access access) {
  struct __attribute__((packed)) {
    unsigned char kind;
    unsigned number;
    unsigned char access;
  } record = {ACCESS_RECORD, entry->number, access};
  put(&path_table->journal, &record, sizeof record);
}

/** Observes every numbered path again, after the process tree has ended. */
static void observe_all_paths(struct path_table *path_table) {
  for (size_t each = 0; each < path_table->capacity && !path_table->journal.is_lost; each++) {
    struct entry *entry = path_table->entries + each;
    if (entry->hash && entry->number) observe_path(path_table, entry->path.bytes, entry->path.length, 1);
  }
}
