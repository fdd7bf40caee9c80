// The attempts of the hostile script share these surroundings, system calls and addresses.
import { dlopen, FFIType, ptr } from "bun:ffi";
import * as fs from "node:fs";
import { connect } from "node:net";

/** Each attempt returns whether it reached its aim, and throws otherwise. The attempts are independent of each other. */
export type Attempts = Readonly<Record<string, () => boolean | Promise<boolean>>>;

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
  /** Another process, which blocks SIGUSR1. */
  readonly signalled: number;
  /** Where the victim's memory has its environment. */
  readonly place: number;
  /** A descriptor of the victim, of a file with a secret. */
  readonly opened: number;
  /** The terminal of another program. */
  readonly terminal: string;
  /** An address of this machine that is not loopback; "" without a network. */
  readonly address: string;
  /** The same of IPv6. */
  readonly address6: string;
  readonly port: number;
  /** Where a server listens at the port of DNS; "" if that is not allowed. */
  readonly resolver: string;
  readonly results: string;
}

export const around = JSON.parse(fs.readFileSync("surroundings.json", "utf8")) as Surroundings;
const { i64 } = FFIType;
const CALL = { syscall: { args: [i64, i64, i64, i64, i64, i64, i64], returns: i64 } } as const;
const { symbols } = openLibrary();
export const isArm = process.arch === "arm64";

/** Opens glibc, or musl. */
function openLibrary() {
  try {
    return dlopen("libc.so.6", CALL);
  } catch {
    return dlopen(`libc.musl-${isArm ? "aarch64" : "x86_64"}.so.1`, CALL);
  }
}

/** Makes a system call by its numbers on x64 and arm64. Returns -1 on failure. */
export function call(numbers: readonly [number, number], ...args: (number | bigint)[]): number {
  const all = [...args, 0, 0, 0, 0, 0, 0].slice(0, 6) as [number, number, number, number, number, number];
  return Number(symbols.syscall(numbers[isArm ? 1 : 0], ...all));
}

export function memory(bytes: ArrayBufferLike): number {
  return ptr(new Uint8Array(bytes as ArrayBuffer));
}

export const text = (value: string) => memory(new TextEncoder().encode(`${value}\0`).buffer);

export const SECRET = "secret of the user";
export const hasSecret = (path: string) => fs.readFileSync(path, "utf8").includes(SECRET);

export function answersAt(options: { path: string } | { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(options);
    socket.on("data", (data) => {
      socket.destroy();
      resolve(data.toString().includes(SECRET));
    });
    socket.on("error", reject);
    // rt's resolver ends the connection, and gives no data of the service.
    socket.on("close", () => reject(new Error("closed without an answer")));
    socket.write("\0\0");
  });
}

export const SOCKET = [41, 198] as const;
export const CONNECT = [42, 203] as const;
export const SENDTO = [44, 206] as const;
export const OPENAT = [257, 56] as const;
export const CHMOD = [268, 53] as const;
export const MEMFD_CREATE = [319, 279] as const;
export const SETXATTR = [188, 5] as const;
export const AT_FDCWD = -100;
export const AF_UNIX = 1;
export const AF_INET = 2;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const AF_INET6 = 10;

export function unixAddress(name: string): { place: number; length: number } {
  const bytes = new TextEncoder().encode(name);
  const buffer = new Uint8Array(new ArrayBuffer(2 + bytes.length + 1));
  buffer[0] = AF_UNIX;
  buffer.set(bytes, 2);
  return { place: ptr(buffer), length: 2 + bytes.length };
}

export function inetAddress(address: string, port: number): number {
  const buffer = new Uint8Array(new ArrayBuffer(16));
  buffer.set([AF_INET, 0, port >> 8, port & 255, ...address.split(".").map(Number)]);
  return ptr(buffer);
}

export const requireAddress = () => {
  if (around.address === "") throw new Error("no network");
  return around.address;
};
