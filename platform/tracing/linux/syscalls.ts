// The syscall table: all Linux system calls that mention a path, for both architectures. The filter and the recorder's rows are
// generated from it (syscall-tables-macro.ts). test/cache/tracing/syscall-table.test.ts compares it with the system's headers.
//
// Invariants:
// - A process cannot read, write, list or execute a file without one of these calls. The calls read, write, close, mmap, dup and
//   clone need no row, because an open precedes them.
// - A call that cannot be followed has an incomplete reason. `HIDDEN` calls and calls from `FIRST_UNKNOWN` on fail with ENOSYS.
//   Programs have a fallback, and io_uring would bypass the filter.
import type { IncompleteReason } from "../contract/tracing.ts";
import type { PathAccess } from "./access-kinds.ts";

export interface PathArgument {
  /** Argument index of the directory descriptor; undefined for the working directory. */
  readonly directory?: number;
  /** Argument index of the path; undefined if the descriptor itself is meant. */
  readonly path?: number;
  readonly access: PathAccess;
  /** Whether a symlink in the last component is followed: always, never, or by a flag. */
  readonly follows: boolean | { readonly argument: number; readonly bit: number; readonly ifSet: boolean };
}

export interface Syscall {
  readonly name: string;
  /** -1 if the architecture does not have the call. */
  readonly x64: number;
  readonly arm64: number;
  readonly paths?: readonly PathArgument[];
  /** The source of the open flags: an argument, a structure, or a constant. */
  readonly open?: { readonly flags?: number; readonly how?: number; readonly always?: number };
  readonly incompleteReason?: IncompleteReason;
  readonly special?: "socket" | "connect" | "bind" | "send" | "rename";
  /** Argument index of a rename's flags (RENAME_EXCHANGE). */
  readonly flags?: number;
}

const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_SYMLINK_FOLLOW = 0x400;

const unless = (argument: number, bit = AT_SYMLINK_NOFOLLOW) => ({ argument, bit, ifSet: false });
const only = (argument: number, bit = AT_SYMLINK_FOLLOW) => ({ argument, bit, ifSet: true });

type Follows = PathArgument["follows"];

const plain = (access: PathAccess, path = 0, follows: Follows = true): PathArgument => ({
  path,
  access,
  follows,
});
const at = (access: PathAccess, follows: Follows = true, directory = 0, path = 1): PathArgument => ({
  directory,
  path,
  access,
  follows,
});

function call(name: string, x64: number, arm64: number, ...paths: PathArgument[]): Syscall {
  return { name, x64, arm64, paths };
}

function incomplete(kind: IncompleteReason, name: string, x64: number, arm64: number): Syscall {
  return { name, x64, arm64, incompleteReason: kind };
}

const O_CREAT_WRONLY_TRUNC = 0o1101;

export const CALLS: readonly Syscall[] = [
  { ...call("open", 2, -1, plain("probe")), open: { flags: 1 } },
  { ...call("openat", 257, 56, at("probe")), open: { flags: 2 } },
  { ...call("openat2", 437, 437, at("probe")), open: { how: 2 } },
  { ...call("creat", 85, -1, plain("probe")), open: { always: O_CREAT_WRONLY_TRUNC } },

  call("stat", 4, -1, plain("probe")),
  call("lstat", 6, -1, plain("probe", 0, false)),
  call("newfstatat", 262, 79, at("probe", unless(3))),
  call("statx", 332, 291, at("probe", unless(2))),
  call("access", 21, -1, plain("probe")),
  call("faccessat", 269, 48, at("probe")),
  call("faccessat2", 439, 439, at("probe", unless(3))),
  call("readlink", 89, -1, plain("probe", 0, false)),
  call("readlinkat", 267, 78, at("probe", false)),
  call("statfs", 137, 43, plain("probe")),
  call("getxattr", 191, 8, plain("probe")),
  call("lgetxattr", 192, 9, plain("probe", 0, false)),
  call("listxattr", 194, 11, plain("probe")),
  call("llistxattr", 195, 12, plain("probe", 0, false)),
  call("inotify_add_watch", 254, 27, plain("probe", 1)),
  call("name_to_handle_at", 303, 264, at("probe", only(4))),
  call("chdir", 80, 49, plain("probe")),

  call("execve", 59, 221, plain("run")),
  call("execveat", 322, 281, at("run", unless(4))),
  call("getdents", 78, -1, { directory: 0, access: "list", follows: true }),
  call("getdents64", 217, 61, { directory: 0, access: "list", follows: true }),

  call("truncate", 76, 45, plain("modify")),
  call("mkdir", 83, -1, plain("create", 0, false)),
  call("mkdirat", 258, 34, at("create", false)),
  call("rmdir", 84, -1, plain("remove", 0, false)),
  call("unlink", 87, -1, plain("remove", 0, false)),
  call("unlinkat", 263, 35, at("remove", false)),
  {
    ...call("rename", 82, -1, plain("remove", 0, false), plain("replace", 1, false)),
    special: "rename",
  },
  {
    ...call("renameat", 264, 38, at("remove", false), at("replace", false, 2, 3)),
    special: "rename",
  },
  {
    ...call("renameat2", 316, 276, at("remove", false), at("replace", false, 2, 3)),
    special: "rename",
    flags: 4,
  },
  call("link", 86, -1, plain("modify", 0, false), plain("create", 1, false)),
  call("linkat", 265, 37, at("modify", only(4)), at("create", false, 2, 3)),
  call("symlink", 88, -1, plain("create", 1, false)),
  call("symlinkat", 266, 36, at("create", false, 1, 2)),
  call("mknod", 133, -1, plain("create", 0, false)),
  call("mknodat", 259, 33, at("create", false)),
  call("chmod", 90, -1, plain("modify")),
  // The file was opened before. Permissions decide the call (../../native/linux/recorder/connect-guard.h).
  call("fchmod", 91, 52),
  call("fchmodat", 268, 53, at("modify")),
  call("fchmodat2", 452, 452, at("modify", unless(3))),
  call("chown", 92, -1, plain("modify")),
  call("fchown", 93, 55),
  call("lchown", 94, -1, plain("modify", 0, false)),
  call("fchownat", 260, 54, at("modify", unless(4))),
  call("utime", 132, -1, plain("modify")),
  call("utimes", 235, -1, plain("modify")),
  call("futimesat", 261, -1, at("modify")),
  call("utimensat", 280, 88, at("modify", unless(3))),
  call("setxattr", 188, 5, plain("modify")),
  call("lsetxattr", 189, 6, plain("modify", 0, false)),
  call("removexattr", 197, 14, plain("modify")),
  call("lremovexattr", 198, 15, plain("modify", 0, false)),

  { name: "socket", x64: 41, arm64: 198, special: "socket" },
  { name: "connect", x64: 42, arm64: 203, special: "connect" },
  { name: "bind", x64: 49, arm64: 200, special: "bind" },
  // Has the host names that libc looks up, for messages.
  { name: "sendmmsg", x64: 307, arm64: 269, special: "send" },

  incomplete("mount", "chroot", 161, 51),
  incomplete("mount", "pivot_root", 155, 41),
  incomplete("mount", "mount", 165, 40),
  incomplete("mount", "umount2", 166, 39),
  incomplete("mount", "setns", 308, 268),
  incomplete("mount", "open_tree", 428, 428),
  incomplete("mount", "move_mount", 429, 429),
  incomplete("mount", "fsopen", 430, 430),
  incomplete("mount", "fsmount", 432, 432),
  incomplete("mount", "fspick", 433, 433),
  incomplete("mount", "mount_setattr", 442, 442),
  incomplete("mount", "open_by_handle_at", 304, 265),
  incomplete("mount", "fanotify_mark", 301, 263),
  incomplete("mount", "acct", 163, 89),
  incomplete("mount", "quotactl", 179, 60),
  incomplete("mount", "swapon", 167, 224),
  incomplete("mount", "swapoff", 168, 225),
  incomplete("foreign-call", "uselib", 134, -1),
  incomplete("shared-memory", "pidfd_getfd", 438, 438),
  incomplete("shared-memory", "shmget", 29, 194),
  incomplete("shared-memory", "msgget", 68, 186),
  incomplete("shared-memory", "semget", 64, 190),
  incomplete("shared-memory", "mq_open", 240, 180),
  incomplete("shared-memory", "process_vm_readv", 310, 270),
];

/**
 * Fail with ENOSYS, because programs have a fallback. A caller of fanotify_init gets descriptors of files that it has not
 * opened. Only root may use it, and TypeScript's native compiler calls it at each start.
 */
export const HIDDEN = [
  { name: "io_uring_setup", x64: 425, arm64: 425 },
  { name: "fanotify_init", x64: 300, arm64: 262 },
] as const;

/** The first number beyond the table; on x64 that includes the numbers of x32. */
export const FIRST_UNKNOWN = 463;

export type Architecture = "x64" | "arm64";

/** AUDIT_ARCH_ of `struct seccomp_data`. */
export const AUDIT_ARCHITECTURES: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};
