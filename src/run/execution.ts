// A plan, carried out: the program is started, becomes this process, or is refused in a line or two. What a run needs
// besides (a file for the engine, variables of --env-file, --watch) is imported when it is asked for.
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import { complain } from "../complaint.ts";
import type { ScriptSettings } from "../settings/script.ts";
import type { Settings } from "../settings/settings.ts";
import { SUPERVISED } from "./engine/own-variables.ts";
import type { Plan } from "./plan.ts";
import type { Ending } from "./script/launch.ts";

/** The user's program starts when nothing of ours can be mistaken for a failure of its own. */
type Program = () => Promise<void>;

export type Outcome = Ending | Program | void;

/** @param runsCode whether code of the user's runs, which is to see `rt` */
export async function execute(
  plan: Plan,
  settings: Settings,
  runsCode: boolean,
  config?: Config,
): Promise<Outcome> {
  if (host.originalVariable("RT_DEBUG") === "plan") console.error(JSON.stringify(plan));
  switch (plan.mode) {
    case "nothing":
      return;
    case "in-process":
      return async () => {
        const { startInProcess } = await import("./file/in-process.ts");
        await startInProcess(plan);
      };
    case "engine":
      return await executeInEngine(plan, settings, runsCode, config);
    case "refuse": {
      const { suggestTarget } = await import("./target/suggestion.ts");
      const hint =
        plan.hint ?? (plan.notFound && suggestTarget(plan.notFound, process.cwd(), settings.isExplicit));
      return complain(plan.message, hint);
    }
    case "program":
    case "script": {
      if (settings.watch) return await watchScript(settings);
      await warnAboutScript(settings);
      if (plan.mode === "script" && settings.cache) {
        const { runCachedScript } = await import("./many.ts");
        const ending = await runCachedScript(plan, settings, process.cwd());
        if (ending !== undefined) return ending;
      }
      const { launchProgram, launchScript } = await import("./script/launch.ts");
      return plan.mode === "script"
        ? await launchScript(plan, settings.script)
        : await launchProgram(plan, settings.script);
    }
  }
}

async function executeInEngine(
  { argv, file }: Extract<Plan, { mode: "engine" }>,
  { code, again, watch }: Settings,
  runsCode: boolean,
  config: Config | undefined,
): Promise<Ending> {
  if (file && code.isWatched && host.originalVariable(SUPERVISED) !== "1") {
    for (const option of watch?.narrowing ?? [])
      console.error(
        `warning: ${option} has no effect on a file: what it imports is watched, and nothing else`,
      );
    const { superviseEngine } = await import("./watch/engine-watch.ts");
    return await superviseEngine(again!.code, file);
  }
  if (code.envFiles.length > 0 || code.tsconfig !== undefined) {
    const { requireTsconfig, warnAboutEnvFiles } = await import("../settings/files.ts");
    for (const line of warnAboutEnvFiles(code.envFiles)) console.error(line);
    requireTsconfig(code);
  }
  for (const line of code.unmet) console.error(line);
  let path: string | undefined;
  if (!runsCode || code.forceRuntime) {
    const { pathForEngine } = await import("./script/stand-ins.ts");
    path = pathForEngine(code.forceRuntime, runsCode ? "" : "rt bun bunx");
  }
  const configFile = await engineConfig(argv[0]!, runsCode, config);
  const { becomeEngine } = await import("./engine/engine.ts");
  const { isHelped, asksRegistry } = code;
  return becomeEngine(argv, runsCode, { config: configFile, path, isHelped, asksRegistry });
}

async function engineConfig(word: string, runsCode: boolean, config?: Config): Promise<string | undefined> {
  if (!config) return undefined;
  const { fileForEngine } = await import("../config/handover.ts");
  return fileForEngine(config, word === "test" ? "test" : runsCode ? "code" : "tool", process.cwd());
}

/** Many scripts, or the scripts of many packages. */
export async function executeMany(settings: Settings, cwd: string): Promise<Outcome> {
  if (settings.watch) return await watchScript(settings);
  await warnAboutScript(settings);
  const { runMany } = await import("./many.ts");
  return await runMany(settings.many!, settings, cwd);
}

async function watchScript(settings: Settings): Promise<Outcome> {
  const { watchRun } = await import("./watch/script-watch.ts");
  return await watchRun(settings, process.cwd());
}

/** Says which of the options have nothing to act on. */
async function warnAboutScript({ target, script }: Settings): Promise<void> {
  if (script.envFiles.length > 0) {
    const { warnAboutEnvFiles } = await import("../settings/files.ts");
    for (const line of warnAboutEnvFiles(script.envFiles)) console.error(line);
  }
  if (script.idle.length > 0) console.error(describeIdle(script, target));
}

function describeIdle({ idle }: ScriptSettings, target: string | undefined): string {
  const isOne = idle.length === 1;
  const where = target === undefined ? "a list of scripts" : `"${target}"`;
  return (
    `warning: ${idle.join(", ")} ${isOne ? "has" : "have"} no effect on ${where}, only on code that rt runs itself; ` +
    `write ${isOne ? "it" : "them"} in the script, as in: rt ${idle[0]} <file>`
  );
}
