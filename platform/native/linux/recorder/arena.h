// Memory of the recorder's own, in large pieces, which is given back as a whole: what it has seen is needed to the end.
#pragma once
#include "../syscalls.h"
#include <sys/mman.h>

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
