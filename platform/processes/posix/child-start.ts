// Starts the children of process trees on Linux and macOS, and follows them until they have ended.
//
// Invariants:
// - A child with piped output leads its own session, so one signal reaches its process group.
// - Output uses pipes: the engine's own sockets would break a script's `> /dev/stderr`.
//
// Non-obvious: a stream costs more than a short script. So the pipe gets one after `ATTACH_AFTER` if the script has written
// something, and otherwise after `ATTACH_SILENT_AFTER` more. See output-reader.ts.
import {
  type Child,
  type ChildExit,
  type ChildRequest,
  describeExit,
  type ProcessTreeOperations,
} from "../contract/process-tree.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { closeDescriptor, openPipe } from "../../native/posix/pipe.ts";
import { permittedStart } from "../../permissions/permissions.ts";
import { openPair } from "../../terminal/posix/terminal-modes.ts";
import { setTerminalSize, TypedTerminal } from "../../terminal/posix/typed-terminal.ts";
import { findOnPath } from "../program-search.ts";
import { isDecoded, spawnByteExact } from "./byte-exact-spawn.ts";
import { addChild, type PendingChild, unwatchChild } from "./kill-watchdog.ts";
import { OutputReader } from "./output-reader.ts";
import { reapOrphans, withFamily } from "./subreaper.ts";

const ATTACH_AFTER = 2; // ms
const ATTACH_SILENT_AFTER = 10; // ms more

/** A child with its process group. */
export interface PosixChild extends Child {
  readonly ownsSession: boolean;
}

export const startChild: ProcessTreeOperations["startChild"] = (request): PosixChild => {
  if (request.permissions) return permittedStart()(request, startChild) as PosixChild;
  reapOrphans();
  const isPiped = request.output !== "inherit";
  const pair = request.output === "terminal" ? openPair() : undefined;
  const pipes = isPiped && !pair ? [openPipe({ isPolled: true })] : [];
  const env = withFamily(request.env as Record<string, string>, request.family);
  const pending = addChild();
  let started: StartedChild;
  try {
    if (request.output === "separate") pipes.push(openPipe({ isPolled: true }));
    const writers = pipes.map(({ writer }) => writer);
    if (pair && request.size) setTerminalSize(pair.slave, request.size);
    const isExact = pair !== undefined || request.engine || !isDecoded({ ...request, env });
    const start: typeof startByEngine = isExact
      ? (wrapped, variables, ends) => spawnByteExact(wrapped, variables, ends, pair?.path)
      : startByEngine;
    started = startRegistered(pending, request, (wrapped) => start(wrapped, env, writers));
    pending.confirm(started.pid);
  } catch (error) {
    pending.cancel();
    for (const { reader } of pipes) closeDescriptor(reader);
    if (pair) closeDescriptor(pair.master);
    throw error;
  } finally {
    for (const { writer } of pipes) closeDescriptor(writer);
    if (pair) closeDescriptor(pair.slave);
  }
  if (pair) {
    const outlet = new OutputReader(pair.master, (bytes) => request.onOutput(bytes, false));
    const terminal = new TypedTerminal(pair.master);
    const done = follow(started, [outlet], request.keepsOutput ?? false, () => terminal.close());
    return { pid: started.pid, family: request.family, ownsSession: true, terminal, done };
  }
  const outlets = pipes.map(
    ({ reader }, index) => new OutputReader(reader, (bytes) => request.onOutput(bytes, index === 1)),
  );
  return {
    pid: started.pid,
    family: request.family,
    ownsSession: isPiped,
    done: follow(started, outlets, request.keepsOutput ?? false),
  };
};

interface StartedChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** Returns the error number if the program could not be started. Called at the end of a child that may fail late. */
  readonly report?: () => number;
}

/** A memfd path is valid in rt only, so it must name rt's process id. */
const OWN_PROCESS = /^\/proc\/self\//;

/** @throws the system's error */
function startRegistered(
  pending: PendingChild,
  request: ChildRequest,
  start: (request: ChildRequest) => StartedChild,
): StartedChild {
  const { descriptors = [], argv, cwd, env } = request;
  const program = request.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  const registration = program === null ? undefined : pending.registration(3 + descriptors.length);
  if (!registration) return start(request);
  const { program: registrar, argv: words } = registration;
  const way: Partial<Pick<ChildRequest, "program" | "argv">> = request.registersItself
    ? { argv: [argv[0]!, ...words.slice(1), ...argv.slice(words.length)] }
    : {
        program: registrar,
        argv: [...words, program!.replace(OWN_PROCESS, `/proc/${process.pid}/`), ...argv],
      };
  let started: StartedChild;
  try {
    started = start({
      ...request,
      ...way,
      descriptors: [...descriptors, registration.list, registration.alive, registration.report],
    });
  } catch {
    // For example because the system executes no memfd.
    pending.skipRegistration();
    return start(request);
  }
  const report = pending.openReport();
  if (request.mayFailLate && !request.registersItself) return { ...started, report };
  throwIfSet(report());
  return started;
}

/** @throws the system's error with that number */
function throwIfSet(error: number): void {
  if (error === 0) return;
  const code = errorCode(error);
  throw Object.assign(new Error(code), { code });
}

function startByEngine(
  request: ChildRequest,
  env: Record<string, string>,
  writers: readonly number[],
): StartedChild {
  const subprocess = Bun.spawn([request.program ?? request.argv[0]!, ...request.argv.slice(1)], {
    argv0: request.argv[0],
    cwd: request.cwd,
    env,
    stdio: [
      request.input ?? (request.inheritStdin ? "inherit" : "ignore"),
      writers[0] ?? "inherit",
      writers.at(-1) ?? "inherit",
      ...(request.descriptors ?? []).map((each) => each ?? "ignore"),
    ],
    detached: writers.length > 0,
  });
  return { pid: subprocess.pid, exited: subprocess.exited.then(() => describeExit(subprocess)) };
}

async function follow(
  { pid, exited, report }: StartedChild,
  outlets: readonly OutputReader[],
  keepsOutput: boolean,
  onExit?: () => void,
): Promise<ChildExit> {
  const attach = (isAlsoSilent: boolean) => {
    for (const outlet of outlets) if (isAlsoSilent || outlet.hasBytes()) outlet.attach();
  };
  let attaching = setTimeout(() => {
    attach(false);
    attaching = setTimeout(attach, ATTACH_SILENT_AFTER, true);
  }, ATTACH_AFTER);
  const exit = await exited;
  clearTimeout(attaching);
  onExit?.();
  unwatchChild(pid);
  for (const outlet of outlets) await (keepsOutput ? outlet.finishLater() : outlet.finish());
  if (report) throwIfSet(report());
  return exit;
}
