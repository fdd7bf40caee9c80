// Watch mode for scripts of several packages: one run in which a change restarts the affected tasks only.
//
//   planning --> running --a change affects some tasks--> running (those end, and restart in order)
//      ^           |  ^--a change--> waiting <--no task runs any more--+
//      +-----------+ a change affects the plan: all tasks end, and the run is planned again
//
// Invariants: as in script-watch.ts, no process of a task survives its restart or the end of rt. With --parallel a
// failing script ends no other. A workspace that cannot be planned is reported and waits for a change.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { Config } from "../../config/rtfig.ts";
import type { UserError } from "../../user-error.ts";
import { choosesPackages, dependsOnChanges, type ManySettings } from "../../config/settings/many.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { planTasks } from "../../tasks/planning/plan.ts";
import { runTasks } from "../task-run/run-tasks.ts";
import { openOwnWorkspace, openWorkspace } from "../../workspace/members.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import type { RunOutcome, Reopen } from "../outcome.ts";
import { openMany } from "../task-run/multi-script.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { ChangeDebouncer } from "../../watch/change-debouncer.ts";
import { KnownTasks } from "./task-inputs.ts";
import { WatchMessages } from "../../watch/watch-messages.ts";
import { readServiceInputs } from "./service-inputs.ts";
import { WatchSession } from "./watch-session.ts";
import { readScope } from "../../watch/watch-scope.ts";
import { clearScreen, toStopSignal } from "./script-watch.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @throws UserError */
export async function watchPackages(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  reopen: Reopen,
): Promise<RunOutcome> {
  const outcome = await watchPlans(settings, config, cwd, reopen);
  return typeof outcome === "function" ? await outcome() : outcome;
}

/** Returns a replacement of the run if rtfig.toml has changed. */
async function watchPlans(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  reopen: Reopen,
): Promise<ExitStatus | (() => Promise<RunOutcome>)> {
  const watch = settings.watch!;
  const many = settings.many!;
  const killSignal = toStopSignal(watch.signal);
  const root = findRoot(settings, many, cwd);
  const notes = new WatchMessages(watch, cwd);
  using request = await openMany(settings, config, cwd);
  const known = new KnownTasks();
  /** If the user has named paths to watch, nothing else is watched. */
  const watchesInputs = watch.paths.length === 0;
  let session: WatchSession | undefined;
  let number = 0;
  /** Whether rtfig.toml has changed. */
  let isOutdated = false;
  let reasons: readonly string[] = [];
  let stop: StopSignal | undefined;
  let wake = () => {};
  const applyReasons = () => {
    if (reasons.length > 0 && session?.react(reasons)) reasons = [];
  };
  using changes = new ChangeDebouncer(readScope(watch, root, cwd, many.reports), root, {
    onReason(paths) {
      reasons = [...reasons, ...paths];
      applyReasons();
      wake();
    },
    onNamed: (path) => notes.warnSelfWrite(path),
    runOf: (path) => session?.runOf(path) ?? { number, begin: 0, end: 0 },
    isExact: (path) => session?.isExact(path) ?? false,
    isInput: (path) => watchesInputs && (known.has(path) || (session?.isServiceInput(path) ?? false)),
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
      const next = isOutdated ? await reportUserErrors(reopen, notes) : undefined;
      if (stop) return { signal: stop };
      if (next) return next;
      const plan = isOutdated ? undefined : await reportUserErrors(() => planTasks(request.tasks), notes);
      const serviceInputs = await readServiceInputs(plan?.tasks ?? []);
      if (stop) return { signal: stop };
      if (plan) {
        session = new WatchSession(plan, {
          number,
          killSignal,
          notes,
          hasReference: dependsOnChanges(many),
          known,
          serviceInputs,
          watchesInputs,
          watcher: changes.watcher,
          onReady: applyReasons,
          onStart: (concerns) => changes.begin(concerns),
          clear,
        });
        const standsAlone = !choosesPackages(many) && plan.tasks.length === 1 && many.output === undefined;
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

/** The folder that is watched. */
function findRoot({ tasks }: RunSettings, many: ManySettings, cwd: string): string {
  if (choosesPackages(many)) return openWorkspace(cwd).root;
  return tasks ? openOwnWorkspace(cwd).root : (findPackageJson(cwd)?.directory ?? cwd);
}

/** Returns undefined after a UserError, which is printed. */
async function reportUserErrors<T>(make: () => Promise<T>, notes: WatchMessages): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    const { name, message, hint } = error as UserError;
    if (name !== "UserError" && name !== "PackageJsonError") throw error;
    notes.printError(message, hint);
    return undefined;
  }
}
