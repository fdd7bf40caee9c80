// Starts the thread that decides the connections of a child with permissions (../../native/linux/recorder/connect-guard.h), and
// reads its refusals.
import { ptr } from "../../native/posix/ffi.ts";
import { recorderLibrary } from "../../native/linux/library.ts";
import { closeDescriptor, openPipe } from "../../native/posix/pipe.ts";
import { OutputReader } from "../../processes/posix/output-reader.ts";
import type { ChildPermissions, PermissionRules, RefusedCall } from "../contract/permissions.ts";

const NETWORKS: readonly PermissionRules["network"][] = ["none", "loopback", "open"];
const HEADER = 5 * 4;

interface GuardDescriptors {
  readonly socket: number;
  readonly stop: number;
  readonly reports: number;
}

/** Returns a `struct guard_request`, in a separate buffer because native code reads it. */
export function guardRequest(
  { rules }: ChildPermissions,
  { socket, stop, reports }: GuardDescriptors,
): Uint8Array {
  const sockets = rules.sockets.map((path) => `s${path}\0`);
  const files = rules.files.filter(({ access }) => access === "write");
  const roots = new TextEncoder().encode([...sockets, ...files.map(({ path }) => `w${path}\0`)].join(""));
  const buffer = new ArrayBuffer(HEADER + roots.length + 8);
  new Int32Array(buffer, 0, 5).set([socket, stop, reports, NETWORKS.indexOf(rules.network), roots.length]);
  new Uint8Array(buffer).set(roots, HEADER);
  return new Uint8Array(buffer);
}

export interface ConnectGuard {
  /** Resolves after the last refusal has been passed on. */
  finish(): Promise<void>;
}

/** Reads the refusals that a thread writes to a pipe. */
export function readRefusals(reader: number, onRefusal: ChildPermissions["onRefusal"]): OutputReader {
  let rest = "";
  return new OutputReader(reader, (bytes) => {
    const lines = (rest + new TextDecoder().decode(bytes)).split("\0\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const refusal = parseRefusal(line);
      if (refusal) onRefusal(refusal);
    }
  });
}

function parseRefusal(line: string): RefusedCall | undefined {
  const [, pid, kind, program, target] = /^(\d+) (\w+) ([^\0]*)\0([^]*)$/.exec(line) ?? [];
  if (target === undefined) return undefined;
  return { pid: Number(pid), kind: kind as RefusedCall["kind"], program: program!, target };
}

/**
 * Starts the thread.
 *
 * @param socket receives the launcher's listener; owned by the thread
 * @throws an Error with the failed step
 */
export function startConnectGuard(socket: number, permissions: ChildPermissions): ConnectGuard {
  const stop = openPipe({ isPolled: false });
  const reports = openPipe({ isPolled: true });
  const request = guardRequest(permissions, { socket, stop: stop.reader, reports: reports.writer });
  if (recorderLibrary().start_connect_guard(ptr(request)) === 0) {
    for (const each of [stop.reader, stop.writer, reports.reader, reports.writer]) closeDescriptor(each);
    throw new Error("the thread for its connections cannot be created");
  }
  const refusals = readRefusals(reports.reader, permissions.onRefusal);
  refusals.attach();
  return {
    async finish() {
      closeDescriptor(stop.writer);
      await refusals.readToEnd();
      closeDescriptor(stop.reader);
    },
  };
}
