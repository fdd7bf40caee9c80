// `rt --watch run --filter '*' dev`: the scripts of many packages, in one run that goes on. A change ends and starts again
// those that it reaches, whether they run or have ended; the others are left as they are, servers among them.
//
//   planning --> running --a change reaches some of it--> running (those end, and start again in order)
//      ^           |  ^--a change--> waiting <--nothing runs any more--+
//      +-----------+ a change reaches all of it: everything ends, and is planned anew
//
// Contract: what script-watch.ts promises of one script holds of each: nothing of it is left when it starts again, or when rt
// ends. With --parallel a script that fails ends no other. A workspace that cannot be planned is said to be so, and waits
// for a change as well.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { Config } from "../../config/rtfig.ts";
import type { UserError } from "../../user-error.ts";
import { choosesPackages } from "../../config/settings/many.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { planTasks } from "../../tasks/planning/plan.ts";
import { runTasks } from "../task-run/run-tasks.ts";
import { openWorkspace } from "../../workspace/members.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import type { RunOutcome, Reopen } from "../outcome.ts";
import { openMany } from "../task-run/multi-script.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { ChangeDebouncer } from "../../watch/change-debouncer.ts";
import { KnownTasks } from "./task-inputs.ts";
import { WatchMessages } from "../../watch/watch-messages.ts";
import { WatchSession } from "./watch-session.ts";
import { readScope } from "../../watch/watch-scope.ts";
import { clearScreen, toStopSignal } from "./script-watch.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Throws Failure. */
export async function watchPackages(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  reopen: Reopen,
): Promise<RunOutcome> {
  const outcome = await watchPlans(settings, config, cwd, reopen);
  return typeof outcome === "function" ? await outcome() : outcome;
}

/** Gives what takes its place when rtfig.toml has changed. */
async function watchPlans(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  reopen: Reopen,
): Promise<ExitStatus | (() => Promise<RunOutcome>)> {
  const watch = settings.watch!;
  const many = settings.many!;
  const killSignal = toStopSignal(watch.signal);
  const standsAlone = !choosesPackages(many);
  const root = standsAlone ? (findPackageJson(cwd)?.directory ?? cwd) : openWorkspace(cwd).root;
  const notes = new WatchMessages(watch, cwd);
  using request = await openMany(settings, config, cwd);
  const known = new KnownTasks();
  /** Where the user has named what is to be watched, nothing else is. */
  const watchesInputs = watch.paths.length === 0;
  let session: WatchSession | undefined;
  let number = 0;
  /** Whether rtfig.toml says something else by now. */
  let isOutdated = false;
  let reasons: readonly string[] = [];
  let stop: StopSignal | undefined;
  let wake = () => {};
  const offer = () => {
    if (reasons.length > 0 && session?.react(reasons)) reasons = [];
  };
  using changes = new ChangeDebouncer(readScope(watch, root, cwd, many.reports), root, {
    onReason(paths) {
      reasons = [...reasons, ...paths];
      offer();
      wake();
    },
    onNamed: (path) => notes.warnSelfWrite(path),
    runOf: (path) => session?.runOf(path) ?? { number, begin: 0, end: 0 },
    isExact: (path) => session?.isExact(path) ?? false,
    isInput: (path) => watchesInputs && known.has(path),
  });
  const onSignal = (signal: StopSignal) => {
    stop ??= signal;
    wake();
  };
  const signals = host.handledSignals(SIGNALS);
  for (const signal of signals) process.on(signal, onSignal);
  const clear = async () => void (watch.clearsScreen && (await clearScreen()));
  trees.adoptOrphans();
  notes.printScope(changes.watcher);
  try {
    for (;;) {
      number += 1;
      isOutdated ||= reasons.some((path) => path.endsWith("/rtfig.toml"));
      reasons = [];
      changes.begin();
      const next = isOutdated ? await orExplain(reopen, notes) : undefined;
      if (stop) return { signal: stop };
      if (next) return next;
      const plan = isOutdated ? undefined : await orExplain(() => planTasks(request.tasks), notes);
      if (stop) return { signal: stop };
      if (plan) {
        session = new WatchSession(plan, {
          number,
          killSignal,
          notes,
          hasReference: many.affected !== undefined,
          known,
          watchesInputs,
          watcher: changes.watcher,
          onReady: offer,
          onStart: (concerns) => changes.begin(concerns),
          clear,
        });
        const status = await runTasks({ ...request.tasks, standsAlone, watcher: session }, plan);
        if (!session.isOver || stop) return status;
        session = undefined;
        notes.setPrinter();
      } else {
        notes.printExit({ code: 1, signal: null });
        if (reasons.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        if (stop) return { signal: stop };
      }
      await clear();
      notes.printReasons(reasons);
    }
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}

/** Undefined where there is something that the user can mend, which is said. */
async function orExplain<T>(make: () => Promise<T>, notes: WatchMessages): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    const { name, message, hint } = error as UserError;
    if (name !== "Failure" && name !== "PackageJsonError") throw error;
    notes.printError(message, hint);
    return undefined;
  }
}
