// Recognizes connections to a server of the script itself, such as a test's: they are not connections to another program.
//
// Invariants:
// - A socket is the script's own if one of its processes has bound it. Sockets are compared by inode.
// - A port that a socket of another program listens on, too, is not the script's own.
//
// Non-obvious: the port may be unknown at the bind (port 0). So the listening sockets of a port are read at the connection.
#pragma once
#include "file-contents.h"
#include "loopback.h"
#include <sys/socket.h>

enum { MAX_OWN_SOCKETS = 64, LISTENING = 0x0a, SOCKET_CHUNK = 4096 };

/** Inodes of the sockets that were bound last. */
struct own_sockets {
  unsigned long inodes[MAX_OWN_SOCKETS];
  unsigned count;
};

static void remember_bound(struct own_sockets *own, struct path_table *path_table, int pid, int descriptor) {
  static const char START[] = "socket:[";
  char link[24] = "fd/";
  if (descriptor < 0) return;
  *add_number(link + 3, descriptor) = 0;
  const long length = read_link_of(path_table, pid, link);
  const char *target = path_table->target;
  if (length < (long)sizeof START || memcmp(target, START, sizeof START - 1) != 0) return;
  unsigned long inode = 0;
  for (const char *at = target + sizeof START - 1; at < target + length && *at != ']'; at++) inode = inode * 10 + (*at - '0');
  own->inodes[own->count++ % MAX_OWN_SOCKETS] = inode;
}

static int is_own(const struct own_sockets *own, unsigned long inode) {
  for (unsigned each = 0; each < own->count && each < MAX_OWN_SOCKETS; each++)
    if (own->inodes[each] == inode) return 1;
  return 0;
}

/** A line of /proc/net/tcp, whose fields are in columns: 1 has the local address and port, 3 the state, 9 the inode. */
struct socket_line {
  int column, is_in_column;
  unsigned long port, state, inode;
};

static unsigned hex_digit(char byte) { return (byte & 15) + (byte > '9' ? 9 : 0); }

static void add_byte(struct socket_line *line, char byte) {
  if (byte == ' ') {
    line->column += line->is_in_column;
    line->is_in_column = 0;
    return;
  }
  line->is_in_column = 1;
  if (line->column == 1) line->port = byte == ':' ? 0 : line->port << 4 | hex_digit(byte);
  if (line->column == 3) line->state = line->state << 4 | hex_digit(byte);
  if (line->column == 9) line->inode = line->inode * 10 + (byte - '0');
}

/** Returns whether no socket of another program listens on the port. Sets `has_own` if a socket of the script does. */
static int listens_alone(const struct own_sockets *own, int pid, const char *table, unsigned port, int *has_own) {
  char name[2 * MAX_LINK_NAME], owner[20], chunk[SOCKET_CHUNK];
  name_link(name, owner, add_number(owner, pid) - owner, table, length_of(table));
  const int file = CALL(openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0, 0);
  if (file < 0) return 1; // a kernel without IPv6
  int is_alone = 1, is_head = 1, is_listening = 1;
  struct socket_line line = {0};
  // The kernel lists listening sockets first.
  while (is_alone && is_listening) {
    const long count = CALL(read, file, chunk, sizeof chunk, 0, 0);
    if (count <= 0) break;
    for (long each = 0; each < count && is_listening; each++) {
      if (chunk[each] != '\n') {
        add_byte(&line, chunk[each]);
        continue;
      }
      if (!is_head) {
        is_listening = line.state == LISTENING;
        if (is_listening && line.port == port) {
          if (is_own(own, line.inode)) *has_own = 1;
          else is_alone = 0;
        }
      }
      is_head = 0;
      line = (struct socket_line){0};
    }
  }
  CALL(close, file, 0, 0, 0, 0);
  return is_alone;
}

/** @param address of the connection */
static int is_own_server(const struct own_sockets *own, int pid, struct text address) {
  const unsigned char *bytes = (const unsigned char *)address.bytes;
  unsigned short family;
  if (own->count == 0 || address.length < sizeof(struct sockaddr_in)) return 0;
  memcpy(&family, bytes, sizeof family);
  const int is_here = (family == AF_INET && is_loopback_v4(number_of_bytes(bytes + 4))) ||
                      (family == AF_INET6 && address.length >= 24 && is_loopback_v6(bytes + 8));
  const unsigned port = bytes[2] << 8 | bytes[3];
  int has_own = 0;
  return is_here && listens_alone(own, pid, "net/tcp", port, &has_own) &&
         listens_alone(own, pid, "net/tcp6", port, &has_own) && has_own;
}
