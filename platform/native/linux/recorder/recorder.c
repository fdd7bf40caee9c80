// Answers the kernel for a script that is followed: it is told of every call of the table before the call runs, looks at what the
// call is about, writes that to the journal, and lets the call go on. A library for rt's own process, since a process may look
// into another's memory only where it has started it; rt gives it a thread (../../tracing/recorder.ts).
//
// Contract: a call is always answered, and at once. What is in the journal is all that was seen, unless `is_lost`. When nobody is
// left who could make a call all of it is looked at once more, and the thread ends. When the other end of `stop` is closed before
// that it ends, too, and the listener is left open, for a program that goes on answering (`answer_only`). Nothing of the thread is
// known to the engine, and it gets no signals.
#include "preload-injection.h"
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>

#define EXPORTED __attribute__((visibility("default")))

struct order {
  int socket, stop, journal, bell;
  unsigned architecture;
  /** Every call is written. */
  int keeps_all;
  int row_count;
  /** 0 where the script was followed; otherwise the error, or -1 where the launcher has gone. */
  int launched;
  /** Where somebody is left; otherwise -1. */
  int left;
  int is_lost;
};

/** From Linux 6.6 on: each runs on the processor of the one that it waits for; otherwise a call may take ten times as long. */
static const unsigned long SET_FLAGS = SECCOMP_IOW(4, __u64), SYNC_WAKE_UP = 1;

enum next { WAITING, OVER, STOPPED };

static enum next await_call(int listener, int stop) {
  for (;;) {
    struct pollfd polled[] = {{.fd = listener, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    if (CALL(ppoll, polled, 2, 0, 0, 0) < 0) continue;
    if (polled[0].revents & POLLIN) return WAITING;
    if (polled[0].revents) return OVER;
    if (polled[1].revents) return STOPPED;
  }
}

/** Not when the call has been interrupted meanwhile. */
static int receive(int listener, struct seccomp_notif *notice) {
  memset(notice, 0, sizeof *notice);
  return CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, notice, 0, 0) == 0;
}

/** A call that was interrupted comes again: what the kernel says of its answer does not matter. */
static void let_go_on(int listener, const struct seccomp_notif *notice) {
  struct seccomp_notif_resp answer = {.id = notice->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer, 0, 0);
}

/** The listener; below 0 where the launcher has gone, or got none: then `launched` has its error. */
static int receive_listener(struct order *order) {
  unsigned char byte = 0;
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  order->launched = -1;
  if (CALL(recvmsg, order->socket, &message, MSG_CMSG_CLOEXEC, 0, 0) != 1) return -1;
  if (byte) order->launched = byte;
  if (byte || message.msg_controllen < CMSG_LEN(sizeof(int))) return -1;
  order->launched = 0;
  return *(int *)CMSG_DATA(&control.header);
}

struct work {
  struct order *order;
  struct recorder recorder;
  struct preload_injector preload_injector;
  struct interposer_logs interposer_logs;
};

/** Whether it is answered already. */
static int follow_call(struct work *work, const struct seccomp_notif *notice, int listener) {
  struct recorder *recorder = &work->recorder;
  recorder->notice = *notice;
  if (work->interposer_logs.last && may_change(recorder)) {
    merge_all_logs(recorder, &work->interposer_logs);
    recorder->notice = *notice;
  }
  if (answer_loader(&work->preload_injector, recorder, &work->interposer_logs, listener)) return 1;
  recorder->program.path.length = 0;
  follow(recorder);
  if (recorder->program.path.length > 0) expect(&work->preload_injector, &recorder->program, notice->pid);
  return 0;
}

static void serve(struct work *work, int listener) {
  struct recorder *recorder = &work->recorder;
  struct order *order = work->order;
  struct seccomp_notif notice;
  CALL(ioctl, listener, SET_FLAGS, SYNC_WAKE_UP, 0, 0);
  for (;;) {
    enum next next = await_call(listener, order->stop);
    if (next != WAITING) merge_all_logs(recorder, &work->interposer_logs);
    if (next == STOPPED) {
      order->left = listener;
      return;
    }
    if (next == OVER) {
      look_again(&recorder->path_table);
      break;
    }
    if (!receive(listener, &notice)) continue;
    if (recorder->path_table.journal.is_lost || !follow_call(work, &notice, listener)) let_go_on(listener, &notice);
    merge_all_logs(recorder, &work->interposer_logs);
  }
  CALL(close, listener, 0, 0, 0, 0);
}

/** Not every C library gives enough for a directory that is moved with all that is below it. */
enum { STACK = 8 << 20 };

static void *run(void *argument) {
  struct work *work = argument;
  struct order *order = work->order;
  struct recorder *recorder = &work->recorder;
  const unsigned long all = ~0UL;
  CALL(rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all, 0);
  CALL(fcntl, order->bell, F_SETFL, O_WRONLY | O_NONBLOCK, 0, 0);
  int listener = receive_listener(order);
  if (listener >= 0) CALL(sendto, order->socket, "", 1, MSG_NOSIGNAL, 0);
  CALL(close, order->socket, 0, 0, 0, 0);
  if (listener >= 0) serve(work, listener);
  write_out(&recorder->path_table.journal);
  order->is_lost = recorder->path_table.journal.is_lost;
  struct path_table *path_table = &recorder->path_table;
  if (path_table->entries) CALL(munmap, path_table->entries, path_table->capacity * sizeof *path_table->entries, 0, 0, 0);
  give_back(&path_table->memory);
  forget_all(&work->preload_injector);
  close_logs(&work->interposer_logs);
  int bell = order->bell;
  CALL(munmap, work, sizeof *work, 0, 0, 0);
  CALL(close, bell, 0, 0, 0, 0);
  return NULL;
}

/**
 * Starts a thread that receives a listener and serves it. `order` is written to until the bell's pipe has ended. Whether there is
 * a thread; without one the socket and the bell are still the caller's.
 */
EXPORTED int start_recorder(struct order *order, const struct row *rows) {
  struct work *work = map(sizeof *work);
  if (!work) return 0;
  order->left = -1;
  work->order = order;
  struct recorder *recorder = &work->recorder;
  recorder->architecture = order->architecture;
  recorder->keeps_all = order->keeps_all;
  recorder->path_table.lap = 1;
  recorder->path_table.journal.file = order->journal;
  recorder->path_table.journal.bell = order->bell;
  for (int each = 0; each < order->row_count; each++)
    if (rows[each].number >= 0 && rows[each].number < MOST_CALLS) recorder->rows[rows[each].number] = rows[each];
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  int is_started = pthread_create(&thread, &attributes, run, work) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_started) CALL(munmap, work, sizeof *work, 0, 0, 0);
  return is_started;
}

/** For what was left behind: every call goes on, none is looked at. Until nobody is left who could ask. */
EXPORTED int answer_only(int listener) {
  struct seccomp_notif notice;
  while (await_call(listener, -1) == WAITING)
    if (receive(listener, &notice)) let_go_on(listener, &notice);
  return 0;
}
