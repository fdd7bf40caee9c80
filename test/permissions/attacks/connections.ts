// Attempts to reach sockets of services, and other machines.
import { ptr } from "bun:ffi";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
  AF_INET,
  AF_INET6,
  AF_UNIX,
  around,
  answersAt,
  AT_FDCWD,
  type Attempts,
  call,
  CONNECT,
  inetAddress,
  memory,
  OPENAT,
  requireAddress,
  SECRET,
  SENDTO,
  SOCK_DGRAM,
  SOCK_RAW,
  SOCK_STREAM,
  SOCKET,
  text,
  unixAddress,
} from "./calls.ts";

const { home, services } = around;

export const connections: Attempts = {
  "connects to the session bus": () => answersAt({ path: join(services, "bus") }),
  "connects to the container engine": () => answersAt({ path: join(services, "docker.sock") }),
  "connects to the agent of GnuPG": () => answersAt({ path: join(home, ".gnupg/S.gpg-agent") }),
  "connects to the agent by a relative path": () => {
    process.chdir(services);
    return answersAt({ path: "agent.sock" }).finally(() => process.chdir(import.meta.dirname + "/.."));
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
    const [own, foreign] = [join(process.cwd(), "out/own-service.sock"), join(services, "docker.sock")];
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
  "connects to a resolver of this host": () => {
    if (around.resolver === "") throw new Error("no right to listen at port 53");
    return answersAt({ host: around.resolver, port: 53 });
  },
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
  "sends a query of DNS by UDP": () => {
    const socket = call(SOCKET, AF_INET, SOCK_DGRAM, 0);
    return call(SENDTO, socket, text("x"), 1, 0, inetAddress("127.0.0.53", 53), 16) === 1;
  },
  "opens a socket of multipath TCP": () => call(SOCKET, AF_INET, SOCK_STREAM, 262) >= 0,
  "connects below an opened folder": () => {
    const O_PATH = 0o10000000;
    const folder = call(OPENAT, AT_FDCWD, text(services), O_PATH, 0);
    return answersAt({ path: `/proc/self/fd/${folder}/docker.sock` });
  },
  "connects to a hard link of a socket": () => {
    fs.linkSync(join(services, "docker.sock"), "linked.sock");
    return answersAt({ path: "linked.sock" });
  },
  "connects to a socket that it moved to the project": () => {
    fs.renameSync(join(services, "movable.sock"), "moved.sock");
    return answersAt({ path: "moved.sock" });
  },
  "connects by IPv6 beyond loopback": () => {
    if (around.address6 === "") throw new Error("no network");
    return answersAt({ host: around.address6, port: around.port });
  },
  "sends UDP by IPv6": () => call(SOCKET, AF_INET6, SOCK_DGRAM, 0) >= 0,
  "opens a raw socket": () => call(SOCKET, AF_INET, SOCK_RAW, 1) >= 0,
  "opens a socket of network devices": () => call(SOCKET, 17, SOCK_RAW, 0) >= 0,
  "opens a socket to the machine's host": () => call(SOCKET, 40, SOCK_STREAM, 0) >= 0,
  "listens to the kernel's events of devices": () => call(SOCKET, 16, SOCK_RAW, 15) >= 0,
  "opens a socket of SCTP": () => call(SOCKET, AF_INET, SOCK_STREAM, 132) >= 0,
  "connects by TCP fast open that connect begins": () => {
    const [TCP, FAST_OPEN_CONNECT] = [6, 30];
    const socket = call(SOCKET, AF_INET, SOCK_STREAM, 0);
    const on = new Int32Array([1]);
    if (call([54, 208], socket, TCP, FAST_OPEN_CONNECT, memory(on.buffer), 4) < 0)
      throw new Error("fast open");
    call(CONNECT, socket, inetAddress(requireAddress(), around.port), 16);
    return call(SENDTO, socket, text("x"), 1, 0, 0, 0) === 1;
  },
  "connects to a socket through the root of another process": () => {
    const path = `/proc/${around.victim}/root${join(services, "bus")}`;
    return answersAt({ path });
  },
  "connects to a socket through a symlink to its own descriptor": () => {
    const O_PATH = 0o10000000;
    const folder = call(OPENAT, AT_FDCWD, text(services), O_PATH, 0);
    fs.symlinkSync(`/proc/self/fd/${folder}`, "link-to-services");
    return answersAt({ path: "link-to-services/docker.sock" });
  },
  "sends an echo request": () => call(SOCKET, AF_INET, SOCK_DGRAM, 1) >= 0,
  "opens a socket of a cluster": () => call(SOCKET, 30, 5, 0) >= 0,
  "opens a pair of sockets of a cluster": () => call([53, 199], 30, 5, 0, memory(new ArrayBuffer(8))) === 0,
  "opens a socket of Bluetooth": () => call(SOCKET, 31, SOCK_RAW, 1) >= 0,
  "opens a socket of shared memory communication": () => call(SOCKET, 43, SOCK_STREAM, 0) >= 0,
  "opens a raw socket of IPv6": () => call(SOCKET, AF_INET6, SOCK_RAW, 58) >= 0,
  "opens a socket of the kernel's audit": () => call(SOCKET, 16, SOCK_RAW, 9) >= 0,
  "sends packets for this host along a route by another machine": () => {
    const [IPV6, ROUTING_HEADER] = [41, 57];
    // A segment routing header with one segment more than the destination: 2001:db8::1.
    const header = new Uint8Array(40);
    header.set([0, 4, 4, 1, 1]);
    header.set([0x20, 1, 0xd, 0xb8], 24);
    header[39] = 1;
    const socket = call(SOCKET, AF_INET6, SOCK_STREAM, 0);
    return call([54, 208], socket, IPV6, ROUTING_HEADER, memory(header.buffer), header.length) === 0;
  },
  "sends packets for this host by a network device": () => {
    const [SOL_SOCKET, BIND_TO_DEVICE] = [1, 25];
    const socket = call(SOCKET, AF_INET, SOCK_STREAM, 0);
    return call([54, 208], socket, SOL_SOCKET, BIND_TO_DEVICE, text("lo"), 3) === 0;
  },
  "announces a group with its data to the network": () => {
    const [IPV6, JOIN_GROUP] = [41, 42];
    const request = new Uint8Array(136);
    request.set([1, 0, 0, 0, 0, 0, 0, 0, AF_INET6]);
    request.set([0xff, 1, ...new TextEncoder().encode("data"), 1], 16);
    const socket = call(SOCKET, AF_INET6, SOCK_STREAM, 0);
    return call([54, 208], socket, IPV6, JOIN_GROUP, memory(request.buffer), request.length) === 0;
  },
  "opens a socket of the kernel's connections": () => call(SOCKET, 16, SOCK_RAW, 4) >= 0,
};
