// The memo of a start with permissions: what the front needs to start the same script again, and the script that it has started.
//
// Invariants:
// - Only a script with the default permissions has a memo: without hooks, cache, secrets, hosts, options and a schedule.
// - A start that the front hands over is the only child of this run.
import { adoptChild, isAdopting } from "../../../platform/permissions/adoption.ts";
import { describeRules } from "../../../platform/permissions/permissions.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, ChildRequest } from "../../../platform/processes/contract/process-tree.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import type { TaskPermissions } from "../../permissions/task-permissions.ts";
import { inheritedNames } from "../../permissions/variables.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { UserError } from "../../user-error.ts";
import { commandLine } from "../script/launch.ts";
import { replacementObserver } from "../script/replacement.ts";

type ReplayedTask = Pick<ScriptTask, "rule" | "steps">;

/** Whether a run of these settings may consist of one script with the default permissions. */
export function mayReplayPermissions({
  cache,
  remote,
  script,
  permissions,
  secrets,
  single,
}: RunSettings): boolean {
  const isPlainRun =
    single !== undefined && single.args.length === 0 && single.reports.length === 0 && !single.share;
  const isPlainScript =
    script.shell === "system" &&
    !script.forceRuntime &&
    script.envFiles.length === 0 &&
    script.idle.length === 0;
  const { observation, asked, isLocked } = permissions ?? {};
  const isPlain = permissions !== undefined && !observation && asked === undefined && !isLocked;
  return isPlainRun && isPlainScript && isPlain && !cache && !remote && secrets.length === 0;
}

/** Returns how to start a task that the front can start; undefined for another one. Only for settings that may be replayed. */
export function startOf(
  task: ReplayedTask,
  silent: boolean,
  permissions: TaskPermissions,
): ((request: ChildRequest) => Child) | undefined {
  return isReplayable(task, permissions) ? (request) => startReplayable(task, request, silent) : undefined;
}

function isReplayable({ rule, steps }: ReplayedTask, permissions: TaskPermissions): boolean {
  const { timeout, retries, lock, service, interactive, cache } = rule ?? {};
  const isScheduled = [timeout, retries, lock, service, interactive, cache].some(
    (each) => each !== undefined,
  );
  const table = permissions.tableOf({ rule });
  return steps.length === 1 && !isScheduled && table !== undefined && Object.keys(table).length === 0;
}

/** Starts the task, or takes over the one that the front has started. */
function startReplayable(task: ReplayedTask, request: ChildRequest, silent: boolean): Child {
  if (isAdopting()) return adoptChild(request.permissions!, request.output !== "inherit");
  const child = trees.startChild(request);
  try {
    observe(task, request, silent);
  } catch {
    // There is no memo.
  }
  return child;
}

/** @throws UserError because the front has started what would not be started now */
export function refuseOther(): never {
  throw new UserError("The script was ended: the configuration has changed since it started", "run it again");
}

function observe(task: ReplayedTask, request: ChildRequest, silent: boolean): void {
  const observer = replacementObserver();
  const { program, argv, cwd, permissions, inheritStdin, output, engine = false } = request;
  if (!observer || program === undefined || !inheritStdin) return;
  const { variables } = permissions!;
  const shown = (isTerminal: boolean) => commandLine(task.steps[0]!.command, () => isTerminal);
  observer.observe({
    lines: silent ? undefined : [shown(true), shown(false)],
    directory: cwd,
    command: { program, argv, environment: { ...request.env, ...variables }, engine },
    restrictions: {
      ...describeRules(permissions!),
      output: output === "inherit" ? "terminal" : "pipes",
      inherited: inheritedNames(task.rule?.env ?? []),
      temporary: variables.TMPDIR!,
    },
  });
}
