// A plan, carried out: the program is started, becomes this process, or is refused in a line or two. What a run needs
// besides (a file for the engine, variables of --env-file, --watch) is imported when it is asked for.
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import type { Plan } from "../run/plan.ts";
import type { RunSettings } from "../run/step.ts";
import { SUPERVISED } from "../run/variables.ts";
import { VERSION } from "../version.ts";
import type { Outcome } from "./command-line.ts";
import { hasOption, type Invocation, lastValue } from "./parse.ts";

export async function execute(
  plan: Plan,
  invocation: Invocation,
  runsCode: boolean,
  config?: Config,
): Promise<Outcome> {
  if (process.env.RT_DEBUG === "plan") console.error(JSON.stringify(plan));
  switch (plan.mode) {
    case "nothing":
      return;
    case "in-process":
      return async () => {
        const { startInProcess } = await import("../run/in-process.ts");
        await startInProcess(plan);
      };
    case "engine": {
      if (plan.file && isWatched(invocation)) {
        const { superviseEngine } = await import("../run/supervise.ts");
        const { wordsWithout } = await import("../run/watch.ts");
        return await superviseEngine(wordsWithout(["cwd"], invocation), plan.file);
      }
      if (hasOption(invocation, "env-file")) {
        const { warnAboutFiles } = await import("../run/script-options.ts");
        for (const line of warnAboutFiles(invocation)) console.error(line);
      }
      if (hasOption(invocation, "tsconfig-override")) {
        const { requireTsconfig } = await import("../run/script-options.ts");
        requireTsconfig(invocation);
      }
      const isForced = hasOption(invocation, "rt");
      let path: string | undefined;
      if (!runsCode || isForced) {
        const { pathForEngine } = await import("../run/stand-in.ts");
        path = pathForEngine(isForced, runsCode ? "" : "rt bun bunx");
      }
      const settings = { config: await engineConfig(plan.argv[0]!, runsCode, config), path };
      const { becomeEngine } = await import("../run/engine.ts");
      return becomeEngine(plan.argv, runsCode, settings);
    }
    case "refuse": {
      const { suggestTarget } = await import("./suggest.ts");
      const isRun = invocation.command === "run";
      const hint = plan.hint ?? (plan.notFound && suggestTarget(plan.notFound, process.cwd(), isRun));
      return complain(plan.message, hint);
    }
    case "program":
    case "script": {
      if (hasOption(invocation, "watch")) return await watchScript(invocation, process.cwd());
      const settings = await settingsFor(invocation);
      const { launchProgram, launchScript } = await import("../run/launch.ts");
      return plan.mode === "script"
        ? await launchScript(plan, settings)
        : await launchProgram(plan, settings);
    }
  }
}

function isWatched(invocation: Invocation): boolean {
  if (process.env[SUPERVISED] === "1") return false;
  return hasOption(invocation, "watch") || hasOption(invocation, "hot");
}

async function engineConfig(word: string, runsCode: boolean, config?: Config): Promise<string | undefined> {
  if (!config) return undefined;
  const { fileForEngine } = await import("../config/handover.ts");
  return fileForEngine(config, word === "test" ? "test" : runsCode ? "code" : "tool", process.cwd());
}

function settingsOf(invocation: Invocation): RunSettings {
  return {
    silent: hasOption(invocation, "silent"),
    shell: (lastValue(invocation, "shell") as RunSettings["shell"] | undefined) ?? host.defaultShell,
    forceRuntime: hasOption(invocation, "rt"),
    version: VERSION,
  };
}

/** Also says which of the options have nothing to act on. */
export async function settingsFor(invocation: Invocation): Promise<RunSettings> {
  const settings = settingsOf(invocation);
  const { options } = invocation;
  if (options.length === 0 || options.every(({ option }) => option.by === "runner")) return settings;
  const { environmentOf, warnAboutFiles, warnAboutOptions } = await import("../run/script-options.ts");
  for (const line of warnAboutFiles(invocation)) console.error(line);
  const warning = warnAboutOptions(invocation);
  if (warning) console.error(warning);
  return { ...settings, environment: environmentOf(invocation) };
}

export async function watchScript(invocation: Invocation, cwd: string): Promise<Outcome> {
  const { killSignalOf, watchRun } = await import("../run/watch.ts");
  return await watchRun(invocation, cwd, {
    clearsScreen: !hasOption(invocation, "no-clear-screen"),
    signal: killSignalOf(lastValue(invocation, "watch-kill-signal")),
  });
}

export function complain(message: string, hint?: string, status = 1): number {
  const { oneLine } = require("../printable.ts") as typeof import("../printable.ts");
  console.error(`error: ${oneLine(message)}`);
  if (hint) console.error(`hint: ${oneLine(hint)}`);
  return status;
}
