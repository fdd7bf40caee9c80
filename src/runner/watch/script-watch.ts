// Watch mode for one script: restarts it whenever a watched file changes.
//
//   running --change--> ending --no process is left--> running
//      |                  ^
//      +--exits--> waiting (a change restarts it)
//
// Invariants (specification, "Script execution"): all processes of the script end before its next start and when rt ends. On
// Linux this includes those that left their parent, process group and session. A second signal to rt kills them.
//
// Non-obvious: the script runs in a child rt process. Code on stdin is kept in memory for restarts, because the
// engine would read it only once.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { UserError } from "../../user-error.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import { ChangeDebouncer } from "../../watch/change-debouncer.ts";
import { readScope } from "../../watch/watch-scope.ts";
import { WatchMessages } from "../../watch/watch-messages.ts";
import { writeOwn } from "../../output.ts";
import { RESTARTED } from "../engine/internal-variables.ts";

const GRACE_PERIOD = 5_000; // ms
const POLL_INTERVAL = 5; // ms
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

/** Validates --watch-kill-signal. @throws UserError */
export function toStopSignal(name = "SIGTERM"): StopSignal {
  const known: readonly StopSignal[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"];
  const signal = known.find((each) => each === name);
  if (signal) return signal;
  throw new UserError(`A script cannot be ended with "${name}"`, `use one of: ${known.join(", ")}`);
}

/** @param input standard input of each run, if it is not rt's own @throws UserError */
export async function watchRun(
  { watch, again, many }: Pick<RunSettings, "watch" | "again" | "many">,
  cwd: string,
  input?: Uint8Array<ArrayBuffer>,
): Promise<ExitStatus> {
  const settings = watch!;
  const killSignal = toStopSignal(settings.signal);
  const project = findPackageJson(cwd)?.directory ?? cwd;
  const notes = new WatchMessages(settings, cwd);
  let wake = () => {};
  let reasons: readonly string[] = [];
  let stop: StopSignal | undefined;
  let child: Child | undefined;
  let hasExited = false;
  const run: { number: number; begin: number; end: number | undefined } = {
    number: 0,
    begin: 0,
    end: undefined,
  };
  const updateEnd = () =>
    (run.end ??= hasExited && child && !trees.hasSurvivors([child]) ? Date.now() : undefined);
  using changes = new ChangeDebouncer(readScope(settings, project, cwd, many?.reports ?? []), project, {
    onReason(paths) {
      reasons = [...reasons, ...paths];
      wake();
    },
    onNamed: (path) => notes.warnSelfWrite(path),
    runOf() {
      updateEnd();
      return { ...run };
    },
  });
  const onSignal = (signal: StopSignal) => {
    if (stop && child) trees.signalTrees([child], "SIGKILL"); // a second signal
    stop ??= signal;
    wake();
  };
  const signals = host.handledSignals(SIGNALS);
  for (const signal of signals) process.on(signal, onSignal);
  trees.adoptOrphans();
  notes.printScope(changes.watcher);
  while (!stop) {
    reasons = [];
    hasExited = false;
    changes.begin();
    Object.assign(run, { number: run.number + 1, begin: Date.now(), end: undefined });
    child = trees.startChild({
      program: process.execPath,
      argv: ["rt", ...again!.script],
      cwd,
      env: { ...host.originalEnvironment(), ...(run.number > 1 && { [RESTARTED]: `${process.pid}` }) },
      output: "inherit",
      inheritStdin: true,
      input,
      onOutput() {},
    });
    const woken = new Promise<void>((resolve) => (wake = resolve));
    const exited = child.done.then((exit) => {
      hasExited = true;
      updateEnd();
      if (reasons.length === 0 && !stop) notes.printExit(exit);
    });
    await Promise.race([woken, exited]);
    if (reasons.length === 0 && !stop) await woken;
    const ending = endingOf(child);
    await endTree(child, stop ?? killSignal, stop === "SIGINT" && host.isTerminal(0));
    // As without --watch: the container runtime gets the script's exit status.
    if (stop && process.pid === 1) return await ending;
    if (stop) break;
    if (settings.clearsScreen) await clearScreen();
    notes.printReasons(reasons);
  }
  for (const signal of signals) process.off(signal, onSignal);
  return { signal: stop };
}

export async function clearScreen(): Promise<void> {
  if (host.isTerminal(1)) writeOwn(1, CLEAR);
}

async function endingOf({ done }: Child): Promise<ExitStatus> {
  const { code, signal } = await done;
  return signal === null ? code : { signal: signal as NodeJS.Signals };
}

/**
 * Returns when no process of the tree is left. Background processes of a shell ignore SIGINT, so they get TERM
 * after the script has ended. `isDelivered`: the terminal has sent the signal already.
 */
async function endTree(child: Child, signal: StopSignal, isDelivered: boolean): Promise<void> {
  if (!isDelivered) trees.signalTrees([child], signal);
  let isOver = false;
  void child.done.then(() => (isOver = true));
  const deadline = performance.now() + GRACE_PERIOD;
  await Promise.race([child.done, Bun.sleep(GRACE_PERIOD)]);
  if (isOver && signal === "SIGINT") trees.signalTrees([child], "SIGTERM");
  while (!isOver || trees.hasSurvivors([child])) {
    if (performance.now() > deadline) trees.signalTrees([child], "SIGKILL");
    await Bun.sleep(POLL_INTERVAL);
  }
}
