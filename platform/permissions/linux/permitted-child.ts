// Starts a child with permissions: a launcher (../../native/linux/sandbox) restricts itself and becomes the program.
//
// Invariants:
// - If a restriction cannot be prepared, this throws; if one cannot be installed, the launcher exits with 126. The program does
//   not run without them.
// - The launcher stays until the tree has ended. It decides the calls of a task that is not traced.
// Non-obvious:
// - The launcher, and the tracer's, are in rt's memory. A child cannot open them by rt's /proc entries: the ruleset closes these,
//   and so does the kernel while rt has secrets. So they are passed as descriptors.
import { openAnonymousFile } from "../../files/posix/anonymous-file.ts";
import { openProgram } from "../../native/linux/memory-program.ts";
import { closeDescriptor, openPipe } from "../../native/posix/pipe.ts";
import type { Child, ChildExit, ChildRequest } from "../../processes/contract/process-tree.ts";
import { findOnPath } from "../../processes/program-search.ts";
import { openSocketPair } from "../../tracing/linux/fd-passing.ts";
import { GuardSession } from "./guard-session.ts";
import { isInsidePermissions } from "./nesting.ts";
import { listRules } from "./rule-list.ts";
import { openSharedLayer } from "./shared-layer.ts";

const LAUNCHER_NAME = "rt-permitted";
/** Replaced if the watchdog of rt registers the child. */
const NOT_REGISTERED = ["0", "0", "0", "0"];
const FIRST_DESCRIPTOR = 3;
const OWN_MEMORY = /^\/proc\/self\/fd\/(\d+)$/;

/** Most children end before. A stream takes longer than the start of a child. */
const ATTACH_AFTER = 5; // ms
const ATTACH_SILENT_AFTER = 15; // ms more
const NONE = -1;

/** @throws an Error with the failed step, or the system's error */
export function startPermitted(request: ChildRequest, start: (request: ChildRequest) => Child): Child {
  const { permissions, ...rest } = request;
  const env = { ...rest.env, ...permissions!.variables };
  const plain = { ...rest, env };
  const { argv, cwd, descriptors = [] } = plain;
  const { rules } = permissions!;
  const launcher = openProgram("sandbox");
  const program = plain.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  if (program === null) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
  // The process tree of an outer task with permissions has a listener, which decides for this one too.
  const isNested = isInsidePermissions();
  // The kernel limits the number of layers, and each nested task adds its own.
  const layer = isNested ? undefined : openSharedLayer(rules);
  const list = listRules(layer === undefined ? rules : { ...rules, hidden: [] });
  const inherited: number[] = [];
  const pass = (descriptor: number | undefined) =>
    descriptor === undefined ? NONE : FIRST_DESCRIPTOR + descriptors.length + inherited.push(descriptor) - 1;
  const place = (descriptor: number | undefined) =>
    descriptor === undefined ? "0" : String(pass(descriptor));
  const session = new GuardSession(permissions!);
  const reports = permissions!.isTraced || isNested ? undefined : openPipe({ isPolled: true });
  let connections: readonly [number, number] | undefined;
  let file: number | undefined;
  let child: Child;
  try {
    // rt resolves no names for a task that may connect to all hosts.
    connections = reports && rules.network !== "open" ? openSocketPair() : undefined;
    const ends = { reports: pass(reports?.writer), connections: pass(connections?.[1]) };
    file = openAnonymousFile(session.encodeFile(ends, list));
    const memory = OWN_MEMORY.exec(program)?.[1];
    const places = [file, layer, memory === undefined ? undefined : Number(memory)].map(place);
    const own = place(Number(OWN_MEMORY.exec(launcher)![1]));
    child = start({
      ...plain,
      program: `/proc/thread-self/fd/${own}`,
      registersItself: true,
      argv: [
        ...[LAUNCHER_NAME, ...NOT_REGISTERED, ...places, own],
        ...[memory === undefined ? program : `/proc/self/fd/${places[2]}`, ...argv],
      ],
      descriptors: [...descriptors, ...inherited],
    });
  } catch (error) {
    closeAll(reports?.reader, connections?.[0], file);
    throw error;
  } finally {
    closeAll(reports?.writer, connections?.[1]);
  }
  if (connections) session.connectLauncher({ file, connections: connections[0] });
  else closeDescriptor(file);
  return reports ? { ...child, done: readReports(session, reports.reader, child.done) } : child;
}

function closeAll(...descriptors: readonly (number | undefined)[]): void {
  for (const each of descriptors) if (each !== undefined) closeDescriptor(each);
}

/** Passes on the refusals, also the last ones: the pipe ends with the launcher. */
export async function readReports(
  session: GuardSession,
  descriptor: number,
  done: Promise<ChildExit>,
): Promise<ChildExit> {
  const reader = session.openReports(descriptor);
  let attaching = setTimeout(() => {
    if (reader.hasBytes()) reader.attach();
    else attaching = setTimeout(() => reader.attach(), ATTACH_SILENT_AFTER);
  }, ATTACH_AFTER);
  try {
    return await done;
  } finally {
    clearTimeout(attaching);
    await reader.readToEnd();
    session.close();
  }
}
