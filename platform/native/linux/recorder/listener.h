// Receives and answers the calls of a seccomp listener.
#pragma once
#include "../syscalls.h"
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>

/** Since Linux 6.6: tracee and supervisor run on one processor. Without it a call may take ten times as long. */
static void wake_synchronously(int listener) {
  static const unsigned long SET_FLAGS = SECCOMP_IOW(4, __u64), SYNC_WAKE_UP = 1;
  CALL(ioctl, listener, SET_FLAGS, SYNC_WAKE_UP, 0, 0);
}

/** Returns 0 if the call has been interrupted. */
static int receive(int listener, struct seccomp_notif *notice) {
  memset(notice, 0, sizeof *notice);
  return CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, notice, 0, 0) == 0;
}

static void answer_call(int listener, unsigned long id, long result) {
  struct seccomp_notif_resp response = {.id = id, .val = result < 0 ? 0 : result, .error = result < 0 ? result : 0};
  CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &response, 0, 0);
}

/** Returns whether the call still waits, so that its process id still means the tracee. */
static int is_waiting(int listener, unsigned long id) {
  return CALL(ioctl, listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id, 0, 0) == 0;
}
