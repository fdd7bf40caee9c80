// One target, from its name to its end: what it turns out to be, the plan for it, and the plan carried out.
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import type { Settings } from "../settings/settings.ts";
import type { Opened } from "../settings/sources.ts";
import { execute, type Outcome } from "./execution.ts";
import { engineReason } from "./file/engine-reason.ts";
import { type Facts, type Plan, planRun, planTool } from "./plan.ts";
import { resolveNodeBinary, resolveTarget } from "./target/resolution.ts";
import type { Target } from "./target/target.ts";

/** Throws Failure, PackageJsonError. */
export async function runTarget({ settings, config, cwd }: Opened): Promise<Outcome> {
  const target = findTarget(settings, cwd);
  const plan = planRun(settings, target, await factsOf(target, settings, config, cwd));
  return await execute(plan, settings, true, config);
}

function findTarget({ target, evaluates, isExplicit, code }: Settings, cwd: string): Target {
  if (evaluates || target === undefined) return { kind: "none" };
  return resolveTarget({ name: target, cwd, explicitRun: isExplicit, forceRuntime: code.forceRuntime });
}

async function factsOf(
  target: Target,
  { code, secrets }: Settings,
  config: Config | undefined,
  cwd: string,
): Promise<Facts> {
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

/** A tool of the engine, with its own words. In `test` code of the user's runs, and so sees `rt`. */
export async function runTool(
  command: string,
  words: readonly string[],
  { settings, config, cwd }: Opened,
): Promise<Outcome> {
  const plan =
    (command === "x" && planForced(words, settings, cwd)) || planTool(command, words, settings.code);
  return await execute(plan, settings, command === "test", config);
}

/** With --rt also what names Node.js by its path, which no PATH can change, where it is installed. */
function planForced([name, ...args]: readonly string[], settings: Settings, cwd: string): Plan | undefined {
  const target = settings.code.forceRuntime && name !== undefined ? resolveNodeBinary(name, cwd) : undefined;
  return target && planRun({ ...settings, args }, target);
}
