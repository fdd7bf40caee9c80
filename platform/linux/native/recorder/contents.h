// What is in directories and at the beginning of programs, as far as the journal has it: names, the interpreter of a #! line, and
// the loader that an ELF header names, which the kernel opens by itself.
#pragma once
#include "sight.h"
#include <linux/elf.h>

/** As the kernel gives it. */
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

static char letter_of(struct sight *sight, const char *directory, size_t length, const struct listed *listed) {
  enum { UNKNOWN = 0, IS_DIRECTORY = 4, IS_FILE = 8, IS_LINK = 10 };
  if (listed->type == IS_DIRECTORY) return DIRECTORY;
  if (listed->type == IS_FILE) return FILE_;
  if (listed->type == IS_LINK) return LINK_;
  char path[LONGEST];
  size_t name_length = length_of(listed->name);
  if (listed->type != UNKNOWN || length + name_length + 2 > LONGEST) return OTHER;
  memcpy(path, directory, length);
  path[length] = '/';
  memcpy(path + length + 1, listed->name, name_length + 1);
  char what = look(sight, path).what;
  return what == ABSENT ? OTHER : what;
}

static int add_name(struct names *names, char letter, const char *name) {
  size_t size = length_of(name) + 2;
  if (names->used + size > names->capacity) {
    size_t capacity = names->capacity ? names->capacity * 2 : LISTED_AT_ONCE;
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

static void forget(struct names *names) {
  if (names->bytes) CALL(munmap, names->bytes, names->capacity, 0, 0, 0);
}

/** A letter for the kind and the name, each with a NUL behind it. Whether it can be listed at all. */
static int list(struct sight *sight, struct text directory, struct names *names) {
  long descriptor = CALL(openat, AT_FDCWD, directory.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
  if (descriptor < 0) return 0;
  long count;
  while ((count = CALL(getdents64, descriptor, sight->listed, sizeof sight->listed, 0, 0)) > 0)
    for (long at = 0; at < count;) {
      const struct listed *listed = (const struct listed *)(sight->listed + at);
      at += listed->size;
      if (strcmp(listed->name, ".") == 0 || strcmp(listed->name, "..") == 0) continue;
      if (!add_name(names, letter_of(sight, directory.bytes, directory.length, listed), listed->name)) lose(sight);
    }
  CALL(close, descriptor, 0, 0, 0, 0);
  return count == 0;
}

static void tell_names(struct sight *sight, struct text directory, const struct names *names, int is_listed) {
  unsigned char flag = is_listed;
  begin_record(&sight->journal, LIST, 1 + sizeof directory.length + directory.length + names->used);
  put(&sight->journal, &flag, 1);
  put_counted(&sight->journal, directory);
  put(&sight->journal, names->bytes, names->used);
}

/** What stands in a directory when it is first listed. */
static void tell_listing(struct sight *sight, struct entry *entry) {
  if (entry->is_listed) return;
  entry->is_listed = 1;
  struct names names = {0};
  struct text directory = entry->path;
  int is_listed = list(sight, directory, &names);
  tell_names(sight, directory, &names, is_listed);
  forget(&names);
}

static int is_blank(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

/** Of the first line of a script; as interpreterOf of ../../tracing/interpreter.ts. */
static struct text find_named(const char *start, const char *end) {
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

static struct text find_loader(const char *start, size_t size) {
  const struct text none = {start, 0};
  Elf64_Ehdr header;
  if (size < sizeof header) return none;
  memcpy(&header, start, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return none;
  if (header.e_machine != MACHINE) return none;
  for (size_t each = 0; each < header.e_phnum; each++) {
    Elf64_Phdr part;
    unsigned long at = header.e_phoff + each * header.e_phentsize;
    if (at > size || at + sizeof part > size) return none;
    memcpy(&part, start + at, sizeof part);
    if (part.p_type != PT_INTERP) continue;
    if (part.p_offset > size || part.p_filesz == 0 || part.p_filesz > size - part.p_offset) return none;
    return (struct text){start + part.p_offset, part.p_filesz - 1};
  }
  return none;
}

/** Tells how a program begins, and gives what the kernel opens for it besides; of no length where it is nothing. */
static struct text tell_start(struct sight *sight, struct entry *entry) {
  long descriptor = CALL(openat, AT_FDCWD, entry->path.bytes, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, 0);
  long size = descriptor < 0 ? -1 : CALL(pread64, descriptor, sight->start, sizeof sight->start, 0, 0);
  if (descriptor >= 0) CALL(close, descriptor, 0, 0, 0, 0);
  struct text start = {sight->start, size < 0 ? 0 : size};
  if (!entry->is_begun || entry->is_touched) {
    entry->is_begun = 1;
    unsigned char is_read = size >= 0;
    begin_record(&sight->journal, START, 1 + sizeof start.length + start.length + entry->path.length);
    put(&sight->journal, &is_read, 1);
    put_counted(&sight->journal, start);
    put_text(&sight->journal, entry->path);
  }
  if (size >= 2 && start.bytes[0] == '#' && start.bytes[1] == '!')
    return find_named(start.bytes, start.bytes + size);
  return find_loader(start.bytes, start.length);
}

enum { MOST_INTERPRETERS = 5 };

/** A program, and what stands in for it. */
static void tell_program(struct sight *sight, struct entry *entry, int pid) {
  for (int depth = 0; entry; depth++) {
    struct text named = tell_start(sight, entry);
    if (depth == MOST_INTERPRETERS) return;
    char path[LONGEST];
    size_t length = 0;
    if (named.length == 0) return;
    if (named.bytes[0] != '/') {
      long base = tell_link_of(sight, pid, "cwd");
      if (!is_path(sight->target, base)) return;
      memcpy(path, sight->target, base);
      path[base] = '/';
      length = base + 1;
    }
    memcpy(path + length, named.bytes, named.length);
    length += named.length;
    path[length] = 0;
    struct found found = walk(sight, path, length, 1, pid);
    entry = found.is_whole ? found.entry : NULL;
  }
}

/** What is below a directory that is about to be moved, and what stands where it goes. */
static void tell_moved(struct sight *sight, char *from, size_t from_length, char *to, size_t to_length) {
  struct names names = {0};
  struct text directory = {from, from_length};
  int is_listed = list(sight, directory, &names);
  tell_names(sight, directory, &names, is_listed);
  for (size_t at = 0; is_listed && at < names.used;) {
    const char *name = names.bytes + at + 1;
    size_t length = length_of(name);
    if (from_length + length + 2 > LONGEST || to_length + length + 2 > LONGEST) {
      lose(sight);
      break;
    }
    from[from_length] = to[to_length] = '/';
    memcpy(from + from_length + 1, name, length + 1);
    memcpy(to + to_length + 1, name, length + 1);
    struct entry *source = see(sight, from, from_length + 1 + length, 1);
    if (source) source->is_touched = 1;
    if (names.bytes[at] == DIRECTORY)
      tell_moved(sight, from, from_length + 1 + length, to, to_length + 1 + length);
    struct entry *target = see(sight, to, to_length + 1 + length, 1);
    if (target) target->is_touched = 1;
    if (!source || !target) break;
    from[from_length] = to[to_length] = 0;
    at += length + 2;
  }
  from[from_length] = to[to_length] = 0;
  forget(&names);
}
