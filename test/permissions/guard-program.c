// Fuzzes the decisions of connect-guard.h: its system calls go to a simulated kernel, whose answers come from the input. So tracees are
// killed, descriptors are exhausted, and memory and paths change between two reads.
//
// The program fails if the guard makes a call that the permissions do not allow, or does not answer exactly once. It also fails if a
// descriptor is closed twice or stays open. Sanitizers find reads and writes outside of buffers: the tracee's memory has its own
// allocation.
//
// With -DFUZZER it is a target of libFuzzer. Otherwise it reads inputs from standard input, each after its length in 4 bytes.
#include "../../platform/native/linux/syscalls.h"
#undef CALL
#define CALL(name, a, b, c, d, e) simulate(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
static long simulate(long number, long a, long b, long c, long d, long e);
static int start_detached(void *(*function)(void *), void *argument);
#include "../../platform/native/linux/recorder/connect-guard.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition) \
  if (!(condition)) (fprintf(stderr, "violated: %s\n", #condition), abort())

static const unsigned long BASE = 0x10000;
enum { TRACEE = 77, LISTENER = 9, REPORTS = 8, CONNECTIONS = 7, FIRST = 100, MAX_OPEN = 64 };

/** Paths that a tracee's path may mean, and whether sockets and modes below are permitted. */
static const struct {
  const char *path;
  int is_permitted, is_linked;
} PLACES[] = {
    {"/project", 1, 1},
    {"/project/own.sock", 1, 1},
    {"/project (deleted)", 0, 1},
    {"/projects/other.sock", 0, 1},
    {"/run/docker.sock", 0, 1},
    {"/", 0, 1},
    {"/project/removed (deleted)", 1, 0},
    {"/memfd:x (deleted)", 0, 0},
    {"pipe:[1]", 0, 1},
    {"socket:[1]", 0, 1},
};
enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES, LONG_PLACE = PLACE_COUNT };
/** Values of `opened` for sockets that the guard makes, accepts, and makes in place of the tracee's. */
enum { OWN_SOCKET = 100, ACCEPTED, SUBSTITUTE };

static struct {
  const uint8_t *bytes;
  size_t length;
} input;
static struct {
  uint8_t *bytes;
  size_t length;
} memory;
/** The place of each open descriptor, plus 1. */
static int opened[MAX_OPEN];
/** Whether the descriptor was opened as one of the tracee's, not by a path, which may lead to one of rt's. */
static int is_inherited[MAX_OPEN];
static int answers, are_threads_refused, passed, is_copy_refused, protocol_type, is_connected, is_replaced;
static enum network network;
/** Whether the guard is in a launcher, and the last byte that it has sent to rt. */
static int has_launcher, sent;
/** 192.0.2.2, port 80; 192.0.2.4, all ports but those of DNS; 192.0.2.1 is being written. */
static struct permitted_hosts hosts = {.capacity = 3,
                                       .entries = {{.version = 2, .port = 80 << 8, .address = {[10] = 0xff, 0xff, 192, 0, 2, 2}},
                                                   {.version = 3, .port = 80 << 8, .address = {[10] = 0xff, 0xff, 192, 0, 2, 1}},
                                                   {.version = 2, .port = 0, .address = {[10] = 0xff, 0xff, 192, 0, 2, 4}}}};

static unsigned take(void) {
  if (input.length == 0) return 0;
  input.length--;
  return *input.bytes++;
}

/** Returns a new descriptor, or an error of the list. */
static long open_new(const int *errors, unsigned count) {
  const unsigned choice = take();
  if (choice < count) return -errors[choice];
  for (int each = 0; each < MAX_OPEN; each++)
    if (!opened[each]) {
      opened[each] = choice % (PLACE_COUNT + 1) + 1;
      return FIRST + each;
    }
  return -EMFILE;
}

static int is_open(long descriptor) {
  return descriptor >= FIRST && descriptor < FIRST + MAX_OPEN && opened[descriptor - FIRST] != 0;
}

static long descriptor_of(const char *link) {
  static const char START[] = "/proc/self/fd/";
  REQUIRE(strncmp(link, START, sizeof START - 1) == 0);
  const long descriptor = atol(link + sizeof START - 1);
  REQUIRE(is_open(descriptor));
  return descriptor;
}

static int place_of(const char *link) { return opened[descriptor_of(link) - FIRST] - 1; }

static long read_memory(int pid, const struct iovec *to, const struct iovec *from) {
  const unsigned long start = (unsigned long)from->iov_base;
  const unsigned choice = take();
  if (pid != TRACEE || choice == 1) return -ESRCH;
  if (choice == 2) return -EPERM;
  if (start < BASE || start - BASE >= memory.length) return -EFAULT;
  size_t size = memory.length - (start - BASE);
  if (size > to->iov_len) size = to->iov_len;
  // Another thread of the tracee writes at the same time.
  if (choice == 3) memory.bytes[take() % memory.length] = take();
  memcpy(to->iov_base, memory.bytes + (start - BASE), size);
  return size;
}

static void check_connect(long copy, const struct sockaddr *address, long length) {
  REQUIRE(is_open(copy));
  REQUIRE(network != OBSERVED || opened[copy - FIRST] == OWN_SOCKET);
  if (opened[copy - FIRST] == OWN_SOCKET) {
    REQUIRE(address->sa_family == AF_INET && ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  } else if (address->sa_family == AF_UNIX) {
    const struct sockaddr_un *local = (const void *)address;
    REQUIRE(length > 2 && memchr(local->sun_path, 0, length - 2));
    const int place = place_of(local->sun_path);
    REQUIRE(place != LONG_PLACE && PLACES[place].is_permitted);
  } else if (address->sa_family == AF_INET) {
    const int port = ntohs(((const struct sockaddr_in *)address)->sin_port);
    REQUIRE(network != LOOPBACK || (port != 53 && port != 853));
    const in_addr_t host = ((const struct sockaddr_in *)address)->sin_addr.s_addr;
    const int is_listed = (host == htonl(0xc0000202) && port == 80) || (host == htonl(0xc0000204) && port != 53 && port != 853);
    REQUIRE(network == OPEN_NETWORK || is_listed || (network == LOOPBACK && (ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127 || ((const struct sockaddr_in *)address)->sin_addr.s_addr == 0)));
  } else if (address->sa_family == AF_INET6) {
    const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
    const int is_here = IN6_IS_ADDR_LOOPBACK(host) || IN6_IS_ADDR_UNSPECIFIED(host) || (IN6_IS_ADDR_V4MAPPED(host) && (host->s6_addr[12] == 127 || !memcmp(host->s6_addr + 12, "\0\0\0\0", 4)));
    const int port = ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    const int is_listed = (memcmp(host, hosts.entries[0].address, 16) == 0 && port == 80) || (memcmp(host, hosts.entries[2].address, 16) == 0 && port != 53 && port != 853);
    REQUIRE(network == OPEN_NETWORK || is_listed || (network == LOOPBACK && is_here && port != 53 && port != 853));
  } else REQUIRE(address->sa_family == AF_UNSPEC || address->sa_family == AF_NETLINK);
}

static long check_change(long descriptor) {
  const int place = opened[descriptor - FIRST] - 1;
  REQUIRE(place != LONG_PLACE);
  const int is_nameless = !PLACES[place].is_linked || PLACES[place].path[0] != '/';
  REQUIRE(PLACES[place].is_permitted || (is_nameless && is_inherited[descriptor - FIRST]));
  return 0;
}

static long open_file(const char *path) {
  static const int ERRORS[] = {ENOENT, EMFILE, EACCES, ELOOP, ESRCH};
  const long descriptor = open_new(ERRORS, 5);
  if (descriptor >= 0) is_inherited[descriptor - FIRST] = strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/");
  return descriptor;
}

/** Writes the name of a socket. Another process may connect to the guard's socket as well. */
static long name_end(struct sockaddr_in *name, int *size) {
  REQUIRE(*size == sizeof *name);
  *name = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = take() % 2, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return 0;
}

static long new_socket(long place) {
  static const int ERRORS[] = {EMFILE};
  const long result = open_new(ERRORS, 1);
  if (result >= 0) opened[result - FIRST] = place;
  return result;
}

/** Passes the accepted end of a connection to rt: a descriptor of this process, or what was sent last. */
static void pass_to_rt(const char *report, long length) {
  const char *end = report + length - 2;
  const long number = atol(memchr(report, 0, length) + 1);
  REQUIRE(memchr(report, 0, length) + 1 < (const void *)end);
  passed++;
  if (has_launcher) {
    REQUIRE(number == sent);
    return;
  }
  REQUIRE(is_open(number) && opened[number - FIRST] == ACCEPTED);
  opened[number - FIRST] = 0;
}

/** The kernel copies the descriptor into the message. */
static long send_to_rt(long socket, const struct msghdr *message, long flags) {
  const struct cmsghdr *control = message->msg_control;
  const int descriptor = *(const int *)CMSG_DATA(control);
  REQUIRE(has_launcher && socket == CONNECTIONS && flags & MSG_DONTWAIT && message->msg_iov->iov_len == 1);
  REQUIRE(control->cmsg_type == SCM_RIGHTS && is_open(descriptor) && opened[descriptor - FIRST] == ACCEPTED);
  if (take() == 1) return -EAGAIN;
  sent = *(const unsigned char *)message->msg_iov->iov_base;
  return 1;
}

static long simulate(long number, long a, long b, long c, long d, long e) {
  static const int PROCESS_ERRORS[] = {EINVAL, ENOENT, ESRCH, EMFILE}, COPY_ERRORS[] = {EPERM, ENOSYS, EBADF, EMFILE, ESRCH},
                   DUPLICATE_ERRORS[] = {EMFILE};
  switch (number) {
  case __NR_process_vm_readv: return read_memory(a, (const void *)b, (const void *)d);
  case __NR_openat:
    REQUIRE(strlen((const char *)b) < PATH_MAX + 20 && c & O_CLOEXEC);
    REQUIRE((int)a == AT_FDCWD || is_open(a));
    return open_file((const char *)b);
  case __NR_pidfd_open: return open_new(PROCESS_ERRORS, 4);
  case __NR_pidfd_getfd: {
    REQUIRE(is_open(a));
    const long copy = open_new(COPY_ERRORS, 5);
    is_copy_refused = copy == -EPERM || copy == -ENOSYS;
    return copy;
  }
  case __NR_readlinkat: {
    const int place = place_of((const char *)b);
    if (take() == 1) return -EACCES;
    if (place == LONG_PLACE) return memset((void *)c, '/', d), d;
    const long length = strlen(PLACES[place].path);
    memcpy((void *)c, PLACES[place].path, length);
    return length;
  }
  case __NR_getxattr: {
    static const struct { const char *name; int type; } PROTOCOLS[] = {{"TCP", SOCK_STREAM}, {"UDPv6", SOCK_DGRAM}, {"UNIX-STREAM", SOCK_STREAM}, {"PING", 0}, {"", 0}};
    const unsigned choice = take() % 6;
    REQUIRE(strncmp((const char *)a, "/proc/", 6) == 0 && strncmp((const char *)a, "/proc/self/", 11) != 0);
    if (choice == 5) return -EOPNOTSUPP;
    protocol_type = PROTOCOLS[choice].type;
    const long length = strlen(PROTOCOLS[choice].name);
    memcpy((void *)c, PROTOCOLS[choice].name, length);
    return length;
  }
  case __NR_fstat: {
    REQUIRE(is_open(a));
    const int place = opened[a - FIRST] - 1;
    memset((void *)b, 0, sizeof(struct stat));
    ((struct stat *)b)->st_nlink = place == LONG_PLACE || PLACES[place].is_linked;
    return take() == 1 ? -EIO : 0;
  }
  case __NR_read: {
    static const char DESCRIPTOR[] = "pos:\t0\nflags:\t02004002\n";
    REQUIRE(is_open(a));
    const unsigned choice = take();
    if (choice % 8 == 7 && c >= (long)sizeof DESCRIPTOR) return memcpy((void *)b, DESCRIPTOR, sizeof DESCRIPTOR), sizeof DESCRIPTOR;
    const long length = choice % (c + 1);
    for (long each = 0; each < length; each++) ((char *)b)[each] = take();
    return length == 0 ? -(long)(take() % 2 * ESRCH) : length;
  }
  case __NR_socket:
    REQUIRE(b & SOCK_CLOEXEC && (is_copy_refused || b & SOCK_NONBLOCK));
    REQUIRE((b & 0xf) == (is_copy_refused ? protocol_type : SOCK_STREAM));
    REQUIRE(a == AF_INET || (is_copy_refused && (a == AF_UNIX || a == AF_INET6)));
    return new_socket(is_copy_refused ? SUBSTITUTE : OWN_SOCKET);
  case __NR_bind:
  case __NR_listen: REQUIRE(is_open(a)); return -(long)(take() % 2 * EADDRINUSE);
  case __NR_getsockname: REQUIRE(is_open(a)); return take() == 1 ? -ENOBUFS : name_end((void *)b, (void *)c);
  case __NR_ppoll: return take() != 1;
  case __NR_accept4:
    REQUIRE(is_open(a) && opened[a - FIRST] == OWN_SOCKET && d & SOCK_CLOEXEC && d & SOCK_NONBLOCK);
    name_end((void *)b, (void *)c);
    return new_socket(ACCEPTED);
  case __NR_fcntl:
    REQUIRE(b != F_SETFL || (is_open(a) && (opened[a - FIRST] == OWN_SOCKET || opened[a - FIRST] == SUBSTITUTE)));
    if (b == F_SETFL) return -(long)(take() % 2 * EPERM);
    return b == F_DUPFD_CLOEXEC ? open_new(DUPLICATE_ERRORS, 1) : (long)(take() % 2 * O_NONBLOCK);
  case __NR_connect: {
    static const int RESULTS[] = {0, ECONNREFUSED, EINPROGRESS};
    check_connect(a, (const void *)b, c);
    const int result = RESULTS[take() % 3];
    is_connected = result != ECONNREFUSED;
    return -(long)result;
  }
  case __NR_fchmodat: REQUIRE((int)a == AT_FDCWD); return check_change(descriptor_of((const char *)b));
  case __NR_fchownat: REQUIRE(is_open(a) && ((const char *)b)[0] == 0 && e == AT_EMPTY_PATH); return check_change(a);
  case __NR_ioctl:
    if ((unsigned long)b == SECCOMP_IOCTL_NOTIF_ID_VALID) return take() == 1 ? -ENOENT : 0;
    if ((unsigned long)b == SECCOMP_IOCTL_NOTIF_ADDFD) {
      const struct seccomp_notif_addfd *change = (const void *)c;
      REQUIRE((a == LISTENER || is_open(a)) && is_open(change->srcfd) && change->flags == SECCOMP_ADDFD_FLAG_SETFD);
      const int source = opened[change->srcfd - FIRST];
      REQUIRE(source == OWN_SOCKET || (source == SUBSTITUTE && is_connected));
      is_replaced = take() != 1;
      return is_replaced ? (int)change->newfd : -EBADF;
    }
    REQUIRE((unsigned long)b == SECCOMP_IOCTL_NOTIF_SEND && (a == LISTENER || is_open(a)));
    // Without the replacement the call has failed.
    REQUIRE(!is_copy_refused || !is_connected || is_replaced || ((const struct seccomp_notif_resp *)c)->error < 0);
    return answers++, 0;
  case __NR_write:
    REQUIRE(a == REPORTS && c >= 2 && memcmp((const char *)b + c - 2, "\0\n", 2) == 0);
    if (take() == 1) return -EAGAIN;
    int parts = 0;
    for (long each = 0; each < c; each++) parts += ((const char *)b)[each] == 0;
    REQUIRE(parts == 2);
    if (strncmp(strchr((const char *)b, ' '), " resolver ", 10) == 0) pass_to_rt((const void *)b, c);
    return c;
  case __NR_sendmsg: return send_to_rt(a, (const void *)b, c);
  case __NR_close:
    REQUIRE(is_open(a));
    return opened[a - FIRST] = 0;
  case __NR_mmap: {
    void *place = take() == 1 ? NULL : calloc(1, b);
    return place ? (long)place : -ENOMEM;
  }
  case __NR_munmap: return free((void *)a), 0;
  default: fprintf(stderr, "the guard makes call %ld, which is not simulated\n", number); abort();
  }
}

static int start_detached(void *(*function)(void *), void *argument) {
  if (are_threads_refused) return 0;
  function(argument);
  return 1;
}

static unsigned long take_word(void) {
  unsigned long word = 0;
  for (int each = 0; each < 4; each++) word = word << 8 | take();
  return word;
}

static void decide(const uint8_t *bytes, size_t length) {
  static const char ROOTS[] = "s/project\0w/project";
  static const int CALLS[] = {__NR_connect, __NR_connect, __NR_fchmod, __NR_fchmodat, __NR_fchmodat2, __NR_fchown, __NR_fchownat,
#if defined(__x86_64__)
                              __NR_chmod, __NR_chown, __NR_lchown,
#endif
  };
  static union {
    struct guard_request request;
    char bytes[sizeof(struct guard_request) + sizeof ROOTS];
  } guard;
  input.bytes = bytes;
  input.length = length;
  network = take() % 4;
  const unsigned kind = take();
  are_threads_refused = kind % 2 == 1;
  has_launcher = kind >= 128;
  guard.request = (struct guard_request){.reports = REPORTS, .connections = has_launcher ? CONNECTIONS : -1, .network = network, .roots_length = sizeof ROOTS, .hosts = &hosts};
  memcpy(guard.request.roots, ROOTS, sizeof ROOTS);
  struct seccomp_notif notice = {.id = 1, .pid = take() == 1 ? 0 : TRACEE, .data.nr = CALLS[take() % (sizeof CALLS / sizeof *CALLS)]};
  const unsigned size = take();
  memory.length = size == 255 ? 5000 : size;
  memory.bytes = malloc(memory.length ? memory.length : 1);
  memset(memory.bytes, size, memory.length);
  for (size_t each = 0; each < size; each++) memory.bytes[each] = take();
  for (int each = 0; each < 5; each++) {
    const unsigned form = take();
    notice.data.args[each] = form < 128 ? BASE + take() : form < 192 ? take() : form < 224 ? take_word() : -(unsigned long)take();
  }
  answers = passed = is_copy_refused = protocol_type = is_connected = is_replaced = 0;
  atomic_store(&hosts.resolving, take() == 1 ? MAX_RESOLVING : 0);
  const int resolving = atomic_load(&hosts.resolving);
  const int is_decided = guard_call(&guard.request, LISTENER, &notice);
  REQUIRE(is_decided || network == OBSERVED);
  REQUIRE(answers == is_decided);
  REQUIRE(atomic_load(&hosts.resolving) == resolving + passed);
  REQUIRE(atomic_load(&connecting) == 0);
  for (int each = 0; each < MAX_OPEN; each++) REQUIRE(!opened[each]);
  free(memory.bytes);
}

#ifdef FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  decide(bytes, length);
  return 0;
}
#else
int main(void) {
  uint32_t length;
  while (fread(&length, sizeof length, 1, stdin) == 1) {
    uint8_t *bytes = malloc(length ? length : 1);
    if (fread(bytes, 1, length, stdin) != length) return 1;
    decide(bytes, length);
    free(bytes);
  }
  return 0;
}
#endif
