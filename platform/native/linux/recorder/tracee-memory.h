// Reads the memory and the directories of a tracee that is suspended in a call.
#pragma once
#include "../decimal.h"
#include "../syscalls.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

/** UNREADABLE: the call itself will fail. DENIED: the kernel does not allow access to the process. */
enum { UNREADABLE = -1, DENIED = -2 };

enum { PAGE = 4096, CHUNK = 256 };

static long copy_memory(int pid, unsigned long from, void *to, size_t size) {
  struct iovec ours = {.iov_base = to, .iov_len = size};
  struct iovec theirs = {.iov_base = (void *)from, .iov_len = size};
  return CALL(process_vm_readv, pid, &ours, 1, &theirs, 1);
}

/** A process of another pid namespace has the id 0. */
static int read_bytes(int pid, unsigned long from, void *to, size_t size) {
  if (pid == 0) return DENIED;
  long count = copy_memory(pid, from, to, size);
  if (count == (long)size) return size;
  return count < 0 && count != -EFAULT ? DENIED : UNREADABLE;
}

/** Returns the length up to the NUL; UNREADABLE for a longer text than a path. `to` has room for PATH_MAX. */
static int read_text(int pid, unsigned long from, char *to) {
  if (pid == 0) return DENIED;
  for (size_t length = 0; length < PATH_MAX;) {
    size_t size = PAGE - (from + length) % PAGE;
    if (size > CHUNK) size = CHUNK;
    if (size > PATH_MAX - length) size = PATH_MAX - length;
    long count = copy_memory(pid, from + length, to + length, size);
    if (count < 0) return count == -EFAULT ? UNREADABLE : DENIED;
    if (count == 0) return UNREADABLE;
    const char *end = memchr(to + length, 0, count);
    if (end) return end - to;
    length += count;
  }
  return UNREADABLE;
}

enum { MAX_LINK_NAME = 64 };

static char *add_text(char *to, const char *text, size_t length) {
  memcpy(to, text, length);
  return to + length;
}

/** Writes `/proc/<owner>/<link>` with its NUL and returns the length. `name` has room for MAX_LINK_NAME and the arguments. */
static size_t name_link(char *name, const char *owner, size_t owner_length, const char *link, size_t link_length) {
  char *end = add_text(name, "/proc/", 6);
  end = add_text(end, owner, owner_length);
  *end++ = '/';
  end = add_text(end, link, link_length);
  *end = 0;
  return end - name;
}

static const char DELETED[] = " (deleted)";
enum { DELETED_LENGTH = sizeof DELETED - 1 };

/** Returns whether the target of a /proc link is an existing path: not deleted, and not a pipe or socket. */
static int is_path(const char *target, long length) {
  if (length <= 0 || target[0] != '/') return 0;
  return length < DELETED_LENGTH || memcmp(target + length - DELETED_LENGTH, DELETED, DELETED_LENGTH) != 0;
}

/** Reads a number after `field` in a file of /proc about a process. Returns an error below 0. */
static long read_number(int pid, const char *file, size_t length, const char *field, int base) {
  char name[MAX_LINK_NAME], owner[20], text[1024];
  name_link(name, owner, add_number(owner, pid) - owner, file, length);
  const int opened = CALL(openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0, 0);
  if (opened < 0) return opened;
  const long size = CALL(read, opened, text, sizeof text - 1, 0, 0);
  CALL(close, opened, 0, 0, 0, 0);
  if (size <= 0) return -ESRCH;
  text[size] = 0;
  const char *at = strstr(text, field);
  if (!at) return -ESRCH;
  long number = 0;
  for (at += strlen(field); *at >= '0' && *at < '0' + base; at++) {
    number = number * base + (*at - '0');
    if (number > INT_MAX) return -ESRCH;
  }
  return number;
}
