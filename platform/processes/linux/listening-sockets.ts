// Finds the sockets that processes listen on: their descriptors in /proc/PID/fd, joined with the socket tables of their network
// namespace in /proc/PID/net.
//
// Invariants:
// - A process of another user, or one that has exited, has no sockets here. It is not an error.
// - A debugger's port, or a socket through which a tool talks to its own processes, is not what a user waits for.
import type { ListeningSocket, ListeningSocketOperations } from "../contract/listening-sockets.ts";

/** State of a listening TCP socket, and the flag of a Unix socket that accepts connections (include/net/tcp_states.h, net.h). */
const TCP_LISTEN = "0A";
const ACCEPTS_CONNECTIONS = 0x1_0000;

/** Sockets of tools: tsx talks to its loader through a Unix socket, from before the program starts. */
const TOOL_SOCKETS = [/(?:^|\/)tsx-\d+\/\d+\.pipe$/];
/** Words on a command line or in a variable that make a process open a debugger's port, and the default ports. */
const DEBUGGERS = [
  { pattern: /--inspect(?:-brk|-wait)?(?:[= ](?:[^\s:\0]+:)?(\d+))?(?![-\w])/g, ports: [9229, 6499] },
  { pattern: /jdwp=[^\s\0]*address=(?:[^\s:\0]+:)?(\d+)/g, ports: [5005] },
  { pattern: /debugpy\0[^\n]*?--listen\0(?:[^\s:\0]+:)?(\d+)/g, ports: [5678] },
];
/** Variables with options of a runtime. */
const OPTION_VARIABLES = /(?:^|\0)(?:NODE_OPTIONS|JAVA_TOOL_OPTIONS)=([^\0]*)/g;
/** A cluster's workers use the next ports. */
const DEBUGGER_PORTS = 32;

const fs = () => process.getBuiltinModule("node:fs");

interface SocketEntry {
  readonly name: string;
  /** Undefined for a Unix socket. */
  readonly port?: number;
}

/** By inode. */
type SocketTable = ReadonlyMap<string, SocketEntry>;

function read(path: string): string {
  try {
    return fs().readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Reads the listening sockets of a process's network namespace. */
function readSocketTable(pid: number | "self"): SocketTable {
  const rows = new Map<string, SocketEntry>();
  for (const table of ["tcp", "tcp6"])
    for (const line of read(`/proc/${pid}/net/${table}`).split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state !== TCP_LISTEN || inode === undefined) continue;
      const port = Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16);
      rows.set(inode, { name: `port ${port}`, port });
    }
  for (const line of read(`/proc/${pid}/net/unix`).split("\n").slice(1)) {
    const [, , , flags = "", , , inode, ...path] = line.trim().split(/\s+/);
    if (inode === undefined || path.length === 0) continue;
    if ((Number.parseInt(flags, 16) & ACCEPTS_CONNECTIONS) === 0) continue;
    rows.set(inode, { name: path.join(" ") });
  }
  return rows;
}

function namespaceOf(pid: number | "self"): string {
  try {
    return fs().readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return "";
  }
}

function socketsOf(pid: number): string[] {
  const inodes: string[] = [];
  try {
    for (const descriptor of fs().readdirSync(`/proc/${pid}/fd`)) {
      try {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(fs().readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? [];
        if (inode !== undefined) inodes.push(inode);
      } catch {
        // The descriptor has been closed concurrently.
      }
    }
  } catch {
    // The process has exited, or belongs to another user.
  }
  return inodes;
}

/** Returns the ports that a debugger may have opened in a process. */
function debuggerPorts(pid: number): readonly number[] {
  const variables = [...read(`/proc/${pid}/environ`).matchAll(OPTION_VARIABLES)].map(([, value]) => value);
  const words = [read(`/proc/${pid}/cmdline`), ...variables].join("\n");
  return DEBUGGERS.flatMap(({ pattern, ports }) =>
    [...words.matchAll(pattern)].flatMap(([, written]) =>
      written === undefined ? ports : [Number(written)],
    ),
  );
}

function isIncidental(pid: number, { name, port }: SocketEntry): boolean {
  if (port === undefined) return TOOL_SOCKETS.some((pattern) => pattern.test(name));
  return debuggerPorts(pid).some((first) => port >= first && port < first + DEBUGGER_PORTS);
}

export const operations: ListeningSocketOperations = {
  listIds() {
    const namespace = namespaceOf("self");
    return new Set([...readSocketTable("self").keys()].map((inode) => `${namespace} ${inode}`));
  },
  find(pids) {
    const tables = new Map<string, SocketTable>();
    const found = new Map<string, ListeningSocket>();
    for (const pid of pids) {
      const inodes = socketsOf(pid);
      if (inodes.length === 0) continue;
      const namespace = namespaceOf(pid);
      let table = tables.get(namespace);
      if (!table) tables.set(namespace, (table = readSocketTable(pid)));
      for (const inode of inodes) {
        const row = table.get(inode);
        const id = `${namespace} ${inode}`;
        if (row && !found.has(id) && !isIncidental(pid, row)) found.set(id, { id, name: row.name });
      }
    }
    return [...found.values()];
  },
};
