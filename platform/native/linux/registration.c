// Registers its process with the kill watchdog, then replaces itself with the requested program (exec). rt starts it as
//
//   rt-register <list> <line> <alive> <report> <program> <argv...>
//
// Invariants:
// - The program does nothing before its process id is in the list: this process writes it there itself.
// - The watchdog reads the list when every process has closed `alive`. This process closes it after it has written the id.
//   So the process is in the list whenever rt is killed.
// - The program inherits none of the three descriptors. If exec fails, `report` receives the error number.
#include "start.h"
#include <fcntl.h>

enum { NOT_STARTED = 126, COUNT_OF_DIGITS = 11 };

static int number_in(const char *digits) {
  int number = 0;
  while (*digits) number = number * 10 + (*digits++ - '0');
  return number;
}

/** Each line of the list has one length, so the id is padded with blanks. */
static int enlist(int list, long place) {
  char line[COUNT_OF_DIGITS + 1];
  char digits[COUNT_OF_DIGITS];
  long pid = CALL(getpid, 0, 0, 0, 0, 0);
  int count = 0;
  for (long rest = pid; rest > 0; rest /= 10) digits[count++] = '0' + rest % 10;
  for (int each = 0; each < COUNT_OF_DIGITS; each++) line[each] = each < count ? digits[count - 1 - each] : ' ';
  line[COUNT_OF_DIGITS] = '\n';
  return CALL(pwrite64, list, line, sizeof line, place * sizeof line, 0) == sizeof line;
}

static void begin(char **argv, char **environment) {
  for (int each = 0; each < 6; each++)
    if (!argv[each]) exit_with(NOT_STARTED);
  int list = number_in(argv[1]), alive = number_in(argv[3]), report = number_in(argv[4]);
  int error = EIO;
  if (enlist(list, number_in(argv[2]))) {
    CALL(close, list, 0, 0, 0, 0);
    CALL(close, alive, 0, 0, 0, 0);
    CALL(fcntl, report, F_SETFD, FD_CLOEXEC, 0, 0);
    error = -CALL(execve, argv[5], argv + 6, environment, 0, 0);
  }
  CALL(write, report, &error, sizeof error, 0, 0);
  exit_with(NOT_STARTED);
}
