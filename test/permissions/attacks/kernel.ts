// Attempts on the kernel.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { AT_FDCWD, type Attempts, call, memory, SOCKET, text } from "./calls.ts";

export const kernel: Attempts = {
  "opens a socket of the kernel's crypto": () => call(SOCKET, 38, 5, 0) >= 0,
  "uses io_uring": () => call([425, 425], 4, memory(new ArrayBuffer(256))) >= 0,
  "reads the user's keyring": () => call([250, 219], 0, -3, 1) >= 0,
  "makes a user namespace": () => spawnSync("unshare", ["-Ur", "true"]).status === 0,
  "opens shared memory of other processes": () => call([29, 194], 0x7274, 4096, 0o1666) >= 0,
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
  "changes its root folder": () => spawnSync("chroot", ["/", "true"]).status === 0,
};
