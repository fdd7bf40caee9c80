// Entry point of the runner: resolves, plans and executes one target, an engine tool or several scripts.
import { host } from "../../platform/processes/process.ts";
import type { RunSettings } from "../config/settings/settings.ts";
import type { OpenedSettings } from "../config/settings/settings-sources.ts";
import type { Tool } from "../config/settings/tool.ts";
import { execute, executeMany } from "./execution.ts";
import type { RunOutcome } from "./outcome.ts";
import { engineReason } from "./file/engine-reason.ts";
import { type Facts, type ExecutionPlan, planRun, planTool } from "./plan.ts";
import { resolveNodeBinary, resolveTarget } from "./resolve/resolution.ts";
import type { RunTarget } from "./resolve/target.ts";

/** The tool that runs user code, which may import `rt`. */
const RUNS_CODE = "test";

/** @throws UserError @throws PackageJsonError */
export async function run(opened: OpenedSettings): Promise<RunOutcome> {
  const { settings, config, cwd } = opened;
  const { many, tool } = settings;
  const reopen = async () => {
    const next = await opened.reopen();
    return () => run(next);
  };
  if (many) return await executeMany(settings, config, cwd, reopen);
  const single = settings.single && (await import("./task-run/task-target.ts")).findTaskRun(settings, cwd);
  if (single) return await executeMany({ ...settings, many: single }, config, cwd, reopen);
  const plan = tool ? await planToolRun(tool, settings, cwd) : await planTarget(opened);
  return await execute(plan, settings, tool === undefined || tool.name === RUNS_CODE, config, reopen);
}

async function planTarget(opened: OpenedSettings): Promise<ExecutionPlan> {
  const { settings, cwd } = opened;
  const target = findTarget(settings, cwd);
  return planRun(settings, target, await factsOf(target, opened));
}

function findTarget({ target, evaluates, isExplicit, code }: RunSettings, cwd: string): RunTarget {
  if (evaluates || target === undefined) return { kind: "none" };
  return resolveTarget({ name: target, cwd, explicitRun: isExplicit, forceRuntime: code.forceRuntime });
}

async function factsOf(target: RunTarget, { settings, config, cwd }: OpenedSettings): Promise<Facts> {
  const { code, secrets } = settings;
  const mayStay = target.kind === "file" && code.engineOption === undefined;
  const { key } = config?.settings.find(({ key }) => key.isForCode) ?? {};
  return {
    config: config?.file,
    engineReason: !mayStay
      ? undefined
      : secrets.length > 0
        ? "--secret"
        : key
          ? `${key.name} in ${config!.file}`
          : await engineReason(target.path, cwd),
    isInputEmpty: target.kind === "stdin" && !host.isTerminal(0) && host.isInputEmpty(),
  };
}

async function planToolRun(
  { name, words }: Tool,
  settings: RunSettings,
  cwd: string,
): Promise<ExecutionPlan> {
  const { hintAtShadowedScript } = await import("./resolve/shadowed-script.ts");
  await hintAtShadowedScript(name, cwd);
  const forced = name === "x" ? planForced(words, settings, cwd) : undefined;
  if (forced) return forced;
  const all = name === "build" ? (await import("./engine/build-arguments.ts")).addBuildWords(words) : words;
  return planTool(name, all, settings.code);
}

/**
 * With --rt, a binary marked for Node.js runs in rt even if its #! line has an absolute path, which PATH does not
 * affect.
 */
function planForced(
  [name, ...args]: readonly string[],
  settings: RunSettings,
  cwd: string,
): ExecutionPlan | undefined {
  const target = settings.code.forceRuntime && name !== undefined ? resolveNodeBinary(name, cwd) : undefined;
  return target && planRun({ ...settings, args }, target);
}
