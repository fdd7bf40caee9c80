// Starts a child with permissions: a launcher (../../native/linux/sandbox) restricts itself and becomes the program.
//
// Invariants:
// - If a restriction cannot be prepared, this throws; if one cannot be installed, the launcher exits with 126. The program does
//   not run without them.
// Non-obvious:
// - The launcher, and the tracer's, are in rt's memory. A child cannot open them by rt's /proc entries: the ruleset closes these,
//   and so does the kernel while rt has secrets. So they are passed as descriptors.
import { openProgram } from "../../native/linux/memory-program.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import type { Child, ChildRequest } from "../../processes/contract/process-tree.ts";
import { findOnPath } from "../../processes/program-search.ts";
import { openSocketPair } from "../../tracing/linux/fd-passing.ts";
import { type ConnectGuard, startConnectGuard } from "./connect-guard.ts";
import { isInsidePermissions } from "./nesting.ts";
import { openRuleset } from "./ruleset.ts";

/** argv[0] of the launcher. */
const LAUNCHER_NAME = "rt-permitted";
const FIRST_DESCRIPTOR = 3;
const OWN_MEMORY = /^\/proc\/self\/fd\/(\d+)$/;

/** @throws an Error with the failed step, or the system's error */
export function startPermitted(request: ChildRequest, start: (request: ChildRequest) => Child): Child {
  const { permissions, ...rest } = request;
  const env = { ...rest.env, ...permissions!.variables };
  const plain = { ...rest, env };
  const { argv, cwd, descriptors = [] } = plain;
  const launcher = openProgram("sandbox");
  const ruleset = openRuleset(permissions!.rules);
  const program = plain.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  if (program === null) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
  // The process tree of an outer task with permissions has a listener, which decides for this one too.
  const needsGuard = !permissions!.isTraced && !isInsidePermissions();
  const sockets = needsGuard ? openSocketPair() : undefined;
  let guard: ConnectGuard | undefined;
  let child: Child;
  try {
    guard = sockets && startConnectGuard(sockets[0], permissions!);
    const inherited: number[] = [];
    const pass = (descriptor: number) => {
      inherited.push(descriptor);
      return `${FIRST_DESCRIPTOR + descriptors.length + inherited.length - 1}`;
    };
    const socket = sockets ? pass(sockets[1]) : "0";
    const rules = pass(ruleset);
    const memory = OWN_MEMORY.exec(program)?.[1];
    const place = memory === undefined ? "0" : pass(Number(memory));
    const own = pass(Number(OWN_MEMORY.exec(launcher)![1]));
    child = start({
      ...plain,
      program: `/proc/thread-self/fd/${own}`,
      argv: [
        ...[LAUNCHER_NAME, socket, rules, permissions!.rules.network === "open" ? "1" : "0", place, own],
        ...[memory === undefined ? program : `/proc/self/fd/${place}`, ...argv],
      ],
      descriptors: [...descriptors, ...inherited],
    });
  } catch (error) {
    if (sockets && !guard) closeDescriptor(sockets[0]);
    throw error;
  } finally {
    if (sockets) closeDescriptor(sockets[1]);
    closeDescriptor(ruleset);
  }
  if (!guard) return child;
  const { finish } = guard;
  const done = child.done.then(async (exit) => {
    await finish();
    return exit;
  });
  return { ...child, done };
}
