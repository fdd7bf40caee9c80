// Children whose whole family can be ended, on Linux and macOS.
//
// Contract: a child with piped output leads a session of its own, so one signal reaches what it started, and
// members of its tree that moved to another group are found through the process table. Output comes through
// real pipes (the engine's own are sockets, on which a script's `> /dev/stderr` fails). If rt dies without a
// word, a guardian, one idle `sh`, sees its pipe close and kills what is left.
//
// Surprising: most scripts live only for a millisecond or two, so for the first `ATTACH_AFTER` nothing
// listens: what such a script wrote waits in the pipe and is read when it has exited. Only those that live
// longer get a stream. See output-reader.ts for its end.
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
import { descriptorLimit } from "./process.ts";
import { isHandledByRt, stopLikeTerminal } from "./signals.ts";
import { listProcesses, type ProcessEntry, runs, selectTrees, type TreeRoot } from "./process-table.ts";
import { type Admission, admit, stopWatchdog, unwatchChild } from "./kill-watchdog.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { findOnPath } from "../program-search.ts";
import { adoptOrphans, reapOrphans, withFamily, withOrphans } from "./subreaper.ts";

const ATTACH_AFTER = 2; // ms
/** Per child: our ends of the pipes, the streams' copies, and the engine's handle of the process. */
const DESCRIPTORS_PER_CHILD = 5;
/** Those of one that is followed besides: the kernel's notices, the ways to the thread that hears them, its journal, its mark in the store. */
const DESCRIPTORS_TO_FOLLOW = 10;
const DESCRIPTORS_RESERVED = 48;

interface PosixChild extends Child {
  readonly ownsSession: boolean;
}

const startChild: ProcessTreeOperations["startChild"] = (request): PosixChild => {
  reapOrphans();
  const isPiped = request.output !== "inherit";
  const pipes = isPiped ? [openPipe({ isPolled: true })] : [];
  const env = withFamily(request.env as Record<string, string>, request.family);
  const admission = admit();
  let started: StartedChild;
  try {
    if (request.output === "separate") pipes.push(openPipe({ isPolled: true }));
    const writers = pipes.map(({ writer }) => writer);
    const start = isDecoded({ ...request, env }) ? startByEngine : spawnByteExact;
    started = startBehindGate(admission, request, (gated) => start(gated, env, writers));
    admission.enter(started.pid);
  } catch (error) {
    admission.leave();
    for (const { reader } of pipes) closeDescriptor(reader);
    throw error;
  } finally {
    for (const { writer } of pipes) closeDescriptor(writer);
  }
  const outlets = pipes.map(
    ({ reader }, index) => new OutputReader(reader, (bytes) => request.onOutput(bytes, index === 1)),
  );
  return { pid: started.pid, ownsSession: isPiped, done: follow(started, outlets) };
};

interface StartedChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
}

/** A program in memory is open in rt only, so its path must not depend on the process that starts it. */
const OWN_PROCESS = /^\/proc\/self\//;

/** Throws the system's error. */
function startBehindGate(
  admission: Admission,
  request: ChildRequest,
  start: (request: ChildRequest) => StartedChild,
): StartedChild {
  const { descriptors = [], argv, cwd, env } = request;
  const program = request.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  const gate = program === null ? undefined : admission.gate(3 + descriptors.length);
  if (!gate) return start(request);
  let started: StartedChild;
  try {
    started = start({
      ...request,
      program: gate.program,
      argv: [...gate.argv, program!.replace(OWN_PROCESS, `/proc/${process.pid}/`), ...argv],
      descriptors: [...descriptors, gate.list, gate.alive, gate.report],
    });
  } catch {
    // Also where the system starts nothing from memory.
    admission.refuseGate();
    return start(request);
  }
  const error = admission.awaitProgram();
  if (error === 0) return started;
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

async function follow({ pid, exited }: StartedChild, outlets: readonly OutputReader[]): Promise<ChildExit> {
  const attaching = setTimeout(() => {
    for (const outlet of outlets) outlet.attach();
  }, ATTACH_AFTER);
  const exit = await exited;
  clearTimeout(attaching);
  unwatchChild(pid);
  for (const outlet of outlets) await outlet.finish();
  return exit;
}

/** Another rt in the tree passes on what it gets; its children would otherwise hear everything twice. */
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

/** Groups (negative) and single processes. What is in a group that a root leads is reached through the group. */
function targetsOf(roots: readonly TreeRoot[], relay: string | null, adopt: Adopt): number[] {
  const leads = new Set(roots.flatMap(({ pid, ownsSession }) => (ownsSession ? [pid] : [])));
  const processes = listProcesses();
  const members = selectTrees(processes, adopt(roots, processes), relay);
  const others = members.flatMap(({ pid, group }) => (leads.has(group) ? [] : [pid]));
  return [...Array.from(leads, (lead) => -lead), ...others];
}

/** The chain of new members in trees that are being stopped is not longer than this. */
const MOST_READINGS = 10;

/**
 * The process table is not read in one moment, and what forks or takes a session of its own meanwhile, just
 * before its parent is ended, would never be found again. What stands still does neither.
 */
function freezeTrees(roots: readonly TreeRoot[], relay: string | null, adopt: Adopt): number[] {
  const frozen = new Set<number>();
  for (const { pid, ownsSession } of roots) freeze(ownsSession ? -pid : pid);
  const known = [...roots];
  for (let reading = 0; reading < MOST_READINGS; reading += 1) {
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
 * The children get SIGSTOP, because a session of their own has no shell that could resume them, and to the kernel
 * that makes any other stop of theirs void. rt itself stops by the terminal's own signal, which is void where no
 * shell waits for rt: then everything goes on at once.
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
    // It has ended meanwhile, which is what was wanted.
  }
}

const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children, families) => {
  const processes = listProcesses();
  const roots = withOrphans(children as readonly PosixChild[], processes, families);
  return selectTrees(processes, roots, null).length > 0;
};

/**
 * To ask for a group is one call, and the process table is read only for one that is there. A number is given again when its
 * group and its session are gone: a process that has it shows that.
 */
const findLeft: ProcessTreeOperations["findLeft"] = (children) => {
  const candidates = (children as readonly PosixChild[]).filter(
    ({ pid, ownsSession }) => ownsSession && hasGroup(pid),
  );
  if (candidates.length === 0) return [];
  const processes = listProcesses();
  const names = new Set(processes.map(({ pid }) => pid));
  const groups = new Set(processes.map(({ group }) => group));
  return candidates.filter(({ pid }) => groups.has(pid) && !names.has(pid));
};

/** Also of zombies alone. */
function hasGroup(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // another user's
  }
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
  findLeft,
  hasAncestor,
  hasSurvivors,
  childLimit,
  leaveNothing: stopWatchdog,
  terminalSignalsInherited: true,
};
