// Opens a socket that replaces one of the tracee, in containers that forbid pidfd_getfd.
//
// Invariants:
// - The caller connects the new socket and replaces the tracee's afterwards. A failed connect leaves the tracee's socket as it is.
// - Only a socket of TCP, UDP or a Unix stream is replaced.
// Non-obvious: options of the tracee's socket and its local address are lost. Programs usually set options after the connection.
#pragma once
#include "resolver-connection.h"

/** Returns the type of a tracee's socket by its protocol, or an error. A Unix socket is a stream: the static filter refuses datagrams. */
static long read_socket_type(int pid, int descriptor) {
  char name[MAX_LINK_NAME], owner[20], part[24], protocol[16];
  char *end = add_number(add_text(part, "fd/", 3), descriptor);
  name_link(name, owner, add_number(owner, pid) - owner, part, end - part);
  const long length = CALL(getxattr, name, "system.sockprotoname", protocol, sizeof protocol, 0);
  if (length < 3) return -ENOTSOCK;
  if (memcmp(protocol, "UDP", 3) == 0) return SOCK_DGRAM;
  return memcmp(protocol, "TCP", 3) == 0 || memcmp(protocol, "UNI", 3) == 0 ? SOCK_STREAM : -ENOTSOCK;
}

/** Returns the new socket, which blocks as the tracee's does, or an error. Sets the flags of the tracee's descriptor. */
static long open_substitute(int pid, int descriptor, int family, long *flags) {
  *flags = read_descriptor_flags(pid, descriptor);
  if (*flags < 0) return *flags;
  const long type = read_socket_type(pid, descriptor);
  if (type < 0) return type;
  return CALL(socket, family, type | SOCK_CLOEXEC | (*flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0, 0, 0);
}
