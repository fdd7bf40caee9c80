// Process trees on Linux and macOS: starts children whose descendants can be signalled and ended together.
//
// Invariants:
// - A child with piped output leads its own session, so one signal reaches its process group. The process table shows members
//   that moved to another group.
// - Output uses pipes: the engine's own sockets would break a script's `> /dev/stderr`.
// - If rt is killed, the kill watchdog (kill-watchdog.ts) ends the children.
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
import { isDecoded, spawnByteExact } from "./byte-exact-spawn.ts";
import { OutputReader } from "./output-reader.ts";
import { closeDescriptor, openPipe } from "../../native/posix/pipe.ts";
import { openPair } from "../../terminal/posix/terminal-modes.ts";
import { setTerminalSize, TypedTerminal } from "../../terminal/posix/typed-terminal.ts";
import { descriptorLimit } from "./process.ts";
import { isHandledByRt, stopLikeTerminal } from "./signals.ts";
import { listProcesses, type ProcessEntry, runs, selectTrees, type TreeRoot } from "./process-table.ts";
import { addChild, type PendingChild, stopWatchdog, unwatchChild } from "./kill-watchdog.ts";
import { FFIType } from "../../native/posix/ffi.ts";
import { errorCode, type Libc, openLibc } from "../../native/posix/libc.ts";
import { findOnPath } from "../program-search.ts";
import { permittedStart } from "../../permissions/permissions.ts";
import { adoptOrphans, guardOrphans, reapOrphans, withFamily, withOrphans } from "./subreaper.ts";

const ATTACH_AFTER = 2; // ms
const ATTACH_SILENT_AFTER = 10; // ms more
/** Per child: pipe ends, the streams' duplicates, and the engine's pidfd. */
const DESCRIPTORS_PER_CHILD = 5;
/** Per traced child in addition: listener, wakeup and stop pipes, journal, store marker. */
const DESCRIPTORS_TO_FOLLOW = 10;
const DESCRIPTORS_RESERVED = 48;

interface PosixChild extends Child {
  readonly ownsSession: boolean;
}

const startChild: ProcessTreeOperations["startChild"] = (request): PosixChild => {
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

/** Another rt in the tree forwards these signals; its children would receive them twice. */
const RELAYED: readonly string[] = ["SIGINT", "SIGTERM", "SIGHUP"];

const signalTrees = (
  children: readonly Child[],
  signal: NodeJS.Signals,
  families?: readonly string[],
): void => {
  const relay = RELAYED.includes(signal) ? process.execPath : null;
  const roots = (children as readonly PosixChild[]).map(({ pid, ownsSession }) => ({ pid, ownsSession }));
  const adopt = (known: readonly TreeRoot[], processes: readonly ProcessEntry[]) =>
    withOrphans(known, processes, families);
  const targets = signal === "SIGCONT" ? targetsOf(roots, relay, adopt) : freezeTrees(roots, relay, adopt);
  if (signal === "SIGSTOP") return;
  for (const target of targets) send(target, signal);
  if (RELAYED.includes(signal)) for (const target of targets) send(target, "SIGCONT");
};

type Adopt = (roots: readonly TreeRoot[], processes: readonly ProcessEntry[]) => readonly TreeRoot[];

/** Returns process groups (negative) and single processes. Members of a root's group are reached through the group. */
function targetsOf(roots: readonly TreeRoot[], relay: string | null, adopt: Adopt): number[] {
  const leads = new Set(roots.flatMap(({ pid, ownsSession }) => (ownsSession ? [pid] : [])));
  const processes = listProcesses();
  const members = selectTrees(processes, adopt(roots, processes), relay);
  const others = members.flatMap(({ pid, group }) => (leads.has(group) ? [] : [pid]));
  return [...Array.from(leads, (lead) => -lead), ...others];
}

/** Limit of rounds in which new members appear. */
const MAX_SCANS = 10;

/**
 * Stops all members with SIGSTOP before they are ended (race), because the process table is not read atomically. A member that
 * forks or creates a session just before its parent ends would be lost.
 */
function freezeTrees(roots: readonly TreeRoot[], relay: string | null, adopt: Adopt): number[] {
  const frozen = new Set<number>();
  for (const { pid, ownsSession } of roots) freeze(ownsSession ? -pid : pid);
  const known = [...roots];
  for (let reading = 0; reading < MAX_SCANS; reading += 1) {
    const fresh = targetsOf(known, relay, adopt).filter((target) => !frozen.has(target));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      freeze(pid);
      known.push({ pid, ownsSession: false });
    }
  }
  return [...frozen];

  function freeze(target: number): void {
    frozen.add(target);
    send(target, "SIGSTOP");
  }
}

/**
 * Children receive SIGSTOP, because the kernel ignores terminal stops in sessions without a shell. This process stops itself with
 * SIGTSTP. Without a job-control shell that has no effect, and everything continues at once.
 */
const shareSuspension: ProcessTreeOperations["shareSuspension"] = ({ children, onSuspend, onResume }) => {
  const suspend = () => {
    const stopped = children();
    onSuspend();
    signalTrees(stopped, "SIGSTOP");
    stopLikeTerminal();
    signalTrees(stopped, "SIGCONT");
    onResume();
  };
  if (isHandledByRt(["SIGTSTP"]).length === 0) return () => {};
  process.on("SIGTSTP", suspend);
  return () => process.off("SIGTSTP", suspend);
};

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already exited.
  }
}

const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children, families) => {
  const processes = listProcesses();
  const roots = withOrphans(children as readonly PosixChild[], processes, families);
  return selectTrees(processes, roots, null).length > 0;
};

const listMembers: ProcessTreeOperations["listMembers"] = (children, families) => {
  if (process.platform !== "linux") return [];
  const processes = listProcesses();
  const roots = withOrphans(children as readonly PosixChild[], processes, families);
  return selectTrees(processes, roots, null).map(({ pid, isBusy = false }) => ({ pid, isBusy }));
};

/**
 * Checks each process group with one call, and reads the process table only if a group exists. A pid is reused only after its group
 * and session are gone; a process that reuses one is excluded by its group and session.
 */
const findSurvivingChildren: ProcessTreeOperations["findSurvivingChildren"] = (children) => {
  const candidates = (children as readonly PosixChild[]).filter(
    ({ pid, ownsSession }) => ownsSession && hasGroup(pid),
  );
  if (candidates.length === 0) return [];
  const processes = listProcesses();
  const names = new Set(processes.map(({ pid }) => pid));
  const groups = new Set(processes.map(({ group }) => group));
  return candidates.filter(({ pid }) => groups.has(pid) && !names.has(pid));
};

const KILL = { kill: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } } as const;
let groups: Libc<typeof KILL> | undefined;

/** Also true if the group contains only zombies. The engine's call takes up to 0.1 ms to throw ESRCH. */
function hasGroup(group: number): boolean {
  groups ??= openLibc(KILL);
  return groups.functions.kill(-group, 0) === 0 || errorCode(groups.errno()) === "EPERM"; // another user's process
}

const hasAncestor: ProcessTreeOperations["hasAncestor"] = (program) => {
  const parents = new Map(listProcesses().map(({ pid, parent }) => [pid, parent]));
  for (let pid = process.ppid; pid > 1; pid = parents.get(pid) ?? 0) if (runs(pid, program)) return true;
  return false;
};

const childLimit: ProcessTreeOperations["childLimit"] = (areFollowed) => {
  const available = descriptorLimit() - DESCRIPTORS_RESERVED;
  const each = DESCRIPTORS_PER_CHILD + (areFollowed ? DESCRIPTORS_TO_FOLLOW : 0);
  return Math.max(1, Math.floor(available / each));
};

export const operations: ProcessTreeOperations = {
  startChild,
  signalTrees,
  shareSuspension,
  adoptOrphans,
  findSurvivingChildren,
  listMembers,
  guardOrphans,
  hasAncestor,
  hasSurvivors,
  childLimit,
  prepareExec: stopWatchdog,
  terminalSignalsInherited: true,
};
