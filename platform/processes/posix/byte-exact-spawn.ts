// Spawns a child that the engine's spawn cannot: with bytes that are not UTF-8, or with two entries of a variable (`engine`).
//
// Invariants:
// - It behaves as the engine's spawn, except for the bytes. Only rt reaps the process.
// Non-obvious: the engine handles SIGCHLD too, and without a pidfd it may replace rt's handler. So the process is also polled.
import type { ChildRequest, ChildExit } from "../contract/process-tree.ts";
import { findOnPath } from "../program-search.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { openAnonymousFile } from "../../files/posix/anonymous-file.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import { type ProcessChange, startProgram, waitFor } from "./spawn.ts";
import { nameOfSignal } from "./signals.ts";

const POLL_INTERVAL = 500; // ms

export function isDecoded({
  program = "",
  argv,
  env,
}: Pick<ChildRequest, "program" | "argv" | "env">): boolean {
  return [program, ...argv, ...Object.keys(env), ...Object.values(env)].join(" ").isWellFormed();
}

const running = new Map<number, (exit: ChildExit) => void>();
let looking: Timer | undefined;

function look(): void {
  for (const [pid, resolve] of running)
    for (let change = waitFor(pid); change; change = waitFor(pid)) {
      if (change.kind === "stopped") continue;
      running.delete(pid);
      resolve(exitOf(change));
      break;
    }
  if (running.size > 0) return;
  clearInterval(looking);
  looking = undefined;
  process.off("SIGCHLD", look);
}

export function exitOf(change: Exclude<ProcessChange, { kind: "stopped" }>): ChildExit {
  if (change.kind === "exited") return { code: change.code, signal: null };
  return { code: 128 + change.signal, signal: nameOfSignal(change.signal) ?? null };
}

/**
 * @param writers pipe ends for standard output and error; empty to inherit rt's
 * @param terminal path of a pseudo-terminal, instead of all three standard descriptors
 * @throws the system's error
 */
export function spawnByteExact(
  request: ChildRequest,
  env: Readonly<Record<string, string | undefined>>,
  [output = 1, error = output === 1 ? 2 : output]: readonly number[],
  terminal?: string,
): { readonly pid: number; readonly exited: Promise<ChildExit> } {
  const { argv, cwd, input, inheritStdin, descriptors = [] } = request;
  const program = request.program ?? findOnPath(argv[0]!, { PATH: env.PATH ?? "", cwd });
  if (program === null) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
  const isOnTerminal = terminal !== undefined;
  const read = isOnTerminal
    ? undefined
    : input
      ? openAnonymousFile(input)
      : inheritStdin
        ? undefined
        : openNothing();
  if (!looking) {
    looking = setInterval(look, POLL_INTERVAL); // which also keeps the engine from thinking that all is done
    process.on("SIGCHLD", look);
  }
  const { promise, resolve } = Promise.withResolvers<ChildExit>();
  try {
    const started = startProgram({
      program,
      argv,
      environment: env,
      isWhole: true,
      engine: request.engine,
      directory: cwd,
      leadsSession: request.output !== "inherit",
      standard: isOnTerminal
        ? ["terminal", "terminal", "terminal", ...descriptors]
        : [read ?? 0, output, error, ...descriptors],
      terminal,
      descriptors: [],
    });
    if ("error" in started) {
      const code = errorCode(started.error);
      throw Object.assign(new Error(code), { code });
    }
    running.set(started.pid, resolve);
    return { pid: started.pid, exited: promise };
  } finally {
    if (read !== undefined) closeDescriptor(read);
    if (running.size === 0) look();
  }
}

function openNothing(): number {
  return process.getBuiltinModule("node:fs").openSync("/dev/null", "r");
}
