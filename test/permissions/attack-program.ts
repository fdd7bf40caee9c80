// The attempts of a hostile script. permissions.test.ts runs it as a script of a package, with and without permissions.
//
// Invariants: each attempt returns whether it reached its aim, and throws otherwise. The attempts are independent of each other.
import { dlopen, FFIType, ptr } from "bun:ffi";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

interface Surroundings {
  /** Folder of credentials. */
  readonly home: string;
  /** Another project, beside this one. */
  readonly other: string;
  /** Folder with the sockets of services. */
  readonly services: string;
  readonly abstract: string;
  /** A process of the user with a secret in its environment. */
  readonly victim: number;
  /** An address of this machine that is not loopback; "" without a network. */
  readonly address: string;
  readonly port: number;
  readonly results: string;
}

const around = JSON.parse(fs.readFileSync("surroundings.json", "utf8")) as Surroundings;
const { home, other, services, victim } = around;
const { i64 } = FFIType;
const CALL = { syscall: { args: [i64, i64, i64, i64, i64, i64, i64], returns: i64 } } as const;
const { symbols } = openLibrary();
const isArm = process.arch === "arm64";

/** Opens glibc, or musl. */
function openLibrary() {
  try {
    return dlopen("libc.so.6", CALL);
  } catch {
    return dlopen(`libc.musl-${isArm ? "aarch64" : "x86_64"}.so.1`, CALL);
  }
}

/** Makes a system call by its numbers on x64 and arm64. Returns -1 on failure. */
function call(numbers: readonly [number, number], ...args: (number | bigint)[]): number {
  const all = [...args, 0, 0, 0, 0, 0, 0].slice(0, 6) as [number, number, number, number, number, number];
  return Number(symbols.syscall(numbers[isArm ? 1 : 0], ...all));
}

function memory(bytes: ArrayBufferLike): number {
  return ptr(new Uint8Array(bytes as ArrayBuffer));
}

const text = (value: string) => memory(new TextEncoder().encode(`${value}\0`).buffer);

const SECRET = "secret of the user";
const hasSecret = (path: string) => fs.readFileSync(path, "utf8").includes(SECRET);

function answersAt(options: { path: string } | { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(options);
    socket.on("data", (data) => {
      socket.destroy();
      resolve(data.toString().includes(SECRET));
    });
    socket.on("error", reject);
  });
}

const SOCKET = [41, 198] as const;
const CONNECT = [42, 203] as const;
const SENDTO = [44, 206] as const;
const [AF_UNIX, AF_INET, SOCK_STREAM, SOCK_DGRAM] = [1, 2, 1, 2];

function unixAddress(name: string): { place: number; length: number } {
  const bytes = new TextEncoder().encode(name);
  const buffer = new Uint8Array(new ArrayBuffer(2 + bytes.length + 1));
  buffer[0] = AF_UNIX;
  buffer.set(bytes, 2);
  return { place: ptr(buffer), length: 2 + bytes.length };
}

function inetAddress(address: string, port: number): number {
  const buffer = new Uint8Array(new ArrayBuffer(16));
  buffer.set([AF_INET, 0, port >> 8, port & 255, ...address.split(".").map(Number)]);
  return ptr(buffer);
}

const requireAddress = () => {
  if (around.address === "") throw new Error("no network");
  return around.address;
};

const attempts: Record<string, () => boolean | Promise<boolean>> = {
  "reads ~/.npmrc": () => hasSecret(join(home, ".npmrc")),
  "reads ~/.aws/credentials": () => hasSecret(join(home, ".aws/credentials")),
  "reads ~/.ssh/id_ed25519": () => hasSecret(join(home, ".ssh/id_ed25519")),
  "reads ~/.config/gh/hosts.yml": () => hasSecret(join(home, ".config/gh/hosts.yml")),
  "reads ~/.git-credentials": () => hasSecret(join(home, ".git-credentials")),
  "reads the keyring's file": () => hasSecret(join(home, ".local/share/keyrings/login.keyring")),
  "reads ~/.cargo/credentials.toml": () => hasSecret(join(home, ".cargo/credentials.toml")),
  "lists the home folder": () => fs.readdirSync(home).includes(".npmrc"),
  "reads .env of another package": () => hasSecret("../b/.env"),
  "reads .env of the root through a link": () => {
    fs.symlinkSync("../../.env", "link-to-env");
    return hasSecret("link-to-env");
  },
  "moves .env of another package to its own": () => {
    fs.renameSync("../b/.env.local", "stolen.env");
    return hasSecret("stolen.env");
  },
  "reads another project": () => hasSecret(join(other, "private.txt")),
  "reads a temporary file of another program": () => hasSecret(join(other, "../temporary.txt")),
  "writes the compile cache that projects share": () => {
    fs.writeFileSync(join(other, "../node-compile-cache.js"), "evil");
    return true;
  },
  "reads a file through a symlink": () => {
    fs.symlinkSync(join(home, ".npmrc"), "link-to-npmrc");
    return hasSecret("link-to-npmrc");
  },
  "makes a hard link to a file of the home folder": () => {
    fs.linkSync(join(home, ".npmrc"), "hard-link");
    return hasSecret("hard-link");
  },
  "moves a file of the home folder into the project": () => {
    fs.renameSync(join(home, ".movable"), "moved");
    return hasSecret("moved");
  },
  "appends to ~/.bashrc": () => {
    fs.appendFileSync(join(home, ".bashrc"), "evil\n");
    return true;
  },
  "truncates ~/.profile": () => {
    fs.truncateSync(join(home, ".profile"));
    return fs.statSync(join(home, ".profile")).size === 0;
  },
  "makes an autostart entry": () => {
    fs.writeFileSync(join(home, ".config/evil.desktop"), "evil");
    return true;
  },
  "moves a file of the project to the home folder": () => {
    fs.writeFileSync("payload", "evil");
    fs.renameSync("payload", join(home, ".payload"));
    return true;
  },
  "writes to the home folder through a symlink": () => {
    fs.symlinkSync(home, "link-to-home");
    fs.writeFileSync("link-to-home/.through-link", "evil");
    return true;
  },
  "removes a file of the home folder": () => {
    fs.unlinkSync(join(home, ".removable"));
    return true;
  },
  "changes the mode of ~/.ssh": () => {
    fs.chmodSync(join(home, ".ssh"), 0o777);
    return true;
  },
  "makes a set-user-ID program": () => {
    fs.writeFileSync("privileged", "");
    fs.chmodSync("privileged", 0o4755);
    return (fs.statSync("privileged").mode & 0o4000) !== 0;
  },
  "creates a set-user-ID program": () => {
    fs.closeSync(fs.openSync("created", "wx", 0o4755));
    return (fs.statSync("created").mode & 0o4000) !== 0;
  },
  "reads the environment of another process": () => hasSecret(`/proc/${victim}/environ`),
  "opens the memory of another process": () => {
    fs.closeSync(fs.openSync(`/proc/${victim}/mem`, "r"));
    return true;
  },
  "reads through the root of another process": () => hasSecret(`/proc/${victim}/root${join(home, ".npmrc")}`),
  "sends a signal to another process": () => process.kill(victim, "SIGCONT"),
  "traces another process": () => {
    const SEIZE = 0x4206;
    if (call([101, 117], SEIZE, victim) < 0) throw new Error("ptrace");
    call([101, 117], 17, victim);
    return true;
  },
  "copies a descriptor of another process": () => {
    const pidfd = call([434, 434], victim, 0);
    return call([438, 438], pidfd, 1, 0) >= 0;
  },
  "changes the limits of another process": () => {
    const limits = new BigUint64Array([512n, 1024n]);
    return call([302, 261], victim, 7, memory(limits.buffer), 0) === 0;
  },
  "connects to the session bus": () => answersAt({ path: join(services, "bus") }),
  "connects to the container engine": () => answersAt({ path: join(services, "docker.sock") }),
  "connects to the agent by a relative path": () => {
    process.chdir(services);
    return answersAt({ path: "agent.sock" }).finally(() => process.chdir(import.meta.dir));
  },
  "connects to a socket through a symlink": () => {
    fs.symlinkSync(join(services, "docker.sock"), "own.sock");
    return answersAt({ path: "own.sock" });
  },
  "connects to a socket from a second thread": () =>
    new Promise((resolve, reject) => {
      const source = `require("node:net").connect(${JSON.stringify(join(services, "docker.sock"))}).on("data", () => require("node:worker_threads").parentPort.postMessage(true)).on("error", (error) => { throw error })`;
      const worker = new Worker(source, { eval: true });
      worker.on("message", (message) => void worker.terminate().then(() => resolve(message as boolean)));
      worker.on("error", reject);
    }),
  "exchanges the address while rt decides": async () => {
    const [own, foreign] = [join(process.cwd(), "own-service.sock"), join(services, "docker.sock")];
    const allowed = createServer((socket) => socket.end("own"));
    await new Promise<void>((resolve) => allowed.listen(own, resolve));
    const shared = new SharedArrayBuffer(256);
    const bytes = new Uint8Array(shared);
    const paths = [own, foreign].map((path) => new TextEncoder().encode(path.padEnd(100, "\0")));
    bytes.set([AF_UNIX, 0]);
    bytes.set(paths[0]!, 2);
    const source = `const { bytes, paths } = require("node:worker_threads").workerData; for (;;) for (const path of paths) bytes.set(path, 2);`;
    const worker = new Worker(source, { eval: true, workerData: { bytes, paths } });
    await new Promise<void>((resolve) => worker.once("online", resolve));
    let [reached, connected] = [0, 0];
    const answer = new Uint8Array(new ArrayBuffer(64));
    for (let round = 0; round < 400; round += 1) {
      const socket = call(SOCKET, AF_UNIX, SOCK_STREAM | 0o4000, 0);
      if (call(CONNECT, socket, ptr(bytes), 102) === 0) {
        connected += 1;
        await Bun.sleep(1);
        const count = call([0, 63], socket, ptr(answer), answer.length);
        if (count > 0 && new TextDecoder().decode(answer.subarray(0, count)).includes(SECRET)) reached += 1;
      }
      call([3, 57], socket);
    }
    await worker.terminate();
    allowed.close();
    // Without any connection the attempt proves nothing, so it counts as one that worked.
    return reached > 0 || connected === 0;
  },
  "connects to an abstract socket": () => {
    const socket = call(SOCKET, AF_UNIX, SOCK_STREAM, 0);
    const { place, length } = unixAddress(`\0${around.abstract}`);
    return call(CONNECT, socket, place, length) === 0;
  },
  "sends a datagram to a Unix socket": () => call(SOCKET, AF_UNIX, SOCK_DGRAM, 0) >= 0,
  "connects to an address beyond loopback": () => answersAt({ host: requireAddress(), port: around.port }),
  "connects to a mapped address": () => answersAt({ host: `::ffff:${requireAddress()}`, port: around.port }),
  "connects by TCP fast open": () => {
    const socket = call(SOCKET, AF_INET, SOCK_STREAM, 0);
    const FAST_OPEN = 0x20000000;
    return (
      call(SENDTO, socket, text("x"), 1, FAST_OPEN, inetAddress(requireAddress(), around.port), 16) === 1
    );
  },
  "sends UDP": () => {
    const socket = call(SOCKET, AF_INET, SOCK_DGRAM, 0);
    return call(SENDTO, socket, text("x"), 1, 0, inetAddress("127.0.0.1", 9), 16) === 1;
  },
  "opens a socket of multipath TCP": () => call(SOCKET, AF_INET, SOCK_STREAM, 262) >= 0,
  "opens a socket of the kernel's crypto": () => call(SOCKET, 38, 5, 0) >= 0,
  "uses io_uring": () => call([425, 425], 4, memory(new ArrayBuffer(256))) >= 0,
  "reads the user's keyring": () => call([250, 219], 0, -3, 1) >= 0,
  "makes a user namespace": () => spawnSync("unshare", ["-Ur", "true"]).status === 0,
  "opens shared memory of other processes": () => call([29, 194], 0x7274, 4096, 0o1666) >= 0,
  "opens a message queue of other processes": () => call([240, 180], text("rt-test"), 0o102, 0o600, 0) >= 0,
  "has a token in its environment": () => process.env.GITHUB_TOKEN === SECRET,
  "has the address of the session bus": () => process.env.DBUS_SESSION_BUS_ADDRESS !== undefined,
  "has the socket of the agent": () => process.env.SSH_AUTH_SOCK !== undefined,
  "leaves a process running": () => {
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    child.unref();
    fs.writeFileSync("left-process", `${child.pid}`);
    return true;
  },
};

if (process.getuid!() === 0)
  Object.assign(attempts, {
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
  });

const results: Record<string, string> = {};
for (const [name, attempt] of Object.entries(attempts))
  try {
    results[name] = (await attempt()) ? "worked" : "failed";
  } catch (error) {
    results[name] = `failed: ${(error as Error).message}`;
  }
fs.writeFileSync(around.results, JSON.stringify(results));
process.exit(0);
