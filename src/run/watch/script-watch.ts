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
import { host } from "../../../platform/process.ts";
import { trees } from "../../../platform/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/contract/process-tree.ts";
import { Failure } from "../../failure.ts";
import { printable } from "../../printable.ts";
import type { WatchSettings } from "../../settings/watch.ts";
import { OutputQueue } from "../../tasks/report/output-queue.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import type { Ending } from "../script/launch.ts";
import { watchSources } from "./source-watcher.ts";

/** Saves come in bursts: a restart waits until the last event is this old. */
const QUIET = 15; // ms
/** How long what was asked to end may take before it is killed. */
const GRACE = 5_000; // ms
const LOOK_AGAIN = 5; // ms
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

/** --watch-kill-signal, as far as it is one that programs take for the end. Throws Failure. */
function toStopSignal(name = "SIGTERM"): StopSignal {
  const known: readonly StopSignal[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"];
  const signal = known.find((each) => each === name);
  if (signal) return signal;
  throw new Failure(`A script cannot be ended with "${name}"`, `use one of: ${known.join(", ")}`);
}

/** @param words those of the rt that runs it */
export async function watchRun(
  settings: WatchSettings,
  words: readonly string[],
  cwd: string,
): Promise<Ending> {
  const { label, clearsScreen } = settings;
  const argv = ["rt", ...words];
  const killSignal = toStopSignal(settings.signal);
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
    await Promise.race([woken, child.done.then(reportEnd(label, () => hasChanged || !!stop))]);
    if (!hasChanged && !stop) await woken;
    const ending = endingOf(child);
    await endTree(child, stop ?? killSignal, stop === "SIGINT" && host.isTerminal(0));
    // As without --watch: what started the container is told what the script made of the signal.
    if (stop && process.pid === 1) return await ending;
    if (!stop && clearsScreen && host.isTerminal(1)) await Bun.write(Bun.stdout, CLEAR);
  }
  for (const signal of signals) process.off(signal, onSignal);
  return { signal: stop };
}

async function endingOf({ done }: Child): Promise<Ending> {
  const { code, signal } = await done;
  return signal === null ? code : { signal: signal as NodeJS.Signals };
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
