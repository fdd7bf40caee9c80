// Many scripts, or the scripts of many packages: asks src/tasks for what the settings say, and supplies what that folder
// must not know, which is how a script is started.
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import type { ScriptSettings } from "../settings/script.ts";
import type { Settings } from "../settings/settings.ts";
import {
  type Command,
  type CommandRequest,
  runTasks,
  type Task,
  type TaskRequest,
} from "../tasks/run-tasks.ts";
import { scriptOf } from "../workspace/package-json.ts";
import type { Answer } from "./script/bash-builtins.ts";
import { evaluate, needsNoProcess, type ShellResult } from "./script/built-in-shell.ts";
import { type Ending, launchScript } from "./script/launch.ts";
import { appendArguments, quoteArgument } from "./script/quoting.ts";
import { openRun, prepareStep, type RunContext } from "./script/preparation.ts";

export async function runMany(
  { many, script }: Settings,
  _config: Config | undefined,
  cwd: string,
): Promise<Ending> {
  const originalEnvironment = host.originalEnvironment();
  const context = openRun(script);
  const request: TaskRequest = {
    ...many!,
    args: host.exactArguments(many!.args),
    cwd,
    env: originalEnvironment,
    silent: script.silent,
    commandFor: (wanted) => commandFor(wanted, originalEnvironment, context),
    quote: quoteArgument,
    runAlone: (task) => runAlone(task, script),
  };
  return await runTasks(request);
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
  { packageDirectory, manifest, scriptName, args }: Task,
  settings: ScriptSettings,
): Promise<Ending> {
  const target = {
    kind: "script",
    name: scriptName,
    package: { directory: packageDirectory, manifest },
  } as const;
  return await launchScript({ mode: "script", target, args }, settings);
}
