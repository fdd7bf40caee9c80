// Reads directory listings and the first bytes of programs: the `#!` interpreter, and the loader that an ELF header names.
// The kernel opens both without a system call of the tracee.
#pragma once
#include "path-resolution.h"
#include <linux/elf.h>

/** `struct linux_dirent64`. */
struct listed {
  unsigned long inode, offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

struct names {
  char *bytes;
  size_t used, capacity;
};

static char letter_of(struct path_table *path_table, const char *directory, size_t length, const struct listed *listed) {
  enum { UNKNOWN = 0, IS_DIRECTORY = 4, IS_FILE = 8, IS_LINK = 10 };
  if (listed->type == IS_DIRECTORY) return DIRECTORY;
  if (listed->type == IS_FILE) return FILE_;
  if (listed->type == IS_LINK) return LINK_;
  char path[MAX_PATH];
  size_t name_length = length_of(listed->name);
  if (listed->type != UNKNOWN || length + name_length + 2 > MAX_PATH) return OTHER;
  memcpy(path, directory, length);
  path[length] = '/';
  memcpy(path + length + 1, listed->name, name_length + 1);
  char what = stat_path(path_table, path).what;
  return what == ABSENT ? OTHER : what;
}

static int add_name(struct names *names, char letter, const char *name) {
  size_t size = length_of(name) + 2;
  if (names->used + size > names->capacity) {
    size_t capacity = names->capacity ? names->capacity * 2 : LISTING_SIZE;
    char *bytes = map(capacity);
    if (!bytes) return 0;
    if (names->bytes) {
      memcpy(bytes, names->bytes, names->used);
      CALL(munmap, names->bytes, names->capacity, 0, 0, 0);
    }
    names->bytes = bytes;
    names->capacity = capacity;
  }
  names->bytes[names->used] = letter;
  memcpy(names->bytes + names->used + 1, name, size - 1);
  names->used += size;
  return 1;
}

static void free_names(struct names *names) {
  if (names->bytes) CALL(munmap, names->bytes, names->capacity, 0, 0, 0);
}

/** Appends, for each name, a kind letter and the name with its NUL. Appends nothing if the directory cannot be listed. */
static void list_names(struct path_table *path_table, struct text directory, struct names *names) {
  long descriptor = CALL(openat, AT_FDCWD, directory.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
  if (descriptor < 0) return;
  long count;
  while ((count = CALL(getdents64, descriptor, path_table->listed, sizeof path_table->listed, 0, 0)) > 0)
    for (long at = 0; at < count;) {
      const struct listed *listed = (const struct listed *)(path_table->listed + at);
      at += listed->size;
      if (strcmp(listed->name, ".") == 0 || strcmp(listed->name, "..") == 0) continue;
      if (!add_name(names, letter_of(path_table, directory.bytes, directory.length, listed), listed->name)) mark_lost(path_table);
    }
  CALL(close, descriptor, 0, 0, 0, 0);
}

static unsigned long hash_names(const struct names *names) {
  return hash_on(HASH, names->bytes, names->used) | 1;
}

/** Returns the ctime of a directory in nanoseconds; 0 if a further change could leave the same time (racy timestamp). */
static long settled_change(const char *path) {
  struct stat status;
  if (CALL(newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW, 0)) return 0;
  long changed = (long)status.st_ctim.tv_sec * NANOSECONDS + (long)status.st_ctim.tv_nsec;
  return changed / 1000000 > now() - GRANULARITY ? 0 : changed;
}

/** Writes the directory listing if it differs from the last one. */
static void write_names(struct path_table *path_table, struct entry *entry) {
  long changed = settled_change(entry->path.bytes);
  if (entry->is_listed && changed && changed == entry->names_changed) return;
  struct names names = {0};
  unsigned number = entry->number;
  list_names(path_table, entry->path, &names);
  unsigned long hash = hash_names(&names);
  int is_same = entry->is_listed && hash == entry->names_hash;
  entry->is_listed = 1;
  entry->names_hash = hash;
  entry->names_changed = changed;
  if (!is_same) {
    begin_record(&path_table->journal, NAMES_RECORD, sizeof number + names.used);
    put(&path_table->journal, &number, sizeof number);
    put(&path_table->journal, names.bytes, names.used);
  }
  free_names(&names);
}

static int is_blank(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

/** Returns the interpreter in the first line of a script. */
static struct text find_shebang(const char *start, const char *end) {
  const char *from = start + 2, *to = from;
  while (to < end && *to != '\n') to++;
  while (from < to && is_blank(*from)) from++;
  while (to > from && is_blank(to[-1])) to--;
  const char *word = from;
  while (word < to && *word != ' ' && *word != '\t') word++;
  return (struct text){from, word - from};
}

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif

/** Returns the ELF interpreter; an empty text if there is none; NULL bytes if the kernel does not know the format. */
static struct text find_loader(const char *start, size_t size) {
  static const struct text unknown;
  Elf64_Ehdr header;
  if (size < sizeof header) return unknown;
  memcpy(&header, start, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return unknown;
  // The first system call of a 32-bit program is an incomplete reason, unless an emulator runs it.
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE) return unknown;
  for (size_t each = 0; each < header.e_phnum; each++) {
    Elf64_Phdr part;
    unsigned long at = header.e_phoff + each * header.e_phentsize;
    if (at > size || at + sizeof part > size) return unknown;
    memcpy(&part, start + at, sizeof part);
    if (part.p_type != PT_INTERP) continue;
    if (part.p_offset > size || part.p_filesz == 0 || part.p_filesz > size - part.p_offset) return unknown;
    return (struct text){start + part.p_offset, part.p_filesz - 1};
  }
  return (struct text){start, 0};
}

enum { MAX_INTERPRETERS = 5 };

/** Returns an empty text for a program that cannot be read, as for one without an interpreter. */
static struct text find_interpreter(struct path_table *path_table, const struct entry *entry) {
  long descriptor = CALL(openat, AT_FDCWD, entry->path.bytes, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, 0);
  long size = descriptor < 0 ? -1 : CALL(pread64, descriptor, path_table->start, sizeof path_table->start, 0, 0);
  if (descriptor >= 0) CALL(close, descriptor, 0, 0, 0, 0);
  const char *start = path_table->start;
  if (size < 0) return (struct text){start, 0};
  return size >= 2 && start[0] == '#' && start[1] == '!' ? find_shebang(start, start + size) : find_loader(start, size);
}

/** Notes a program and its interpreters. Returns the last of them if the kernel does not know its format; otherwise NULL. */
static struct entry *note_program(struct path_table *path_table, struct resolved_path resolved_path, int pid) {
  for (int depth = 0; resolved_path.entry; depth++) {
    note(path_table, resolved_path.entry, resolved_path.is_whole ? RUN : PROBE);
    if (!resolved_path.is_whole || depth > MAX_INTERPRETERS) break;
    struct text named = find_interpreter(path_table, resolved_path.entry);
    if (!named.bytes) return resolved_path.entry;
    if (named.length == 0) break;
    char path[MAX_PATH];
    size_t length = 0;
    if (named.bytes[0] != '/') {
      // Relative to the tracee's working directory, as in the kernel.
      long base = read_link_of(path_table, pid, "cwd");
      if (!is_path(path_table->target, base)) break;
      memcpy(path, path_table->target, base);
      path[base] = '/';
      length = base + 1;
    }
    memcpy(path + length, named.bytes, named.length);
    path[length + named.length] = 0;
    resolved_path = resolve_path(path_table, path, length_of(path), 1, pid);
  }
  return NULL;
}

/** Notes a change of a path and observes the path first. */
static void note_change(struct path_table *path_table, const char *path, size_t length, enum access access) {
  struct entry *entry = observe_path(path_table, path, length, 1);
  if (!entry) return;
  note(path_table, entry, access);
  entry->is_touched = 1;
}

/** Notes, for a directory that is about to be moved, everything below it and below its target. */
static void note_moved(struct path_table *path_table, char *from, size_t from_length, char *to, size_t to_length) {
  struct names names = {0};
  list_names(path_table, (struct text){from, from_length}, &names);
  for (size_t at = 0; at < names.used && !path_table->journal.is_lost;) {
    const char *name = names.bytes + at + 1;
    size_t length = length_of(name);
    if (from_length + length + 2 > MAX_PATH || to_length + length + 2 > MAX_PATH) {
      mark_lost(path_table);
      break;
    }
    size_t source_length = from_length + 1 + length, target_length = to_length + 1 + length;
    from[from_length] = to[to_length] = '/';
    memcpy(from + from_length + 1, name, length + 1);
    memcpy(to + to_length + 1, name, length + 1);
    int is_directory = names.bytes[at] == DIRECTORY;
    note_change(path_table, from, source_length, is_directory ? PROBE : MODIFY);
    if (is_directory) note_moved(path_table, from, source_length, to, target_length);
    note_change(path_table, from, source_length, REMOVE);
    note_change(path_table, to, target_length, REPLACE);
    from[from_length] = to[to_length] = 0;
    at += length + 2;
  }
  free_names(&names);
}
