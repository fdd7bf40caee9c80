// Registers its process with the kill watchdog, then replaces itself with the requested program (exec). rt starts it as
//
//   rt-register <list> <line> <alive> <report> <program> <argv...>
//
// Invariants:
// - The program does nothing before its process id is in the list: this process writes it there itself (registration.h).
// - The program inherits none of the three descriptors. If exec fails, `report` receives the error number.
#include "registration.h"
#include <fcntl.h>

enum { NOT_STARTED = 126 };

static void begin(char **argv, char **environment) {
  for (int each = 0; each < 6; each++)
    if (!argv[each]) exit_with(NOT_STARTED);
  const int report = number_in(argv[4]);
  int error = EIO;
  if (register_process(argv + 1)) {
    CALL(fcntl, report, F_SETFD, FD_CLOEXEC, 0, 0);
    error = -CALL(execve, argv[5], argv + 6, environment, 0, 0);
  }
  CALL(write, report, &error, sizeof error, 0, 0);
  exit_with(NOT_STARTED);
}
