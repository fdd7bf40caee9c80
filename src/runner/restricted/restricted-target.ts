// Runs a file, code, a binary, `rt x` or `rt test` with the default permissions: starts rt again, restricted, with the same words.
//
// Invariants:
// - No code of the project or of a package runs in this process, nor in another one without restrictions.
// - Secrets are fetched here, because the restricted process cannot reach the credential store.
import { basename, dirname, relative } from "node:path";
import { realPath } from "../../../platform/files/real-path.ts";
import { findRoot } from "../../config/root-project.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { endOfFlags, type Tool } from "../../config/settings/tool.ts";
import { openTaskPermissions, type PermittedTask } from "../../permissions/task-permissions.ts";
import { oneLine } from "../../printable.ts";
import { quoteArgument } from "../../shell-quoting.ts";
import { UserError } from "../../user-error.ts";
import { isWithin } from "../../workspace/member-match.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import type { ExecutionPlan } from "../plan.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { fetchFor, type TargetSecrets } from "../task-run/secrets/target-secrets.ts";
import { runRestrictedProcess } from "./restricted-process.ts";

type TargetPlan = Extract<ExecutionPlan, { mode: "in-process" | "engine" | "program" }>;

/** @throws UserError */
export async function runRestricted(
  plan: TargetPlan,
  settings: RunSettings,
  secrets: TargetSecrets | undefined,
): Promise<ExitStatus> {
  const { permissions: asked, tool } = settings;
  refuseLearning(settings);
  const cwd = process.cwd();
  const task: PermittedTask = {
    packageDirectory: findPackageJson(cwd)?.directory ?? cwd,
    scriptName: nameOf(plan, settings),
    label: nameOf(plan, settings),
    target: { readable: plan.mode === "program" && plan.path.startsWith("/") ? [realPath(plan.path)] : [] },
  };
  // There is no table to compare, so a check is a locked run.
  const isLocked = asked!.isLocked || asked!.observation === "check";
  const observation = asked!.observation && "explain";
  requireInside(plan, findRoot(cwd) ?? cwd, `--${asked!.asked}`);
  const permissions = openTaskPermissions({ ...asked!, observation, isLocked }, cwd);
  try {
    await permissions.prepare([task]);
    const supply = await fetchFor(secrets);
    const fetched = tool?.name === "x" ? await fetchTool(tool, permissions.temporaryOf(task)!) : undefined;
    const forced = settings.code.forceRuntime ? ["--rt"] : [];
    return await runRestrictedProcess(permissions, task, {
      words: fetched ? ["x", ...forced, ...fetched.words] : settings.again!.restricted,
      path: fetched?.folder,
      secrets: supply?.secretsFor() ?? [],
    });
  } finally {
    permissions.close();
  }
}

async function fetchTool({ words }: Tool, temporary: string) {
  return (await import("./package-binary.ts")).fetchPackageBinary(words, temporary);
}

function refuseLearning({ permissions, target }: RunSettings): void {
  const { asked, observation } = permissions!;
  if (observation === "learn" || observation === "write")
    throw new UserError(
      `--${asked} works with package.json scripts and tasks only`,
      `write a script in package.json for it, as in: rt run --${asked} build`,
    );
  if (observation && target === "-")
    throw new UserError(
      `--${asked} cannot be used with code on standard input, which a traced process does not get`,
      "write the code to a file",
    );
}

function nameOf(plan: TargetPlan, { tool, target, evaluates }: RunSettings): string {
  if (tool?.name === "x")
    return `rt x ${tool.words.slice(endOfFlags(tool.words)).find((word) => word !== "--") ?? ""}`;
  if (tool) return `rt ${tool.name}`;
  if (evaluates || target === undefined) return "the code";
  return plan.mode === "program" ? plan.name : target;
}

/** The engine lists the folders of a file, so a rule for the file alone would not do. @throws UserError */
function requireInside(plan: TargetPlan, root: string, option: string): void {
  if (plan.mode === "program" || plan.file === undefined) return;
  const file = realPath(plan.file);
  if (isWithin(file, realPath(root))) return;
  throw new UserError(
    `"${oneLine(relative(process.cwd(), file))}" is outside of the project, which a program with permissions cannot read`,
    `run it in its folder: rt --cwd=${quoteArgument(dirname(file))} ${option} ${quoteArgument(basename(file))}`,
  );
}
