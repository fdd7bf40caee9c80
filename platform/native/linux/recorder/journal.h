// What was seen, in its order: records in a file that only this process has, from which ../../tracing/journal.ts reads them.
//
// Contract: a record is its kind in one byte, its size in four where it has not always the same one, and what follows. Numbers are
// as the processor has them. What cannot be written is said to be lost, and nothing more is written then: half a journal is none.
#pragma once
#include "../syscalls.h"
#include <string.h>

/** NOTE alone has always the same size. */
enum record { NOTE = 1, LOOK, NAMES, UNUSUAL, CALLED_WITH, LISTED };

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
