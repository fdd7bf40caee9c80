// The numbers of C's headers that differ between Linux and macOS: the one table. Those that are the same on both
// stand where they are used.
//
// Linux: a test compares them with the compiler's headers. macOS: <sys/fcntl.h>, <sys/filio.h>, <sys/ttycom.h>,
// <sys/resource.h>, <sys/errno.h>, <sys/syslimits.h>, <sys/signal.h> and <sys/dirent.h> (with inodes of 64 bits) of the
// SDK of macOS 14, the same for both architectures. DIRENT_... are places of fields in `struct dirent`.

export const LINUX = {
  DIRENT_NAME: 19,
  DIRENT_TYPE: 18,
  EAGAIN: 11,
  ELOOP: 40,
  ENAMETOOLONG: 36,
  FIONCLEX: 0x5450,
  FIONREAD: 0x541b,
  O_CLOEXEC: 0o2000000,
  O_NOCTTY: 0o400,
  O_NONBLOCK: 0o4000,
  PIPE_BUF: 4096,
  RLIMIT_NOFILE: 7,
  SIGTSTP: 20,
  TIOCGWINSZ: 0x5413,
};

export const MACOS: typeof LINUX = {
  DIRENT_NAME: 21,
  DIRENT_TYPE: 20,
  EAGAIN: 35,
  ELOOP: 62,
  ENAMETOOLONG: 63,
  FIONCLEX: 0x20006602,
  FIONREAD: 0x4004667f,
  O_CLOEXEC: 0x1000000,
  O_NOCTTY: 0x20000,
  O_NONBLOCK: 0x4,
  PIPE_BUF: 512,
  RLIMIT_NOFILE: 8,
  SIGTSTP: 18,
  TIOCGWINSZ: 0x40087468,
};

export const constants = process.platform === "darwin" ? MACOS : LINUX;
