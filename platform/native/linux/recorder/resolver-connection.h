// Connects a task with permissions to rt's resolver instead of a DNS server (../../../permissions/linux/host-resolver.ts).
//
// Invariants:
// - The task's socket is replaced by one end of a new connection within this host. rt has the other end.
// - No other process can have an end, because the address of the accepted connection is compared.
// - A task has MAX_RESOLVING such connections at most.
// Non-obvious:
// - The new socket has no option of the old one, with which a task could delay this thread. It also works where pidfd_getfd is refused.
// - Other descriptors of the old socket stay as they are. Resolvers have one.
#pragma once
#include "permitted-hosts.h"
#include "tracee-memory.h"
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { ACCEPT_ATTEMPTS = 8 };
/** For a connection within this host, which needs none on an idle machine. */
static const struct timespec MAX_ACCEPT_TIME = {.tv_sec = 1};

/** Returns the status flags of a descriptor of the tracee, with O_CLOEXEC, or an error. */
static long read_descriptor_flags(int pid, int descriptor) {
  char part[32];
  if (descriptor < 0) return -EBADF;
  char *end = add_number(add_text(part, "fdinfo/", 7), descriptor);
  const long flags = read_number(pid, part, end - part, "\nflags:\t", 8);
  return flags < 0 ? -EBADF : flags;
}

static long name_socket(int socket, struct sockaddr_in *name) {
  int size = sizeof *name;
  return CALL(getsockname, socket, name, &size, 0, 0);
}

/** Returns the end of the client's connection, or an error. */
static long accept_client(int server, int client) {
  struct sockaddr_in own;
  long result = name_socket(client, &own);
  for (int each = 0; result >= 0 && each < ACCEPT_ATTEMPTS; each++) {
    struct pollfd polled = {.fd = server, .events = POLLIN};
    struct timespec time = MAX_ACCEPT_TIME;
    if (CALL(ppoll, &polled, 1, &time, 0, 0) <= 0) return -ETIMEDOUT;
    struct sockaddr_in peer;
    int size = sizeof peer;
    result = CALL(accept4, server, &peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (result < 0) return result;
    if (peer.sin_port == own.sin_port && peer.sin_addr.s_addr == own.sin_addr.s_addr) return result;
    CALL(close, result, 0, 0, 0, 0); // another process was faster
  }
  return result < 0 ? result : -ECONNREFUSED;
}

/** Opens a connection within this host. Returns the accepted end and sets the other one, or returns an error. */
static long open_connection(int *client) {
  static const int TYPE = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const long server = CALL(socket, AF_INET, TYPE, 0, 0, 0);
  if (server < 0) return server;
  long result = CALL(bind, server, &address, sizeof address, 0, 0);
  if (result >= 0) result = CALL(listen, server, ACCEPT_ATTEMPTS, 0, 0, 0);
  if (result >= 0) result = name_socket(server, &address);
  if (result >= 0) result = CALL(socket, AF_INET, TYPE, 0, 0, 0);
  if (result >= 0) {
    *client = result;
    result = CALL(connect, *client, &address, sizeof address, 0, 0);
    if (result >= 0 || result == -EINPROGRESS) result = accept_client(server, *client);
    if (result < 0) CALL(close, *client, 0, 0, 0, 0);
  }
  CALL(close, server, 0, 0, 0, 0);
  return result;
}

/** Sends one byte with a descriptor. Returns an error below 0. */
static long send_descriptor(int socket, unsigned char byte, int descriptor, int flags) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *(int *)CMSG_DATA(&control.header) = descriptor;
  return CALL(sendmsg, socket, &message, flags | MSG_NOSIGNAL, 0, 0);
}

/**
 * Passes the accepted end of a connection to rt. Returns the number by which rt finds it, or an error: the descriptor itself without
 * a socket, otherwise the byte that goes with it. If the report is lost, rt closes the descriptor at the next one.
 */
static long pass_connection(int socket, int accepted) {
  static unsigned char last;
  if (socket < 0) return accepted;
  const long error = send_descriptor(socket, ++last, accepted, MSG_DONTWAIT);
  return error < 0 ? error : last;
}

/** Replaces the descriptor of a call of the tracee. Returns an error below 0. */
static long replace_descriptor(int listener, unsigned long id, int descriptor, int by, long flags) {
  struct seccomp_notif_addfd change = {.id = id,
                                       .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                       .srcfd = by,
                                       .newfd = descriptor,
                                       .newfd_flags = flags & O_CLOEXEC};
  const long result = CALL(fcntl, by, F_SETFL, flags & O_NONBLOCK, 0, 0);
  return result < 0 ? result : CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_ADDFD, &change, 0, 0);
}
