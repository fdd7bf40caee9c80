// Arena allocator of the recorder: allocates from large chunks and frees them together, because traced paths live to the end.
#pragma once
#include "../syscalls.h"
#include <sys/mman.h>

struct chunk {
  struct chunk *before;
  size_t size;
};

struct arena {
  struct chunk *last;
  size_t used;
};

enum { CHUNK_SIZE = 1 << 20 };

/** Returns zeroed memory, or NULL if none is available. */
static void *map(size_t size) {
  long place = CALL(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return place < 0 && place > -4096 ? NULL : (void *)place;
}

/** Returns NULL if no memory is available. */
static void *allocate(struct arena *arena, size_t size) {
  size = (size + 7) & ~7UL;
  if (!arena->last || arena->used + size > arena->last->size) {
    size_t whole = size + sizeof(struct chunk) > CHUNK_SIZE ? size + sizeof(struct chunk) : CHUNK_SIZE;
    struct chunk *chunk = map(whole);
    if (!chunk) return NULL;
    chunk->before = arena->last;
    chunk->size = whole;
    arena->last = chunk;
    arena->used = sizeof *chunk;
  }
  void *place = (char *)arena->last + arena->used;
  arena->used += size;
  return place;
}

static void free_arena(struct arena *arena) {
  for (struct chunk *chunk = arena->last; chunk;) {
    struct chunk *before = chunk->before;
    CALL(munmap, chunk, chunk->size, 0, 0, 0);
    chunk = before;
  }
}
