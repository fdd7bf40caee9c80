// Attempts on the kernel.
import { CFunction, toArrayBuffer } from "bun:ffi";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import {
  around,
  AT_FDCWD,
  type Attempts,
  call,
  isArm,
  memory,
  OPENAT,
  SECRET,
  SETXATTR,
  SOCKET,
  text,
} from "./calls.ts";

const { home, victim } = around;
const IPC_CREAT = 0o1000;
const IPC_RMID = 0;

export const kernel: Attempts = {
  "opens a socket of the kernel's crypto": () => call(SOCKET, 38, 5, 0) >= 0,
  "uses io_uring": () => call([425, 425], 4, memory(new ArrayBuffer(256))) >= 0,
  "reads the user's keyring": () => call([250, 219], 0, -3, 1) >= 0,
  "makes a user namespace": () => spawnSync("unshare", ["-Ur", "true"]).status === 0,
  "opens shared memory of other processes": () => call([29, 194], 0x7274, 4096, 0o1666) >= 0,
  "opens semaphores of other processes": () => {
    const id = call([64, 190], 0x7274, 1, IPC_CREAT | 0o666);
    call([66, 191], id, 0, IPC_RMID);
    return id >= 0;
  },
  "opens a System V queue of other processes": () => {
    const id = call([68, 186], 0x7274, IPC_CREAT | 0o666);
    call([71, 187], id, IPC_RMID, 0);
    return id >= 0;
  },
  "opens a message queue of other processes": () => call([240, 180], text("rt-test"), 0o102, 0o600, 0) >= 0,
  "handles its own page faults": () => call([323, 282], 1) >= 0,
  "measures the machine with perf": () => {
    const attributes = new Uint32Array(32);
    attributes.set([1, 128]);
    return call([298, 241], memory(attributes.buffer), 0, -1, -1, 0) >= 0;
  },
  "loads a program into the kernel": () => call([321, 280], 0, memory(new ArrayBuffer(128)), 128) >= 0,
  "adds a key to the user's keyring": () =>
    call([248, 217], text("user"), text("rt-test"), text("x"), 1, -4) >= 0,
  "puts input into the terminal": () => call([16, 29], 0, 0x5412, text("x")) === 0,
  "reads the kernel's log": () => {
    const READ_ALL = 3;
    return call([103, 116], READ_ALL, memory(new ArrayBuffer(4096)), 4096) > 0;
  },
  "calls the kernel as a 32-bit program": () => {
    if (isArm) throw new Error("x64 only");
    const [ALL, PRIVATE] = [7, 0x22];
    const place = call([9, 222], 0, 4096, ALL, PRIVATE, -1, 0);
    // mov eax, 20 (getpid); int 0x80; cdqe; ret
    const code = [0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x48, 0x98, 0xc3];
    new Uint8Array(toArrayBuffer(place, 0, code.length)).set(code);
    return CFunction({ ptr: place as never, returns: "i32" })() === process.pid;
  },
  "asks the file system for a copy of a volume": () => {
    const SNAPSHOT_OF_BTRFS = 0x50009401;
    const program = `import errno, fcntl, os
try: fcntl.ioctl(os.open(".", os.O_RDONLY), ${SNAPSHOT_OF_BTRFS}, bytes(1024))
except OSError as error: exit(error.errno == errno.EPERM)`;
    // Other file systems do not know the request.
    return spawnSync("python3", ["-c", program]).status === 0;
  },
  "runs a program as root by sudo": () => spawnSync("sudo", ["-n", "true"]).status === 0,
  "makes a network namespace": () => spawnSync("unshare", ["-Urn", "true"]).status === 0,
};

/** Attempts of root. */
export const privileged: Attempts = {
  "reads /etc/shadow": () => fs.readFileSync("/etc/shadow", "utf8").length > 0,
  "mounts a file system": () => {
    fs.mkdirSync("mount-point");
    const isMounted = spawnSync("mount", ["-t", "tmpfs", "none", "mount-point"]).status === 0;
    if (isMounted) spawnSync("umount", ["mount-point"]);
    return isMounted;
  },
  "changes a setting of the kernel": () => {
    const name = "/proc/sys/kernel/hostname";
    fs.writeFileSync(name, fs.readFileSync(name));
    return true;
  },
  "writes to /etc": () => {
    const file = `/etc/rt-test-${process.pid}`;
    fs.writeFileSync(file, "");
    fs.unlinkSync(file);
    return true;
  },
  "becomes another user": () =>
    spawnSync("setpriv", ["--reuid=65534", "--clear-groups", "true"]).status === 0,
  "makes a device": () => {
    const S_IFBLK = 0o60000;
    return call([259, 33], AT_FDCWD, text("device"), S_IFBLK | 0o600, 0x700) === 0;
  },
  "opens a file by its handle": () => {
    const [handle, mount] = [new Uint32Array(34), new Uint32Array(1)];
    handle[0] = 128;
    const file = text(join(home, ".npmrc"));
    call([303, 264], AT_FDCWD, file, memory(handle.buffer), memory(mount.buffer), 0);
    const opened = call([304, 265], fs.openSync(".", "r"), memory(handle.buffer), 0);
    return opened >= 0 && fs.readFileSync(opened, "utf8").includes(SECRET);
  },
  "reads through a copy of a mount": () => {
    const CLONE = 1;
    const tree = call([428, 428], AT_FDCWD, text(home), CLONE);
    const file = call(OPENAT, tree, text(".npmrc"), 0, 0);
    return file >= 0 && fs.readFileSync(file, "utf8").includes(SECRET);
  },
  "gets the files that other programs open": () => call([300, 262], 0, 0) >= 0,
  "enters the namespaces of another process": () => {
    const NAMES_OF_HOST = 0x04000000;
    return call([308, 268], call([434, 434], victim, 0), NAMES_OF_HOST) === 0;
  },
  "gives a program capabilities": () => {
    const VERSION = 0x02000001;
    const capabilities = new Uint32Array([VERSION, 1, 0, 0, 0]);
    fs.writeFileSync("capable", "");
    const name = text("security.capability");
    return call(SETXATTR, text("capable"), name, memory(capabilities.buffer), 20, 0) === 0;
  },
  "opens a disk": () => {
    const disks = fs.readFileSync("/proc/partitions", "utf8").matchAll(/\d (\D\S*)$/gm);
    const [first] = [...disks].map(([, name]) => `/dev/${name}`).filter((each) => fs.existsSync(each));
    fs.closeSync(fs.openSync(first!, "r"));
    return true;
  },
  "reads the machine's memory": () => {
    fs.closeSync(fs.openSync("/proc/kcore", "r"));
    return true;
  },
  "changes its root folder": () => spawnSync("chroot", ["/", "true"]).status === 0,
  "opens a file system by the new calls of mounts": () => call([430, 430], text("tmpfs"), 0) >= 0,
  "changes a setting below /sys": () => {
    const name = "/sys/kernel/mm/transparent_hugepage/enabled";
    fs.writeFileSync(name, /\[(\w+)\]/.exec(fs.readFileSync(name, "utf8"))![1]!);
    return true;
  },
  "gives a file of the home folder to another user": () => {
    fs.chownSync(join(home, ".profile"), 65_534, 65_534);
    return fs.statSync(join(home, ".profile")).uid === 65_534;
  },
  "gives a folder of the system to another user": () => {
    const { uid, gid } = fs.statSync("/etc");
    fs.chownSync("/etc", uid, gid);
    return true;
  },
  "advises the kernel about the memory of another process": () => {
    const COLD = 20;
    const place = new BigUint64Array([BigInt(around.place) & ~4095n, 4096n]);
    return call([440, 440], call([434, 434], victim, 0), memory(place.buffer), 1, COLD, 0) >= 0;
  },
};
