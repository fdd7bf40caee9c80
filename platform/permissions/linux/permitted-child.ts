// Starts a child with permissions: a launcher (../../native/linux/sandbox) restricts itself and becomes the program.
//
// Invariants:
// - If a restriction cannot be prepared, this throws; if one cannot be installed, the launcher exits with 126. The program does
//   not run without them.
// - The launcher waits for the thread of its connections before it starts the program.
// Non-obvious:
// - The launcher, and the tracer's, are in rt's memory. A child cannot open them by rt's /proc entries: the ruleset closes these,
//   and so does the kernel while rt has secrets. So they are passed as descriptors.
import { openAnonymousFile } from "../../files/posix/anonymous-file.ts";
import { openProgram } from "../../native/linux/memory-program.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import type { ChildPermissions } from "../contract/permissions.ts";
import type { Child, ChildRequest } from "../../processes/contract/process-tree.ts";
import { findOnPath } from "../../processes/program-search.ts";
import { openSocketPair } from "../../tracing/linux/fd-passing.ts";
import { type ConnectGuard, startConnectGuard } from "./connect-guard.ts";
import { isInsidePermissions } from "./nesting.ts";
import { listRules } from "./rule-list.ts";
import { openSharedLayer } from "./shared-layer.ts";

const LAUNCHER_NAME = "rt-permitted";
/** Replaced if the watchdog of rt registers the child. */
const NOT_REGISTERED = ["0", "0", "0", "0"];
const FIRST_DESCRIPTOR = 3;
const OWN_MEMORY = /^\/proc\/self\/fd\/(\d+)$/;

/** @throws an Error with the failed step, or the system's error */
export function startPermitted(request: ChildRequest, start: (request: ChildRequest) => Child): Child {
  const { permissions, ...rest } = request;
  const env = { ...rest.env, ...permissions!.variables };
  const plain = { ...rest, env };
  const { argv, cwd, descriptors = [] } = plain;
  const launcher = openProgram("sandbox");
  const program = plain.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  if (program === null) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
  // The process tree of an outer task with permissions has a listener, which decides for this one too.
  const isNested = isInsidePermissions();
  const needsGuard = !permissions!.isTraced && !isNested;
  // The kernel limits the number of layers, and each nested task adds its own.
  const layer = isNested ? undefined : openSharedLayer(permissions!.rules);
  const rules = openAnonymousFile(
    listRules(layer === undefined ? permissions!.rules : { ...permissions!.rules, hidden: [] }),
  );
  let sockets: readonly [number, number] | undefined;
  let child: Child;
  try {
    sockets = needsGuard ? openSocketPair() : undefined;
    const inherited: number[] = [];
    const pass = (descriptor: number) => {
      inherited.push(descriptor);
      return `${FIRST_DESCRIPTOR + descriptors.length + inherited.length - 1}`;
    };
    const socket = sockets ? pass(sockets[1]) : "0";
    const list = pass(rules);
    const shared = layer === undefined ? "0" : pass(layer);
    const memory = OWN_MEMORY.exec(program)?.[1];
    const place = memory === undefined ? "0" : pass(Number(memory));
    const own = pass(Number(OWN_MEMORY.exec(launcher)![1]));
    child = start({
      ...plain,
      program: `/proc/thread-self/fd/${own}`,
      registersItself: true,
      argv: [
        ...[
          LAUNCHER_NAME,
          ...NOT_REGISTERED,
          socket,
          list,
          shared,
          permissions!.rules.network === "open" ? "1" : "0",
          place,
          own,
        ],
        ...[memory === undefined ? program : `/proc/self/fd/${place}`, ...argv],
      ],
      descriptors: [...descriptors, ...inherited],
    });
  } catch (error) {
    if (sockets) closeDescriptor(sockets[0]);
    throw error;
  } finally {
    if (sockets) closeDescriptor(sockets[1]);
    closeDescriptor(rules);
  }
  const guard = sockets && startGuard(sockets[0], permissions!);
  if (!guard) return child;
  const { finish } = guard;
  const done = child.done.then(async (exit) => {
    await finish();
    return exit;
  });
  return { ...child, done };
}

/** Called after the launcher has been started, which prepares the child at the same time. Without the thread the launcher fails. */
function startGuard(socket: number, permissions: ChildPermissions): ConnectGuard | undefined {
  try {
    return startConnectGuard(socket, permissions);
  } catch {
    closeDescriptor(socket);
    return undefined;
  }
}
