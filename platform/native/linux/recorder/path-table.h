// What paths are, looked at before the call that mentions them goes on, and told where it is something new.
//
// Contract: a path is looked at when it is first met, and again each time where some call was to change it; what is seen then is
// told where it is another.
#pragma once
#include "tracee-memory.h"
#include "journal.h"
#include "arena.h"
#include <sys/stat.h>
#include <time.h>

/** What a call does with a path: places in ACCESSES of ../../tracing/access.ts. */
enum access { PROBE, READ, LIST, RUN, REPLACE, TRUNCATE, CREATE, REMOVE, MODIFY, APPEND };

/** Letters of ../../tracing/journal.ts. */
enum { ABSENT = 'a', FILE_ = 'f', DIRECTORY = 'd', OTHER = 'o', LINK_ = 'l' };

struct state {
  unsigned char what;
  /** As ../../../path-state.ts has it. */
  unsigned char is_fresh;
  /** Permissions; of what is absent, the error. */
  unsigned short mode;
  unsigned long device, inode, size;
  /** Nanoseconds. */
  long modified, changed;
  /** Of a link. */
  struct text target;
};

struct entry {
  /** 0 where nothing is. */
  unsigned long hash;
  struct text path;
  struct state state;
  /** In which it was seen to be a directory; 0 for none. */
  unsigned lap;
  /** Some call was to change it. */
  unsigned char is_touched;
  unsigned char is_listed;
  /** The hash of the last listing, and the time of the folder's last change before it; 0 if that is recent. */
  unsigned long names_hash;
  long names_changed;
  /** By which the journal calls it; from 1 on, 0 where it has not been logged_call. */
  unsigned number;
};

enum { LONGEST = 4 * PATH_MAX, MOST_LINKS = 40, MOST_WAITS = 2, FRESH = 12, START_SIZE = 4096 };
enum { FIRST_CAPACITY = 1 << 12, LISTED_AT_ONCE = 1 << 15 };

struct path_table {
  struct journal journal;
  struct memory memory;
  struct entry *entries;
  size_t capacity, count;
  /** Counts from 1. */
  unsigned lap;
  unsigned logged_call;
  /** Where the way is, and what is still to go. */
  char at[LONGEST], rest[LONGEST], rest_before[LONGEST];
  char target[PATH_MAX], start[START_SIZE], listed[LISTED_AT_ONCE];
};

/** Nothing more can be logged_call. */
static void *lose(struct path_table *path_table) {
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

/** Where it is, or where it would be put; NULL as long as there are none. */
static struct entry *place_of(struct path_table *path_table, unsigned long hash, const char *path, size_t length) {
  for (size_t place = hash; path_table->capacity > 0; place++) {
    struct entry *entry = path_table->entries + (place & (path_table->capacity - 1));
    if (!entry->hash) return entry;
    if (entry->hash == hash && entry->path.length == length && memcmp(entry->path.bytes, path, length) == 0)
      return entry;
  }
  return NULL;
}

/** Of a path with a NUL behind it; NULL where there is no memory. It moves when another one comes. */
static struct entry *find(struct path_table *path_table, const char *path, size_t length) {
  unsigned long hash = hash_on(HASH, path, length) | 1;
  struct entry *entry = place_of(path_table, hash, path, length);
  if (entry && entry->hash) return entry;
  if (path_table->count * 2 >= path_table->capacity) {
    if (!grow(path_table)) return lose(path_table);
    entry = place_of(path_table, hash, path, length);
  }
  char *kept = take(&path_table->memory, length + 1);
  if (!kept) return lose(path_table);
  memcpy(kept, path, length + 1);
  path_table->count++;
  *entry = (struct entry){.hash = hash, .path = {kept, length}};
  return entry;
}

static long now(void) {
  struct timespec time;
  CALL(clock_gettime, CLOCK_REALTIME, &time, 0, 0, 0);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static const long NANOSECONDS = 1000000000;

static struct state stat_path(struct path_table *path_table, const char *path) {
  struct stat resolved_path;
  long error = -CALL(newfstatat, AT_FDCWD, path, &resolved_path, AT_SYMLINK_NOFOLLOW, 0);
  if (error) return (struct state){.what = ABSENT, .mode = error};
  struct state state = {.what = OTHER, .mode = resolved_path.st_mode & 07777};
  if (S_ISDIR(resolved_path.st_mode)) {
    state.what = DIRECTORY;
    state.device = resolved_path.st_dev;
    state.inode = resolved_path.st_ino;
  }
  if (S_ISLNK(resolved_path.st_mode)) {
    long length = CALL(readlinkat, AT_FDCWD, path, path_table->target, sizeof path_table->target, 0);
    if (length < 0) return (struct state){.what = ABSENT, .mode = -length};
    state.what = LINK_;
    state.target = (struct text){path_table->target, length};
  }
  if (!S_ISREG(resolved_path.st_mode)) return state;
  state.what = FILE_;
  state.device = resolved_path.st_dev;
  state.inode = resolved_path.st_ino;
  state.size = resolved_path.st_size;
  state.modified = (long)resolved_path.st_mtim.tv_sec * NANOSECONDS + (long)resolved_path.st_mtim.tv_nsec;
  state.changed = (long)resolved_path.st_ctim.tv_sec * NANOSECONDS + (long)resolved_path.st_ctim.tv_nsec;
  state.is_fresh = state.changed / 1000000 > now() - FRESH;
  return state;
}

/**
 * A file that was written this very moment, as by the script before, could be changed again under the same stamp. The caller waits
 * for this answer, so that a little later is as good: what has the same stamp then is what it will find.
 */
static struct state look_at_first(struct path_table *path_table, const char *path) {
  struct state state = stat_path(path_table, path);
  for (int wait = 0; state.what == FILE_ && state.is_fresh && wait < MOST_WAITS; wait++) {
    struct timespec time = {.tv_nsec = FRESH * 1000000};
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

static void tell_state(struct path_table *path_table, const struct entry *entry) {
  const struct state *state = &entry->state;
  char stamp[128];
  struct text detail = state->target;
  if (state->what == FILE_) {
    char *end = add_number(stamp, state->device);
    const long parts[] = {state->inode, state->size, state->modified, state->changed};
    for (size_t each = 0; each < sizeof parts / sizeof *parts; each++) {
      *end++ = ':';
      if (parts[each] < 0) *end++ = '-';
      end = add_number(end, parts[each] < 0 ? -parts[each] : parts[each]);
    }
    detail = (struct text){stamp, end - stamp};
  }
  begin_record(&path_table->journal, LOOK, 20 + detail.length + entry->path.length);
  put(&path_table->journal, &entry->number, sizeof entry->number);
  put(&path_table->journal, &state->what, 1);
  put(&path_table->journal, &state->is_fresh, 1);
  put(&path_table->journal, &state->mode, sizeof state->mode);
  put(&path_table->journal, &state->size, sizeof state->size);
  put_counted(&path_table->journal, detail);
  put_text(&path_table->journal, entry->path);
}

/** @param is_asked whether it is looked at even where it cannot have changed. NULL where there is no memory. */
static struct entry *observe_path(struct path_table *path_table, const char *path, size_t length, int is_asked) {
  struct entry *entry = find(path_table, path, length);
  if (!entry || (entry->number && !entry->is_touched && !is_asked)) return entry;
  struct state state = entry->number ? stat_path(path_table, path) : look_at_first(path_table, path);
  if (entry->number && is_same(&state, &entry->state)) return entry;
  if (state.target.length > 0) {
    char *kept = take(&path_table->memory, state.target.length);
    if (!kept) return lose(path_table);
    memcpy(kept, state.target.bytes, state.target.length);
    state.target.bytes = kept;
  }
  entry->state = state;
  if (!entry->number) entry->number = ++path_table->logged_call;
  tell_state(path_table, entry);
  return entry;
}

/** What a call is about to do with it. */
static void note(struct path_table *path_table, const struct entry *entry, enum access access) {
  struct __attribute__((packed)) {
    unsigned char kind;
    unsigned number;
    unsigned char access;
  } record = {NOTE, entry->number, access};
  put(&path_table->journal, &record, sizeof record);
}

/** What has become of all that was logged_call. */
static void look_again(struct path_table *path_table) {
  for (size_t each = 0; each < path_table->capacity && !path_table->journal.is_lost; each++) {
    struct entry *entry = path_table->entries + each;
    if (entry->hash && entry->number) observe_path(path_table, entry->path.bytes, entry->path.length, 1);
  }
}
