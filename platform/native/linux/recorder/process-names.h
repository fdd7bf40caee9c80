// Writes which process makes the following calls, for messages that name it.
//
// Non-obvious: a program names itself after an exec, so the record of an exec is followed by a new record.
#pragma once
#include "syscall-handlers.h"

enum { MAX_PROCESS_NAME = 32 };

/** Writes the process of the current call unless the last record has it. */
static void write_process(struct recorder *recorder) {
  char link[MAX_LINK_NAME], owner[20], name[MAX_PROCESS_NAME];
  const int thread = recorder->notice.pid;
  if (thread == recorder->named_thread) return;
  name_link(link, owner, add_number(owner, thread) - owner, "comm", 4);
  const int file = CALL(openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0, 0);
  const long read = file < 0 ? 0 : CALL(read, file, name, sizeof name, 0, 0);
  if (file >= 0) CALL(close, file, 0, 0, 0, 0);
  struct text text = {name, read > 0 ? read - 1 : 0}; // without the line break
  const int process = process_of(recorder, thread);
  begin_record(&recorder->path_table.journal, PROCESS_RECORD, sizeof process + text.length);
  put(&recorder->path_table.journal, &process, sizeof process);
  put_text(&recorder->path_table.journal, text);
  recorder->named_thread = thread;
}

/** As `handle_call`, with a record of the process. */
static void handle_named_call(struct recorder *recorder, const struct seccomp_notif *notice) {
  recorder->notice = *notice;
  if (recorder->names_processes) write_process(recorder);
  handle_call(recorder, notice);
  // The process has the name of its new program from the next call on.
  if (notice->data.nr == __NR_execve || notice->data.nr == __NR_execveat) recorder->named_thread = 0;
}
