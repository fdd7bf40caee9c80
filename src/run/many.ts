// Many scripts, or the scripts of many packages: asks src/tasks for what the settings say, and supplies what that folder
// must not know, which is how a script is started.
import { host } from "../../platform/process.ts";
import type { CacheSettings } from "../settings/cache.ts";
import type { ManySettings } from "../settings/many.ts";
import type { ScriptSettings } from "../settings/script.ts";
import type { Settings } from "../settings/settings.ts";
import {
  type Command,
  type CommandRequest,
  runSingle,
  runTasks,
  type Task,
  type TaskRequest,
} from "../tasks/run-tasks.ts";
import { scriptOf } from "../workspace/package-json.ts";
import type { Answer } from "./script/bash-builtins.ts";
import { evaluate, needsNoProcess, type ShellResult } from "./script/built-in-shell.ts";
import type { Plan } from "./plan.ts";
import { type Ending, launchScript } from "./script/launch.ts";
import { appendArguments, quoteArgument } from "./script/quoting.ts";
import { openRun, prepareStep, type RunContext } from "./script/preparation.ts";

export async function runMany(
  many: ManySettings,
  { script, cache }: Pick<Settings, "script" | "cache">,
  cwd: string,
): Promise<Ending> {
  const request = requestFor(script, cache, cwd, { ...many, args: host.exactArguments(many.args) });
  return await runTasks({ ...request, runAlone: (task) => runAlone(task, request, script, cache) });
}

/** Undefined for a script that is to run as any other. */
export async function runCachedScript(
  plan: Extract<Plan, { mode: "script" }>,
  { script, cache }: Pick<Settings, "script" | "cache">,
  cwd: string,
): Promise<Ending | undefined> {
  const { planCached } = await import("./cached.ts");
  const task = planCached(plan, cache!);
  return task && (await runSingle(task, requestFor(script, cache, cwd, ONE)));
}

/** What a run of many is asked for, when it is a run of one. */
const ONE: ManySettings = {
  scripts: [],
  args: [],
  filters: [],
  workspaces: false,
  parallel: false,
  sequential: false,
  noExitOnError: false,
  ifPresent: false,
};

function requestFor(
  script: ScriptSettings,
  cache: CacheSettings | undefined,
  cwd: string,
  many: ManySettings,
): TaskRequest {
  const originalEnvironment = host.originalEnvironment();
  const context = openRun(script);
  const commandOf = (wanted: CommandRequest) => commandFor(wanted, originalEnvironment, context);
  return {
    ...many,
    cwd,
    env: originalEnvironment,
    silent: script.silent,
    commandFor: commandOf,
    quote: quoteArgument,
    ...(cache && {
      openCached: async (task, extra) =>
        await (await import("./cached.ts")).openCachedTask(task, extra, cache, commandOf),
    }),
  };
}

function commandFor(
  { packageDirectory: directory, manifest, scriptName, args, isCollected }: CommandRequest,
  originalEnvironment: Readonly<Record<string, string>>,
  context: RunContext,
): Command {
  const line = appendArguments(scriptOf(manifest, scriptName) ?? "", args);
  if (isCollected && context.settings.shell === "rt" && needsNoProcess(line, originalEnvironment)) {
    return { argv: [], cwd: directory, env: {}, evaluate: () => evaluate(line, directory) };
  }
  const answer = isCollected ? context.shell.answer(line) : undefined;
  if (answer) return { argv: [], cwd: directory, env: {}, evaluate: () => collect(answer) };
  const { shell, environment } = prepareStep(context, { directory, manifest }, scriptName, line);
  // rt's own `exec` command changes into the engine's shell without a trace in the child's environment.
  return {
    program: shell.program,
    argv: shell.argv,
    cwd: directory,
    env: { ...originalEnvironment, ...environment, ...shell.environment },
  };
}

async function collect({ code, output }: Answer): Promise<ShellResult> {
  return { code, stdout: new TextEncoder().encode(output) };
}

async function runAlone(
  task: Task,
  request: TaskRequest,
  settings: ScriptSettings,
  cache: CacheSettings | undefined,
): Promise<Ending> {
  const { packageDirectory, manifest, scriptName, args } = task;
  const target = {
    kind: "script",
    name: scriptName,
    package: { directory: packageDirectory, manifest },
  } as const;
  const plan = { mode: "script", target, args } as const;
  if (cache && (await import("./cached.ts")).planCached(plan, cache)) return await runSingle(task, request);
  return await launchScript(plan, settings);
}
