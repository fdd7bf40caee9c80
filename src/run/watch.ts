// `rt --watch run <script>`: runs it, and again whenever a source file of the project changes.
//
//   running --change--> ending --all of it has ended--> running
//      |                  ^
//      +--exits--> waiting (a change starts it again)
//
// Contract (specification, "Script execution"): with --watch the process restarts when a file changes. What the
// script has started ends before the next start, so that processes do not pile up and ports are free again.
//
// The script is run by another rt, which does with hooks and many scripts what it would do without --watch.
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Child, StopSignal } from "../../platform/process-tree-operations.ts";
import type { Given, Invocation } from "../cli/parse.ts";
import { findPackageJson } from "../workspace/package-json.ts";
import type { Ending } from "./launch.ts";
import { Failure } from "../failure.ts";
import { printable } from "../printable.ts";
import { OutputQueue } from "../tasks/report/output-queue.ts";
import { watchSources } from "./source-watcher.ts";

/** Saves come in bursts: a restart waits until the last event is this old. */
const QUIET = 15; // ms
/** How long what was asked to end may take before it is killed. */
const GRACE = 5_000; // ms
const LOOK_AGAIN = 5; // ms
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

export interface WatchSettings {
  readonly clearsScreen: boolean;
  readonly signal: StopSignal;
}

/** --watch-kill-signal, as far as it is one that programs take for the end. */
export function killSignalOf(name = "SIGTERM"): StopSignal {
  const known: readonly StopSignal[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"];
  const signal = known.find((each) => each === name);
  if (signal) return signal;
  throw new Failure(`A script cannot be ended with "${name}"`, `use one of: ${known.join(", ")}`);
}

export async function watchRun(
  invocation: Invocation,
  cwd: string,
  settings: WatchSettings,
): Promise<Ending> {
  const argv = ["rt", ...wordsWithout(HANDLED, invocation)];
  const root = findPackageJson(cwd)?.directory ?? cwd;
  let wake = () => {};
  let hasChanged = false;
  let stop: StopSignal | undefined;
  let timer: Timer | undefined;
  using _watcher = watchSources(root, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      hasChanged = true;
      wake();
    }, QUIET);
  });
  let child: Child | undefined;
  const onSignal = (signal: StopSignal) => {
    if (stop && child) trees.signalTrees([child], "SIGKILL"); // asked twice
    stop ??= signal;
    wake();
  };
  const signals = host.heeded(SIGNALS);
  for (const signal of signals) process.on(signal, onSignal);
  while (!stop) {
    hasChanged = false;
    child = trees.startChild({
      program: process.execPath,
      argv,
      cwd,
      env: host.originalEnvironment(),
      output: "inherit",
      inheritStdin: true,
      onOutput() {},
    });
    const woken = new Promise<void>((resolve) => (wake = resolve));
    await Promise.race([woken, child.done.then(reportEnd(invocation.target!, () => hasChanged || !!stop))]);
    if (!hasChanged && !stop) await woken;
    await endTree(child, stop ?? settings.signal, stop === "SIGINT" && host.isTerminal(0));
    if (!stop && settings.clearsScreen && host.isTerminal(1)) await Bun.write(Bun.stdout, CLEAR);
  }
  for (const signal of signals) process.off(signal, onSignal);
  return { signal: stop };
}

function reportEnd(
  target: string,
  isExpected: () => boolean,
): (exit: { code: number; signal: string | null }) => void {
  return ({ code, signal }) => {
    if (isExpected()) return;
    const how = signal ? `was terminated by ${signal}` : `exited with code ${code}`;
    // Not by `console.error`, which waits for a reader, and no signal would end that.
    void new OutputQueue().write(2, `rt: "${printable(target)}" ${how}; waiting for a change\n`);
  };
}

/** Returns when nothing of the tree is left. The terminal may have told it already. */
async function endTree(child: Child, signal: StopSignal, isTold: boolean): Promise<void> {
  if (!isTold) trees.signalTrees([child], signal);
  let isOver = false;
  void child.done.then(() => (isOver = true));
  const deadline = performance.now() + GRACE;
  await Promise.race([child.done, Bun.sleep(GRACE)]);
  while (!isOver || trees.hasSurvivors([child])) {
    if (performance.now() > deadline) trees.signalTrees([child], "SIGKILL");
    await Bun.sleep(LOOK_AGAIN);
  }
}

const HANDLED = ["watch", "no-clear-screen", "watch-kill-signal", "cwd"];

/** What the user wrote, but for options that are carried out already. */
export function wordsWithout(handled: readonly string[], invocation: Invocation): string[] {
  const { options, command, target, args } = invocation;
  const words = options
    .filter(({ option, isConfigured }) => !isConfigured && !handled.includes(option.name))
    .map(spell);
  return [...words, ...(command === undefined ? [] : [command]), target!, ...args];
}

function spell({ option, value }: Given): string {
  return value === undefined ? `--${option.name}` : `--${option.name}=${value}`;
}
