// What was seen, in its order: records in a file that only this process has, from which ../../tracing/journal.ts reads them.
//
// Contract: a record is its kind in one byte, its size in four where it has not always the same one, and what follows. Numbers are
// as the processor has them. What cannot be written is said to be lost, and nothing more is written then: half a journal is none.
#pragma once
#include "../system.h"
#include <string.h>
#include <sys/mman.h>

/** NOTE alone has always the same size. */
enum record { NOTE = 1, LOOK, NAMES, UNUSUAL, CALLED_WITH };

struct journal {
  int file;
  /** A pipe: that there is more to be read. It never waits. */
  int bell;
  int is_lost;
  size_t used;
  char bytes[1 << 15];
};

static void write_out(struct journal *journal) {
  for (size_t done = 0; done < journal->used && !journal->is_lost;) {
    long count = CALL(write, journal->file, journal->bytes + done, journal->used - done, 0, 0);
    if (count > 0) done += count;
    else if (count != -EINTR) journal->is_lost = 1;
  }
  journal->used = 0;
  CALL(write, journal->bell, "", 1, 0, 0);
}

static void put(struct journal *journal, const void *bytes, size_t size) {
  for (const char *from = bytes; size > 0;) {
    size_t room = sizeof journal->bytes - journal->used;
    size_t part = size < room ? size : room;
    memcpy(journal->bytes + journal->used, from, part);
    journal->used += part;
    from += part;
    size -= part;
    if (journal->used == sizeof journal->bytes) write_out(journal);
  }
}

/** Of so many bytes; whoever begins it puts them. */
static void begin_record(struct journal *journal, enum record kind, unsigned size) {
  unsigned char letter = kind;
  put(journal, &letter, 1);
  put(journal, &size, sizeof size);
}

struct text {
  const char *bytes;
  unsigned length;
};

static void put_text(struct journal *journal, struct text text) { put(journal, text.bytes, text.length); }

/** Its length in front of it, in four bytes. */
static void put_counted(struct journal *journal, struct text text) {
  put(journal, &text.length, sizeof text.length);
  put_text(journal, text);
}

// Memory that is given back as a whole.

struct piece {
  struct piece *before;
  size_t size;
};

struct memory {
  struct piece *last;
  size_t used;
};

enum { PIECE = 1 << 20 };

/** Zeroed; NULL where there is none. */
static void *map(size_t size) {
  long place = CALL(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return place < 0 && place > -4096 ? NULL : (void *)place;
}

/** NULL where there is none. */
static void *take(struct memory *memory, size_t size) {
  size = (size + 7) & ~7UL;
  if (!memory->last || memory->used + size > memory->last->size) {
    size_t whole = size + sizeof(struct piece) > PIECE ? size + sizeof(struct piece) : PIECE;
    struct piece *piece = map(whole);
    if (!piece) return NULL;
    piece->before = memory->last;
    piece->size = whole;
    memory->last = piece;
    memory->used = sizeof *piece;
  }
  void *place = (char *)memory->last + memory->used;
  memory->used += size;
  return place;
}

static void give_back(struct memory *memory) {
  for (struct piece *piece = memory->last; piece;) {
    struct piece *before = piece->before;
    CALL(munmap, piece, piece->size, 0, 0, 0);
    piece = before;
  }
}
