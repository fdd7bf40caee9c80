// The numbers of C's headers that differ between Linux and macOS: the one table. Those that are the same on both
// stand where they are used.
//
// Linux: a test compares them with the compiler's headers. macOS: <sys/fcntl.h>, <sys/filio.h>, <sys/ttycom.h>,
// <sys/resource.h>, <sys/errno.h> and <sys/syslimits.h> of the SDK of macOS 14, the same for both architectures.

export const LINUX = {
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
  TIOCGWINSZ: 0x5413,
};

export const MACOS: typeof LINUX = {
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
  TIOCGWINSZ: 0x40087468,
};

export const constants = process.platform === "darwin" ? MACOS : LINUX;
