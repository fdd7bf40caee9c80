// The seccomp filter of a task with permissions. It refuses calls, and notifies the launcher of those that need a decision by their
// paths and addresses.
//
// Invariants:
// - A call of another architecture (int 0x80), of x32, or newer than the table fails with ENOSYS.
// - The filter reads registers only. A decision that needs memory is made by ../recorder/connect-guard.h.
// Non-obvious:
// - A process tree has one listener at most, so a traced task is notified by the filter of its tracer.
// - Calls are found by search: at its installation, the kernel evaluates the filter for each number of a call.
#pragma once
#include "../syscalls.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

// Newer than the headers of some build machines.
#ifndef __NR_quotactl_fd
#define __NR_quotactl_fd 443
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
enum { NR_MOUNT_SETATTR = 442, NR_OPEN_TREE_ATTR = 467 };
enum { NR_SETXATTRAT = 463, NR_REMOVEXATTRAT = 466, NR_FILE_SETATTR = 469 };
/** The first call that the table lacks. */
enum { FIRST_UNKNOWN = 470 };

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

struct refused_call {
  short number, error;
};
/** Instead of an error. */
enum { DECIDED_BY_BLOCKS = 0 };

/** Calls that are refused whatever their arguments are. */
static const struct refused_call REFUSED[] = {
    // Work that the kernel does past the filter.
    {__NR_io_uring_setup, ENOSYS},
    {__NR_io_uring_enter, ENOSYS},
    {__NR_io_uring_register, ENOSYS},
    // The flags are in memory, where the filter cannot read them. Callers fall back to clone and openat.
    {__NR_clone3, ENOSYS},
    {__NR_openat2, ENOSYS},
    // Keyrings of the user.
    {__NR_add_key, EPERM},
    {__NR_request_key, EPERM},
    {__NR_keyctl, EPERM},
    // Mounts, and other views of the file system.
    {__NR_mount, EPERM},
    {__NR_umount2, EPERM},
    {__NR_pivot_root, EPERM},
    {__NR_chroot, EPERM},
    {__NR_setns, EPERM},
    {__NR_open_tree, EPERM},
    {__NR_move_mount, EPERM},
    {__NR_fsopen, EPERM},
    {__NR_fsconfig, EPERM},
    {__NR_fsmount, EPERM},
    {__NR_fspick, EPERM},
    {NR_MOUNT_SETATTR, EPERM},
    {NR_OPEN_TREE_ATTR, EPERM},
    {__NR_open_by_handle_at, EPERM},
    {__NR_fanotify_init, EPERM},
    // An access list changes the mode, and is an attribute. Callers go on as on a file system without attributes.
    {__NR_setxattr, EOPNOTSUPP},
    {__NR_lsetxattr, EOPNOTSUPP},
    {__NR_fsetxattr, EOPNOTSUPP},
    {__NR_removexattr, EOPNOTSUPP},
    {__NR_lremovexattr, EOPNOTSUPP},
    {__NR_fremovexattr, EOPNOTSUPP},
    {NR_SETXATTRAT, EOPNOTSUPP},
    {NR_REMOVEXATTRAT, EOPNOTSUPP},
    {NR_FILE_SETATTR, EOPNOTSUPP},
    // Memory and queues that processes outside share.
    {__NR_shmget, EPERM},
    {__NR_shmat, EPERM},
    {__NR_shmctl, EPERM},
    {__NR_semget, EPERM},
    {__NR_semop, EPERM},
    {__NR_semtimedop, EPERM},
    {__NR_semctl, EPERM},
    {__NR_msgget, EPERM},
    {__NR_msgsnd, EPERM},
    {__NR_msgrcv, EPERM},
    {__NR_msgctl, EPERM},
    {__NR_mq_open, EPERM},
    {__NR_mq_unlink, EPERM},
    // Parts of the kernel that builds do not need.
    {__NR_bpf, EPERM},
    {__NR_perf_event_open, EPERM},
    {__NR_userfaultfd, EPERM},
    {__NR_kexec_load, EPERM},
    {__NR_kexec_file_load, EPERM},
    {__NR_init_module, EPERM},
    {__NR_finit_module, EPERM},
    {__NR_delete_module, EPERM},
    {__NR_reboot, EPERM},
    {__NR_swapon, EPERM},
    {__NR_swapoff, EPERM},
    {__NR_acct, EPERM},
    {__NR_quotactl, EPERM},
    {__NR_quotactl_fd, EPERM},
    {__NR_settimeofday, EPERM},
    {__NR_clock_settime, EPERM},
    {__NR_sethostname, EPERM},
    {__NR_setdomainname, EPERM},
    {__NR_syslog, EPERM},
    {__NR_vhangup, EPERM},
#if defined(__x86_64__)
    {__NR_iopl, EPERM},
    {__NR_ioperm, EPERM},
    {__NR_modify_ldt, EPERM},
    {__NR_uselib, ENOSYS},
#endif
};

enum { MAX_INSTRUCTIONS = 768, MAX_CALLS = 128, MAX_DISTANCE = 255, NUMBER = 0, ARCHITECTURE = 4 };
/** The low half of an argument: both processors are little-endian. */
#define ARGUMENT(index) (16 + (index) * 8)
#define ARGUMENT_HIGH(index) (ARGUMENT(index) + 4)

struct bpf_program {
  struct sock_filter instructions[MAX_INSTRUCTIONS];
  unsigned short length;
  /** The calls to which the instructions apply: those that depend on an argument, and all refused ones. */
  struct refused_call calls[MAX_CALLS];
  unsigned short call_count;
};

/** Ends the launcher before the task starts. Only a change of this file can cause it. */
static void require_room(size_t used, size_t room) {
  if (used >= room) __builtin_trap();
}

static void add(struct bpf_program *program, unsigned short code, unsigned value, unsigned char yes, unsigned char no) {
  require_room(program->length, MAX_INSTRUCTIONS);
  program->instructions[program->length++] = (struct sock_filter){code, yes, no, value};
}

static void load(struct bpf_program *program, unsigned offset) { add(program, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void answer(struct bpf_program *program, unsigned action) { add(program, BPF_RET | BPF_K, action, 0, 0); }

static void refuse(struct bpf_program *program, int error) { answer(program, SECCOMP_RET_ERRNO | error); }

/** Begins instructions for one value; returns the place of the jump that `end_block` completes. */
static unsigned short begin_if_equal(struct bpf_program *program, unsigned value) {
  add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0);
  return program->length - 1;
}

/** Begins instructions for values with one of these bits. */
static unsigned short begin_if_set(struct bpf_program *program, unsigned bits) {
  add(program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 0);
  return program->length - 1;
}

/** Returns how far a jump goes to get to the next instruction. */
static unsigned char distance_from(const struct bpf_program *program, unsigned short place) {
  const size_t distance = program->length - place - 1;
  require_room(distance, MAX_DISTANCE + 1);
  return distance;
}

static void end_block(struct bpf_program *program, unsigned short place) {
  program->instructions[place].jf = distance_from(program, place);
}

static void answer_if_equal(struct bpf_program *program, unsigned value, unsigned action) {
  unsigned short block = begin_if_equal(program, value);
  answer(program, action);
  end_block(program, block);
}

static void allow_if_equal(struct bpf_program *program, unsigned value) {
  answer_if_equal(program, value, SECCOMP_RET_ALLOW);
}

static void add_call(struct bpf_program *program, struct refused_call call) {
  require_room(program->call_count, MAX_CALLS);
  program->calls[program->call_count++] = call;
}

static unsigned short begin_call(struct bpf_program *program, unsigned number) {
  add_call(program, (struct refused_call){number, DECIDED_BY_BLOCKS});
  load(program, NUMBER);
  return begin_if_equal(program, number);
}

static void load_bits(struct bpf_program *program, int argument, unsigned bits) {
  load(program, ARGUMENT(argument));
  add(program, BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
}

/** Refuses the call whose block is open if the argument has one of these bits. */
static void refuse_if_set(struct bpf_program *program, int argument, unsigned bits) {
  load(program, ARGUMENT(argument));
  unsigned short block = begin_if_set(program, bits);
  refuse(program, EPERM);
  end_block(program, block);
}

static void refuse_bits(struct bpf_program *program, unsigned number, int argument, unsigned bits) {
  unsigned short call = begin_call(program, number);
  refuse_if_set(program, argument, bits);
  end_block(program, call);
}

enum { PRIVILEGED = S_ISUID | S_ISGID, CREATES = O_CREAT | (O_TMPFILE & ~O_DIRECTORY) };

/** Refuses set-user-ID and set-group-ID in the mode of a file that the call creates. */
static void refuse_privileged_file(struct bpf_program *program, unsigned number, int flags, int mode) {
  unsigned short call = begin_call(program, number);
  load(program, ARGUMENT(flags));
  unsigned short creation = begin_if_set(program, CREATES);
  refuse_if_set(program, mode, PRIVILEGED);
  end_block(program, creation);
  end_block(program, call);
}

/** Refuses the call for another process or thread: its id is not 0. */
static void refuse_others(struct bpf_program *program, unsigned number, int argument) {
  unsigned short call = begin_call(program, number);
  load(program, ARGUMENT(argument));
  allow_if_equal(program, 0);
  refuse(program, EPERM);
  end_block(program, call);
}

/**
 * Refuses the call for other processes, for a group, and for all of a user.
 *
 * @param single the first argument for one process, whose id is the second argument
 */
static void refuse_groups(struct bpf_program *program, unsigned number, unsigned single) {
  unsigned short call = begin_call(program, number);
  load(program, ARGUMENT(0));
  unsigned short process = begin_if_equal(program, single);
  load(program, ARGUMENT(1));
  allow_if_equal(program, 0);
  end_block(program, process);
  refuse(program, EPERM);
  end_block(program, call);
}

enum { PRIORITY_OF_PROCESS = 0, IO_PRIORITY_OF_PROCESS = 1 };

enum { NAMESPACES = 0x7e020000, TIME_NAMESPACE = 0x80, FAST_OPEN = 0x20000000 };

struct refused_request {
  unsigned request;
  int error;
};

/** Requests of ioctl. */
static const struct refused_request REFUSED_REQUESTS[] = {
    // Input for the terminal, which the shell outside reads: TIOCSTI, TIOCLINUX.
    {0x5412, EPERM},
    {0x541c, EPERM},
    // Meanings of keys: KDSKBENT, KDSKBSENT, KDSKBDIACR, KDSETKEYCODE, KDSKBDIACRUC.
    {0x4b47, EPERM},
    {0x4b49, EPERM},
    {0x4b4b, EPERM},
    {0x4b4d, EPERM},
    {0x4bfb, EPERM},
    // TIOCSETD loads modules of the kernel.
    {0x5423, EPERM},
    // Attributes of files that were opened to be read: FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR.
    {0x40086602, EOPNOTSUPP},
    {0x40046602, EOPNOTSUPP},
    {0x40087602, EOPNOTSUPP},
    {0x401c5820, EOPNOTSUPP},
    // The same: EXT4_IOC_SETVERSION, FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY.
    {0x40086604, EOPNOTSUPP},
    {0x40806685, EOPNOTSUPP},
    {0x800c6613, EOPNOTSUPP},
    // Copies of volumes with closed folders, and folders in a folder that was opened to be read. Landlock does not restrict them:
    // BTRFS_IOC_SNAP_CREATE, SUBVOL_CREATE, SNAP_DESTROY, each with its second version; BCH_IOCTL_SUBVOLUME_CREATE and _DESTROY.
    {0x50009401, EPERM},
    {0x5000940e, EPERM},
    {0x5000940f, EPERM},
    {0x50009417, EPERM},
    {0x50009418, EPERM},
    {0x5000943f, EPERM},
    {0x4020bc10, EPERM},
    {0x4020bc11, EPERM},
};

enum { TYPE = 0xf, TCP = 6, UDP = 17, NETLINK_OF_ROUTES = 0 };

/** Datagrams of Unix sockets are refused: they are sent to any address without connect. */
static void restrict_unix_type(struct bpf_program *program) {
  load_bits(program, 1, TYPE);
  allow_if_equal(program, SOCK_STREAM);
  allow_if_equal(program, SOCK_SEQPACKET);
  refuse(program, EPROTONOSUPPORT);
}

/** Sockets: streams of TCP and Unix, and the list of network interfaces. @param is_open whether UDP is permitted */
static void restrict_sockets(struct bpf_program *program, int is_open) {
  unsigned short pair = begin_call(program, __NR_socketpair);
  load(program, ARGUMENT(0));
  unsigned short local = begin_if_equal(program, AF_UNIX);
  restrict_unix_type(program);
  end_block(program, local);
  refuse(program, EOPNOTSUPP);
  end_block(program, pair);
  unsigned short call = begin_call(program, __NR_socket);
  load(program, ARGUMENT(0));
  unsigned short family = begin_if_equal(program, AF_UNIX);
  restrict_unix_type(program);
  end_block(program, family);
  family = begin_if_equal(program, AF_NETLINK);
  load(program, ARGUMENT(2));
  allow_if_equal(program, NETLINK_OF_ROUTES);
  refuse(program, EAFNOSUPPORT);
  end_block(program, family);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
  refuse(program, EAFNOSUPPORT);
  load_bits(program, 1, TYPE);
  if (is_open) {
    unsigned short datagram = begin_if_equal(program, SOCK_DGRAM);
    load(program, ARGUMENT(2));
    allow_if_equal(program, 0);
    allow_if_equal(program, UDP);
    refuse(program, EPROTONOSUPPORT);
    end_block(program, datagram);
  }
  unsigned short stream = begin_if_equal(program, SOCK_STREAM);
  // Multipath TCP and SCTP have other ways to connect.
  load(program, ARGUMENT(2));
  allow_if_equal(program, 0);
  allow_if_equal(program, TCP);
  refuse(program, EPROTONOSUPPORT);
  end_block(program, stream);
  refuse(program, EACCES);
  end_block(program, call);
}

struct refused_option {
  int level, name;
};

/**
 * Options that send packets to other machines than the address of a connection. They set a route or a device. Or they join groups,
 * which the system announces.
 */
static const struct refused_option REFUSED_OPTIONS[] = {
    {SOL_SOCKET, SO_BINDTODEVICE},
    {SOL_SOCKET, 62 /* SO_BINDTOIFINDEX */},
    {IPPROTO_IP, 4 /* IP_OPTIONS */},
    {IPPROTO_IPV6, 6 /* IPV6_2292PKTOPTIONS */},
    {IPPROTO_IPV6, 57 /* IPV6_RTHDR */},
    {IPPROTO_IP, 42 /* MCAST_JOIN_GROUP */},
    {IPPROTO_IP, 46 /* MCAST_JOIN_SOURCE_GROUP */},
    {IPPROTO_IPV6, 42 /* MCAST_JOIN_GROUP */},
    {IPPROTO_IPV6, 46 /* MCAST_JOIN_SOURCE_GROUP */},
};

/** Compares level and name in one number. Levels and names of the kernel have less than 16 bits. */
static void restrict_options(struct bpf_program *program) {
  unsigned short call = begin_call(program, __NR_setsockopt);
  load(program, ARGUMENT(1));
  add(program, BPF_ALU | BPF_LSH | BPF_K, 16, 0, 0);
  add(program, BPF_MISC | BPF_TAX, 0, 0, 0);
  load(program, ARGUMENT(2));
  add(program, BPF_ALU | BPF_OR | BPF_X, 0, 0, 0);
  for (size_t each = 0; each < sizeof REFUSED_OPTIONS / sizeof *REFUSED_OPTIONS; each++)
    answer_if_equal(program, (unsigned)REFUSED_OPTIONS[each].level << 16 | REFUSED_OPTIONS[each].name, SECCOMP_RET_ERRNO | EPERM);
  end_block(program, call);
}

/** Instructions of the calls that depend on an argument. @param is_open whether the task may use the network beyond loopback */
static void add_blocks(struct bpf_program *program, int is_open) {
  restrict_sockets(program, is_open);
  if (!is_open) restrict_options(program);
  refuse_bits(program, __NR_unshare, 0, NAMESPACES | TIME_NAMESPACE);
  refuse_bits(program, __NR_clone, 0, NAMESPACES);
  // TCP fast open connects without connect.
  refuse_bits(program, __NR_sendto, 3, FAST_OPEN);
  refuse_bits(program, __NR_sendmsg, 2, FAST_OPEN);
  refuse_bits(program, __NR_sendmmsg, 3, FAST_OPEN);
  refuse_bits(program, __NR_fchmod, 1, PRIVILEGED);
  refuse_bits(program, __NR_fchmodat, 2, PRIVILEGED);
  refuse_bits(program, __NR_fchmodat2, 2, PRIVILEGED);
  refuse_bits(program, __NR_mknodat, 2, PRIVILEGED);
  refuse_privileged_file(program, __NR_openat, 2, 3);
#if defined(__x86_64__)
  refuse_bits(program, __NR_chmod, 1, PRIVILEGED);
  refuse_bits(program, __NR_mknod, 1, PRIVILEGED);
  refuse_bits(program, __NR_creat, 1, PRIVILEGED);
  refuse_privileged_file(program, __NR_open, 1, 2);
#endif
  unsigned short call = begin_call(program, __NR_ioctl);
  load(program, ARGUMENT(1));
  for (size_t each = 0; each < sizeof REFUSED_REQUESTS / sizeof *REFUSED_REQUESTS; each++)
    answer_if_equal(program, REFUSED_REQUESTS[each].request, SECCOMP_RET_ERRNO | REFUSED_REQUESTS[each].error);
  end_block(program, call);
  refuse_groups(program, __NR_setpriority, PRIORITY_OF_PROCESS);
  refuse_groups(program, __NR_ioprio_set, IO_PRIORITY_OF_PROCESS);
  refuse_others(program, __NR_sched_setscheduler, 0);
  refuse_others(program, __NR_sched_setparam, 0);
  refuse_others(program, __NR_sched_setattr, 0);
  // Limits of another process: the process id is not 0, and the address of new limits is not NULL.
  call = begin_call(program, __NR_prlimit64);
  load(program, ARGUMENT(0));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, 0);
  load(program, ARGUMENT(2));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
  load(program, ARGUMENT_HIGH(2));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
  refuse(program, EPERM);
  end_block(program, call);
}

static void notify(struct bpf_program *program, unsigned number) {
  unsigned short call = begin_call(program, number);
  answer(program, SECCOMP_RET_USER_NOTIF);
  end_block(program, call);
}

/** The calls that the launcher decides. */
static void add_notifications(struct bpf_program *program) {
  notify(program, __NR_connect);
  notify(program, __NR_fchmod);
  notify(program, __NR_fchmodat);
  notify(program, __NR_fchmodat2);
  notify(program, __NR_fchown);
  notify(program, __NR_fchownat);
#if defined(__x86_64__)
  notify(program, __NR_chmod);
  notify(program, __NR_chown);
  notify(program, __NR_lchown);
#endif
}

/** Shell sort by number. A call may be there twice. */
static void sort_calls(struct refused_call *calls, size_t count) {
  for (size_t gap = 40; gap > 0; gap /= 3)
    for (size_t each = gap; each < count; each++) {
      const struct refused_call call = calls[each];
      size_t at = each;
      for (; at >= gap && calls[at - gap].number > call.number; at -= gap) calls[at] = calls[at - gap];
      calls[at] = call;
    }
}

/** Searches the number of the call in groups. Calls without an error go on to the blocks, others are allowed. */
static void add_search(struct bpf_program *program, const struct refused_call *calls, size_t count) {
  enum { GROUP = 8 };
  unsigned short jumps[MAX_CALLS], jump_count = 0;
  for (size_t from = 0; from < count; from += GROUP) {
    const size_t end = from + GROUP < count ? from + GROUP : count;
    add(program, BPF_JMP | BPF_JGT | BPF_K, calls[end - 1].number, 0, 0);
    const unsigned short test = program->length - 1;
    for (size_t each = from; each < end; each++) {
      unsigned short block = begin_if_equal(program, calls[each].number);
      if (calls[each].error == DECIDED_BY_BLOCKS) {
        jumps[jump_count++] = program->length;
        add(program, BPF_JMP | BPF_JA, 0, 0, 0);
      } else refuse(program, calls[each].error);
      end_block(program, block);
    }
    answer(program, SECCOMP_RET_ALLOW);
    program->instructions[test].jt = distance_from(program, test);
  }
  answer(program, SECCOMP_RET_ALLOW);
  for (size_t each = 0; each < jump_count; each++)
    program->instructions[jumps[each]].k = program->length - jumps[each] - 1;
}

/** Builds the filter. @param is_open whether UDP is permitted @param notifies whether the launcher decides calls */
static void build_filter(struct bpf_program *program, int is_open, int notifies) {
  struct bpf_program blocks;
  blocks.length = blocks.call_count = program->length = program->call_count = 0;
  add_blocks(&blocks, is_open);
  if (notifies) add_notifications(&blocks);
  answer(&blocks, SECCOMP_RET_ALLOW);
  for (size_t each = 0; each < sizeof REFUSED / sizeof *REFUSED; each++) add_call(&blocks, REFUSED[each]);
  sort_calls(blocks.calls, blocks.call_count);
  load(program, ARCHITECTURE);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
  refuse(program, ENOSYS);
  load(program, NUMBER);
  add(program, BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1);
  refuse(program, ENOSYS);
  add_search(program, blocks.calls, blocks.call_count);
  require_room(program->length + blocks.length, MAX_INSTRUCTIONS + 1);
  for (size_t each = 0; each < blocks.length; each++) program->instructions[program->length++] = blocks.instructions[each];
}
