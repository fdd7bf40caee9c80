// The supervisor of seccomp user notifications: receives each notified call before it runs, observes its paths, writes them to the
// journal and continues the call. A library, because a process may read the memory of its descendants only; it runs as a thread
// of rt (../../../tracing/linux/recorder-thread.ts) that the engine does not know of and that receives no signals.
//
// Invariants:
// - Every call is answered at once. The journal contains every observation, unless `is_lost`.
// - When the process tree has ended, all paths are observed once more and the thread exits.
// - When the other end of `stop` is closed before that, the thread exits and leaves the listener open for the background
//   supervisor (`continue_all_calls`).
#include "../sandbox/shared-layer.h"
#include "detached-thread.h"
#include "connect-guard.h"
#include "process-names.h"
#include <poll.h>
#include <sys/ioctl.h>

#define EXPORTED __attribute__((visibility("default")))

/** Records that are written besides accesses: each call, and the process of each call. */
enum log_bits { LOG_CALLS = 1, LOG_PROCESSES = 2 };

struct recorder_request {
  int socket, stop, journal, wakeup;
  unsigned architecture;
  /** Bits of `enum log_bits`. */
  int logs;
  int row_count;
  /** 0 if the script was traced; the error number, or -1 if the launcher has exited. */
  int launch_error;
  /** The listener if processes are left; otherwise -1. */
  int remaining_listener;
  int is_lost;
};

enum next { CALL_WAITING, TREE_EXITED, STOPPED };

static enum next await_call(int listener, int stop) {
  for (;;) {
    struct pollfd polled[] = {{.fd = listener, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    if (CALL(ppoll, polled, 2, 0, 0, 0) < 0) continue;
    if (polled[0].revents & POLLIN) return CALL_WAITING;
    if (polled[0].revents) return TREE_EXITED;
    if (polled[1].revents) return STOPPED;
  }
}

/** An interrupted call is notified again, so errors are ignored. */
static void continue_call(int listener, const struct seccomp_notif *notice) {
  struct seccomp_notif_resp answer = {.id = notice->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer, 0, 0);
}

/** Returns -1 if the launcher has exited, and its positive error number as a negative one below -1. */
static int receive_descriptor(int socket) {
  unsigned char byte = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (CALL(recvmsg, socket, &message, MSG_CMSG_CLOEXEC, 0, 0) != 1) return -1;
  if (byte) return -byte - 1;
  if (message.msg_controllen < CMSG_LEN(sizeof(int))) return -1;
  return *(int *)CMSG_DATA(&control.header);
}

/** Returns the listener; below 0 on failure. Sets `launch_error`. */
static int receive_listener(struct recorder_request *request) {
  const int listener = receive_descriptor(request->socket);
  request->launch_error = listener >= 0 ? 0 : listener == -1 ? -1 : -listener - 1;
  return listener;
}

static struct guard_request *copy_guard(const struct guard_request *guard) {
  struct guard_request *copy = map(sizeof *guard + guard->roots_length);
  if (copy) memcpy(copy, guard, sizeof *guard + guard->roots_length);
  return copy;
}

static void free_guard(struct guard_request *guard) {
  CALL(munmap, guard, sizeof *guard + guard->roots_length, 0, 0, 0);
}

struct supervisor {
  struct recorder_request *request;
  /** Set for a task with permissions. */
  struct guard_request *guard;
  struct recorder recorder;
};

static void serve(struct supervisor *supervisor, int listener) {
  struct recorder *recorder = &supervisor->recorder;
  struct recorder_request *request = supervisor->request;
  struct seccomp_notif notice;
  wake_synchronously(listener);
  for (;;) {
    enum next next = await_call(listener, request->stop);
    if (next == STOPPED) {
      // A task with permissions leaves no processes; nothing may continue their calls.
      if (supervisor->guard && supervisor->guard->network != OBSERVED) break;
      request->remaining_listener = listener;
      return;
    }
    if (next == TREE_EXITED) {
      observe_all_paths(&recorder->path_table);
      break;
    }
    if (!receive(listener, &notice)) continue;
    if (!recorder->path_table.journal.is_lost) handle_named_call(recorder, &notice);
    const int is_answered = supervisor->guard && guard_call(supervisor->guard, listener, &notice);
    if (!is_answered) continue_call(listener, &notice);
  }
  CALL(close, listener, 0, 0, 0, 0);
}

/** Returns 0. */
static int release(struct supervisor *supervisor) {
  if (supervisor->guard) free_guard(supervisor->guard);
  CALL(munmap, supervisor, sizeof *supervisor, 0, 0, 0);
  return 0;
}

static void *run(void *argument) {
  struct supervisor *supervisor = argument;
  struct recorder_request *request = supervisor->request;
  struct recorder *recorder = &supervisor->recorder;
  const unsigned long all = ~0UL;
  CALL(rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all, 0);
  CALL(fcntl, request->wakeup, F_SETFL, O_WRONLY | O_NONBLOCK, 0, 0);
  if (supervisor->guard) CALL(fcntl, supervisor->guard->reports, F_SETFL, O_WRONLY | O_NONBLOCK, 0, 0);
  int listener = receive_listener(request);
  if (listener >= 0) CALL(sendto, request->socket, "", 1, MSG_NOSIGNAL, 0);
  CALL(close, request->socket, 0, 0, 0, 0);
  if (listener >= 0) serve(supervisor, listener);
  write_out(&recorder->path_table.journal);
  request->is_lost = recorder->path_table.journal.is_lost;
  struct path_table *path_table = &recorder->path_table;
  if (path_table->entries) CALL(munmap, path_table->entries, path_table->capacity * sizeof *path_table->entries, 0, 0, 0);
  free_arena(&path_table->arena);
  int wakeup = request->wakeup;
  if (supervisor->guard) CALL(close, supervisor->guard->reports, 0, 0, 0, 0);
  release(supervisor);
  CALL(close, wakeup, 0, 0, 0, 0);
  return NULL;
}

/**
 * Starts a thread that receives a listener and serves it. The thread writes to `request` until it closes the wakeup pipe. Returns
 * whether the thread was started; if not, the caller still owns the socket and the pipe.
 */
EXPORTED int start_recorder(struct recorder_request *request, const struct row *rows, const struct guard_request *guard) {
  struct supervisor *supervisor = map(sizeof *supervisor);
  if (!supervisor) return 0;
  if (guard && !(supervisor->guard = copy_guard(guard))) return release(supervisor);
  request->remaining_listener = -1;
  supervisor->request = request;
  struct recorder *recorder = &supervisor->recorder;
  recorder->architecture = request->architecture;
  recorder->logs_all = request->logs & LOG_CALLS;
  recorder->names_processes = request->logs & LOG_PROCESSES;
  recorder->path_table.generation = 1;
  recorder->path_table.journal.file = request->journal;
  recorder->path_table.journal.wakeup = request->wakeup;
  for (int each = 0; each < request->row_count; each++)
    if (rows[each].number >= 0 && rows[each].number < MAX_SYSCALLS) recorder->rows[rows[each].number] = rows[each];
  return start_detached(run, supervisor) || release(supervisor);
}

/** The background supervisor: continues every call without observing it, until the process tree has ended. */
EXPORTED int continue_all_calls(int listener) {
  struct seccomp_notif notice;
  while (await_call(listener, -1) == CALL_WAITING)
    if (receive(listener, &notice)) continue_call(listener, &notice);
  return 0;
}

/** Creates or returns the layer for tasks with permissions (../sandbox/shared-layer.h). */
EXPORTED int open_shared_layer(struct shared_layer *layer, const char *closed, int length) {
  return update_layer(layer, closed, length);
}
