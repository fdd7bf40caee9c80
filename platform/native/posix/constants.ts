// The numbers of C's headers that differ between Linux and macOS: the one table. Those that are the same on both
// stand where they are used.
//
// Linux: a test compares them with the compiler's headers. macOS: <sys/fcntl.h>, <sys/filio.h>, <sys/ttycom.h>,
// <sys/resource.h>, <sys/errno.h>, <sys/syslimits.h>, <sys/signal.h>, <sys/termios.h>, <sys/unistd.h>, <sys/spawn.h> and
// <sys/dirent.h> (with inodes of 64 bits) of the SDK of macOS 14, the same for both architectures. DIRENT_... are places of
// fields in `struct dirent`, TERMIOS_... in `struct termios`.

export const LINUX = {
  DIRENT_NAME: 19,
  DIRENT_TYPE: 18,
  EAGAIN: 11,
  ECHOCTL: 0o1000,
  ELOOP: 40,
  ENAMETOOLONG: 36,
  FIONCLEX: 0x5450,
  FIONREAD: 0x541b,
  ISIG: 0o1,
  O_CLOEXEC: 0o2000000,
  O_NOCTTY: 0o400,
  O_NONBLOCK: 0o4000,
  PIPE_BUF: 4096,
  POSIX_SPAWN_SETSID: 0x80,
  RLIMIT_NOFILE: 7,
  SIGCONT: 18,
  SIGSTOP: 19,
  SIGTSTP: 20,
  SIGUSR1: 10,
  SIGUSR2: 12,
  TCIFLUSH: 0,
  TERMIOS_CC: 17,
  TERMIOS_LFLAG: 12,
  TERMIOS_OFLAG: 4,
  TIOCGWINSZ: 0x5413,
  TIOCSWINSZ: 0x5414,
  VINTR: 0,
  VQUIT: 1,
  _POSIX_VDISABLE: 0,
};

export const MACOS: typeof LINUX = {
  DIRENT_NAME: 21,
  DIRENT_TYPE: 20,
  EAGAIN: 35,
  ECHOCTL: 0x40,
  ELOOP: 62,
  ENAMETOOLONG: 63,
  FIONCLEX: 0x20006602,
  FIONREAD: 0x4004667f,
  ISIG: 0x80,
  O_CLOEXEC: 0x1000000,
  O_NOCTTY: 0x20000,
  O_NONBLOCK: 0x4,
  PIPE_BUF: 512,
  POSIX_SPAWN_SETSID: 0x400,
  RLIMIT_NOFILE: 8,
  SIGCONT: 19,
  SIGSTOP: 17,
  SIGTSTP: 18,
  SIGUSR1: 30,
  SIGUSR2: 31,
  TCIFLUSH: 1,
  TERMIOS_CC: 32,
  TERMIOS_LFLAG: 24,
  TERMIOS_OFLAG: 8,
  TIOCGWINSZ: 0x40087468,
  TIOCSWINSZ: 0x80087467,
  VINTR: 8,
  VQUIT: 9,
  _POSIX_VDISABLE: 0xff,
};

export const constants = process.platform === "darwin" ? MACOS : LINUX;
