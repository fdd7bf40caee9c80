// `rt --watch file.ts` and `--hot`: the engine watches what the program imports and restarts or reloads it. rt stays
// with it for the one thing that the engine does not see through: a file that is deleted and, later, is there
// again, as a change of branches does it. Without its entry point the engine ends; without another module it
// stays, and does not notice the module's return.
//
// Surprising: rt starts itself once more to start the engine, because only a program that becomes the engine
// leaves no trace of that in the environment (see engine.ts).
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import { findPackageJson, parentDirectory } from "../../workspace/package-json.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { projectScope } from "../../watch/watch-scope.ts";
import { watchSources } from "../../watch/source-watcher.ts";
import { SUPERVISED } from "../engine/internal-variables.ts";

/** A file that is replaced is gone for less than this. */
const GONE_AFTER = 50; // ms
/** A failure this soon after its file was replaced is taken for the engine's at not finding it. */
const RECENT = 500; // ms
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @param words rt's own, as the user wrote them */
export async function superviseEngine(words: readonly string[], entry: string): Promise<ExitStatus> {
  /** When a file was found missing. */
  const missing = new Map<string, number>();
  /** When the entry point was last deleted, created or renamed. */
  let replaced = Number.NEGATIVE_INFINITY;
  let event = Promise.withResolvers<"returned" | StopSignal>();
  let child: Child | undefined;
  /** What rt was asked to end by since the program was started; the program may have ended before. */
  let asked: StopSignal | undefined;
  const onSignal = (signal: StopSignal) => {
    asked = signal;
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
  using _watcher = watchSources(projectScope(root), { onChange: onRename, renamesOnly: true });
  for (;;) {
    child = start(words);
    const outcome = await Promise.race([child.done, event.promise]);
    if (typeof outcome === "string") {
      trees.signalTrees([child], "SIGTERM");
      await child.done;
    } else {
      const hasFailed = outcome.code === 1 && outcome.signal === null;
      child = undefined;
      if (hasFailed) await Bun.sleep(GONE_AFTER); // what happened to the file is told later than the exit
      const isThere = process.getBuiltinModule("node:fs").existsSync(entry);
      const wasGone = performance.now() - replaced < RECENT;
      const isOver = !hasFailed || (isThere && !wasGone);
      if (isOver) return outcome.signal ? { signal: outcome.signal as NodeJS.Signals } : outcome.code;
      missing.set(entry, Number.NEGATIVE_INFINITY);
      if (asked) return { signal: asked };
      const signal = isThere ? "returned" : await event.promise;
      if (signal !== "returned") return { signal };
    }
    event = Promise.withResolvers();
    replaced = Number.NEGATIVE_INFINITY;
    asked = undefined;
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
