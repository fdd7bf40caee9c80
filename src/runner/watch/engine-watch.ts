// Supervises the engine for `rt --watch file.ts` and `--hot`. The engine restarts or reloads the program itself; rt restarts it
// if a deleted file appears again, for example after a switch of branches.
//
// Non-obvious: without its entry point the engine exits. Without another module it stays and does not notice the module's
// return. A second rt process starts the engine, because only exec leaves no variables in the environment (engine.ts).
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import { findPackageJson, parentDirectory } from "../../workspace/package-json.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { projectScope } from "../../watch/watch-scope.ts";
import { SourceWatcher } from "../../watch/source-watcher.ts";
import { SUPERVISED } from "../engine/internal-variables.ts";

/** A file that is replaced is missing for less time. */
const GONE_AFTER = 50; // ms
/** A failure this soon after the entry point was replaced counts as caused by the missing file. */
const RECENT = 500; // ms
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @param words rt's own arguments, as the user wrote them */
export async function superviseEngine(words: readonly string[], entry: string): Promise<ExitStatus> {
  /** When a file was found missing. */
  const missing = new Map<string, number>();
  /** When the entry point was last deleted, created or renamed. */
  let replaced = Number.NEGATIVE_INFINITY;
  let event = Promise.withResolvers<"returned" | StopSignal>();
  let child: Child | undefined;
  /** The signal to rt since the program's start; the program may have ended before. */
  let requestedSignal: StopSignal | undefined;
  const onSignal = (signal: StopSignal) => {
    requestedSignal = signal;
    if (!child) event.resolve(signal);
    else if (signal !== "SIGINT" || !host.isTerminal(0)) trees.signalTrees([child], signal);
  };
  for (const signal of host.handledSignals(SIGNALS)) process.on(signal, onSignal);
  const directory = parentDirectory(entry) ?? "/";
  const onRename = (path: string) => {
    if (path === entry) replaced = performance.now();
    if (!process.getBuiltinModule("node:fs").existsSync(path))
      return void missing.set(path, performance.now());
    const since = missing.get(path) ?? Number.POSITIVE_INFINITY;
    missing.delete(path);
    if (performance.now() - since >= GONE_AFTER) event.resolve("returned");
  };
  const root = findPackageJson(directory)?.directory ?? directory;
  using _watcher = new SourceWatcher(projectScope(root), { onChange: onRename, renamesOnly: true });
  for (;;) {
    child = start(words);
    const outcome = await Promise.race([child.done, event.promise]);
    if (typeof outcome === "string") {
      trees.signalTrees([child], "SIGTERM");
      await child.done;
    } else {
      const hasFailed = outcome.code === 1 && outcome.signal === null;
      child = undefined;
      if (hasFailed) await Bun.sleep(GONE_AFTER); // the file event arrives later than the exit
      const isThere = process.getBuiltinModule("node:fs").existsSync(entry);
      const wasGone = performance.now() - replaced < RECENT;
      const isOver = !hasFailed || (isThere && !wasGone);
      if (isOver) return outcome.signal ? { signal: outcome.signal as NodeJS.Signals } : outcome.code;
      missing.set(entry, Number.NEGATIVE_INFINITY);
      if (requestedSignal) return { signal: requestedSignal };
      const signal = isThere ? "returned" : await event.promise;
      if (signal !== "returned") return { signal };
    }
    event = Promise.withResolvers();
    replaced = Number.NEGATIVE_INFINITY;
    requestedSignal = undefined;
  }
}

function start(words: readonly string[]): Child {
  return trees.startChild({
    program: process.execPath,
    argv: ["rt", ...words],
    cwd: process.cwd(),
    env: { ...host.originalEnvironment(), [SUPERVISED]: "1" },
    output: "inherit",
    inheritStdin: true,
    onOutput() {},
  });
}
