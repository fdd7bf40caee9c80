// Starts threads that no thread joins.
#pragma once
#include <pthread.h>

/** Moving a directory recurses; the default stack of some C libraries is too small for that. */
enum { STACK = 8 << 20 };

/** Returns whether the thread was started. */
static int start_detached(void *(*function)(void *), void *argument) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  const int is_started = pthread_create(&thread, &attributes, function, argument) == 0;
  pthread_attr_destroy(&attributes);
  return is_started;
}
