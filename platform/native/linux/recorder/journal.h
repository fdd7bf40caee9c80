// Writes the journal: a binary event log in an anonymous file, read by ../../../tracing/linux/journal-reader.ts.
//
// Invariants:
// - A record is its kind (one byte), its size (four bytes, not for ACCESS_RECORD) and its content. Numbers have the processor's
//   byte order.
// - After a failed write `is_lost` is set and no record follows: a partial journal is not a trace.
#pragma once
#include "../syscalls.h"
#include <string.h>

/** Only ACCESS_RECORD has a fixed size. */
enum record {
  ACCESS_RECORD = 1,
  STATE_RECORD,
  NAMES_RECORD,
  UNTRACEABLE_RECORD,
  CALL_RECORD,
  LISTING_RECORD,
  PROCESS_RECORD,
};

struct journal {
  int file;
  /** A non-blocking pipe that signals new records. */
  int wakeup;
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
  CALL(write, journal->wakeup, "", 1, 0, 0);
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

/** Begins a record of `size` bytes, which the caller puts. */
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

/** Writes the length in four bytes, then the text. */
static void put_counted(struct journal *journal, struct text text) {
  put(journal, &text.length, sizeof text.length);
  put_text(journal, text);
}
