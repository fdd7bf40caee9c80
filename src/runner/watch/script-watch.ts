// `rt --watch run <script>`: runs it, and again whenever a source file of the project changes.
//
//   running --change--> ending --all of it has ended--> running
//      |                  ^
//      +--exits--> waiting (a change starts it again)
//
// Contract (specification, "Script execution"): with --watch the process restarts when a file changes. What the
// script has started ends before the next start, and when rt ends, so that processes do not pile up and ports are free
// again; on Linux also what has left its parent, its group and its session.
//
// The script is run by another rt, which does with hooks and many scripts what it would do without --watch. Code on standard
// input is run so as well, since the engine, which watches files that are run, would read it once and then find nothing; it
// is kept here. The scripts of many packages are watched by multi-package-watch.ts.
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

/** How long what was asked to end may take before it is killed. */
const GRACE = 5_000; // ms
const LOOK_AGAIN = 5; // ms
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

/** --watch-kill-signal, as far as it is one that programs take for the end. Throws Failure. */
export function toStopSignal(name = "SIGTERM"): StopSignal {
  const known: readonly StopSignal[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"];
  const signal = known.find((each) => each === name);
  if (signal) return signal;
  throw new UserError(`A script cannot be ended with "${name}"`, `use one of: ${known.join(", ")}`);
}

/** @param input of each run, where it is not this process's own. Throws Failure. */
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
  const look = () =>
    (run.end ??= hasExited && child && !trees.hasSurvivors([child]) ? Date.now() : undefined);
  using changes = new ChangeDebouncer(readScope(settings, project, cwd, many?.reports ?? []), project, {
    onReason(paths) {
      reasons = [...reasons, ...paths];
      wake();
    },
    onNamed: (path) => notes.warnSelfWrite(path),
    runOf() {
      look();
      return { ...run };
    },
  });
  const onSignal = (signal: StopSignal) => {
    if (stop && child) trees.signalTrees([child], "SIGKILL"); // asked twice
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
      env: host.originalEnvironment(),
      output: "inherit",
      inheritStdin: true,
      input,
      onOutput() {},
    });
    const woken = new Promise<void>((resolve) => (wake = resolve));
    const exited = child.done.then((exit) => {
      hasExited = true;
      look();
      if (reasons.length === 0 && !stop) notes.printExit(exit);
    });
    await Promise.race([woken, exited]);
    if (reasons.length === 0 && !stop) await woken;
    const ending = endingOf(child);
    await endTree(child, stop ?? killSignal, stop === "SIGINT" && host.isTerminal(0));
    // As without --watch: what started the container is told what the script made of the signal.
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
 * Returns when nothing of the tree is left. The terminal may have told it already, but what a shell has put into the
 * background does not listen to Ctrl-C: when the script has ended, that is told otherwise.
 */
async function endTree(child: Child, signal: StopSignal, isTold: boolean): Promise<void> {
  if (!isTold) trees.signalTrees([child], signal);
  let isOver = false;
  void child.done.then(() => (isOver = true));
  const deadline = performance.now() + GRACE;
  await Promise.race([child.done, Bun.sleep(GRACE)]);
  if (isOver && signal === "SIGINT") trees.signalTrees([child], "SIGTERM");
  while (!isOver || trees.hasSurvivors([child])) {
    if (performance.now() > deadline) trees.signalTrees([child], "SIGKILL");
    await Bun.sleep(LOOK_AGAIN);
  }
}
