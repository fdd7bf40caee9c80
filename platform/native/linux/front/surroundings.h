// Examines the working directory, configuration, standard input and files for a plan.
//
// Invariants: a result is that of the TypeScript function in the comment, or a doubt (0).
#pragma once
#include "text.h"
#include <fcntl.h>
#include <linux/mman.h>
#include <poll.h>
#include <sys/stat.h>

enum {
  LONGEST_DIRECTORY = 1000, // bytes; longer paths are a doubt
  PATH_SIZE = 2048,
  LARGEST_CONFIG = 128 * 1024 + 1,
  MSG_PEEKED = 2, // MSG_PEEK
  TERMINAL_SETTINGS = 0x5401, // TCGETS
  UNREAD_COUNT = 0x541b, // FIONREAD
};

static char *allocate(size_t size) {
  long place = CALL(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return place < 0 ? NULL : (char *)place;
}

/** Absolute and without links, as getcwd() returns it. */
static int find_directory(char *directory) {
  long size = CALL(getcwd, directory, LONGEST_DIRECTORY, 0, 0, 0);
  return size > 0 && directory[0] == '/' && is_utf8(directory, size - 1);
}

/** Shortens a path to its parent directory. @returns 0 for the root */
static int go_up(char *directory) {
  size_t length = length_of(directory);
  if (length <= 1) return 0;
  while (directory[length - 1] != '/') length--;
  directory[length > 1 ? length - 1 : 1] = 0;
  return 1;
}

/** Writes the path of a name in a directory. */
static void join(char *path, const char *directory, const char *name) {
  char *end = copy_text(path, directory);
  if (end[-1] != '/') *end++ = '/';
  copy_text(end, name);
}

static int is_regular(long descriptor) {
  struct stat status;
  return CALL(fstat, descriptor, &status, 0, 0, 0) == 0 && S_ISREG(status.st_mode);
}

/** Whether a file contains an entry of the list, or cannot be read whole. */
static int mentions(long descriptor, enum list list) {
  char *content = allocate(LARGEST_CONFIG);
  long length = content ? CALL(read, descriptor, content, LARGEST_CONFIG, 0, 0) : -1;
  int is_found = length < 0 || length == LARGEST_CONFIG;
  for (long at = 0; at < length && !is_found; at++)
    for (const char *each = first_of(list); *each; each += length_of(each) + 1)
      if (after(content + at, each)) is_found = 1;
  CALL(munmap, content, LARGEST_CONFIG, 0, 0, 0);
  return is_found;
}

/** src/config/config-file-name.ts, mentionsInConfig(); the working directory has no such file. */
static int lacks_root_settings(const char *from) {
  char directory[LONGEST_DIRECTORY], path[PATH_SIZE];
  copy_text(directory, from);
  while (go_up(directory)) {
    join(path, directory, first_of(CONFIG_FILE));
    long file = CALL(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0);
    if (file < 0) continue;
    int is_found = !is_regular(file) || mentions(file, ROOT_SETTINGS);
    CALL(close, file, 0, 0, 0, 0);
    if (is_found) return 0;
  }
  return 1;
}

static int is_terminal(int descriptor) {
  char settings[256];
  return CALL(ioctl, descriptor, TERMINAL_SETTINGS, settings, 0, 0) == 0;
}

/** platform/processes/posix/stdin-poll.ts, isInputEmpty(); waits for the first byte as it does. */
static int has_input(void) {
  char byte;
  struct stat status;
  struct pollfd waited = {0, POLLIN, 0};
  int unread = 0;
  if (CALL(fstat, 0, &status, 0, 0, 0) != 0) return 0;
  if (is_terminal(0)) return 1;
  if (S_ISREG(status.st_mode)) {
    long place = CALL(lseek, 0, 0, SEEK_CUR, 0, 0);
    return place >= 0 && place < status.st_size;
  }
  if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) return 0;
  if (CALL(ppoll, &waited, 1, 0, 0, 0) != 1 || !(waited.revents & POLLIN)) return 0;
  if (S_ISSOCK(status.st_mode)) return CALL(recvfrom, 0, &byte, 1, MSG_PEEKED, 0) == 1;
  return CALL(ioctl, 0, UNREAD_COUNT, &unread, 0, 0) == 0 && unread > 0;
}

static int is_plain(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '.' || byte == '_' || byte == '-' || byte == '/' || byte == '@' || byte == '+' || byte == ' ';
}

/** src/source-extensions.ts, extensionOf() */
static int is_source(const char *name) {
  size_t dot = length_of(name);
  char extension[8] = {0};
  while (dot > 0 && name[dot] != '.') dot--;
  if (dot == 0 || name[dot - 1] == '/') return 0;
  for (size_t at = 0; name[dot + at]; at++) {
    char byte = name[dot + at];
    if (at + 1 == sizeof extension) return 0;
    extension[at] = byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
  }
  return find_in(SOURCE_EXTENSIONS, extension) != NULL;
}

/** Whether the resolver finds files here: it lists each directory, and maps absolute paths by settings of a project. */
static int is_resolvable(const char *file, int is_absolute) {
  char directory[PATH_SIZE], path[PATH_SIZE + 32];
  copy_text(directory, file);
  while (go_up(directory)) {
    if (CALL(faccessat, AT_FDCWD, directory, R_OK | X_OK, 0, 0) != 0) return 0;
    const char *settings = is_absolute ? first_of(PROJECT_SETTINGS) : "";
    for (; *settings; settings += length_of(settings) + 1) {
      join(path, directory, settings);
      if (CALL(faccessat, AT_FDCWD, path, F_OK, 0, 0) != -ENOENT) return 0;
    }
  }
  return 1;
}

/** The path that src/runner/fast-path/file-shortcut.ts finds for a source file, if it is the name without any link. */
static int find_source(const char *name, const char *directory, char *path) {
  static const char OWN[] = "/proc/self/fd/";
  char link[sizeof OWN + 20], real[PATH_SIZE];
  if (length_of(name) > LONGEST_DIRECTORY || !is_source(name)) return 0;
  if (*name == '/') copy_text(path, name);
  else join(path, directory, name[0] == '.' && name[1] == '/' ? name + 2 : name);
  for (const char *at = path; *at; at++)
    if (!is_plain(*at)) return 0;
  long file = CALL(openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0, 0);
  if (file < 0) return 0;
  *add_number(copy_text(link, OWN), file) = 0;
  long size = CALL(readlinkat, AT_FDCWD, link, real, sizeof real - 1, 0);
  int is_file = is_regular(file);
  CALL(close, file, 0, 0, 0, 0);
  if (size < 0 || !is_file) return 0;
  real[size] = 0;
  return is_same(real, path) && is_resolvable(path, *name == '/');
}

/** Whether the engine leaves the standard streams as they are, and the process may be replaced. */
static int is_ordinary_process(void) {
  for (int descriptor = 0; descriptor < 3; descriptor++)
    if (CALL(fcntl, descriptor, F_GETFD, 0, 0, 0) < 0) return 0;
  return CALL(getpid, 0, 0, 0, 0, 0) != 1;
}
